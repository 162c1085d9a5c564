# The remainder of a number that may be negative is exact: its neighbours are not one vector.
import triton
import triton.language as tl


@triton.jit
def wrapped(x_ptr, o_ptr, n, start, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x_ptr + 16 + (i + start * 16) % n)
    tl.store(o_ptr + i, v)


# RUN: tilec run %s wrapped --device interp --set x_ptr='*i32' --set x_ptr.size=32 --set o_ptr='*i32' --set o_ptr.size=16 --set n=16 --set start=-1 --set B=16 --grid 1
# OUT:
#| o_ptr: i32[16] = -21 15 99 71 -1 60 -14 58 …
# RUN: tilec run %s wrapped --device cpu --set x_ptr='*i32' --set x_ptr.size=32 --set o_ptr='*i32' --set o_ptr.size=16 --set n=16 --set start=-1 --set B=16 --grid 1
# OUT:
#| o_ptr: i32[16] = -21 15 99 71 -1 60 -14 58 …
# RUN: tilec run %s wrapped --device sim:sm_80 --set x_ptr='*i32' --set x_ptr.size=32 --set o_ptr='*i32' --set o_ptr.size=16 --set n=16 --set start=-1 --set B=16 --grid 1
# OUT:
#| o_ptr: i32[16] = -21 15 99 71 -1 60 -14 58 …
# RUN: tilec run %s wrapped --device sim:gfx942 --set x_ptr='*i32' --set x_ptr.size=32 --set o_ptr='*i32' --set o_ptr.size=16 --set n=16 --set start=-1 --set B=16 --grid 1
# OUT:
#| o_ptr: i32[16] = -21 15 99 71 -1 60 -14 58 …

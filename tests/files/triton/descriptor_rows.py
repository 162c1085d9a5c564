# Rows that a tensor names, and atomics, of tensor descriptors: elements outside are 0 and dropped.
import triton
import triton.language as tl


@triton.jit
def rows(o_ptr, s_ptr, a_ptr, B: tl.constexpr):
    i = tl.arange(0, 4)
    tl.store(s_ptr + tl.arange(0, 32), tl.arange(0, 32))
    source = tl.make_tensor_descriptor(s_ptr, [4, 8], [8, 1], [1, 4])
    v = source.gather(3 - i, 6)
    out = tl.make_tensor_descriptor(o_ptr, [4, 4], [4, 1], [1, 4])
    out.scatter(v, i * 2 - 2, 1)
    sums = tl.make_tensor_descriptor(a_ptr, [6], [1], [8])
    tl.store(a_ptr + tl.arange(0, 8), tl.zeros([8], tl.int32))
    sums.atomic_add([0], tl.arange(0, 8) + 1)
    sums.atomic_max([4], tl.full([8], 50, tl.int32))


# RUN: tilec run %s --device interp --set o_ptr='*i32' --set o_ptr.size=16 --set s_ptr='*i32' --set s_ptr.size=32 --set a_ptr='*i32' --set a_ptr.size=8 --set B=1 --grid 1
# OUT:
#| o_ptr: i32[16] = -1515870811 22 23 0 -1515870811 -1515870811 -1515870811 -1515870811 …
#| s_ptr: i32[32] = 0 1 2 3 4 5 6 7 …
#| a_ptr: i32[8] = 1 2 3 4 50 50 0 0
# RUN: tilec run %s --device cpu --set o_ptr='*i32' --set o_ptr.size=16 --set s_ptr='*i32' --set s_ptr.size=32 --set a_ptr='*i32' --set a_ptr.size=8 --set B=1 --grid 1
# OUT:
#| o_ptr: i32[16] = -1515870811 22 23 0 -1515870811 -1515870811 -1515870811 -1515870811 …
#| s_ptr: i32[32] = 0 1 2 3 4 5 6 7 …
#| a_ptr: i32[8] = 1 2 3 4 50 50 0 0
# RUN: tilec run %s --device sim:gfx942 --set o_ptr='*i32' --set o_ptr.size=16 --set s_ptr='*i32' --set s_ptr.size=32 --set a_ptr='*i32' --set a_ptr.size=8 --set B=1 --grid 1
# OUT:
#| o_ptr: i32[16] = -1515870811 22 23 0 -1515870811 -1515870811 -1515870811 -1515870811 …
#| s_ptr: i32[32] = 0 1 2 3 4 5 6 7 …
#| a_ptr: i32[8] = 1 2 3 4 50 50 0 0

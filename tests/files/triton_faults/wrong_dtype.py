# Sum of bytes, four at a time: the number of bytes is taken for the number of words.
import triton
import triton.language as tl


@triton.jit
def sum_bytes(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    words = x_ptr.to(tl.pointer_type(tl.int32), bitcast=True)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    w = tl.load(words + i, mask=i < n, other=0)
    total = (w & 255) + ((w >> 8) & 255) + ((w >> 16) & 255) + ((w >> 24) & 255)
    tl.atomic_add(out_ptr, tl.sum(total, axis=0))


# RUN: tilec run %s --device interp --sanitize --set x_ptr='*i8' --set out_ptr='*i32' --set x_ptr.size=256 --set out_ptr.size=1 --set n=256 --set BLOCK=64 --grid 'triton.cdiv(n, BLOCK)'
# OUT:
#| wrong_dtype.py:10:9: error: program (1, 0, 0), lane 0: reads element 64 of 'x_ptr', a buffer of 64 elements [bounds]
#|         w = tl.load(words + i, mask=i < n, other=0)
#|             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 191 more like this here
# EXIT: 3
# RUN: tilec run %s --device sim:sm_80 --set x_ptr='*i8' --set out_ptr='*i32' --set x_ptr.size=256 --set out_ptr.size=1 --set n=256 --set BLOCK=64 --grid 'triton.cdiv(n, BLOCK)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| wrong_dtype.py:10:9: error: out-of-bounds
# EXIT: 3
# RUN: tilec run %s --device sim:gfx942 --set x_ptr='*i8' --set out_ptr='*i32' --set x_ptr.size=256 --set out_ptr.size=1 --set n=256 --set BLOCK=64 --grid 'triton.cdiv(n, BLOCK)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| wrong_dtype.py:10:9: error: out-of-bounds
# EXIT: 3

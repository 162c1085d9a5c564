# Vector addition: the load of y has lost its mask, so the last program reads beyond the end.
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask)
    y = tl.load(y_ptr + i)
    tl.store(out_ptr + i, x + y, mask=mask)


# RUN: tilec run %s --device interp --sanitize --set x_ptr='*fp32' --set y_ptr='*fp32' --set out_ptr='*fp32' --set x_ptr.size=100 --set y_ptr.size=100 --set out_ptr.size=100 --set n=100 --set BLOCK=64 --grid 'triton.cdiv(n, BLOCK)'
# OUT:
#| lost_load_mask.py:11:9: error: program (1, 0, 0), lane 36: reads element 100 of 'y_ptr', a buffer of 100 elements [bounds]
#|         y = tl.load(y_ptr + i)
#|             ^~~~~~~~~~~~~~~~~~
#| note: and 27 more like this here
# EXIT: 3
# RUN: tilec run %s --device sim:sm_80 --set x_ptr='*fp32' --set y_ptr='*fp32' --set out_ptr='*fp32' --set x_ptr.size=100 --set y_ptr.size=100 --set out_ptr.size=100 --set n=100 --set BLOCK=64 --grid 'triton.cdiv(n, BLOCK)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| lost_load_mask.py:11:9: error: out-of-bounds
# EXIT: 3

# Leaky ReLU: the store has lost its mask, so the last program writes beyond the end.
import triton
import triton.language as tl


@triton.jit
def leaky_relu(x_ptr, out_ptr, n, slope, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, tl.where(x > 0, x, x * slope))


# RUN: tilec run %s --device interp --sanitize --set x_ptr='*fp16' --set out_ptr='*fp16' --set x_ptr.size=200 --set out_ptr.size=200 --set n=200 --set slope=0.1 --set BLOCK=128 --grid 'triton.cdiv(n, BLOCK)'
# OUT:
#| lost_store_mask.py:10:5: error: program (1, 0, 0), lane 72: writes element 200 of 'out_ptr', a buffer of 200 elements [bounds]
#|         tl.store(out_ptr + i, tl.where(x > 0, x, x * slope))
#|         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 55 more like this here
# EXIT: 3
# RUN: tilec run %s --device sim:sm_80 --set x_ptr='*fp16' --set out_ptr='*fp16' --set x_ptr.size=200 --set out_ptr.size=200 --set n=200 --set slope=0.1 --set BLOCK=128 --grid 'triton.cdiv(n, BLOCK)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| lost_store_mask.py:10:5: error: out-of-bounds
# EXIT: 3
# RUN: tilec run %s --device sim:gfx942 --set x_ptr='*fp16' --set out_ptr='*fp16' --set x_ptr.size=200 --set out_ptr.size=200 --set n=200 --set slope=0.1 --set BLOCK=128 --grid 'triton.cdiv(n, BLOCK)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| lost_store_mask.py:10:5: error: out-of-bounds
# EXIT: 3

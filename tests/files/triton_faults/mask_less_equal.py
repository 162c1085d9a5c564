# Softmax: the mask of the load has <= for <, so the last row reads an element beyond the end.
import triton
import triton.language as tl


@triton.jit
def softmax(x_ptr, out_ptr, stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + cols, mask=cols <= n_cols, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * stride + cols, e / tl.sum(e, axis=0), mask=cols < n_cols)


# RUN: tilec run %s --device interp --sanitize --set x_ptr='*fp32' --set out_ptr='*fp32' --set x_ptr.size=300 --set out_ptr.size=300 --set stride=100 --set n_cols=100 --set BLOCK=128 --grid 3
# OUT:
#| mask_less_equal.py:10:9: error: program (2, 0, 0), lane 100: reads element 300 of 'x_ptr', a buffer of 300 elements [bounds]
#|         x = tl.load(x_ptr + row * stride + cols, mask=cols <= n_cols, other=-float("inf"))
#|             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
# EXIT: 3
# RUN: tilec run %s --device sim:sm_80 --set x_ptr='*fp32' --set out_ptr='*fp32' --set x_ptr.size=300 --set out_ptr.size=300 --set stride=100 --set n_cols=100 --set BLOCK=128 --grid 3 >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| mask_less_equal.py:10:9: error: out-of-bounds
# EXIT: 3
# RUN: tilec run %s --device sim:gfx942 --set x_ptr='*fp32' --set out_ptr='*fp32' --set x_ptr.size=300 --set out_ptr.size=300 --set stride=100 --set n_cols=100 --set BLOCK=128 --grid 3 >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| mask_less_equal.py:10:9: error: out-of-bounds
# EXIT: 3

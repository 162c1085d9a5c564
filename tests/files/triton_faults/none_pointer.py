# Bias and GELU: the bias is None, and nothing asks for that before it is loaded.
import triton
import triton.language as tl


@triton.jit
def bias_gelu(x_ptr, bias_ptr, out_ptr, n, width, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    x += tl.load(bias_ptr + i % width, mask=i < n)
    tl.store(out_ptr + i, 0.5 * x * (1 + tl.erf(x * 0.7071067811865476)), mask=i < n)


# RUN: tilec run %s --device interp --sanitize --set x_ptr='*fp32' --set bias_ptr=None --set out_ptr='*fp32' --set x_ptr.size=100 --set out_ptr.size=100 --set n=100 --set width=10 --set BLOCK=64 --grid 'triton.cdiv(n, BLOCK)'
# OUT:
#| none_pointer.py:10:18: error: expected a tensor, found None [type]
#|         x += tl.load(bias_ptr + i % width, mask=i < n)
#|                      ^~~~~~~~
# EXIT: 1
# RUN: tilec run %s --device sim:sm_80 --set x_ptr='*fp32' --set bias_ptr=None --set out_ptr='*fp32' --set x_ptr.size=100 --set out_ptr.size=100 --set n=100 --set width=10 --set BLOCK=64 --grid 'triton.cdiv(n, BLOCK)'
# OUT:
#| none_pointer.py:10:18: error: expected a tensor, found None [type]
#|         x += tl.load(bias_ptr + i % width, mask=i < n)
#|                      ^~~~~~~~
# EXIT: 1

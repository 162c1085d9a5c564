# Quantisation in groups of 16: tl.assume promises that n is a multiple of 16, and it is not.
import triton
import triton.language as tl


@triton.jit
def quantize(x_ptr, q_ptr, scale_ptr, n, GROUPS: tl.constexpr):
    tl.assume(n % 16 == 0)
    group = tl.program_id(0) * GROUPS + tl.arange(0, GROUPS)
    i = group[:, None] * 16 + tl.arange(0, 16)[None, :]
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    scale = tl.max(tl.abs(x), axis=1) / 127
    q = tl.where(scale[:, None] > 0, x / scale[:, None], 0.0)
    tl.store(q_ptr + i, q.to(tl.int8), mask=i < n)
    tl.store(scale_ptr + group, scale, mask=group * 16 < n)


# RUN: tilec run %s --device interp --sanitize --set x_ptr='*fp32' --set q_ptr='*i8' --set scale_ptr='*fp32' --set x_ptr.size=200 --set q_ptr.size=200 --set scale_ptr.size=13 --set n=200 --set GROUPS=4 --grid 'triton.cdiv(n, GROUPS * 16)'
# OUT:
#| false_assume.py:8:5: error: program (0, 0, 0), lane 0: the assumption does not hold [assume]
#|         tl.assume(n % 16 == 0)
#|         ^~~~~~~~~~~~~~~~~~~~~~
#| note: and 3 more like this here
# EXIT: 3
# RUN: tilec run %s --device cpu --sanitize --set x_ptr='*fp32' --set q_ptr='*i8' --set scale_ptr='*fp32' --set x_ptr.size=200 --set q_ptr.size=200 --set scale_ptr.size=13 --set n=200 --set GROUPS=4 --grid 'triton.cdiv(n, GROUPS * 16)'
# OUT:
#| false_assume.py:8:5: error: program (0, 0, 0), lane 0: the assumption does not hold [assume]
#|         tl.assume(n % 16 == 0)
#|         ^~~~~~~~~~~~~~~~~~~~~~
#| note: and 3 more like this here
# EXIT: 3

# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, flag, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    if flag > 0:
        a = tl.load(x_ptr + offs)
    #! error: 'a' has no value here [not-a-value] @28
    tl.store(x_ptr + offs, a)
    for i in range(flag):
        b = i
    #! error: 'b' has no value here [not-a-value] @21
    tl.store(x_ptr, b)
    #! error: 'c' has no value here [not-a-value] @21
    tl.store(x_ptr, c)
    c = 1

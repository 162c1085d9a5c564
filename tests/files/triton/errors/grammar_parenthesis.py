# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    a = tl.load(x + tl.arange(0, 16)
    #! error: expected ')' after the arguments, found 'tl' [syntax] @5
    tl.store(x, a)

# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    #! error: expected the end of the line, found ')' [syntax] @19
    a = tl.load(x))
    #! error: expected ')' after the arguments, found ']' [syntax] @18
    tl.store(x, a]

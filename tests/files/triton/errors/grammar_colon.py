# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
#! error: expected ':' after the head of the function, found the end of the line [syntax] @17
def kernel(x, n)
    a = 1

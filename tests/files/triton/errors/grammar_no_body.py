# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
#! error: expected an indented block after the head of the function, found 'a' [syntax] @1
a = 1

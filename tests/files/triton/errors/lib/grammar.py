# RUN-ERRORS: tilec check --json %s
import triton


@triton.jit
def helper(x):
    #! error: expected an expression, found the end of the line [syntax] @15
    return x +

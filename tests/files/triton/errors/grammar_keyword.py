# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    #! error: expected the name of a parameter, found '=' [syntax] @12
    lambda = 1
    #! error: expected an expression, found '=' [syntax] @8
    if = 2
    #! error: expected an expression, found 'in' [syntax] @9
    for in range(3):
        pass

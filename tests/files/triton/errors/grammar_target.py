# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    #! error: cannot assign to a number [assign] @5
    1 = n
    #! error: cannot assign to an operation [assign] @5
    x + 1 = n
    #! error: cannot assign to a call [assign] @5
    tl.load(x) = n
    #! error: '+=' cannot assign to an operation [assign] @5
    a + b += 1

# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    #! error: expected ':' after the condition, found '=' [syntax] @10
    if n = 1:
        tl.store(x, 1)
    #! error: expected ':' after the condition, found '=' [syntax] @13
    while n = 2:
        pass
    #! error: a positional argument cannot be after one with a name [syntax] @26
    tl.store(x, other=1, 2)

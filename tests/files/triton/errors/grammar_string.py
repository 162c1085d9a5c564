# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    #! error: this string is not closed on its line [bad-string] @28
    tl.static_assert(True, "never ends)
    tl.store(x, 1)

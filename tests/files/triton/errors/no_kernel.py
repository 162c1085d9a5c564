# A function that returns a value is a helper, which is not checked alone.
import triton
import triton.language as tl


@triton.jit
def helper(x):
    return x + 1


# RUN: tilec check %s
# OUT:
# RUN: tilec emit %s --as tile-ir
# OUT:
#| tilec: error: there is no kernel [kernel]
#| help: a function with @triton.jit is a kernel unless it returns a value, or another function of the file mentions it
# EXIT: 1

# Types are given, so that what is wrong with them is an error.
# RUN-ERRORS: tilec emit %s --as tile-ir --json --set x_ptr='*fp32' --set BLOCK=16
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    total = 0
    for k in range(n):
        #! error: 'total' is int32 before the loop, but the body makes it fp32 [type] @9
        total += tl.sum(x)
    #! error: a pointer moves by an integer, found fp32[16] [type] @25
    a = tl.load(x_ptr + x)
    #! error: invalid operands of types fp32[16] and 1: '<<' takes integers [type] @9
    b = x << 1
    if n > 3:
        best = x
    #! error: 'best' has no value here [not-a-value] @25
    tl.store(x_ptr + i, best)

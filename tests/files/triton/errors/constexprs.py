# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr, KIND: tl.constexpr):
    BLOCK = 32
    a: tl.constexpr = n + 1
    b: tl.constexpr = 4
    b = 5
    #! error: the end of tl.arange must be an integer known at compile time, found int32 [not-constant] @22
    c = tl.arange(0, b)
    #! error: int32 is not known at compile time [not-constant] @9
    d = tl.constexpr(n)
    e = 4
    #! error: the end of tl.arange must be an integer known at compile time, found int32 [not-constant] @22
    f = tl.arange(0, e)
    for i in range(4):
        #! error: an extent must be an integer known at compile time, found int32 [not-constant] @22
        g = tl.zeros([i], tl.int32)
    #! error: a bound of tl.static_range must be an integer known at compile time, found int32 [not-constant] @14
    for i in tl.static_range(n):
        pass
    #! error: tl.static_range runs at most 4096 iterations [unroll] @5
    for i in tl.static_range(0, 100000):
        pass
    #! error: tl.static_assert needs a condition known at compile time, found int1 [not-constant] @22
    tl.static_assert(n > 1)
    #! error: tl.static_assert needs a condition known at compile time, found int1 [not-constant] @22
    tl.static_assert(BLOCK == 7, "the block is seven")
    #! error: the assertion does not hold [static-assert] @5
    tl.static_assert(KIND == 1 and KIND == 2)

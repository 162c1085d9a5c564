# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def one(n):
    return two(n)


@triton.jit
def two(n):
    #! error: 'one' calls itself [recursion] @12
    return one(n) + 1


@triton.jit
def self(n):
    #! error: 'self' calls itself [recursion] @12
    return self(n - 1)


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, one(3))
    tl.store(x_ptr, self(3))


@triton.jit
def again(x_ptr, n):
    if n > 0:
        #! error: 'again' calls itself [recursion] @9
        again(x_ptr, n - 1)
    tl.store(x_ptr, n)

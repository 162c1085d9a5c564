import triton
import triton.language as tl

WRONG = tl.constexpr(1 // 0)


@triton.jit
def add_one(x):
    return x + onee


@triton.jit
def twice(x):
    return add_one(x) * 2


@triton.jit
def first(x):
    return x[0]

# RUN: tilec check %s
# OUT:

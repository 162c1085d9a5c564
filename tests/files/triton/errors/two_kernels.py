# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def first(x_ptr, n):
    #! error: unknown name 'm' [unknown-name] @25
    a = tl.load(x_ptr + m)
    #! error: tl.arange needs a number of elements that is a power of two, found 3 [shape] @9
    b = tl.arange(0, 3)


@triton.jit
def second(y_ptr, n):
    #! error: shapes do not go together: fp32[16] and fp32[32] [shape] @9
    a = tl.zeros([16], tl.float32) + tl.arange(0, 32)
    #! error: triton.language has no 'strore' [unknown-name] @9
    c = tl.strore(y_ptr, a)


@triton.jit
def good(z_ptr, n):
    tl.store(z_ptr, n)

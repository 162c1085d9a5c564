# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr, LIST: tl.constexpr = (1, 2)):
    #! error: tl.arange needs a number of elements that is a power of two, found 100 [shape] @9
    a = tl.arange(0, 100)
    #! error: the end of tl.arange must be an integer known at compile time, found int32 [not-constant] @22
    b = tl.arange(0, n)
    #! error: tl.arange counts up: its end 0 must be above 16 [shape] @9
    c = tl.arange(16, 0)
    #! error: tl.arange counts up: its end 0 must be above 0 [shape] @9
    d = tl.arange(0, 0)
    #! error: the end of tl.arange must be an integer known at compile time, found the float 16.0 [not-constant] @22
    e = tl.arange(0, 16.0)
    #! error: tl.arange needs a number of elements that is a power of two, found 19 [shape] @9
    f = tl.arange(0, BLOCK + 3)
    g = tl.arange(0, LIST)
    #! error: an extent must be a power of two, found 12 [shape] @18
    h = tl.zeros([12], dtype=tl.float32)
    #! error: an extent must be an integer known at compile time, found int32 [not-constant] @18
    i = tl.zeros((16, n), dtype=tl.float32)
    j = tl.full([16], 0)
    #! error: a tensor has at most 1048576 elements, [1024, 1024, 1024] has 1073741824 [shape] @18
    k = tl.zeros([1024, 1024, 1024], tl.float32)

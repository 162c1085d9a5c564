# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    #! error: a tensor takes ':' and 'None' as subscripts [index] @11
    a = x[0]
    #! error: a tensor takes ':' and 'None' as subscripts [index] @11
    b = x[n]
    #! error: a tensor takes ':' and 'None' as subscripts [index] @11
    c = x[0:4]
    #! error: a tensor's elements cannot be assigned [assign] @5
    x[3] = 1.0
    #! error: a tensor's elements cannot be assigned [assign] @5
    x_ptr[0] = 1.0
    #! error: a tensor's elements cannot be assigned [assign] @5
    x[:, None] = 1.0
    #! error: a pointer takes ':' and 'None' as subscripts [index] @15
    d = x_ptr[offs]
    #! error: a tensor takes ':' and 'None' as subscripts [index] @11
    e = x[..., None]
    #! error: the index is outside of a tuple of 3 values [index] @19
    f = (1, 2, 3)[5]
    #! error: the index of a tuple must be an integer known at compile time, found int32 [not-constant] @19
    g = (1, 2, 3)[n]
    #! error: a tensor takes ':' and 'None' as subscripts [index] @11
    h = n[0]
    #! error: 2 names, but 3 values [assign] @5
    a, b = (1, 2, 3)
    #! error: 2 names need a tuple, found int32 [assign] @5
    a, b = n
    #! error: a kernel assigns to names only [assign] @5
    n.value = 3
    #! error: a kernel assigns to names only [assign] @5
    tl.load = 3

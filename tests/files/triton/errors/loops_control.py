# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    p = x_ptr
    for k in range(n):
        #! error: 'p' is pointer<fp32> before the loop, but the body makes it int32[16] [type] @9
        p, i = i, p
    t = (1, 2)
    #! error: 't' is a tuple of 2 values on one path, and a tuple of 3 values on another [type] @5
    for k in range(n):
        t = (1, 2, 3)
    for k in range(n):
        u = (k, k)
        #! error: 'u.1' is fp32 on one path, and int32 on another [type] @9
        if k > 3:
            u = (k, 1.5)
    #! error: 2 names need a tuple, found int32 [assign] @9
    for a, b in range(n):
        pass
    #! error: 2 names, but 3 values [assign] @9
    for a, b in ((1, 2), (3, 4, 5)):
        pass
    #! error: 'tl.range': too many arguments [arguments] @50
    for k in tl.range(1, 2, 3, 4, 5, 6, 7, 8, 9, 10):
        pass
    for k in range(n, num_stages=2):
        pass
    #! error: a 'for' runs over a range or a tuple, found the string 'abc' [type] @14
    for x in "abc":
        pass
    #! error: a condition must be a scalar, found int1[4] [condition] @11
    while tl.arange(0, 4) > 2:
        pass
    #! error: expected a tensor, found the string 'text' [type] @11
    while "text":
        break
    #! error: the step of a range is 0 [step] @14
    for k in tl.static_range(0, 10, 0):
        pass
    #! error: a constant needs more than 64 bits (-2^63 to 2^64-1) [constant-value] @26
    for k in tl.range(0, 1 << 70):
        pass

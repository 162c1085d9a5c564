# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    #! error: a condition must be a scalar, found int1[16] [condition] @8
    if x > 0:
        tl.store(x_ptr + offs, 1)
    #! error: a condition must be a scalar, found int1[16] [condition] @11
    while x > 0:
        x = x - 1
    #! error: a condition must be a scalar, found int1[16] [condition] @14
    y = 1 if x > 0 else 2
    assert n > 0
    #! error: a range counts scalar integers, found fp32[16] [type] @14
    for i in range(x):
        tl.store(x_ptr, 1)
    if tl:
        pass
    #! error: a 'for' runs over a range or a tuple, found int32 [type] @14
    for i in n:
        pass
    #! error: a range counts scalar integers, found the float 0.5 [type] @14
    for i in range(0.5):
        pass
    #! error: the step of a range is 0 [step] @14
    for i in range(0, n, 0):
        pass

# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    a = {"x": 1}
    #! error: a kernel cannot use a set [unsupported] @9
    b = {1, 2}
    c = lambda y: y + 1
    d = c(n)

    #! error: a kernel cannot define a function [unsupported] @5
    def inner(y):
        return y

    #! error: a kernel cannot use 'class' [unsupported] @5
    class Local:
        pass

    #! error: a kernel cannot use 'import' [unsupported] @5
    import os
    #! error: a kernel cannot use 'from' [unsupported] @5
    from math import sqrt
    #! error: a kernel cannot use 'try' [unsupported] @5
    try:
        pass
    except ValueError:
        pass
    #! error: a kernel cannot use 'with' [unsupported] @5
    with open("f") as f:
        pass
    #! error: a kernel cannot use 'del' [unsupported] @5
    del n
    #! error: a kernel cannot use 'raise' [unsupported] @5
    raise ValueError("no")
    global g
    #! error: a kernel cannot use 'match' [unsupported] @5
    match n:
        case 1:
            pass
    for i in range(3):
        pass
    else:
        #! error: 'else' of a loop is not supported in a kernel [unsupported] @9
        pass
    #! error: a comprehension needs a sequence known at compile time, found a range [not-constant] @21
    e = [y for y in range(n)]
    f = [y + z for y in (1, 2) for z in (3, 4)]
    h = print(n)
    #! error: a kernel cannot use Python's function 'open' [unsupported] @9
    i = open("f")
    #! error: a kernel cannot use Python's function 'sorted' [unsupported] @9
    j = sorted((1, 2))
    #! error: a tuple of 0 values has no attribute 'size' [unknown-name] @17
    k = n.shape.size
    #! error: a kernel cannot define a function [unsupported] @5
    async def other():
        pass

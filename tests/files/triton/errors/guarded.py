# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, FAST: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    if FAST:
        a = tl.load(x_ptr + i, mask=j < n)
    else:
        #! error: 'tl.load' has no argument 'msk' [arguments] @32
        a = tl.load(x_ptr + i, msk=i < n)
    if BLOCK > 1000000:
        a = never_evaluated
    for k in tl.static_range(2):
        #! error: tl.arange needs a number of elements that is a power of two, found 33 [shape] @17
        b = a + tl.arange(0, 2 * BLOCK + 1)
    while n > 0:
        for j in range(n):
            if j > 3:
                break
            #! error: unknown name 'q' [unknown-name] @17
            c = q
        n -= 1
    #! error: 'c' has no value here [not-a-value] @29
    tl.store(x_ptr + i, a + c)

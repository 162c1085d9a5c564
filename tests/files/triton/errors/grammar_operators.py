# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    #! error: expected an expression, found the end of the line [syntax] @13
    a = n ++
    #! error: expected an expression, found '&' [syntax] @12
    b = n && n
    #! error: expected an expression, found '!' [syntax] @9
    c = !n
    #! error: unexpected character '?' [bad-character] @11
    d = n ? 1 : 2
    #! error: expected an expression, found ')' [syntax] @14
    e = (n * ) + 1
    #! error: expected an expression, found '*' [syntax] @12
    f = n +* 1

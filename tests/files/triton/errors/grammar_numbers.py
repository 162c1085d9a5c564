# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    #! error: a hexadecimal number needs digits after '0x' [bad-number] @9
    a = 0x
    #! error: '_' in a number must be before a digit [bad-number] @10
    b = 1_
    #! error: a decimal number has no leading zeros [bad-number] @9
    c = 012
    #! error: expected the end of the line, found '.2' [syntax] @12
    d = 1.5.2
    #! error: unexpected 'abc' after a number [bad-number] @10
    e = 2abc

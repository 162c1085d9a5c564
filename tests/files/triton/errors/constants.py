# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


BIG = tl.constexpr(2**200)


@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    #! error: a constant is divided by zero [division-by-zero] @9
    a = 1 // 0
    #! error: a constant is divided by zero [division-by-zero] @9
    b = 1 % 0
    #! error: a constant is divided by zero [division-by-zero] @9
    c = 1.0 / 0
    #! error: 1267650600228229401496703205376 does not fit uint64 (0 to 18446744073709551615) [literal-range] @9
    d = 2 ** 100
    #! error: 18446744073709551616 does not fit uint64 (0 to 18446744073709551615) [literal-range] @9
    e = 18446744073709551616
    #! error: a constant needs more than 64 bits (-2^63 to 2^64-1) [constant-value] @9
    f = 9223372036854775807 * 4
    #! error: 300 is out of the range of int8 [literal-range] @26
    g = tl.full([BLOCK], 300, tl.int8)
    #! error: -1 is out of the range of uint8 [literal-range] @26
    h = tl.full([BLOCK], -1, tl.uint8)
    #! error: 1000 is out of the range of int8 [literal-range] @43
    i = tl.arange(0, BLOCK).to(tl.int8) + 1000
    #! error: a constant is shifted by -1 [constant-value] @9
    j = 1 << -1
    #! error: a constant needs more than 64 bits (-2^63 to 2^64-1) [constant-value] @9
    k = 1 << 70
    #! error: the value of 'BIG' is not known at compile time [not-constant] @9
    l = BIG
    #! error: '*' does not take the string 'a' and 3 [type] @9
    m = "a" * 3
    #! error: 5 has no length [type] @9
    n = len(5)
    #! error: 'int' does not take the string 'x' [type] @9
    o = int("x")
    #! error: a constant is divided by zero [division-by-zero] @9
    p = tl.cdiv(3, 0)
    #! error: 'min' needs a value [arguments] @9
    q = min()
    #! error: range takes one to three integers [arguments] @9
    r = range()
    s = 1e400

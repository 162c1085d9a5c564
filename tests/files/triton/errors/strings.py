# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, MODE: tl.constexpr = "sum", BLOCK: tl.constexpr = 16):
    M: tl.constexpr = 3
    T: tl.constexpr = tl.float16
    #! error: the assertion does not hold: M is 3, not 4 of fp16 and (1, 2) [static-assert] @5
    tl.static_assert(M == 4, f"M is {M}, not {M + 1} of {T} and {(1, 2)}")
    #! error: the assertion does not hold: a text of its own [static-assert] @5
    tl.static_assert(M % 32 == 0, "a text of its own")
    #! error: unknown name 'unknown' [unknown-name] @12
    a = f"{unknown}"
    b = f"{n!r:>{BLOCK}}"
    #! error: '+' does not take the string 'abc' and 1 [type] @9
    c = "abc" + 1
    #! error: the index is outside of the string 'abc' [index] @15
    d = "abc"[5]
    #! error: '<' does not take the string 'abc' and 3 [type] @9
    e = "abc" < 3
    #! error: the string 'abc' has no attribute 'upper' [unknown-name] @15
    f = "abc".upper()
    #! error: '%' does not take the string '%d' and 3 [type] @9
    g = "%d" % 3
    #! error: int32 has no length [type] @9
    h = len(n)
    assert MODE == "max"
    #! error: expected a tensor, found the string 'text' [type] @22
    tl.device_assert("text")
    #! error: tl.device_print begins with a string, found int32 [type] @21
    tl.device_print(n)

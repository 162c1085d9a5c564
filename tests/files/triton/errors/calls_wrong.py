# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def helper(a, *rest, scale: tl.constexpr = 2):
    return a * scale


@triton.jit
def unused(a):
    return a + undefined_but_never_called


@triton.jit
def no_result(p):
    tl.store(p, 1)


@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    #! error: int32 cannot be called [not-callable] @9
    a = n(3)
    #! error: a tuple of 2 values cannot be called [not-callable] @9
    b = (1, 2)(3)
    #! error: 16 cannot be called [not-callable] @9
    c = BLOCK()
    #! error: the type fp32 cannot be called [not-callable] @9
    d = tl.float32(1, 2)
    #! error: the module 'triton.language.math' cannot be called [not-callable] @9
    e = tl.math(1)
    #! error: '*' needs a tuple, found int32 [type] @16
    f = helper(*n)
    #! error: 'helper' has no parameter 'scales' [arguments] @25
    g = helper(1, 2, 3, scales=4)
    #! error: a kernel cannot use '**' in a call [unsupported] @16
    h = helper(**{"a": 1})
    #! error: '+' does not take None and 1 [type] @9
    i = no_result(x_ptr) + 1
    #! error: the string 'text' cannot be called [not-callable] @9
    j = "text"()
    #! error: None cannot be called [not-callable] @9
    k = None()
    #! error: tl.constexpr takes one value [arguments] @9
    l = tl.constexpr(1, 2)
    m = helper
    #! error: '+' does not take the jit function 'helper' and 1 [type] @9
    o = m + 1
    #! error: isinstance takes two arguments [arguments] @9
    p = isinstance(n)
    #! error: 2 cannot be called [not-callable] @9
    q = helper(1)(2)
    #! error: fp32 cannot be called [not-callable] @9
    r = tl.load(x_ptr)(0)

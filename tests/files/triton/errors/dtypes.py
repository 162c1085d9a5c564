# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    #! error: expected a type such as tl.float32, found the Python function 'float' [type] @27
    a = tl.zeros([BLOCK], dtype=float)
    b = tl.zeros([BLOCK], dtype="float")
    #! error: expected a type such as tl.float32, found the string 'float33' [type] @27
    c = tl.zeros([BLOCK], dtype="float33")
    #! error: expected a type such as tl.float32, found 32 [type] @27
    d = tl.zeros([BLOCK], dtype=32)
    #! error: expected a type such as tl.float32, found the Python function 'float' [type] @14
    e = i.to(float)
    f = i.to("fp16")
    #! error: triton.language has no 'float31' [unknown-name] @14
    g = i.to(tl.float31)
    #! error: 'tl.to': the argument 'dtype' is missing [arguments] @9
    h = i.to()
    #! error: bitcast=True needs types of one size, found int32[16] and fp64 [type] @9
    j = i.to(tl.float64, bitcast=True)
    #! error: a pointer is made of a 64-bit integer, found int32[16] [type] @9
    k = i.to(x_ptr.dtype)
    l = i.to(x_ptr.dtype.element_ty)
    #! error: triton.language has no 'int4' [unknown-name] @20
    m = tl.cast(i, tl.int4)
    #! error: fp_downcast_rounding 'up' is unknown [arguments] @26
    n = i.to(tl.float16, fp_downcast_rounding="up")
    #! error: tl.sqrt does not take int32[16] [type] @17
    o = tl.sqrt(i)
    #! error: expected a tensor, found the string '1' [type] @16
    p = tl.exp("1")
    #! error: tl.popc does not take fp32[16] [type] @17
    q = tl.popc(i.to(tl.float32))
    #! error: expected a tensor, found the string 'x' [type] @29
    r = tl.math.fma(i, 1.0, "x")
    #! error: tl.umulhi does not take fp32[16] [type] @9
    s = tl.umulhi(i.to(tl.float32), i)
    #! error: expected a tensor, found the string 'a' [type] @21
    t = tl.where(i, "a", i)
    #! error: expected a tensor, found None [type] @23
    u = tl.maximum(i, None)
    #! error: int32[16] has no attribute 'float32' [unknown-name] @11
    v = i.float32
    #! error: the type int32 has no attribute 'foo' [unknown-name] @17
    w = i.dtype.foo
    #! error: expected a tensor, found a tuple of 2 values [type] @26
    y = tl.full([BLOCK], (1, 2), tl.int32)
    #! error: the axis of a grid is 0, 1 or 2, found 3 [arguments] @23
    z = tl.program_id(3)

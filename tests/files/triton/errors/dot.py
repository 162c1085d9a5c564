# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    a = tl.zeros([16, 32], dtype=tl.float16)
    b = tl.zeros([32, 16], dtype=tl.float16)
    c = tl.zeros([16, 16], dtype=tl.float32)
    #! error: 'dot' does not multiply fp16[16, 32] by fp16[16, 32] [shape] @9
    d = tl.dot(a, a)
    #! error: 'dot' needs operands of one type, found fp16[16, 32] and fp32[32, 16] [type] @9
    e = tl.dot(a, b.to(tl.float32))
    #! error: 'dot' takes floats and 8-bit integers, found int32[16, 32] [type] @9
    f = tl.dot(a.to(tl.int32), b.to(tl.int32))
    #! error: fp32[16, 32] does not stretch to [16, 16] [shape] @22
    g = tl.dot(a, b, acc=tl.zeros([16, 32], tl.float32))
    #! error: input_precision 'tf64' is unknown [arguments] @22
    h = tl.dot(a, b, input_precision="tf64")
    #! error: 'dot' takes floats and 8-bit integers, found int32[16] [type] @9
    i = tl.dot(tl.arange(0, 16), tl.arange(0, 16))
    #! error: 'dot' needs operands of one type, found fp16[16, 32] and int32 [type] @9
    j = tl.dot(a, 2)
    k = tl.dot(a, b, out_dtype=tl.int32)
    #! error: 'tl.dot': too many arguments [arguments] @51
    l = tl.dot(a, b, c, "ieee", 1, 2, tl.float32, 9)
    #! error: expected a tensor of numbers, found pointer<fp32> [type] @16
    m = tl.dot(x_ptr, b)
    #! error: 'tl.dot': the argument 'other' is missing [arguments] @9
    n = tl.dot(a)
    o = tl.dot(a, b, c, allow_tf32="no")

# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(out_ptr, K: tl.constexpr):
    a = tl.zeros([16, 32], tl.uint8)
    b = tl.zeros([32, 16], tl.uint8)
    s = tl.zeros([16, 1], tl.uint8)
    #! error: the format 'e3m2' is unknown [arguments] @29
    x = tl.dot_scaled(a, s, "e3m2", b, s, "e4m3")
    #! error: the scale uint8[16, 1] does not fit the factor [16, 64] [shape] @26
    x = tl.dot_scaled(a, s, "e2m1", b, s, "e2m1")
    #! error: a scale is of uint8 (e8m0) or fp8e4nv, found fp32[16, 1] [type] @26
    x = tl.dot_scaled(a, s.to(tl.float32), "e4m3", b, s, "e4m3")
    #! error: format 'bf16' does not fit uint8[16, 32] [type] @23
    x = tl.dot_scaled(a, None, "bf16", b, s, "e4m3")
    #! error: tl.dot_scaled does not multiply uint8[32] [shape] @23
    x = tl.dot_scaled(tl.zeros([32], tl.uint8), s, "e4m3", b, s, "e4m3")
    #! error: 'dot' does not multiply bf16[16, 32] by bf16[64, 16] [shape] @9
    x = tl.dot_scaled(a, s, "e4m3", b, None, "e2m1")

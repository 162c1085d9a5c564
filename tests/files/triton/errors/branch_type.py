# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    #! error: 'a' is int32[16] on one path, and fp32 on another [type] @5
    if n > 3:
        a = offs
    else:
        a = 1.0
    #! error: 'b' is int32[16] on one path, and int32 on another [type] @5
    if n > 4:
        b = offs
    else:
        b = 1
    c = 0
    #! error: 'c' is fp32 on one path, and int32 on another [type] @5
    if n > 5:
        c = 1.0
    tl.store(x_ptr + offs, a + b + c)
    #! error: one path gives int32[16] here, another fp32 [type] @9
    d = offs if n > 3 else 1.5

# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    acc = 0
    total = tl.zeros([BLOCK], dtype=tl.float32)
    base = x_ptr
    for i in range(n):
        #! error: 'acc' is int32 before the loop, but the body makes it fp32 [type] @9
        acc += 0.5
        #! error: 'total' is fp32[16] before the loop, but the body makes it fp32[16, 2] [type] @9
        total = tl.zeros([BLOCK, 2], dtype=tl.float32)
        #! error: 'base' is pointer<fp32> before the loop, but the body makes it pointer<fp32>[16] [type] @9
        base = base + offs
    i = 0
    while i < 10:
        #! error: 'i' is int32 before the loop, but the body makes it fp32 [type] @9
        i = i + 0.5
    tl.store(x_ptr, acc)

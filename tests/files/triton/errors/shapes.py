# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    a = tl.arange(0, 16)
    b = tl.arange(0, 32)
    #! error: shapes do not go together: int32[16] and int32[32] [shape] @9
    c = a + b
    #! error: shapes do not go together: int32[16, 1] and int32[32, 1] [shape] @9
    d = a[:, None] + b[:, None]
    #! error: shapes do not go together: pointer<fp32>[16] and int1[32] [shape] @9
    m = tl.load(x_ptr + a, mask=b < 3)
    #! error: shapes do not go together: pointer<fp32>[16] and fp32[32] [shape] @5
    tl.store(x_ptr + a, b)
    #! error: shapes do not go together: int32[32] and int32[16] [shape] @9
    w = tl.where(a < 3, b, a)
    #! error: int32[16] has 16 elements, [4, 8] has 32 [shape] @9
    r = tl.reshape(a, (4, 8))
    #! error: int32[16] does not stretch to [32] [shape] @9
    s = tl.broadcast_to(a, (32,))
    #! error: tl.trans needs two dimensions, found int32[16] [shape] @9
    t = tl.trans(a)
    #! error: the axis 3 is outside of 2 dimensions [arguments] @27
    u = tl.expand_dims(a, 3)
    #! error: shapes do not go together: int32[16] and int32[32] [shape] @9
    v = tl.join(a, b)
    #! error: tl.split needs a last dimension of 2, found int32[16] [shape] @18
    y = tl.split(a)
    #! error: an axis stands twice in the permutation [shape] @9
    z = tl.permute(a[:, None], (0, 0))
    #! error: int32[16] has only 1 dimension [index] @14
    q = a[:, :, None]
    #! error: the axis 1 is outside of int32[16] [arguments] @19
    p = tl.sum(a, 1)

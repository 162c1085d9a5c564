# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    f = i.to(tl.float32)
    u = i.to(tl.uint32)
    p = f8(i) if BLOCK < 0 else i.to(tl.float8e4nv)
    #! error: invalid operands of types fp32[16] and 2: '//' takes integers [type] @9
    a = f // 2
    b = f % 2
    #! error: '//' does not take int32[16] and uint32[16]: their signs differ [type] @9
    c = i // u
    #! error: '%' does not take int32[16] and uint32[16]: their signs differ [type] @9
    d = i % u
    #! error: invalid operands of types fp32[16] and 1: '<<' takes integers [type] @9
    e = f << 1
    #! error: invalid operands of types fp32[16] and 1: '&' takes integers [type] @9
    g = f & 1
    #! error: '~' does not take fp32[16] [type] @9
    h = ~f
    #! error: '**' does not take tensors [type] @9
    j = f ** 2
    #! error: '@' does not take tensors [type] @9
    k = f @ f
    l = not f
    #! error: expected a tensor, found the string 'text' [type] @13
    m = i + "text"
    #! error: expected a tensor, found None [type] @13
    o = i + None
    #! error: expected a tensor, found the type fp32 [type] @13
    q = f + tl.float32
    #! error: no operation takes fp8e4nv[16] and int32[16] [type] @9
    r = p + i
    #! error: expected a tensor, found a tuple of 2 values [type] @13
    s = i + (1, 2)
    #! error: '<' does not take int32[16] and None [type] @9
    t = i < None
    #! error: 'in' needs a value known at compile time, found int32[16] [not-constant] @9
    v = i in (1, 2)
    #! error: expected a tensor, found None [type] @9
    w = -None
    #! error: '%' does not take 3 and the string 'a' [type] @9
    x = 3 % "a"
    y = 1 and i

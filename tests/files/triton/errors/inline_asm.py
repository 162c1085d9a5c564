# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    i = tl.arange(0, 16)
    d = i.to(tl.int64)
    #! error: inline assembly: 'ld.global.b32' is not supported [unsupported] @35
    a = tl.inline_asm_elementwise("ld.global.b32 $0, $1;", "=r,r", [i], tl.int32, True, 1)
    #! error: inline assembly: 'again: mov.b32 $0, $1' is not supported [unsupported] @35
    b = tl.inline_asm_elementwise("again: mov.b32 $0, $1;", "=r,r", [i], tl.int32, True, 1)
    #! error: inline assembly: there is no register 't' [arguments] @35
    c = tl.inline_asm_elementwise("mov.b32 $0, t;", "=r,r", [i], tl.int32, True, 1)
    #! error: inline assembly: the inputs do not fit the arguments: '=r,r,r' [arguments] @54
    e = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r,r", [i], tl.int32, True, 1)
    #! error: inline assembly: an argument does not fit its register: 'r' [arguments] @54
    f = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [d], tl.int32, True, 1)
    #! error: inline assembly: a result does not fit its register: '=r,r' [arguments] @54
    g = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [i], tl.int64, True, 1)
    #! error: inline assembly: 'v' is not supported [unsupported] @35
    h = tl.inline_asm_elementwise("v_mul_f32 $0, $1, $1", "=v,v", [i], tl.int32, True, 1)
    #! error: inline assembly: '%tid.x' is not supported [unsupported] @35
    j = tl.inline_asm_elementwise("mov.u32 $0, %tid.x;", "=r", [], tl.int32, True, 1)
    #! error: inline assembly: 'cvt.rs.f16x2.f32' is not supported [unsupported] @35
    k = tl.inline_asm_elementwise("cvt.rs.f16x2.f32 $0, $1, $1, $1;", "=r,r", [i], tl.int32, True, 1)
    #! error: inline assembly: the pack does not divide the elements of 'args' [arguments] @83
    m = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [i], tl.int32, True, pack=3)
    #! error: inline assembly: '{a, b, c}' is not supported [unsupported] @35
    n = tl.inline_asm_elementwise("mov.b32 {a, b, c}, $1;", "=r,r", [i], tl.int32, True, 1)

# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    #! error: tl.load needs a pointer, found int32[16] [type] @17
    a = tl.load(x)
    b = tl.load(n + 1)
    #! error: tl.store needs a pointer, found int32[16] [type] @14
    tl.store(offs, x)
    #! error: a pointer moves by an integer, found the float 0.5 [type] @25
    c = tl.load(x_ptr + 0.5)
    d = tl.load(x_ptr + x)
    #! error: '*' does not take pointer<int32> and 2 [type] @17
    e = tl.load(x_ptr * 2)
    #! error: '+' does not take pointer<int32> and pointer<fp32> [type] @9
    f = x_ptr + y_ptr
    #! error: '-' does not take pointer<int32> and pointer<fp32> [type] @9
    g = x_ptr - y_ptr
    #! error: expected a tensor of numbers, found pointer<int32> [type] @9
    h = -x_ptr
    #! error: expected a tensor of numbers, found pointer<int32> [type] @16
    i = tl.exp(x_ptr)
    #! error: expected a tensor, found the string 'yes' [type] @24
    j = tl.load(x_ptr, mask="yes")
    k = tl.load(x_ptr + offs, mask=x_ptr)
    #! error: expected a tensor, found a tuple of 2 values [type] @31
    l = tl.load(x_ptr + offs, other=(1, 2), mask=offs < n)
    #! error: tl.load needs a pointer, found the string 'x_ptr' [type] @17
    m = tl.load("x_ptr")
    #! error: tl.load needs a pointer, found None [type] @17
    o = tl.load(None)
    #! error: expected a tensor of numbers, found pointer<int32>[16] [type] @16
    p = tl.sum(x_ptr + offs)
    #! error: a pointer becomes int64 or uint64, not fp32 [type] @9
    q = x_ptr.to(tl.float32)
    #! error: a pointer is made of a 64-bit integer, found int32[16] [type] @9
    r = offs.to(tl.pointer_type(tl.float32))

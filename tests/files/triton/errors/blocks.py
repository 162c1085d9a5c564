# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, m, BLOCK: tl.constexpr):
    good = tl.make_block_ptr(x_ptr, (n, m), (m, 1), (0, 0), (16, 32), (1, 0))
    #! error: expected 2 values, one for each dimension, found 1 [shape] @34
    a = tl.make_block_ptr(x_ptr, (n,), (m, 1), (0, 0), (16, 32), (1, 0))
    #! error: an extent must be an integer known at compile time, found int32 [not-constant] @58
    b = tl.make_block_ptr(x_ptr, (n, m), (m, 1), (0, 0), (16, n), (1, 0))
    #! error: expected a scalar pointer, found pointer<fp32>[16] [type] @27
    d = tl.make_block_ptr(x_ptr + tl.arange(0, 16), (n, m), (m, 1), (0, 0), (16, 32), (1, 0))
    #! error: expected a scalar integer, found the float 1.5 [type] @42
    e = tl.make_block_ptr(x_ptr, (n, m), (m, 1.5), (0, 0), (16, 32), (1, 0))
    #! error: 'tl.make_block_ptr': the argument 'strides' is missing [arguments] @9
    f = tl.make_block_ptr(x_ptr, (n, m))
    #! error: the block has no dimension 2 [arguments] @23
    g = tl.load(good, boundary_check=(0, 2))
    #! error: a dimension must be an integer known at compile time, found int32 [not-constant] @23
    h = tl.load(good, boundary_check=(n,))
    #! error: expected 2 values, one for each dimension, found 1 [shape] @26
    i = tl.advance(good, (16,))
    #! error: tl.advance needs a block pointer, found pointer<fp32> [type] @20
    j = tl.advance(x_ptr, (16, 0))
    #! error: fp32[16, 16] does not stretch to [16, 32] [shape] @20
    tl.store(good, tl.zeros([16, 16], tl.float32))
    #! error: '+' does not take a block pointer and 1 [type] @9
    k = good + 1
    #! error: a block pointer has no elements [index] @9
    l = good[0]
    #! error: the string 'one' is unknown for 'padding_option' [arguments] @23
    o = tl.load(good, padding_option="one")
    #! error: an extent must be a power of two, found 12 [shape] @58
    p = tl.make_block_ptr(x_ptr, (n, m), (m, 1), (0, 0), (12, 32), (1, 0))
    desc = tl.make_tensor_descriptor(x_ptr, [n, m], [m, 1], [16, 32])
    #! error: expected 2 values, one for each dimension, found 1 [shape] @19
    q = desc.load([0])
    #! error: fp32[8, 8] does not stretch to [16, 32] [shape] @24
    desc.store([0, 0], tl.zeros([8, 8], tl.float32))
    #! error: a tensor descriptor has no attribute 'foo' [unknown-name] @14
    r = desc.foo
    s = tl.load(desc)
    t = tl.load_tensor_descriptor(good, [0, 0])

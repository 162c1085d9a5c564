# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def adds(a, b):
    return a + b


@triton.jit
def three(a, b, c):
    return a + b + c


@triton.jit
def wide(a, b):
    return (a + b).to(tl.float64)


@triton.jit
def two(a, b):
    return a, b


@triton.jit
def nothing(a, b):
    c = a + b


@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.zeros([BLOCK, 16], tl.float32)
    #! error: the axis 2 is outside of fp32[16, 16] [arguments] @19
    a = tl.sum(x, axis=2)
    #! error: the axis must be an integer known at compile time, found int32 [not-constant] @19
    b = tl.sum(x, axis=n)
    #! error: tl.max needs a tensor with dimensions, found fp32 [shape] @16
    c = tl.max(1.0, axis=0)
    #! error: 'three': the argument 'c' is missing [arguments] @25
    d = tl.reduce(x, 0, three)
    #! error: 'wide' must return fp32 here, found fp64 [combiner] @25
    e = tl.reduce(x, 0, wide)
    #! error: 'two' must return 1 value here, found 2 [combiner] @25
    f = tl.reduce(x, 0, two)
    #! error: 'nothing' must return fp32 here, found None [combiner] @25
    g = tl.reduce(x, 0, nothing)
    #! error: expected a jit function, found 5 [combiner] @25
    h = tl.reduce(x, 0, 5)
    #! error: expected a jit function, found the function 'tl.sum' [combiner] @25
    j = tl.reduce(x, 0, tl.sum)
    #! error: the axis 3 is outside of 2 dimensions [arguments] @32
    k = tl.associative_scan(x, 3, adds)
    #! error: 'two' is given too many arguments [arguments] @40
    l = tl.associative_scan((x, i), 0, two)
    #! error: the dimension 5 is outside of fp32[16, 16] [arguments] @20
    m = tl.sort(x, 5)
    #! error: k must be a power of two up to 16, found 3 [arguments] @20
    o = tl.topk(x, 3)
    #! error: tl.histogram counts a tensor of one dimension in a power of two of bins, found fp32[16, 16] and 16 bins [arguments] @9
    p = tl.histogram(x, 16)
    #! error: tl.histogram counts a tensor of one dimension in a power of two of bins, found int32[16] and 12 bins [arguments] @9
    q = tl.histogram(i, 12)
    #! error: the axis must be an integer known at compile time, found the string '0' [not-constant] @22
    r = tl.cumsum(x, axis="0")
    #! error: tl.xor_sum takes integers, found fp32[16, 16] [type] @20
    s = tl.xor_sum(x)
    #! error: the axis -3 is outside of fp32[16, 16] [arguments] @22
    t = tl.argmax(x, axis=-3)
    #! error: 'tl.reduce': the argument 'combine_fn' is missing [arguments] @9
    u = tl.reduce(x, 0)
    #! error: tl.gather does not take fp32[16, 16] with the index int32[16] [shape] @9
    v = tl.gather(x, i, 0)
    #! error: expected True or False, found int32 [not-constant] @19
    w = tl.sum(x, keep_dims=n)

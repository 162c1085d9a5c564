# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def helper(a, b, scale=1):
    return a * b * scale


@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    good = tl.load(x_ptr + offs)
    #! error: 'tl.load' has no argument 'msk' [arguments] @31
    a = tl.load(x_ptr + offs, msk=offs < 3)
    #! error: 'tl.load': the argument 'pointer' is missing [arguments] @9
    b = tl.load()
    #! error: 'tl.load': the argument 'pointer' is given twice [arguments] @44
    c = tl.load(x_ptr + offs, offs < 3, 0, pointer=x_ptr)
    #! error: 'tl.sum' has no argument 'axes' [arguments] @25
    d = tl.sum(good, 0, axes=1)
    #! error: 'tl.program_id': too many arguments [arguments] @26
    e = tl.program_id(0, 1)
    #! error: 'helper': the argument 'b' is missing [arguments] @9
    f = helper(good)
    #! error: 'helper' has no parameter 'scal' [arguments] @30
    g = helper(good, b=good, scal=2)
    #! error: 'helper' is given too many arguments [arguments] @31
    h = helper(good, good, 1, 2)
    #! error: 'helper': the argument 'b' is given twice [arguments] @28
    i = helper(good, good, b=good)
    #! error: 'tl.load': the argument 'mask' is given twice [arguments] @35
    j = tl.load(x_ptr, mask=True, mask=False)
    #! error: 'tl.store': the argument 'value' is missing [arguments] @5
    tl.store(x_ptr + offs)
    #! error: 'tl.store' has no argument 'evict' [arguments] @34
    tl.store(x_ptr + offs, good, evict="first")

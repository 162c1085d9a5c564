# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    #! error: triton.language has no 'arrange' [unknown-name] @12
    offs = tl.arrange(0, BLOCK)
    #! error: triton.language has no 'laod' [unknown-name] @9
    x = tl.laod(x_ptr + offs)
    #! error: triton.language has no 'expp' [unknown-name] @9
    y = tl.math.expp(x)
    #! error: triton.language has no 'relu' [unknown-name] @9
    z = tl.relu(y)
    #! error: a kernel cannot use 'triton.cdivs' [unsupported] @9
    w = triton.cdivs(BLOCK, 2)
    #! error: triton.language has no 'float23' [unknown-name] @9
    v = tl.float23
    u = x.too(tl.float32)
    tl.store(x_ptr + offs, x, z, w, v, u)

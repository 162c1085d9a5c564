"""Transforms, math functions, gathers, batches of small products, noise, descriptors in loops."""
import triton
import triton.language as tl
import triton.language.extra.libdevice as libdevice
from triton.language.extra import libdevice as ld


@triton.jit
def hadamard(x_ptr, y_ptr, N: tl.constexpr, LOG: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * N + tl.arange(0, N)).to(tl.float32)
    for i in tl.static_range(LOG):
        x = tl.reshape(x, (N // (2 << i), 2, 1 << i))
        x = tl.permute(x, (0, 2, 1))
        a, b = tl.split(x)
        x = tl.join(a + b, a - b)
        x = tl.permute(x, (0, 2, 1)).reshape(N)
    tl.store(y_ptr + tl.program_id(0) * N + tl.arange(0, N), x * (N ** -0.5))


@triton.jit
def reduce_kernel(x_ptr, out_ptr, lock_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    at = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=float("-inf"))
    m = tl.max(x, 0)
    tl.atomic_max(out_ptr, m)
    tl.atomic_add(lock_ptr, 1, sem="release")


@triton.jit
def libm(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    y = libdevice.tanh(x) + ld.erf(x) + tl.erf(x) + libdevice.pow(tl.abs(x), 1.5) + libdevice.fast_expf(x)
    tl.store(y_ptr + at, y, mask=at < n)


@triton.jit
def gather2(x_ptr, i_ptr, y_ptr, N: tl.constexpr, M: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    i = tl.load(i_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    y = tl.gather(x, i, axis=1)
    tl.store(y_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], y)


@triton.jit
def batched_dot(a_ptr, b_ptr, c_ptr, B: tl.constexpr, M: tl.constexpr, K: tl.constexpr):
    b = tl.arange(0, B)[:, None, None]
    i = tl.arange(0, M)
    k = tl.arange(0, K)
    x = tl.load(a_ptr + b * M * K + i[None, :, None] * K + k[None, None, :])
    y = tl.load(b_ptr + b * M * K + k[None, :, None] * M + i[None, None, :])
    z = tl.dot(x, y, allow_tf32=False)
    tl.store(c_ptr + b * M * M + i[None, :, None] * M + i[None, None, :], z)


@triton.jit
def noise(seed, off_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b, c, d = tl.rand4x(seed, at)
    e = tl.randn(seed, at)
    f = tl.randint(seed, at)
    tl.store(y_ptr + at, a + b + c + d + e, mask=at < n)
    tl.store(off_ptr + at, f, mask=at < n)


@triton.jit
def desc_loop(x_desc_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    desc = tl.make_tensor_descriptor(x_desc_ptr, [M, N], [N, 1], [BM, BN])
    acc = tl.zeros((BM,), tl.float32)
    for j in tl.range(0, N, BN, num_stages=3, warp_specialize=True):
        acc += tl.sum(desc.load([tl.program_id(0) * BM, j]).to(tl.float32), axis=1)
    out = tl.program_id(0) * BM + tl.arange(0, BM)
    tl.store(out_ptr + out, acc, mask=out < M)


@triton.jit
def rounded_once(x_ptr, d_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    d = tl.load(d_ptr)
    all_d = tl.load(d_ptr + i * 0)
    out = libdevice.add_rn(out_ptr, i)  # of a pointer: the same sum
    tl.store(out, tl.div_rn(x, d))
    tl.store(out + N, tl.math.div_rn(x, all_d))
    tl.store(out + 2 * N, tl.fdiv(x, d, ieee_rounding=True))
    tl.store(out + 3 * N, tl.sqrt_rn(x))
    tl.store(out + 4 * N, libdevice.rcp_rn(x))
    square = libdevice.mul_rn(x, x)
    tl.store(out + 5 * N, libdevice.sub_rn(square, all_d))
    tl.store(out + 6 * N, square - all_d)
    tl.store(out + 7 * N, libdevice.add_rn(square, all_d))


@triton.jit
def narrow(x_ptr, half_ptr, brain_ptr, bytes_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(half_ptr + i, x.to(tl.float16, fp_downcast_rounding="rtz"))
    tl.store(brain_ptr + i, x.to(tl.bfloat16, fp_downcast_rounding="rtz"))
    tl.store(bytes_ptr + i, x.to(tl.float8e5, fp_downcast_rounding="rtz"))


@triton.jit
def different_types(out_i_ptr, out_f_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    if tl.program_id(0) == 0:
        v = i + 2
        tl.store(out_i_ptr + i, v)
        return
    v = i.to(tl.float32) * 0.5
    tl.store(out_f_ptr + i, v)

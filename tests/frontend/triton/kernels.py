# Kernels for tests/frontend/test_triton_mutants.c: their types and constants are all given, so that
# each elaborates as it is.
import math

import triton
import triton.language as tl
from triton.language.extra import libdevice

LOG2E: tl.constexpr = 1.44269504
LIMIT = tl.constexpr(4)
KIND = tl.constexpr("relu")


@triton.jit
def activation(x, KIND: tl.constexpr):
    if KIND == "relu":
        return tl.maximum(x, 0.0)
    elif KIND in ("silu", "gelu"):
        return x * tl.sigmoid(x)
    else:
        tl.static_assert(False, "unknown activation")
        return x


@triton.jit
def combine(a, i, b, j):
    better = (a > b) | ((a == b) & (i < j))
    return tl.where(better, a, b), tl.where(better, i, j)


@triton.jit
def pair(a, b):
    return a + b, a - b


@triton.autotune(configs=[triton.Config({"BLOCK": 64}, num_warps=2)], key=["n"])
@triton.jit
def add(x: "*fp32", y: "*fp16", out: "*fp32", n, BLOCK: tl.constexpr):
    """Adds two vectors."""
    offs = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    a = tl.load(x + offs, mask=mask, other=0.0)
    b = tl.load(y + offs, mask, other=-float("inf")).to(tl.float32)
    s, d = pair(a, b)
    tl.store(out + offs, activation(s, KIND) + d * LOG2E, mask=mask)


@triton.jit
def product(a: "*fp16", b: "*fp16", c: "*fp32", M, N, K, sa, sb, sc,
            BM: tl.constexpr = 16, BN: tl.constexpr = 32, BK: tl.constexpr = 16,
            EVEN: tl.constexpr = False):
    pid = tl.program_id(0)
    count = tl.cdiv(N, BN)
    rows = (pid // count) * BM + tl.arange(0, BM)
    cols = (pid % count) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    pa = a + rows[:, None] * sa + k[None, :]
    pb = b + (k[:, None] * sb + cols[None, :])
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for i in tl.range(0, tl.cdiv(K, BK), num_stages=2):
        if EVEN:
            x = tl.load(pa)
            y = tl.load(pb)
        else:
            x = tl.load(pa, mask=k[None, :] < K - i * BK, other=0.0)
            y = tl.load(pb, mask=k[:, None] < K - i * BK, other=0.0)
        acc = tl.dot(x, y, acc, input_precision="ieee")
        pa += BK
        pb += BK * sb
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    tl.store(c + rows[:, None] * sc + cols[None, :], acc, mask=mask)


@triton.jit
def softmax(x: "*fp32", out: "*fp32", n, stride, BLOCK: tl.constexpr = 32):
    for row in range(tl.program_id(0), n, tl.num_programs(0)):
        i = tl.arange(0, BLOCK)
        v = tl.load(x + row * stride + i, mask=i < n, other=-float("inf"))
        v = tl.exp(v - tl.max(v, axis=0))
        tl.store(out + row * stride + i, v / tl.sum(v, axis=0), mask=i < n)


@triton.jit
def best(x: "*fp32", out: "*fp32", where: "*i32", n, BLOCK: tl.constexpr = 16):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i[:, None] * BLOCK + i[None, :])
    i2 = tl.broadcast_to(i[None, :], (BLOCK, BLOCK))
    top, at = tl.reduce((v, i2), 1, combine)
    tl.store(out + i, top)
    tl.store(where + i, at)
    total = tl.associative_scan(v, 0, lambda_add)
    tl.atomic_add(out, tl.sum(total), sem="relaxed")
    tl.atomic_max(where, tl.max(at, 0), scope="cta")


@triton.jit
def lambda_add(a, b):
    return a + b


@triton.jit
def control(x: "*i32", n, flag, BLOCK: tl.constexpr = 8, UNROLL: tl.constexpr = 3):
    i = 0
    total = 0
    while i < n:
        if i % 2 == 0 and flag > 0:
            i += 2
            continue
        elif i > 100 or not flag:
            break
        total += i if i > 3 else -i
        i += 1
    for k in tl.static_range(UNROLL):
        for j in (1, 2):
            total = total * j + k
    if total < 0:
        return
    one, (two, three) = total, (total << 1, ~total)
    tl.store(x + tl.arange(0, BLOCK), min(one, two) + max(two, three, 7) ^ 0x1F)
    tl.device_assert(total >= 0, "negative")
    tl.device_print("total", total)


@triton.jit
def blocks(x: "*fp32", out: "*fp32", n, m, SHIFT: tl.constexpr = None):
    p = tl.make_block_ptr(x, (n, m), (m, 1), (0, 0), (16, 32), (1, 0))
    d = tl.make_tensor_descriptor(out, [n, m], [m, 1], [16, 32])
    for i in range(0, m, 32):
        v = tl.load(p, boundary_check=(0, 1), padding_option="zero")
        if SHIFT is not None:
            v += SHIFT
        d.store([0, i], libdevice.tanh(v) * math.pi)
        p = tl.advance(p, (0, 32))


@triton.jit
def shapes(x: "*u8", seed, BLOCK: tl.constexpr = 16):
    i = tl.arange(0, BLOCK)
    a = tl.rand(seed, i)
    b = tl.join(a, a * 2).permute(1, 0).reshape(BLOCK * 2)
    lo, hi = tl.split(tl.trans(tl.reshape(b, (2, BLOCK))))
    c = tl.cat(lo, hi, can_reorder=True)
    e = tl.sort(c, descending=True).to(tl.int32, bitcast=True)
    h = tl.histogram(e & 15, 16)
    g = tl.gather(h, i & 3, axis=0) + tl.cumsum(i, 0) + tl.flip(i)
    f = tl.full([BLOCK], LIMIT, tl.uint8) * 2.5 // 1 if False else g
    tl.store(x + i, f.to(tl.uint8))

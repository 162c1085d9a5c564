"""The kernels of peers.py in Triton 3.6."""

import triton
import triton.language as tl


@triton.jit
def vadd(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(o + i, tl.load(x + i, m) + tl.load(y + i, m), m)


@triton.jit
def softmax(x, y, sx, sy, C, W: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, W)
    m = c < C
    v = tl.load(x + r * sx + c, m, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + r * sy + c, e / tl.sum(e, 0), m)


@triton.jit
def layernorm(X, Y, Wt, Bs, stride, N, eps, BLOCK: tl.constexpr):
    """The row stays in registers."""
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    m = c < N
    v = tl.load(X + r * stride + c, m, other=0.0).to(tl.float32)
    mean = tl.sum(v, 0) / N
    d = tl.where(m, v - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(d * d, 0) / N + eps)
    w = tl.load(Wt + c, m).to(tl.float32)
    b = tl.load(Bs + c, m).to(tl.float32)
    tl.store(Y + r * stride + c, (d * rstd * w + b).to(Y.dtype.element_ty), m)


@triton.jit
def place(pid, nm, nn, G: tl.constexpr):
    g = pid // (G * nn)
    first = g * G
    sz = min(nm - first, G)
    return first + (pid % (G * nn)) % sz, (pid % (G * nn)) // sz


@triton.jit
def matmul(
    a,
    b,
    c,
    M,
    N,
    K,
    sam,
    sak,
    sbk,
    sbn,
    scm,
    scn,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    G: tl.constexpr,
):
    pm, pn = place(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), G)
    om = (pm * BM + tl.arange(0, BM)) % M
    on = (pn * BN + tl.arange(0, BN)) % N
    ok = tl.arange(0, BK)
    ap = a + om[:, None] * sam + ok[None, :] * sak
    bp = b + ok[:, None] * sbk + on[None, :] * sbn
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(ap, mask=ok[None, :] < K - k * BK, other=0.0)
        y = tl.load(bp, mask=ok[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(x, y, acc)
        ap += BK * sak
        bp += BK * sbk
    om = pm * BM + tl.arange(0, BM)
    on = pn * BN + tl.arange(0, BN)
    tl.store(
        c + om[:, None] * scm + on[None, :] * scn,
        acc.to(c.dtype.element_ty),
        (om[:, None] < M) & (on[None, :] < N),
    )


@triton.jit
def put(c, acc, row, column, BM: tl.constexpr, BN: tl.constexpr, SUB: tl.constexpr):
    if SUB:
        parts = tl.permute(tl.reshape(acc, (BM, 2, BN // 2)), (0, 2, 1))
        left, right = tl.split(parts)
        c.store([row, column], left.to(c.dtype))
        c.store([row, column + BN // 2], right.to(c.dtype))
    else:
        c.store([row, column], acc.to(c.dtype))


@triton.jit
def matmul_desc(
    a,
    b,
    c,
    M,
    N,
    K,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    G: tl.constexpr,
    SUB: tl.constexpr,
    NK: tl.constexpr,
):
    """b is [N, K] if NK, else [K, N]."""
    pm, pn = place(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), G)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = a.load([pm * BM, k])
        if NK:
            acc = tl.dot(x, b.load([pn * BN, k]).T, acc)
        else:
            acc = tl.dot(x, b.load([k, pn * BN]), acc)
    put(c, acc, pm * BM, pn * BN, BM, BN, SUB)


@triton.jit
def matmul_desc_persistent(
    a,
    b,
    c,
    M,
    N,
    K,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    G: tl.constexpr,
    SUB: tl.constexpr,
    NK: tl.constexpr,
    FLAT: tl.constexpr,
):
    nm = tl.cdiv(M, BM)
    nn = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), nm * nn, tl.num_programs(0), flatten=FLAT):
        pm, pn = place(tile, nm, nn, G)
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            x = a.load([pm * BM, k])
            if NK:
                acc = tl.dot(x, b.load([pn * BN, k]).T, acc)
            else:
                acc = tl.dot(x, b.load([k, pn * BN]), acc)
        put(c, acc, pm * BM, pn * BN, BM, BN, SUB)


@triton.jit
def attention_step(
    q,
    K,
    V,
    m,
    l,
    acc,
    om,
    base,
    n0,
    scale,
    BN: tl.constexpr,
    D: tl.constexpr,
    DESC: tl.constexpr,
    MASK: tl.constexpr,
):
    on = tl.arange(0, BN)
    od = tl.arange(0, D)
    if DESC:
        k = K.load([base + n0, 0]).T
    else:
        k = tl.load(K + (base + n0 + on).to(tl.int64)[None, :] * D + od[:, None])
    s = tl.dot(q, k)
    if MASK:
        s = tl.where(om[:, None] >= (n0 + on)[None, :], s, -float("inf"))
    mn = tl.maximum(m, tl.max(s, 1) * scale)
    p = tl.exp2(s * scale - mn[:, None])
    al = tl.exp2(m - mn)
    l = l * al + tl.sum(p, 1)
    acc = acc * al[:, None]
    if DESC:
        v = V.load([base + n0, 0])
    else:
        v = tl.load(V + (base + n0 + on).to(tl.int64)[:, None] * D + od[None, :])
    acc = tl.dot(p.to(tl.float16), v, acc)
    return mn, l, acc


@triton.jit
def attention(
    Q,
    K,
    V,
    O,
    scale,
    N,
    BM: tl.constexpr,
    BN: tl.constexpr,
    D: tl.constexpr,
    CAUSAL: tl.constexpr,
    DESC: tl.constexpr,
):
    """f16 of [B*H*N, D]. scale contains log2(e). N is a multiple of both tiles."""
    i = tl.program_id(0)
    if CAUSAL:  # the longest programs first
        i = tl.num_programs(0) - 1 - i
    base = tl.program_id(1) * N
    om = i * BM + tl.arange(0, BM)
    od = tl.arange(0, D)
    if DESC:
        q = Q.load([base + i * BM, 0])
    else:
        q = tl.load(Q + (base + om).to(tl.int64)[:, None] * D + od[None, :])
    m = tl.full([BM], -float("inf"), tl.float32)
    l = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    if CAUSAL:
        for n0 in range(0, i * BM, BN):
            m, l, acc = attention_step(q, K, V, m, l, acc, om, base, n0, scale, BN, D, DESC, False)
        for n0 in range(i * BM, (i + 1) * BM, BN):
            m, l, acc = attention_step(q, K, V, m, l, acc, om, base, n0, scale, BN, D, DESC, True)
    else:
        for n0 in range(0, N, BN):
            m, l, acc = attention_step(q, K, V, m, l, acc, om, base, n0, scale, BN, D, DESC, False)
    acc = acc / l[:, None]
    if DESC:
        O.store([base + i * BM, 0], acc.to(tl.float16))
    else:
        tl.store(O + (base + om).to(tl.int64)[:, None] * D + od[None, :], acc.to(tl.float16))

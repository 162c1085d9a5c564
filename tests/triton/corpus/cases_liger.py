"""Kernels of Liger-Kernel: losses, normalizations, rotary embeddings, activations, routing."""

import numpy as np

import tilec.language as tl
from case import BF16, case, integers, near, normal, same, sigmoid, silu, softmax, uniform

OPS = "liger_kernel/ops/"


def liger(file, kernel):
    return case("liger-kernel", OPS + file, kernel)


def padded(rng, shape, extra, dtype="f4", scale=1.0):
    """A matrix whose rows are `extra` elements apart from each other in memory."""
    return normal(rng, (shape[0], shape[1] + extra), dtype, scale)[:, : shape[1]]


def row_stride(a):
    return a.strides[0] // a.itemsize


def log_softmax(x):
    x = np.asarray(x, dtype=np.float64)
    x = x - x.max(axis=-1, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=-1, keepdims=True))


# ---- activations


@liger("swiglu.py", "_swiglu_forward_kernel")
def swiglu_forward(run, rng):
    a, b = normal(rng, (4, 100)), normal(rng, (4, 100))
    c = np.zeros_like(a)
    run((4,), a, b, c, 100, 1.0, n_cols=100, BLOCK_SIZE=128)
    return [near(c, silu(a) * b)]


@liger("swiglu.py", "_swiglu_backward_kernel_tiled")
def liger_swiglu_backward_tiled(run, rng):
    shape, multiplier = (3, 150), 0.75
    dc, a, b = (normal(rng, shape) for _ in range(3))
    da, db = a.copy(), b.copy()
    run((3, 3), dc, da, db, 150, multiplier, n_cols=150, BLOCK_SIZE=64)
    x = multiplier * a.astype("f8")
    s = sigmoid(x)
    return [near(da, dc * b * multiplier * s * (1 + x * (1 - s))), near(db, dc * x * s)]


def gelu_tanh(a):
    """The value and the slope of the approximation of GELU that uses tanh."""
    a = np.asarray(a, dtype=np.float64)
    t = np.tanh(np.sqrt(2 / np.pi) * (a + 0.044715 * a**3))
    slope = np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * a**2)
    return 0.5 * a * (1 + t), 0.5 * (1 + t) + 0.5 * a * (1 - t**2) * slope


@liger("geglu.py", "_geglu_tanh_forward_kernel")
def liger_geglu_forward(run, rng):
    a, b = normal(rng, (5, 77), "f2"), normal(rng, (5, 77), "f2")
    c = np.zeros_like(a)
    run((5,), a, b, c, 77, n_cols=77, BLOCK_SIZE=128)
    return [near(c, gelu_tanh(a)[0] * b, 2e-3, 1e-4)]


@liger("geglu.py", "_geglu_tanh_backward_kernel")
def liger_geglu_backward(run, rng):
    dc, a, b = (normal(rng, (5, 77)) for _ in range(3))
    da, db = a.copy(), b.copy()
    run((5,), dc, da, db, 77, n_cols=77, BLOCK_SIZE=128)
    value, slope = gelu_tanh(a)
    return [near(da, dc * b * slope, 1e-5, 4e-6), near(db, dc * value, 1e-5, 2e-6)]


@liger("dyt.py", "_dyt_bwd_kernel")
def liger_dyt_backward(run, rng):
    """y = gamma * tanh(alpha * x) + beta. Each program of axis 1 sums every third row."""
    m, n, programs = 7, 300, 3
    x, dy = normal(rng, (m, n)), normal(rng, (m, n))
    alpha, gamma = np.array([0.7], "f4"), normal(rng, n)
    dx = np.zeros_like(x)
    da, dg, db = (np.zeros((programs, k), "f4") for k in (1, n, n))
    block = 512
    run((1, programs), dy, dx, da, dg, db, x, alpha, gamma, True, m, n, BLOCK_N=block)
    t = np.tanh(0.7 * x.astype("f8"))
    slope = (1 - t**2) * dy * gamma
    return [
        near(dx, 0.7 * slope, 1e-5, 2e-6),
        near(da.sum(), (x * slope).sum(), 0, 1e-3),
        near(dg.sum(0), (dy * t).sum(0), 1e-5, 1e-5),
        near(db.sum(0), dy.sum(0), 1e-5, 1e-5),
    ]


# ---- softmax and its relatives


@liger("softmax.py", "_softmax_single_block_forward_kernel")
def liger_softmax_forward(run, rng):
    x = padded(rng, (4, 90), 7, scale=4)
    y = np.zeros((4, 90), "f4")
    run((4,), y, 90, x, row_stride(x), 90, BLOCK_SIZE=128)
    return [near(y, softmax(x.astype("f8")), 1e-5, 1e-7)]


@liger("softmax.py", "_softmax_multi_block_backward_kernel")
def liger_softmax_backward(run, rng):
    y = softmax(normal(rng, (4, 300), scale=2))
    dy = padded(rng, (4, 300), 3)
    dx = np.zeros((4, 300), "f4")
    run((4,), dy, row_stride(dy), y, 300, dx, 300, 300, BLOCK_SIZE=128)
    y = y.astype("f8")
    return [near(dx, y * (dy - (dy * y).sum(1, keepdims=True)), 1e-5, 1e-6)]


def sparsemax(x):
    """The projection of each row onto the simplex, by bisection on the threshold."""
    low, high = x.min(1, keepdims=True) - 1, x.max(1, keepdims=True)
    for _ in range(100):
        middle = (low + high) / 2
        above = np.maximum(x - middle, 0).sum(1, keepdims=True) > 1
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.maximum(x - low, 0)


@liger("sparsemax.py", "_sparsemax_forward_kernel")
def liger_sparsemax_forward(run, rng):
    x = normal(rng, (5, 100))
    ordered = np.ascontiguousarray(-np.sort(-x, axis=1))
    y = np.zeros_like(x)
    run((5,), x, 100, ordered, 100, y, 100, 100, BLOCK_SIZE=128, num_warps=4)
    return [near(y, sparsemax(x.astype("f8")), 1e-5, 3e-6)]


@liger("sparsemax.py", "_sparsemax_backward_kernel")
def liger_sparsemax_backward(run, rng):
    y = sparsemax(normal(rng, (5, 100), "f8")).astype("f4")
    dy = normal(rng, (5, 100))
    dx = np.zeros_like(y)
    run((5,), y, dy, dx, 100, 100, BLOCK_SIZE=64, num_warps=4)
    inside = y > 0
    mean = (dy * inside).sum(1, keepdims=True) / inside.sum(1, keepdims=True)
    return [near(dx, np.where(inside, dy - mean, 0), 1e-5, 1e-6)]


# ---- losses


def cross_entropy(x, y, weight, ignore, z_scale, smoothing, mean, cap):
    """The losses and z losses of the rows, and the gradient of their sum, as PyTorch defines them.

    The gradient is that of sum_j t_j * -log p_j, where a part of the targets t is uniform.
    """
    x = x.astype("f8")
    rows, n = x.shape
    z = cap * np.tanh(x / cap) if cap else x
    kept = y != ignore
    w = np.ones(n) if weight is None else weight.astype("f8")
    target = np.zeros((rows, n))
    target[kept, y[kept]] = 1
    target = w * ((1 - smoothing) * target + smoothing / n) * kept[:, None]
    logp = log_softmax(z)
    lse = (z - logp)[:, :1]
    scale = w[y[kept]].sum() if mean else 1
    z_mean = kept.sum() if mean else 1
    z_loss = z_scale * lse[:, 0] ** 2 / z_mean * kept
    loss = -(target * logp).sum(1) / scale + z_loss
    grad = (target.sum(1, keepdims=True) * np.exp(logp) - target) / scale
    grad += 2 * z_scale * lse * np.exp(logp) / z_mean * kept[:, None]
    if cap:
        grad *= 1 - (z / cap) ** 2
    return loss, z_loss, grad


@liger("cross_entropy.py", "liger_cross_entropy_kernel")
def liger_cross_entropy(run, rng):
    rows, n, ignore = 6, 150, -100
    y = integers(rng, rows, 0, n, "i8")
    y[2] = ignore
    found = []
    for weighted, z_scale, smoothing, mean, cap in [
        (False, 0.0, 0.0, True, 0.0),
        (True, 1e-3, 0.1, True, 0.0),
        (False, 1e-3, 0.1, False, 5.0),
    ]:
        x = normal(rng, (rows, n), scale=3)
        x[0, y[0]] = 11
        weight = uniform(rng, n, 0.5, 2.0) if weighted else None
        dx = x.copy()
        loss, z_loss, accuracy = (np.zeros(rows, "f4") for _ in range(3))
        predicted = np.full(rows, -1, "i8")
        kept = int((y != ignore).sum())
        total = float(weight[y[y != ignore]].sum()) if weighted else kept
        run(
            (rows,),
            dx,
            n,
            y,
            1,
            weight,
            loss,
            z_loss,
            1,
            accuracy,
            1,
            predicted,
            1,
            n,
            kept,
            total,
            float(weight.sum()) if weighted else 0.0,
            ignore,
            z_scale,
            smoothing,
            "mean" if mean else "sum",
            cap if cap else None,
            True,
            True,
            True,
            BLOCK_SIZE=64,
            HAS_WEIGHT=weighted,
            HAS_SOFTCAPPING=cap != 0,
            HAS_GRADIENTS=True,
        )
        expected = cross_entropy(x, y, weight, ignore, z_scale, smoothing, mean, cap)
        best = np.where(y == ignore, -1, x.argmax(1))
        found += [
            near(loss, expected[0], 1e-5, 2e-6, "loss"),
            near(z_loss, expected[1], 1e-5, 1e-6, "z loss"),
            near(dx, expected[2], 1e-5, 2e-6, "gradient"),
            same(predicted, best),
            same(accuracy, best == y),
        ]
    return found


@liger("kl_div.py", "_kldiv_kernel_forward")
def liger_kl_div_forward(run, rng):
    rows, n = 4, 150
    found = []
    for reduction, log_target in [(0, False), (3, True)]:
        y = log_softmax(normal(rng, (rows, n))).astype("f4")
        p = softmax(normal(rng, (rows, n), scale=2))
        target = np.log(p) if log_target else p
        loss = np.zeros((rows, n) if reduction == 0 else rows, "f4")
        run(
            (rows,),
            y,
            n,
            target,
            n,
            loss,
            loss.shape[1] if reduction == 0 else 1,
            n,
            1e-10,
            BLOCK_SIZE=64,
            reduction=reduction,
            log_target=log_target,
        )
        p = p.astype("f8")
        expected = p * (np.log(p) - y)
        found.append(near(loss, expected if reduction == 0 else expected.sum(1), 1e-5, 2e-6))
    return found


@liger("jsd.py", "_jsd_kernel")
def liger_jsd(run, rng):
    rows, n = 4, 100
    labels = np.array([3, -100, 7, 0], "i8")
    kept = 3
    found = []
    for beta in (0.0, 0.3, 1.0):
        x = log_softmax(normal(rng, (rows, n), scale=2)).astype("f4")
        y = log_softmax(normal(rng, (rows, n), scale=2)).astype("f4")
        loss, dx = np.zeros((rows, n), "f4"), np.ones((rows, n), "f4")
        run(
            (rows,),
            x,
            n,
            y,
            n,
            loss,
            n,
            dx,
            n,
            labels,
            beta,
            kept,
            -100,
            n,
            BLOCK_SIZE=64,
            HAS_LABEL=True,
        )
        x, y = x.astype("f8"), y.astype("f8")
        q, p = np.exp(x), np.exp(y)
        if beta == 0:
            expected, grad = p * (y - x), -p
        elif beta == 1:
            expected, grad = q * (x - y), q * (x - y) + q
        else:
            m = np.log(beta * p + (1 - beta) * q)
            expected = beta * p * (y - m) + (1 - beta) * q * (x - m)
            grad = (1 - beta) * q * (x - m)
        weight = (labels != -100)[:, None] / kept
        found += [near(loss, expected * weight, 1e-5, 1e-6), near(dx, grad * weight, 1e-5, 1e-6)]
    return found


@liger("tvd.py", "_tv_distance_kernel")
def liger_tvd(run, rng):
    rows, n = 5, 120
    labels = np.array([3, 9, -100, 2, 1], "i8")
    p, q = softmax(normal(rng, (rows, n))), softmax(normal(rng, (rows, n)))
    q[:, ::7] = p[:, ::7]
    found = []
    for reduction in (0, 3):
        scale = 0.25 if reduction else 1.0
        loss = np.ones((rows, n) if reduction == 0 else rows, "f4")
        loss[2] = 0
        grad = np.ones((rows, n), "f4")
        run(
            (rows,),
            p,
            n,
            q,
            n,
            loss,
            n if reduction == 0 else 1,
            grad,
            n,
            labels,
            -100,
            n,
            scale,
            BLOCK_SIZE=64,
            HAS_LABEL=True,
            reduction=reduction,
        )
        kept = (labels != -100)[:, None]
        distance = 0.5 * np.abs(p.astype("f8") - q) * kept
        found += [
            near(loss, distance.sum(1) * scale if reduction else distance),
            near(grad, 0.5 * scale * np.sign(p - q) * kept),
        ]
    return found


@liger("fused_linear_kl_div.py", "_kl_div_kernel")
def liger_fused_kl_div(run, rng):
    """KL(q || softmax(x / t)) * scale for each row, and its gradient in place of x."""
    rows, n, temperature, scale = 4, 130, 2.5, 0.5
    labels = np.array([-100, 1, 2, 3], "i8")
    x = normal(rng, (rows, n), scale=3)
    q = softmax(normal(rng, (rows, n)))
    dx, loss = x.copy(), np.zeros(rows, "f4")
    run(
        (rows,),
        dx,
        n,
        q,
        n,
        loss,
        1,
        labels,
        -100,
        n,
        temperature,
        1e-10,
        scale,
        BLOCK_SIZE=64,
        HAS_LABEL=True,
    )
    q = q.astype("f8")
    logp = log_softmax(x / temperature)
    kept = labels != -100
    grad = scale / temperature * (np.exp(logp) * q.sum(1, keepdims=True) - q)
    return [
        near(loss, scale * (q * (np.log(q) - logp)).sum(1) * kept, 1e-5, 2e-6),
        near(dx, grad * kept[:, None], 1e-5, 1e-6),
    ]


# ---- normalizations


@liger("rms_norm.py", "_rms_norm_forward_kernel")
def liger_rms_norm_forward(run, rng):
    found = []
    for dtype, mode, affine in [("f2", 0, True), ("f2", 1, True), ("f4", -1, False)]:
        x, w = padded(rng, (4, 100), 4, dtype), normal(rng, 100, dtype)
        y, rstd = np.zeros((4, 100), dtype), np.zeros(4, "f4")
        run(
            (4,),
            y,
            100,
            x,
            row_stride(x),
            w if affine else None,
            1 if affine else 0,
            rstd,
            1,
            100,
            1e-6,
            1.0,
            casting_mode=mode,
            elementwise_affine=affine,
            BLOCK_SIZE=128,
        )
        x = x.astype("f8")
        r = 1 / np.sqrt((x**2).mean(1) + 1e-6)
        expected = x * r[:, None] * ((1 + w.astype("f8")) if affine else 1)
        found += [
            near(rstd, r, 1e-5),
            near(y, expected, 1e-5 if dtype == "f4" else 2e-3, 1e-6 if dtype == "f4" else 1e-3),
        ]
    return found


@liger("rms_norm.py", "_block_rms_norm_backward_kernel")
def liger_block_rms_norm_backward(run, rng):
    rows, n, programs = 11, 50, 2
    x, dy = padded(rng, (rows, n), 6), normal(rng, (rows, n))
    w = normal(rng, n)
    r = 1 / np.sqrt((x.astype("f8") ** 2).mean(1, keepdims=True) + 1e-6)
    dx, dw = np.zeros((rows, n), "f4"), np.zeros((programs, n), "f4")
    run(
        (programs,),
        dy,
        n,
        dx,
        n,
        x,
        row_stride(x),
        tl.float32,
        w,
        1,
        r.astype("f4"),
        1,
        dw,
        n,
        rows,
        n,
        1.0,
        casting_mode=1,
        elementwise_affine=True,
        BLOCK_SIZE=64,
        BLOCK_ROW=4,
    )
    x, m = x.astype("f8"), dy * (w + 1.0)
    expected = r * m - r**3 * x * (m * x).mean(1, keepdims=True)
    return [near(dx, expected, 1e-5, 3e-6), near(dw.sum(0), (dy * x * r).sum(0), 1e-5, 1e-5)]


@liger("layer_norm.py", "_layer_norm_forward_kernel")
def liger_layer_norm_forward(run, rng):
    x = BF16(normal(rng, (3, 200)) + 2)
    w, b = BF16(normal(rng, 200)), BF16(normal(rng, 200))
    y = BF16(np.zeros((3, 200)))
    mean, rstd = np.zeros(3, "f4"), np.zeros(3, "f4")
    run(
        (3,),
        y.array,
        200,
        x.array,
        200,
        w.array,
        1,
        b.array,
        1,
        mean,
        1,
        rstd,
        1,
        200,
        1e-5,
        BLOCK_SIZE=256,
    )
    v = x.values.astype("f8")
    m, r = v.mean(1), 1 / np.sqrt(v.var(1) + 1e-5)
    expected = (v - m[:, None]) * r[:, None] * w.values + b.values
    return [near(mean, m), near(rstd, r), near(y.values, expected, 2**-8, 1e-5)]


@liger("layer_norm.py", "_layer_norm_backward_kernel")
def liger_layer_norm_backward(run, rng):
    rows, n, programs, each = 7, 90, 3, 3
    x, dy, w = normal(rng, (rows, n)), padded(rng, (rows, n), 5), normal(rng, n)
    mean = x.astype("f8").mean(1, keepdims=True)
    rstd = 1 / np.sqrt(x.astype("f8").var(1, keepdims=True) + 1e-5)
    dx = np.zeros_like(x)
    dw, db = np.zeros((programs, n), "f4"), np.zeros((programs, n), "f4")
    run(
        (programs,),
        x,
        n,
        w,
        mean.astype("f4"),
        1,
        rstd.astype("f4"),
        1,
        dx,
        n,
        dw,
        n,
        db,
        n,
        dy,
        row_stride(dy),
        rows,
        n,
        rows_per_program=each,
        BLOCK_SIZE=128,
    )
    h, g = (x - mean) * rstd, dy.astype("f8") * w
    expected = rstd * (g - g.mean(1, keepdims=True) - h * (g * h).mean(1, keepdims=True))
    return [
        near(dx, expected, 1e-5, 3e-6),
        near(dw.sum(0), (dy * h).sum(0), 1e-5, 1e-5),
        near(db.sum(0), dy.sum(0), 1e-5, 5e-6),
    ]


@liger("group_norm.py", "_group_norm_forward_kernel")
def liger_group_norm_forward(run, rng):
    batch, groups, channels, size = 2, 3, 4, 35
    x = normal(rng, (batch, groups, channels, size)) + np.float32(0.5)
    w, b = normal(rng, groups * channels), normal(rng, groups * channels)
    y = np.zeros_like(x)
    mean, rstd = np.zeros((batch, groups), "f4"), np.zeros((batch, groups), "f4")
    n = channels * size
    run(
        (batch, groups),
        y,
        groups * n,
        n,
        x,
        groups * n,
        n,
        mean,
        groups,
        1,
        rstd,
        groups,
        1,
        w,
        b,
        n,
        channels,
        1e-5,
        BLOCK_SIZE=64,
    )
    v = x.astype("f8")
    m = v.mean((2, 3))
    r = 1 / np.sqrt(v.var((2, 3)) + 1e-5)
    expected = (v - m[..., None, None]) * r[..., None, None]
    expected = expected * w.reshape(groups, channels, 1) + b.reshape(groups, channels, 1)
    return [near(mean, m, 1e-5, 1e-6), near(rstd, r), near(y, expected, 1e-5, 1e-5)]


@liger("group_norm.py", "_group_norm_backward_kernel")
def liger_group_norm_backward(run, rng):
    batch, groups, channels, size = 3, 2, 2, 75
    x = normal(rng, (batch, groups * channels, size))
    dy, w = normal(rng, x.shape), normal(rng, groups * channels)
    v = x.astype("f8").reshape(batch, groups, -1)
    mean, rstd = v.mean(2), 1 / np.sqrt(v.var(2) + 1e-5)
    dx, dw, db = np.zeros_like(x), np.zeros_like(w), np.zeros_like(w)
    run(
        (batch, groups),
        x,
        groups * channels * size,
        size,
        w,
        mean.astype("f4"),
        groups,
        1,
        rstd.astype("f4"),
        dx,
        dw,
        db,
        dy,
        size,
        channels,
        BLOCK_SIZE=32,
        dtype=tl.float32,
    )
    h = ((v - mean[..., None]) * rstd[..., None]).reshape(x.shape)
    g = (dy.astype("f8") * w[:, None]).reshape(v.shape)
    hg = h.reshape(v.shape)
    expected = g - g.mean(2, keepdims=True) - hg * (g * hg).mean(2, keepdims=True)
    expected = (rstd[..., None] * expected).reshape(x.shape)
    return [
        near(dx, expected, 1e-5, 4e-6),
        near(dw, (dy * h).sum((0, 2)), 1e-5, 3e-5),
        near(db, dy.sum((0, 2)), 1e-5, 3e-5),
    ]


@liger("mhc.py", "_mhc_split_sinkhorn_fwd_kernel")
def liger_sinkhorn_forward(run, rng):
    n, hc, rounds, eps = 5, 4, 6, 1e-6
    m = hc * (hc + 2)
    mix, b = normal(rng, (n, m)), normal(rng, m)
    alphas = [np.array([a], "f4") for a in (0.5, 1.5, 2.0)]
    pre, post = np.zeros((n, hc), "f4"), np.zeros((n, hc), "f4")
    res, history = np.zeros((n, hc, hc), "f4"), np.zeros((n, rounds, hc, hc), "f4")
    sq = hc * hc
    run(
        (n,),
        mix,
        b,
        pre,
        post,
        res,
        history,
        n,
        hc,
        m,
        m,
        1,
        hc,
        1,
        hc,
        1,
        sq,
        hc,
        1,
        rounds * sq,
        sq,
        hc,
        1,
        *alphas,
        1e-4,
        eps,
        2.0,
        rounds,
        True,
    )
    matrix = softmax((mix[:, 2 * hc :] * 2.0 + b[2 * hc :]).astype("f8").reshape(n, hc, hc)) + eps
    matrix /= matrix.sum(1, keepdims=True) + eps
    steps = [matrix]
    for _ in range(rounds - 1):
        matrix = matrix / (matrix.sum(2, keepdims=True) + eps)
        matrix = matrix / (matrix.sum(1, keepdims=True) + eps)
        steps.append(matrix)
    return [
        near(pre, sigmoid(mix[:, :hc] * 0.5 + b[:hc]) + 1e-4),
        near(post, 2 * sigmoid(mix[:, hc : 2 * hc] * 1.5 + b[hc : 2 * hc])),
        near(res, matrix, 1e-5, 1e-6),
        near(history, np.stack(steps, 1), 1e-5, 1e-6),
    ]


# ---- rotary embeddings


def rotate_halves(x, cos, sin):
    """x is [..., heads, size]; cos and sin are [..., half of what is rotated]."""
    half = cos.shape[-1]
    c, s = cos[..., None, :], sin[..., None, :]
    x = x.astype("f8")
    first, second = x[..., :half], x[..., half : 2 * half]
    rotated = [first * c - second * s, second * c + first * s, x[..., 2 * half :]]
    return np.concatenate(rotated, -1)


@liger("rope.py", "_triton_rope")
def liger_rope(run, rng):
    """48 of 64 elements of each head are rotated, of 3 and 2 heads."""
    batch, length, heads, kv_heads, size, rotary = 2, 3, 3, 2, 64, 48
    q = normal(rng, (batch, length, heads, size))
    k = normal(rng, (batch, length, kv_heads, size))
    found = []
    for backward, batches in [(False, 1), (True, batch)]:
        angle = uniform(rng, (batches, length, rotary // 2), -3, 3)
        cos, sin = (np.tile(f(angle), 2) for f in (np.cos, np.sin))
        new_q, new_k = q.copy(), k.copy()
        run(
            (batch * length,),
            new_q,
            heads * size,
            new_k,
            kv_heads * size,
            cos,
            rotary,
            sin,
            rotary,
            length,
            batch,
            batches,
            heads,
            kv_heads,
            size,
            4,
            2,
            64,
            64,
            rotary,
            BLOCK_SIZE=4,
            BACKWARD_PASS=backward,
        )
        angle = -angle.astype("f8") if backward else angle.astype("f8")
        cos, sin = np.cos(angle), np.sin(angle)
        found += [
            near(new_q, rotate_halves(q, cos, sin), 1e-5, 1e-6),
            near(new_k, rotate_halves(k, cos, sin), 1e-5, 1e-6),
        ]
    return found


@liger("llama4_rope.py", "_llama4_rope_kernel")
def liger_llama4_rope(run, rng):
    """Pairs of neighbours are complex numbers, multiplied by those of the position."""
    batch, length, heads, kv_heads, half = 2, 3, 4, 2, 20
    q = normal(rng, (batch, length, heads, half, 2))
    k = normal(rng, (batch, length, kv_heads, half, 2))
    angle = uniform(rng, (length, half), -3, 3)
    factors = np.stack([np.cos(angle), np.sin(angle)], -1)
    new_q, new_k = q.copy(), k.copy()
    size = 2 * half
    run(
        (batch * length, heads),
        new_q,
        new_k,
        factors,
        heads * size,
        kv_heads * size,
        size,
        size,
        size,
        length,
        batch,
        -1.0,
        half,
        heads,
        kv_heads,
        BLOCK_SIZE=16,
    )

    def turned(x):
        x = (x[..., 0] + 1j * x[..., 1]) * np.exp(-1j * angle.astype("f8"))[:, None]
        return np.stack([x.real, x.imag], -1)

    return [near(new_q, turned(q), 1e-5, 1e-6), near(new_k, turned(k), 1e-5, 1e-6)]


@liger("qwen2vl_mrope.py", "_triton_qwen2vl_mrope")
def liger_qwen2vl_mrope(run, rng):
    """Sections of the angles come from the time, the height and the width."""
    batch, length, heads, kv_heads, size, sections = 2, 3, 3, 1, 48, (8, 10, 6)
    q = normal(rng, (batch, length, heads, size))
    k = normal(rng, (batch, length, kv_heads, size))
    angle = uniform(rng, (3, batch, length, size // 2), -3, 3)
    cos, sin = (np.tile(f(angle), 2) for f in (np.cos, np.sin))
    new_q, new_k = q.copy(), k.copy()
    run(
        (batch * length,),
        new_q,
        new_k,
        cos,
        sin,
        length,
        batch,
        heads,
        kv_heads,
        size,
        4,
        1,
        64,
        sections[0],
        sections[1],
        BLOCK_SIZE=4,
        BACKWARD_PASS=False,
    )
    ends = np.cumsum(sections)[:2]
    parts = [np.split(angle[i].astype("f8"), ends, -1)[i] for i in range(3)]
    angle = np.concatenate(parts, -1)
    return [
        near(new_q, rotate_halves(q, np.cos(angle), np.sin(angle)), 1e-5, 1e-6),
        near(new_k, rotate_halves(k, np.cos(angle), np.sin(angle)), 1e-5, 1e-6),
    ]


# ---- embedding, routing and products


@liger("experimental/embedding.py", "embedding_backward_kernel")
def liger_embedding_backward(run, rng):
    count, rows, size = 21, 9, 50
    dy, index = normal(rng, (count, size)), integers(rng, count, 0, rows, "i8")
    dw = np.zeros((rows, size), "f4")
    run((2, 2), dy, dw, index, count, embedding_dim=size, BLOCK_SIZE_M=16, BLOCK_SIZE_N=32)
    expected = np.zeros((rows, size))
    np.add.at(expected, index, dy)
    return [near(dw, expected, 1e-5, 2e-6)]


@liger("fused_moe_kernels.py", "_moe_router_histogram_kernel")
def liger_moe_histogram(run, rng):
    tokens, k, experts, each = 37, 3, 6, 16
    chosen = np.argsort(rng.random((tokens, experts)), axis=1)[:, :k].astype("i4")
    tiles = 3
    counts = np.full((experts, tiles), 99, "i4")
    run((tiles,), chosen, counts, tokens, experts, tiles, each, 4, k, 8)
    expected = [np.bincount(c.ravel(), minlength=experts) for c in np.split(chosen, [16, 32])]
    return [same(counts, np.stack(expected, 1))]


@liger("fused_moe_kernels.py", "_moe_router_prefix_sum_kernel")
def liger_moe_prefix_sum(run, rng):
    experts, tiles, tile_rows = 6, 11, 16
    counts = integers(rng, (experts, tiles), 0, 9)
    total = counts.sum(1).astype("i4")
    sums = counts.copy()
    starts, tile_starts = np.zeros(experts + 1, "i4"), np.zeros(experts + 1, "i4")
    run(
        (experts + 2,),
        total,
        starts,
        tile_starts,
        experts,
        sums,
        tiles,
        int(total.sum()),
        BLOCK_M=4,
        BLOCK_N=4,
        BLOCK_M_TOKEN=tile_rows,
    )
    return [
        same(sums, counts.cumsum(1) - counts),
        same(starts, np.append(0, total.cumsum())),
        same(tile_starts, np.append(0, (-(-total // tile_rows)).cumsum())),
    ]


@liger("fused_moe_kernels.py", "_moe_router_scatter_kernel")
def liger_moe_scatter(run, rng):
    """Positions are stable: sorted by expert, then by the flat index."""
    tokens, experts, each, tile_rows = 37, 6, 16, 8
    tiles = 3
    found = []
    for k, padded_k in [(2, 2), (3, 4)]:
        chosen = np.argsort(rng.random((tokens, experts)), axis=1)[:, :k].astype("i4")
        flat = chosen.ravel()
        parts = np.split(chosen, [16, 32])
        counts = np.stack([np.bincount(c.ravel(), minlength=experts) for c in parts], 1)
        total = counts.sum(1)
        starts = np.append(0, total.cumsum()).astype("i4")
        row_tiles = -(-total // tile_rows)
        tile_starts = np.append(0, row_tiles.cumsum()).astype("i4")
        sums = (counts.cumsum(1) - counts).astype("i4")
        scatter, reverse, gather = (np.full(tokens * k, -1, "i4") for _ in range(3))
        tile_row, tile_expert = (np.full(tile_starts[-1], -1, "i4") for _ in range(2))
        run(
            (tiles,),
            scatter,
            reverse,
            gather,
            tile_row,
            tile_expert,
            chosen,
            tokens,
            sums,
            tiles,
            starts,
            tile_starts,
            padded_k,
            k,
            each,
            tile_rows,
        )
        order = np.argsort(flat, kind="stable")
        inverse = np.argsort(order)
        expected_expert = np.repeat(np.arange(experts), row_tiles)
        within = np.arange(tile_starts[-1]) - tile_starts[expected_expert]
        found += [
            same(scatter, order),
            same(reverse, inverse),
            same(gather, order // k),
            same(tile_expert, expected_expert),
            same(tile_row, starts[expected_expert] + within * tile_rows),
        ]
    return found


@liger("fused_moe_kernels.py", "_fused_up_proj_swiglu_kernel")
def liger_moe_up_projection(run, rng):
    """Rows are sorted by expert; the second expert has none."""
    tokens, experts, hidden, inner, rows = 20, 3, 40, 50, 16
    gather = integers(rng, 33, 0, tokens)
    starts = np.array([0, 21, 21, 33], "i4")
    tile_row, tile_expert = np.array([0, 16, 21], "i4"), np.array([0, 0, 2], "i4")
    x = normal(rng, (tokens, hidden), "f2")
    w = normal(rng, (experts, 2 * inner, hidden), "f2", 0.2)
    before, after = np.zeros((33, 2 * inner), "f2"), np.zeros((33, inner), "f2")
    run(
        (3, 2),
        x,
        w,
        gather,
        starts,
        tile_row,
        tile_expert,
        before,
        after,
        hidden,
        inner,
        hidden,
        1,
        2 * inner * hidden,
        hidden,
        1,
        2 * inner,
        1,
        inner,
        1,
        BLOCK_M=rows,
        BLOCK_N=32,
        BLOCK_K=16,
    )
    expert = np.repeat(np.arange(experts), np.diff(starts))
    expected = np.einsum("rh,rnh->rn", x[gather].astype("f8"), w[expert].astype("f8"))
    gate, up = expected[:, :inner], expected[:, inner:]
    return [near(before, expected, 1e-3, 1e-3), near(after, silu(gate) * up, 1e-3, 1e-3)]


@liger("experimental/mm_int8int2.py", "matmul_kernel")
def liger_int8_int2_product(run, rng):
    """Bits 2i and 2i+1 of a byte of b are the row i * K/4 + (the byte's row), plus 1."""
    m, n, k = 37, 45, 256
    a = integers(rng, (m, k), -128, 128, "i1")
    digits = integers(rng, (4, k // 4, n), 0, 3, "u1")
    b = sum(digits[i] << (2 * i) for i in range(4)).astype("u1")
    c = np.zeros((m, n), "i4")
    run(
        (2 * 2,),
        a,
        b,
        c,
        m,
        n,
        k,
        k,
        1,
        n,
        1,
        n,
        1,
        BLOCK_SIZE_M=32,
        BLOCK_SIZE_N=32,
        BLOCK_SIZE_K=32,
        GROUP_SIZE_M=2,
    )
    return [same(c, a.astype("i4") @ (digits.reshape(k, n).astype("i4") - 1))]


# ---- branches and loops that constexprs unroll


@liger("attn_res.py", "_attn_res_fwd_kernel")
def liger_attention_over_blocks(run, rng):
    """Each token attends to its values in n blocks; the keys are their normalized values."""
    n, tokens, size = 5, 3, 50
    v, query, weight = normal(rng, (n, tokens, size)), normal(rng, size), normal(rng, size)
    out = np.zeros((tokens, size), "f4")
    alpha, rstd = np.zeros((tokens, n), "f4"), np.zeros((tokens, n), "f4")
    run((tokens,), v, query, weight, out, alpha, rstd, n, tokens, size, 1e-6, 64, 8)
    v = v.astype("f8")
    inverse = 1 / np.sqrt((v**2).mean(2) + 1e-6)
    p = softmax((v * inverse[..., None] * weight * query).sum(2).T)
    return [
        near(rstd, inverse.T),
        near(alpha, p, 2e-5, 1e-6),
        near(out, np.einsum("tn,ntd->td", p, v), 2e-5, 1e-5),
    ]


@liger("mhc.py", "_mhc_sinkhorn_bwd_kernel")
def liger_sinkhorn_backward(run, rng):
    """The derivatives are those of an imaginary step of the forward pass."""
    n, hc, rounds, eps = 3, 4, 3, 1e-6
    m = hc * (hc + 2)
    mix, b, g = normal(rng, (n, m)), normal(rng, m), normal(rng, (n, hc, hc))
    out = np.zeros((n, hc, hc), "f4")
    sq = hc * hc
    alpha = np.array([0.5], "f4")
    run((n,), mix, b, g, out, n, hc, m, 1, sq, hc, 1, sq, hc, 1, alpha, eps, rounds)

    def forward(x):
        x = np.exp(x)
        x = x / x.sum(-1, keepdims=True) + eps
        x = x / (x.sum(-2, keepdims=True) + eps)
        for _ in range(rounds - 1):
            x = x / (x.sum(-1, keepdims=True) + eps)
            x = x / (x.sum(-2, keepdims=True) + eps)
        return x

    logits = (mix[:, 2 * hc :] * 0.5 + b[2 * hc :]).astype("f8").reshape(n, 1, sq)
    steps = (logits + 1e-30j * np.eye(sq)).reshape(n, sq, hc, hc)
    slopes = forward(steps).imag / 1e-30
    expected = (slopes * g[:, None]).sum((2, 3)).reshape(n, hc, hc)
    return [near(out, expected, 1e-4, 3e-6)]


@liger("mhc.py", "_mhc_mm_norm_fwd_kernel")
def liger_product_and_norm(run, rng):
    n, k, m = 21, 70, 24
    found = []
    for dtype, cast in [("f2", False), ("f4", True)]:
        x, phi = normal(rng, (n, k), dtype), normal(rng, (k, m), dtype)
        mix, inverse = np.zeros((n, m), "f4"), np.zeros(n, "f4")
        run((2, 2), x, phi, mix, inverse, n, k, m, k, 1, m, 1, m, 1, 1e-6, 16, 32, 16, cast)
        v = x.astype("f8")
        expected = 1 / np.sqrt((v**2).mean(1) + 1e-6)
        size = (np.abs(v) @ np.abs(phi.astype("f8"))).max()
        rounding = 2**-10 if cast else 1e-6
        found += [
            near(inverse, expected),
            near(mix, v @ phi.astype("f8") * expected[:, None], 1e-5, rounding * size),
        ]
    return found


@liger("fused_neighborhood_attention.py", "_fused_neighborhood_attention_qk_kernel")
def liger_neighborhood_scores(run, rng):
    """Scores beyond the neighborhood are -inf."""
    batch, heads, length, size = 2, 2, 37, 24
    q, k = (normal(rng, (batch, length, heads, size), "f2").swapaxes(1, 2) for _ in range(2))
    distance = np.arange(length)[:, None] - np.arange(length)
    mask = ((np.abs(distance) <= 6) & (distance % 2 == 0)).astype("f4")
    scores = np.zeros((batch, heads, length, length), "f4")
    strides = [length * heads * size, size, heads * size, 1]
    run(
        (batch * heads, 2, 2),
        q,
        k,
        scores,
        mask,
        *strides,
        *strides,
        heads * length * length,
        length * length,
        length,
        1,
        batch,
        heads,
        length,
        size,
        0.2,
        7,
        2,
        32,
        32,
        16,
        num_stages=2,
        num_warps=4,
    )
    expected = 0.2 * np.einsum("bhid,bhjd->bhij", q.astype("f8"), k.astype("f8"))
    return [near(scores, np.where(mask > 0, expected, -np.inf), 1e-5, 1e-5)]


@liger("grpo_loss.py", "_grpo_loss_fwd_kernel")
def liger_grpo_forward(run, rng):
    batch, length, n, beta, low, high = 2, 5, 100, 0.04, 0.2, 0.3
    ids = integers(rng, (batch, length), 0, n, "i8")
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], "i4")
    found = []
    for kind in range(4):
        logits = normal(rng, (batch, length + 1, n), scale=2)
        logp = np.take_along_axis(log_softmax(logits[:, :-1] / 0.9), ids[..., None], 2)[..., 0]
        old, ref = (logp + normal(rng, logp.shape, scale=0.8)).astype("f4"), normal(rng, logp.shape)
        ref = (logp + 0.3 * ref).astype("f4")
        gain, ratio = np.array([-0.7, 0.9], "f4"), uniform(rng, (batch, length))
        phi = uniform(rng, batch)
        loss, lse, kl, clipped = (np.zeros((batch, length), "f4") for _ in range(4))
        run(
            (batch, length),
            logits,
            old,
            ref,
            ids,
            mask,
            gain,
            ratio,
            length,
            phi,
            loss,
            lse,
            kl,
            clipped,
            0.9,
            beta,
            low,
            high,
            kind,
            1.0,
            1.05,
            1.25,
            True,
            length,
            n,
            BLOCK_N=64,
        )
        r, a = np.exp(logp - old), gain[:, None].astype("f8")
        t = np.where(a > 0, 1.0, 1.05)
        bounded = np.minimum(np.minimum(r, 1.25) * a, np.clip(r, 1 - low, 1 + high) * a)
        expected = -[
            bounded,
            np.minimum(r, high) * a * logp,
            sigmoid(t * (r - 1)) * 4 / t * a,
            phi[:, None] * a * logp,
        ][kind]
        outside = [
            ((r < 1 - low) & (a < 0)) | ((r > 1 + high) & (a > 0)),
            (r > high) & (a > 0),
            0 * r,
            0 * r,
        ][kind]
        if kind != 3:
            expected = expected * ratio
        expected_kl = (np.exp(ref - logp) - (ref - logp) - 1) * r
        lse_expected = np.log(np.exp(logits[:, :-1].astype("f8") / 0.9).sum(2))
        found += [
            near(loss, (expected + beta * expected_kl) * mask, 2e-5, 5e-6),
            near(lse, lse_expected * mask, 1e-5),
            near(kl, expected_kl * mask, 1e-5, 2e-6),
            same(clipped, outside * mask),
        ]
    return found


@liger("poly_norm.py", "_poly_norm_forward_kernel")
def liger_poly_norm(run, rng):
    x, w, b = normal(rng, (3, 100)), normal(rng, 3), normal(rng, 1)
    y, rstd = np.zeros_like(x), np.zeros((3, 3), "f4")
    run((3,), y, 100, x, 100, w, b, rstd, 3, 100, 1e-6, BLOCK_SIZE=128)
    powers = np.stack([x.astype("f8") ** k for k in (3, 2, 1)])
    inverse = 1 / np.sqrt((powers**2).mean(2) + 1e-6)
    expected = (w[:, None, None] * powers * inverse[..., None]).sum(0) + b
    return [near(rstd, inverse.T), near(y, expected, 1e-5, 2e-6)]

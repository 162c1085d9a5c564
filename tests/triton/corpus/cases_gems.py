"""flag-gems: operators of PyTorch."""

import numpy as np
from case import case, integers, near, normal, same, sigmoid, softmax, uniform

OPS = "flag_gems/ops/"
FUSED = "flag_gems/fused/"


@case("flag-gems", OPS + "softmax.py", "softmax_kernel_non_inner")
def gems_softmax_non_inner(run, rng):
    m, n, k = 3, 37, 21
    x = normal(rng, (m, n, k), scale=3)
    compared = []
    for one_tile, tile_n in ((True, 64), (False, 16)):
        out = np.zeros_like(x)
        run((m, 2), out, x, m, n, k, TILE_N=tile_n, TILE_K=16, ONE_TILE_PER_CTA=one_tile)
        compared.append(near(out, softmax(x, 1)))
    return compared


@case("flag-gems", OPS + "topk.py", "topk_stage1_kernel")
def gems_topk_stage1(run, rng):
    batch, n, chunk, k = 2, 150, 64, 5
    x = np.stack([rng.permutation(n) for _ in range(batch)]).astype("f2") - 70
    compared = []
    for descending in (True, False):
        values = np.zeros((batch, 3, k), "f2")
        index = np.zeros((batch, 3, k), "i8")
        run((batch, 3), values, index, x, k, N=n, CHUNK_SIZE=chunk, DESCENDING=descending)
        for c in range(3):
            part = x[:, c * chunk : (c + 1) * chunk]
            order = np.argsort(-part if descending else part, axis=1)[:, :k]
            compared.append(same(index[:, c], order + c * chunk, "index"))
            compared.append(same(values[:, c], np.take_along_axis(part, order, 1), "values"))
    return compared


@case("flag-gems", OPS + "topk.py", "topk_stage2_kernel")
def gems_topk_stage2(run, rng):
    """A bitonic sort of pairs."""
    batch, n, k = 3, 45, 7
    x = np.stack([rng.permutation(n) for _ in range(batch)]).astype("f4") * 0.5 - 9
    index = integers(rng, (batch, n), 0, 1000, "i8")
    compared = []
    for descending in (True, False):
        values, chosen = np.zeros((batch, k), "f4"), np.zeros((batch, k), "i8")
        run(
            (batch,),
            values,
            chosen,
            x,
            index,
            sort_dim=0,
            k=k,
            N=n,
            BLOCK_SIZE=64,
            DESCENDING=descending,
        )
        order = np.argsort(-x if descending else x, axis=1)[:, :k]
        compared.append(same(values, np.take_along_axis(x, order, 1), "values"))
        compared.append(same(chosen, np.take_along_axis(index, order, 1), "index"))
    return compared


@case("flag-gems", OPS + "groupnorm.py", "group_norm_kernel")
def gems_group_norm(run, rng):
    # The wrapper's block is the next power of 2, and the kernel masks channels, not those of the
    # group: only groups of a power of 2 channels are right.
    n, groups, size, hw = 2, 3, 4, 27
    x = normal(rng, (n, groups * size, hw), "f2", 2)
    weight, bias = normal(rng, groups * size), normal(rng, groups * size)
    wide = x.reshape(n, groups, size * hw).astype("f8")
    m, v = wide.mean(2), wide.var(2)
    hat = ((wide - m[..., None]) / np.sqrt(v + 1e-5)[..., None]).reshape(x.shape)
    compared = []
    for w, b in ((weight, bias), (None, None)):
        y = np.zeros(x.shape, "f4")
        mean, rstd = np.zeros((n, groups), "f4"), np.zeros((n, groups), "f4")
        run(
            (n * groups,),
            x,
            y,
            w,
            b,
            mean,
            rstd,
            size,
            groups * size,
            hw,
            groups,
            1e-5,
            BLOCK_GROUP_SIZE=4,
            BLOCK_HW_SIZE=32,
        )
        expected = hat if w is None else hat * w[:, None] + b[:, None]
        compared += [
            near(y, expected, 1e-4, 1e-5, "y"),
            near(mean, m, 1e-5, 1e-5, "mean"),
            near(rstd, 1 / np.sqrt(v + 1e-5), name="rstd"),
        ]
    return compared


@case("flag-gems", OPS + "max_pool2d_with_indices.py", "max_pool2d_forward_kernel")
def gems_max_pool2d(run, rng):
    n, c, h, w = 2, 3, 19, 14
    kernel, stride, padding, dilation = (3, 2), (2, 1), (1, 1), (1, 2)
    x = normal(rng, (n, h, w, c)).transpose(0, 3, 1, 2)  # channels last
    size = [
        (s + 2 * p - d * (k - 1) - 1) // t + 1
        for s, p, d, k, t in zip((h, w), padding, dilation, kernel, stride)
    ]
    out, index = np.zeros((n, c, *size), "f4"), np.zeros((n, c, *size), "i8")
    strides = [s // 4 for s in x.strides]
    memory = x.transpose(0, 2, 3, 1)
    run(
        (n * c, 4),
        memory,
        out,
        index,
        *strides,
        c,
        h,
        w,
        *size,
        kernel_h=kernel[0],
        kernel_w=kernel[1],
        stride_h=stride[0],
        stride_w=stride[1],
        padding_h=padding[0],
        padding_w=padding[1],
        dilation_h=dilation[0],
        dilation_w=dilation[1],
        BLOCK_H=8,
        BLOCK_W=8,
    )
    expected, where = np.full(out.shape, -np.inf), np.full(out.shape, -1)
    for i in range(size[0]):
        for j in range(size[1]):
            for a in range(kernel[0]):
                for b in range(kernel[1]):
                    y = i * stride[0] - padding[0] + a * dilation[0]
                    z = j * stride[1] - padding[1] + b * dilation[1]
                    if 0 <= y < h and 0 <= z < w:
                        better = x[:, :, y, z] > expected[:, :, i, j]
                        where[:, :, i, j][better] = y * w + z
                        expected[:, :, i, j][better] = x[:, :, y, z][better]
    return [same(out, expected, "out"), same(index, where, "index")]


@case("flag-gems", OPS + "conv2d.py", "conv2d_forward_kernel")
def gems_conv2d(run, rng):
    n, groups, ci, co, h, w = 2, 2, 5, 7, 9, 8
    kh, kw, stride, padding, dilation = 3, 2, (2, 1), (1, 0), (1, 2)
    x = normal(rng, (n, groups * ci, h, w))
    weight = normal(rng, (groups * co, ci, kh, kw))
    bias = normal(rng, groups * co)
    oh = (h + 2 * padding[0] - dilation[0] * (kh - 1) - 1) // stride[0] + 1
    ow = (w + 2 * padding[1] - dilation[1] * (kw - 1) - 1) // stride[1] + 1
    out = np.zeros((n, groups * co, oh, ow), "f4")

    def strides(a):
        return [s // 4 for s in a.strides]

    run(
        (-(-n * oh * ow // 32), 1, groups),
        x,
        weight,
        out,
        bias,
        n,
        h,
        w,
        groups * co,
        oh,
        ow,
        *strides(x),
        *strides(weight),
        *strides(out),
        weight_c=ci,
        weight_height=kh,
        weight_width=kw,
        stride_height=stride[0],
        stride_width=stride[1],
        padding_height=padding[0],
        padding_width=padding[1],
        dilation_height=dilation[0],
        dilation_width=dilation[1],
        groups=groups,
        BLOCK_NI_HO_WO=32,
        BLOCK_CI=16,
        BLOCK_CO=16,
    )
    padded = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2)).astype("f8")
    expected = np.zeros(out.shape)
    for g in range(groups):
        for i in range(kh):
            for j in range(kw):
                y, z = i * dilation[0], j * dilation[1]
                rows = slice(y, y + (oh - 1) * stride[0] + 1, stride[0])
                columns = slice(z, z + (ow - 1) * stride[1] + 1, stride[1])
                part = padded[:, g * ci : (g + 1) * ci, rows, columns]
                taps = weight[g * co : (g + 1) * co, :, i, j]
                expected[:, g * co : (g + 1) * co] += np.einsum("ncyx,oc->noyx", part, taps)
    return [near(out, expected + bias[:, None, None], 1e-5, 2e-5)]


def cubic(d):
    """The weights of bicubic interpolation with a = -0.75, as PyTorch has them."""
    a, d = -0.75, np.abs(d)
    near_ones = ((a + 2) * d - (a + 3)) * d * d + 1
    return np.where(d <= 1, near_ones, np.where(d < 2, a * (((d - 5) * d + 8) * d - 4), 0))


@case("flag-gems", OPS + "upsample_bicubic2d.py", "_upsample_bicubic2d_row_kernel")
def gems_upsample_bicubic2d(run, rng):
    n, c, h, w, oh, ow = 1, 2, 5, 6, 9, 40
    x = normal(rng, (n, c, h, w))

    def weights(size, count, scale, align):
        """A matrix that interpolates one dimension."""
        f = np.arange(count)
        f = f * scale if align else (f + 0.5) * scale - 0.5
        matrix = np.zeros((count, size))
        base = np.floor(f).astype(int)
        for tap in range(-1, 3):
            place = np.clip(base + tap, 0, size - 1)
            np.add.at(matrix, (np.arange(count), place), cubic(f - (base + tap)))
        return matrix

    compared = []
    for align in (False, True):
        sh, sw = ((h - 1) / (oh - 1), (w - 1) / (ow - 1)) if align else (h / oh, w / ow)
        out = np.zeros((n, c, oh, ow), "f4")
        run(
            (2 * n * c * oh,),
            x,
            out,
            n,
            c,
            h,
            w,
            oh,
            ow,
            c * h * w,
            h * w,
            w,
            1,
            c * oh * ow,
            oh * ow,
            ow,
            1,
            sh,
            sw,
            align_corners=align,
            BLOCK_W=32,
        )
        rows, columns = weights(h, oh, sh, align), weights(w, ow, sw, align)
        compared.append(near(out, rows @ x.astype("f8") @ columns.T, 1e-4, 2e-5))
    return compared


def philox(seed, c0, c1):
    """Philox4x32-10 (Salmon et al., 2011) of the counters (c0, c1, 0, 0)."""
    wide, word = np.uint64, np.uint64(0xFFFFFFFF)
    c = [np.asarray(a, wide) + np.zeros(np.shape(c0), wide) for a in (c0, c1, 0, 0)]
    k0, k1 = wide(seed & 0xFFFFFFFF), wide(seed >> 32)
    for _ in range(10):
        first, second = c[0] * wide(0xD2511F53), c[2] * wide(0xCD9E8D57)
        c = [
            (second >> wide(32)) ^ c[1] ^ k0,
            second & word,
            (first >> wide(32)) ^ c[3] ^ k1,
            first & word,
        ]
        k0, k1 = (k0 + wide(0x9E3779B9)) & word, (k1 + wide(0xBB67AE85)) & word
    return [a.astype(np.uint32) for a in c]


def uniform_of_bits(bits):
    """How Triton makes a number of [0, 1) of 32 bits."""
    signed = bits.view(np.int32).astype("i8")
    return np.where(signed < 0, -signed - 1, signed).astype("f4") * np.float32(4.6566127342e-10)


@case("flag-gems", OPS + "dropout.py", "dropout_forward_kernel")
def gems_dropout(run, rng):
    n, block, p = 700, 64, 0.3
    seed, offset = 0x123456789ABC, 0x200000010
    x = normal(rng, n)
    y, mask = np.zeros(n, "f4"), np.zeros(n, bool)
    run((3,), x, y, mask, n, p, seed, offset, BLOCK=block)
    bits = philox(seed, 0x10 + np.arange(3 * block), 2)
    numbers = np.stack([uniform_of_bits(b).reshape(3, block) for b in bits], 1).reshape(-1)[:n]
    kept = numbers > np.float32(p)
    return [same(mask, kept, "mask"), near(y, np.where(kept, x / (1 - p), 0))]


@case("flag-gems", OPS + "var_mean.py", "var_mean_welford_kernel")
def gems_var_mean(run, rng):
    m, n = 11, 75
    x = normal(rng, (m, n)) + 3
    var, mean = np.zeros(m, "f4"), np.zeros(m, "f4")
    run((2,), x, var, mean, m, n, 1.0, BLOCK_M=8, BLOCK_N=32)
    wide = x.astype("f8")
    return [near(mean, wide.mean(1)), near(var, wide.var(1, ddof=1), 2e-5, 1e-5)]


@case("flag-gems", OPS + "isin.py", "isin_by_comparation_kernel")
def gems_isin_by_comparison(run, rng):
    m, n = 53, 32
    x, elements = integers(rng, m, 0, 60, "i8"), integers(rng, n, 0, 60, "i8")
    compared = []
    for invert in (False, True):
        out = np.zeros(m, bool)
        run((7,), x, elements, out, m, n, BLOCK_M=4, BLOCK_N=16, tiles_per_cta=2, invert=invert)
        compared.append(same(out, np.isin(x, elements, invert=invert)))
    return compared


@case("flag-gems", OPS + "isin.py", "isin_by_search_kernel")
def gems_isin_by_search(run, rng):
    m, n = 90, 37
    x = integers(rng, m, 0, 80)
    elements = np.sort(integers(rng, n, 0, 80))
    compared = []
    for invert in (False, True):
        out = np.zeros(m, bool)
        run((2,), x, elements, out, m, n, log_n=6, BLOCK_M=32, tiles_per_cta=2, invert=invert)
        compared.append(same(out, np.isin(x, elements, invert=invert)))
    return compared


def bits_in_order(x, descending):
    """Unsigned numbers whose order is that of x (int16)."""
    u = x.view(np.uint16) ^ np.uint16(0x8000)
    return ~u if descending else u


@case("flag-gems", OPS + "sort.py", "compute_global_hist_kernel")
def gems_radix_histogram(run, rng):
    m, n, bits, passes = 2, 210, 4, 4
    x = integers(rng, (m, n), -(2**15), 2**15, "i2")
    compared = []
    for descending in (False, True):
        counts = np.zeros((m, passes, 16), "i4")
        run(
            (m * 4,),
            x,
            counts,
            passes,
            m,
            n,
            2,
            TILE_N=32,
            TILE_R=8,
            num_bits_per_pass=bits,
            descending=descending,
        )
        digits = bits_in_order(x, descending)[:, None] >> (np.arange(passes)[:, None] * bits) & 15
        compared.append(same(counts, (digits[..., None] == np.arange(16)).sum(2)))
    return compared


@case("flag-gems", OPS + "sort.py", "sweep")
def gems_radix_sweep(run, rng):
    """All passes of a radix sort. One tile has a row, so that no program waits for another one."""
    m, n, bits, passes, tile = 2, 150, 4, 4, 256
    x = integers(rng, (m, n), -(2**15), 2**15, "i2")
    x[:, 20:40] = x[:, :1]
    compared = []
    for descending in (False, True):
        keys, index = x.copy(), np.tile(np.arange(n, dtype="i8"), (m, 1))
        for p in range(passes):
            digits = bits_in_order(keys, descending) >> (p * bits) & 15
            counts = (digits[..., None] == np.arange(16)).sum(1)
            begins = np.zeros((m, passes, 16), "u4")
            begins[:, p] = np.cumsum(counts, 1) - counts
            status = np.zeros((m, 16, 1), "u4")
            keys_out, index_out = np.zeros_like(keys), np.zeros_like(index)
            run(
                (m, 2),
                keys,
                index,
                keys_out,
                index_out,
                begins,
                status,
                passes,
                p,
                p * bits,
                m,
                n,
                1,
                TILE_N=tile,
                TILE_R=8,
                k_bits=bits,
                descending=descending,
            )
            keys, index = keys_out, index_out
        order = np.argsort(bits_in_order(x, descending), axis=1, kind="stable")
        compared.append(same(keys, np.take_along_axis(x, order, 1), "keys"))
        compared.append(same(index, order, "index"))
    return compared


@case("flag-gems", OPS + "unique.py", "simple_unique_flat_kernel")
def gems_unique(run, rng):
    """The last element is 0, which the lanes beyond the end read, too."""
    n = 50
    x = integers(rng, n, -30, 1)
    x[7] = 0
    order = np.argsort(x, kind="stable")
    values, begins = np.full(n, 9, "i4"), np.full(n, 9, "i8")
    inverse, size = np.zeros(n, "i8"), np.zeros(1, "i8")
    run(
        (1,),
        x[order],
        order,
        values,
        inverse,
        begins,
        size,
        return_inverse=True,
        return_counts=True,
        num_tasks=n,
        tile_size=64,
    )
    unique, first, back = np.unique(x[order], return_index=True, return_inverse=True)
    expected_inverse = np.zeros(n)
    expected_inverse[order] = back
    k = len(unique)
    return [
        same(values[:k], unique, "values"),
        same(begins[:k], first, "begins"),
        same(inverse, expected_inverse, "inverse"),
        same(size, [k - 1], "size"),
    ]


@case("flag-gems", OPS + "nonzero.py", "nonzero_kernel")
def gems_nonzero(run, rng):
    shape = (5, 7, 3)
    x = rng.random(shape) < 0.4
    prefix = np.cumsum(x.reshape(-1)).astype("i8")
    out = np.full((x.size, 3), -1, "i8")
    run((4,), x, prefix, out, x.size, np.array(shape, "i4"), ndim=3, BLOCK_SIZE=32)
    expected = np.full((x.size, 3), -1)
    expected[: prefix[-1]] = np.argwhere(x)
    return [same(out, expected)]


@case("flag-gems", OPS + "attention.py", "_attn_fwd")
def gems_attention(run, rng):
    batch, heads, kv_heads, nq, nk, d = 2, 4, 2, 75, 75, 32
    q = normal(rng, (batch, heads, nq, d), "f2")
    k = normal(rng, (batch, kv_heads, nk, d), "f2")
    v = normal(rng, (batch, kv_heads, nk, d), "f2")
    blocked = rng.random((batch, heads, nq, nk)) < 0.3
    blocked[..., 0] = False
    extra = np.where(blocked, -1e4, 0).astype("f2")
    scale = 0.2
    compared = []
    for causal in (True, False):
        out = np.zeros_like(q)
        lse = np.zeros((batch, heads, nq), "f4")
        mask = None if causal else extra
        mask_strides = (0, 0, 0, 0) if causal else [s // 2 for s in extra.strides]
        run(
            (2, batch * heads),
            q,
            k,
            v,
            mask,
            scale,
            lse,
            out,
            *[s // 2 for s in q.strides],
            *[s // 2 for s in k.strides],
            *[s // 2 for s in v.strides],
            *mask_strides,
            *[s // 2 for s in out.strides],
            batch,
            heads,
            kv_heads,
            GROUP_HEAD=2,
            Q_CTX=nq,
            KV_CTX=nk,
            HEAD_DIM=d,
            BLOCK_M=64,
            BLOCK_N=16,
            STAGE=3 if causal else 1,
            HAS_ATTN_MASK=not causal,
            PRE_LOAD_V=causal,
        )
        wide = np.repeat(k, 2, 1).astype("f8")
        scores = q.astype("f8") @ wide.swapaxes(2, 3) * scale
        hidden = ~np.tri(nq, nk, dtype=bool) if causal else blocked
        scores = np.where(hidden, -np.inf, scores)
        expected = softmax(scores) @ np.repeat(v, 2, 1).astype("f8")
        top = scores.max(-1, keepdims=True)
        sums = np.exp(scores - top).sum(-1)
        compared.append(near(out, expected, 2e-3, 2e-3, "out"))
        compared.append(near(lse, (top[..., 0] + np.log(sums)) / np.log(2), 1e-4, 1e-4, "lse"))
    return compared


@case("flag-gems", OPS + "hadamard_transform.py", "_fht_kernel_2d_native")
def gems_hadamard(run, rng):
    rows, n = 5, 64
    x = np.zeros((rows, 70), "f4")
    x[:, :n] = integers(rng, (rows, n), -9, 10)
    out = np.full((rows, 66), 7, "f4")
    run((2,), x, out, 70, 66, rows, DIM=n, LOG_N=6, BLOCK_SIZE=n, ROWS_PER_PROGRAM=4, SCALE=0.125)
    matrix = np.ones((1, 1))
    for _ in range(6):
        matrix = np.kron(matrix, [[1, 1], [1, -1]])
    return [same(out[:, :n], x[:, :n] @ matrix * 0.125), same(out[:, n:], np.full((rows, 2), 7))]


@case("flag-gems", FUSED + "cross_entropy_loss.py", "celoss_indices_kernel")
def gems_cross_entropy(run, rng):
    n, c, d, ignored = 3, 21, 13, 4
    x = normal(rng, (n, c, d), scale=2)
    target = integers(rng, (n, d), 0, c, "i8")
    target[:, 2] = ignored
    weight = uniform(rng, c, 0.5, 2)
    log_p = np.log(softmax(x.astype("f8"), 1))
    chosen = -np.take_along_axis(log_p, target[:, None], 1)[:, 0]
    compared = []
    for w in (None, weight):
        out, out_weight = np.zeros((n, d), "f4"), np.zeros((n, d), "f4")
        run((2, n), x, target, w, out, out_weight, ignored, c, d, BLOCK_C=8, BLOCK_D=8)
        expected = np.where(target == ignored, 0, 1 if w is None else weight[target])
        compared.append(same(out_weight, expected, "weights"))
        compared.append(near(out, chosen * expected, 1e-5, 1e-5, "out"))
    return compared


@case("flag-gems", OPS + "quantile.py", "quantile_kernel")
def gems_quantile(run, rng):
    n, m, count = 65, 12, 10
    x = np.sort(normal(rng, (n, m)), axis=1)
    q = uniform(rng, count)
    q[:2] = 0, 1
    compared = []
    for method in ("linear", "lower", "higher", "nearest", "midpoint"):
        out = np.zeros((n, count), "f4")
        run(
            "triton.cdiv(Q, BLOCK_Q), triton.cdiv(N, BLOCK_N)",
            x,
            q,
            out,
            n,
            m,
            count,
            interpolation=method,
        )
        expected = np.quantile(x.astype("f8"), q.astype("f8"), axis=1, method=method).T
        compared.append(near(out, expected, 1e-5, 1e-5, method))
    return compared


@case("flag-gems", OPS + "unfold_backward.py", "_unfold_backward_kernel")
def gems_unfold_backward(run, rng):
    """Integers, so that sums in any order are exact."""
    before, d, after, size, step = 2, 19, 3, 5, 2
    count = (d - size) // step + 1
    grad = integers(rng, (before, count, after, size), -50, 50).astype("f2")
    out = np.zeros((before, d, after), "f4")
    run(
        (-(-grad.size // 64),),
        grad,
        out,
        grad.size,
        after,
        count,
        size,
        step,
        d,
        count * after * size,
        BLOCK=64,
    )
    expected = np.zeros(out.shape)
    for i in range(count):
        expected[:, i * step : i * step + size] += grad[:, i].swapaxes(1, 2)
    return [same(out, expected)]


@case("flag-gems", OPS + "kron.py", "kron_kernel_for_batch_size_1")
def gems_kron(run, rng):
    a, b = normal(rng, (4, 3)), normal(rng, (5, 7))
    c = np.zeros((20, 21), "f4")
    run((6,), a, b, c, 1, 20, 21, 4, 5, 3, 7, 3, 1, 7, 1, 21, 1, BLOCK_M=8, BLOCK_N=16)
    return [near(c, np.kron(a, b))]


@case("flag-gems", FUSED + "mhc/hc_split_sinkhorn.py", "mhc_split_sinkhorn_kernel_generic")
def gems_sinkhorn(run, rng):
    """The matrix stays in memory, which the program reads and writes many times."""
    tokens, k, iterations = 3, 3, 4
    mixes, scale, base = normal(rng, (tokens, 15)), normal(rng, 3), normal(rng, 15)
    pre, post = np.zeros((tokens, k), "f4"), np.zeros((tokens, k), "f4")
    comb = np.zeros((tokens, k, k), "f4")
    run(
        (tokens + 1,),
        mixes,
        scale,
        base,
        pre,
        post,
        comb,
        tokens,
        SINKHORN_ITERS=iterations,
        HC_MULT=k,
        MIX_HC=15,
    )
    z = mixes.astype("f8") * np.repeat(scale, (k, k, k * k)) + base
    m = softmax(z[:, 2 * k :].reshape(tokens, k, k)) + 1e-6
    m /= m.sum(1, keepdims=True) + 1e-6
    for _ in range(iterations - 1):
        m /= m.sum(2, keepdims=True) + 1e-6
        m /= m.sum(1, keepdims=True) + 1e-6
    return [
        near(pre, sigmoid(z[:, :k]) + 1e-6),
        near(post, 2 * sigmoid(z[:, k : 2 * k])),
        near(comb, m),
    ]


@case("flag-gems", OPS + "masked_select.py", "mask_part_sum_kernel")
def gems_mask_part_sums(run, rng):
    """The program that ends last makes prefix sums of what all have written."""
    n, block, rows = 430, 32, 5
    mask = rng.random(n) < 0.5
    sums, counter = np.full(rows + 1, -1, "i4"), np.zeros(1, "i4")
    run((rows,), None, mask, sums, counter, n, 14, 3, NP_BLOCK=8, BLOCK_SIZE=block)
    parts = [mask[r * 96 : (r + 1) * 96].sum() for r in range(rows)]
    return [same(sums, np.cumsum([0] + parts)), same(counter, [rows])]


@case("flag-gems", OPS + "group_gemm.py", "grouped_mm_kernel")
def gems_grouped_mm(run, rng):
    """Three programs go through the tiles of all groups; one group is empty."""
    m, n, k = 50, 40, 48
    ends = np.array([13, 13, 37, 50], "i4")
    a, b = normal(rng, (m, k), "f2"), normal(rng, (4, k, n), "f2", 0.2)
    c = np.zeros((m, n), "f2")
    run(
        (3,),
        a,
        b,
        c,
        ends,
        M=m,
        num_groups=4,
        N=n,
        K=k,
        stride_am=k,
        stride_ak=1,
        stride_bk=n,
        stride_bn=1,
        stride_cm=n,
        stride_cn=1,
        BLOCK_M=16,
        BLOCK_N=16,
        BLOCK_K=32,
        GROUP_M=2,
    )
    group = np.searchsorted(ends, np.arange(m), side="right")
    return [near(c, np.einsum("mk,mkn->mn", a.astype("f8"), b[group].astype("f8")), 2e-3, 2e-3)]


@case("flag-gems", OPS + "cummax.py", "scan_part_max_kernel")
def gems_cummax_part(run, rng):
    """NaN is above all numbers; the last of equal ones gives the index."""
    n, block = 300, 128
    x = np.round(normal(rng, n, scale=2)).astype("f4")
    x[[200, 230]] = np.nan
    out, index = np.zeros(n, "f4"), np.zeros(n, "i8")
    part, part_index = np.zeros(3, "f4"), np.zeros(3, "i8")
    run(
        (3,),
        x,
        out,
        None,
        index,
        part,
        part_index,
        n,
        BLOCK_SIZE=block,
        NEED_PARTIAL=True,
        USE_OUT_INDICES=False,
    )
    expected, where = np.zeros(n), np.zeros(n)
    for i in range(n):
        begin = i // block * block
        prefix = x[begin : i + 1]
        expected[i] = prefix.max()
        equal = np.isnan(prefix) if np.isnan(expected[i]) else prefix == expected[i]
        where[i] = begin + np.flatnonzero(equal)[-1]
    last = np.minimum(np.arange(1, 4) * block, n) - 1
    return [
        same(out, expected, "out"),
        same(index, where, "index"),
        same(part, expected[last], "part"),
        same(part_index, where[last], "part index"),
    ]

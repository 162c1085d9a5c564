"""Kernels of Unsloth and its Zoo: losses, packed weights, routing, products by groups."""

import math

import numpy as np

import tilec.language as tl
from case import BF16, E4M3, FP8, case, integers, near, normal, round_to_fp8, same, sigmoid, silu
from case import softmax, uniform


def unsloth(file, kernel):
    return case("unsloth", "unsloth/kernels/" + file, kernel)


def zoo(file, kernel):
    return case("unsloth-zoo", "unsloth_zoo/" + file, kernel)


def logits_of(x, cap, scale):
    """What the losses take for logits: scaled, then bounded by tanh."""
    x = x.astype("f8") * (scale or 1)
    return cap * np.tanh(x / cap) if cap else x


def log_sum_exp(z):
    m = z.max(-1)
    return m + np.log(np.exp(z - m[..., None]).sum(-1))


# ---- cross entropy


@unsloth("cross_entropy_loss.py", "_chunked_cross_entropy_forward")
def unsloth_chunked_cross_entropy(run, rng):
    rows, n, block, chunks = 4, 300, 128, 3
    labels = np.array([5, 290, -100, 130], "i8")
    x = normal(rng, (rows, n), "f2", 4)
    x[1, :block] = -np.inf
    loss = np.zeros(rows, "f4")
    lse, others = np.zeros((rows, chunks), "f4"), np.zeros((rows, chunks), "f4")
    run(
        (rows, chunks),
        x,
        n,
        loss,
        lse,
        others,
        labels,
        n,
        chunks,
        BLOCK_SIZE=block,
        DO_SOFTCAPPING=False,
        SOFTCAP=0,
        DO_LOGIT_SCALING=True,
        LOGIT_SCALE=0.5,
        EVICT="",
    )
    z = np.full((rows, chunks * block), -np.inf)
    z[:, :n] = 0.5 * x.astype("f8")
    kept = labels != -100
    rest = z.copy()
    rest[np.arange(rows)[kept], labels[kept]] = -np.inf

    def parts(v):
        return np.logaddexp.reduce(v.reshape(rows, chunks, block), axis=2)

    own = np.where(kept, -z[np.arange(rows), labels], 0)
    return [near(loss, own), near(lse, parts(z), 1e-5, 1e-5), near(others, parts(rest), 1e-5, 1e-5)]


# ---- activations, normalizations, rotary embeddings


@unsloth("geglu.py", "_exact_backward_kernel")
def unsloth_geglu_exact_backward(run, rng):
    """In place: h = gelu(e) * g, the gradient of g, the gradient of e."""
    n = 300
    d, e, g = normal(rng, n), normal(rng, n), normal(rng, n)
    h, df, de = d.copy(), e.copy(), g.copy()
    run("triton.cdiv(n_elements, BLOCK_SIZE)", h, df, de, n, BLOCK_SIZE=128, LONG_INDEXING=0)
    v = e.astype("f8")
    cdf = 0.5 * (1 + np.array([math.erf(t / math.sqrt(2)) for t in v]))
    slope = cdf + v * np.exp(-(v**2) / 2) / math.sqrt(2 * math.pi)
    return [
        near(h, v * cdf * g, 1e-5, 1e-6),
        near(df, d * v * cdf, 1e-5, 1e-6),
        near(de, d * g * slope, 1e-5, 2e-6),
    ]


@unsloth("rms_layernorm.py", "_rms_layernorm_forward_rows")
def unsloth_rms_norm_rows(run, rng):
    """Sums of squares are formed by reshapes, permutations and splits."""
    rows, n = 7, 100
    found = []
    for gemma, dtype in [(False, "f2"), (True, "f4")]:
        x, w = normal(rng, (rows, n), dtype), normal(rng, n, dtype)
        y, r = np.zeros_like(x), np.zeros(rows, "f4")
        run((2,), y, x, w, r, rows, n, n, n, 1e-6, gemma, 128, 4, 4, False)
        v = x.astype("f8")
        inverse = 1 / np.sqrt((v**2).mean(1) + 1e-6)
        expected = v * inverse[:, None] * (w.astype("f8") + (1 if gemma else 0))
        exact = dtype == "f4"
        found += [near(r, inverse), near(y, expected, *((1e-5, 1e-6) if exact else (2e-3, 1e-4)))]
    return found


def rotated(x, cos, sin):
    """x is [..., heads, size]; the second half of a head belongs to the first."""
    first, second = np.split(x, 2, -1)
    c, s = cos[..., None, :], sin[..., None, :]
    return np.concatenate([first * c - second * s, second * c + first * s], -1)


@unsloth("qk_norm_rope.py", "_qk_norm_rope_forward")
def unsloth_qk_norm_rope(run, rng):
    batch, length, heads, kv_heads, size, positions = 2, 3, 5, 2, 32, 9
    q = normal(rng, (batch, length, heads, size + 8))[..., :size]
    k = normal(rng, (batch, length, kv_heads, size))
    wq, wk = normal(rng, size), normal(rng, size)
    angle = uniform(rng, (positions, size // 2), -3, 3)
    cos, sin = np.cos(angle), np.sin(angle)
    found = []
    for indexed in (False, True):
        where = integers(rng, (batch, length), 0, positions)
        out_q = np.zeros((batch, length, heads, size), "f4")
        out_k = np.zeros((batch, length, kv_heads, size), "f4")
        rq, rk = np.zeros((batch, length, heads), "f4"), np.zeros((batch, length, kv_heads), "f4")
        run(
            (batch * length, 4),
            out_q,
            q,
            heads * (size + 8),
            size + 8,
            wq,
            rq,
            heads,
            1e-6,
            out_k,
            k,
            kv_heads * size,
            size,
            wk,
            rk,
            kv_heads,
            1e-5,
            cos,
            size // 2,
            sin,
            size // 2,
            where,
            length,
            HEAD_DIM=size,
            BLOCK_H=2,
            HAS_ROPE_INDICES=indexed,
        )
        if not indexed:
            where = np.broadcast_to(np.arange(length), (batch, length))
        for out, r, x, w, eps in [(out_q, rq, q, wq, 1e-6), (out_k, rk, k, wk, 1e-5)]:
            x = x.astype("f8")
            inverse = 1 / np.sqrt((x**2).mean(-1) + eps)
            a = angle.astype("f8")[where]
            expected = rotated(x * inverse[..., None] * w, np.cos(a), np.sin(a))
            found += [near(r, inverse), near(out, expected, 1e-5, 2e-6)]
    return found


@unsloth("rope_embedding.py", "_rope_embedding_QK")
def unsloth_rope_qk(run, rng):
    """Heads are before positions in Q, after them in Q's result."""
    batch, length, heads, kv_heads, size = 2, 3, 5, 2, 24
    q = normal(rng, (batch, heads, length, size))
    k = normal(rng, (batch, kv_heads, length, size))
    angle = uniform(rng, (length, size // 2), -3, 3)
    cos, sin = np.cos(angle), np.sin(angle)
    out_q = np.zeros((batch, length, heads, size), "f4")
    new_k = k.copy()
    run(
        (batch * length, 4),
        q,
        out_q,
        new_k,
        new_k,
        heads * length * size,
        size,
        length * size,
        1,
        length * heads * size,
        heads * size,
        size,
        1,
        kv_heads * length * size,
        size,
        length * size,
        1,
        kv_heads * length * size,
        size,
        length * size,
        1,
        cos,
        size // 2,
        sin,
        size // 2,
        cos,
        length,
        heads,
        kv_heads,
        3,
        half_head_dim=size // 2,
        BACKWARD_PASS=True,
        HAS_ROPE_INDICES=False,
        LONG_INDEXING=True,
        CAST_TO_SIN=False,
        HEADS_Q=2,
        HEADS_K=2,
        BLOCK_SIZE=16,
        EVICT_INDICES=False,
    )
    a = -angle.astype("f8")
    expected_q = rotated(q.swapaxes(1, 2), np.cos(a), np.sin(a))
    expected_k = rotated(k.swapaxes(1, 2), np.cos(a), np.sin(a)).swapaxes(1, 2)
    return [near(out_q, expected_q, 1e-5, 1e-6), near(new_k, expected_k, 1e-5, 1e-6)]


# ---- fp8


@unsloth("fp8.py", "weight_dequant_kernel")
def unsloth_fp8_dequant(run, rng):
    m, n, block = 50, 70, 32
    codes = integers(rng, (m, n), 0, 256, "u1")
    codes[codes % 128 == 127] = 0
    x = FP8(codes)
    s = uniform(rng, (2, 3), 1e-6, 1e-2)
    expected = x.values * np.kron(s, np.ones((block, block)))[:m, :n]
    found = []
    for exact in (False, True):
        y = np.zeros((m, n), "f2")
        run((2, 3), x.array, s, y, m, n, BLOCK_SIZE=block, EXACT_F16=exact)
        found.append(same(y, expected.astype("f4").astype("f2")))
    return found


@unsloth("fp8.py", "act_quant_kernel")
def unsloth_fp8_act_quant(run, rng):
    rows, block = 6, 128
    x = normal(rng, (rows, block), "f2", 3)
    x[2] = 0
    y, s = FP8(np.zeros((rows, block))), np.zeros(rows, "f4")
    run((rows,), x, y.array, s, BLOCK_SIZE=block)
    scale = np.abs(x).max(1) / np.float32(448)
    scale[2] = 1
    return [near(s, scale, 1e-6, 0), same(y.values, round_to_fp8(x / scale[:, None]))]


@unsloth("fp8.py", "_w8a8_block_fp8_matmul")
def unsloth_fp8_product(run, rng):
    m, n, k, group = 20, 50, 96, 32
    a, b = (
        FP8(integers(rng, s, 0, 120, "u1") + integers(rng, s, 0, 2, "u1") * 128)
        for s in ((m, k), (n, k))
    )
    sa, sb = uniform(rng, (m, k // group), 1e-3, 1e-2), uniform(rng, (2, k // group), 1e-3, 1e-2)
    c = np.zeros((m, n), "f4")
    run(
        (2 * 2,),
        a.array,
        b.array,
        c,
        sa,
        sb,
        m,
        n,
        k,
        group,
        group,
        k,
        1,
        1,
        k,
        n,
        1,
        k // group,
        1,
        1,
        k // group,
        BLOCK_SIZE_M=16,
        BLOCK_SIZE_N=32,
        BLOCK_SIZE_K=32,
        GROUP_SIZE_M=2,
    )
    wide_a = a.values * np.repeat(sa, group, 1)
    wide_b = b.values * np.kron(sb, np.ones((group, group)))[:n]
    size = np.abs(wide_a) @ np.abs(wide_b).T
    # Matrix units keep 13 bits of the sums of fp8.
    return [near((c - wide_a @ wide_b.T) / size, np.zeros((m, n)), 0, 2**-12)]


@unsloth("fp8.py", "_fp8_rowwise_gemv_rows_kernel")
def unsloth_fp8_rows_split(run, rng):
    """Two programs share K; each stores its part."""
    m, n, k, split = 5, 40, 150, 2
    x = normal(rng, (m, k), "f2")
    w = FP8(integers(rng, (n, k), 0, 100, "u1"))
    part = np.zeros((split, m, n), "f4")
    run(
        (2, split),
        x,
        w.array,
        x,
        x,
        part,
        m,
        n,
        k,
        k,
        BLOCK_M=16,
        BLOCK_N=32,
        BLOCK_K=32,
        SPLIT_K=split,
    )
    product = x.astype("f8")[:, None] * w.values
    expected = np.stack([product[..., :96].sum(2), product[..., 96:].sum(2)])
    return [near(part, expected, 1e-5, 1e-4 * np.abs(product).sum(2).max())]


# ---- packed weights of four bits

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def nibbles(packed):
    """The low half of a byte is the first of two."""
    return np.stack([packed & 15, packed >> 4], -1).reshape(*packed.shape[:-1], -1)


@unsloth("nf4.py", "_nf4_dequant_kernel")
def unsloth_nf4_dequant(run, rng):
    """The high half of a byte is the first of two. Scales of blocks are coded in bytes, too."""
    blocks, half, shift = 13, 32, 2
    n = blocks * 2 * half - 8
    table = np.sort(uniform(rng, 16, -1, 1))
    packed = integers(rng, blocks * half - 4, 0, 256, "u1")
    codes, code_table = integers(rng, blocks, 0, 256, "u1"), uniform(rng, 256)
    outer, offset = uniform(rng, 4), np.array([0.25], "f4")
    flat = np.stack([packed >> 4, packed & 15], 1).ravel()
    coded = code_table[codes] * outer[np.arange(blocks) >> shift] + offset
    found = []
    for nested, words, mode in [(True, True, 0), (True, False, 1), (False, True, 2)]:
        scales = codes if nested else uniform(rng, blocks)
        out = np.zeros(n, "f2")
        run(
            (4,),
            packed,
            scales,
            code_table,
            outer,
            offset,
            table,
            out,
            n,
            len(packed),
            blocks,
            HALF=half,
            BLOCKSIZE2_SHIFT=shift,
            NESTED=nested,
            USE_MUL_RN=True,
            ROWS=4,
            WORDS=words,
            EVICT="",
            LUT_MODE=mode,
        )
        scale = np.repeat(coded if nested else scales, 2 * half)[:n]
        found.append(same(out, (table[flat] * scale).astype("f2")))
    return found


@unsloth("nvfp4.py", "_nvfp4_matmul_fwd_kernel")
def unsloth_nvfp4_product(run, rng):
    """K is split in two; partial sums are added here."""
    m, n, k, split = 20, 40, 160, 2
    x = normal(rng, (m, k), "f2")
    packed = integers(rng, (n, k // 2), 0, 256, "u1")
    scales = integers(rng, (n, k // 16), 0x20, 0x40, "u1")
    total = np.array([4.0], "f4")
    y = np.zeros((split, m, n), "f4")
    run(
        (2 * 2, split),
        x,
        packed,
        scales,
        total,
        y,
        m,
        n,
        k,
        k // 2,
        k // 16,
        k,
        1,
        k // 2,
        1,
        k // 16,
        1,
        n,
        1,
        m * n,
        96,
        BLOCK_M=16,
        BLOCK_N=32,
        BLOCK_K=32,
        GROUP_M=8,
        SCALE_E4M3_BYTES=True,
        INT64_OFFSETS=False,
        MASK_PAD=True,
    )
    w = (E2M1[nibbles(packed)] * (E4M3[scales] / 4).repeat(16, 1)).astype("f2").astype("f8")
    return [near(y.sum(0), x.astype("f8") @ w.T, 1e-5, 1e-3)]


def int4_weights(rng, n, k, group):
    """Weights q - z in words of eight, with a scale and a z for each group of columns."""
    q, groups = integers(rng, (n, k), 0, 16, "i8"), -(-k // group)
    z = integers(rng, (n, groups), 0, 16, "i8")
    s = uniform(rng, (n, groups), 0.01, 0.1, "f2")

    def words(v, axis):
        v = np.moveaxis(v, axis, -1)
        v = (v.reshape(*v.shape[:-1], -1, 8) << (4 * np.arange(8))).sum(-1)
        return np.ascontiguousarray(np.moveaxis(v, -1, axis).astype("u4").view("i4"))

    w = (q - z.repeat(group, 1)[:, :k]) * s.repeat(group, 1)[:, :k].astype("f8")
    return words(q, 1), words(z, 0), s, w


@unsloth("int4_packed.py", "_dequant_kernel")
def unsloth_int4_dequant(run, rng):
    n, k, group = 24, 144, 48
    packed, zeros, scales, w = int4_weights(rng, n, k, group)
    out = np.zeros((n, k), "f2")
    run(
        (2, 2),
        packed,
        scales,
        zeros,
        packed,
        out,
        n,
        k,
        k // 8,
        k // 8,
        3,
        3,
        k,
        BITS=4,
        PF=8,
        GROUP=group,
        HAS_Z=True,
        HAS_G=False,
        BLOCK_N=16,
        BLOCK_KP=16,
    )
    return [same(out, w.astype("f4").astype("f2"))]


@unsloth("int4_packed.py", "_gemv_kernel")
def unsloth_int4_gemv(run, rng):
    """Columns are in groups of any order; three programs add to a result."""
    m, n, k, groups = 2, 24, 128, 4
    q, g = integers(rng, (n, k), 0, 16, "i8"), integers(rng, k, 0, groups)
    packed = (q.reshape(n, -1, 8) << (4 * np.arange(8))).sum(-1).astype("u4").view("i4")
    s = uniform(rng, (n, groups), 0.01, 0.1)
    x, y = normal(rng, (m, k), "f2"), np.zeros((m, n), "f4")
    run(
        (2, 3, m),
        x,
        packed,
        s,
        packed,
        g,
        y,
        m,
        n,
        k,
        k // 8,
        k,
        k // 8,
        groups,
        0,
        n,
        BITS=4,
        PF=8,
        GROUP=32,
        HAS_Z=False,
        HAS_G=True,
        BLOCK_N=16,
        BLOCK_KP=4,
        SPLIT_K=3,
    )
    w = (q - 8) * s[:, g].astype("f8")
    return [near(y, x.astype("f8") @ w.T, 1e-5, 1e-5)]


def mxfp4_values(blocks, scales):
    """blocks [..., groups, 16] and scales [..., groups] give [..., groups * 32]."""
    values = E2M1[nibbles(blocks)] * np.ldexp(1.0, scales.astype("i4") - 127)[..., None]
    return values.reshape(*scales.shape[:-1], -1)


@zoo("mxfp4_dequant.py", "_mxfp4_dequant_kernel")
def zoo_mxfp4_dequant(run, rng):
    """Chosen experts, one of which has no rows; scales up to 2^128 and down to 2^-127."""
    experts, n, groups = 4, 9, 3
    blocks = integers(rng, (experts, n, groups, 16), 0, 256, "u1")
    scales = integers(rng, (experts, n, groups), 110, 140, "u1")
    half_scales = scales.copy()
    scales[:, :2, 0] = [0, 255]
    chosen, counts = np.array([3, 0, 1], "i4"), np.array([1, 0, 2, 3], "i4")
    used = np.array([1, 0, 0, 1], bool)[:, None, None]
    k = groups * 32
    options = dict(BLOCK_N=8, BLOCK_G=2, USE_EXPERTS=True, USE_COUNTS=True, LONG_INDEXING=True)
    half = np.zeros((experts, k, n), "f2")
    run(
        (3, 2, 2),
        blocks,
        half_scales,
        half,
        chosen,
        counts,
        n,
        groups,
        k * n,
        1,
        n,
        BF16_BITS=False,
        EXACT_ROUND=True,
        **options,
    )
    expected = (mxfp4_values(blocks, half_scales) * used).astype("f2")
    found = [same(half, expected.swapaxes(1, 2))]
    for bits in (True, False):
        out = BF16(np.zeros((experts, n, k)))
        run(
            (3, 2, 2),
            blocks,
            scales,
            out.array,
            chosen,
            counts,
            n,
            groups,
            n * k,
            k,
            1,
            BF16_BITS=bits,
            EXACT_ROUND=True,
            **options,
        )
        values = mxfp4_values(blocks, scales)
        values[np.abs(values) >= 2.0**128] *= np.inf
        found.append(same(out.values, np.where(used, values, 0)))
    return found


@zoo("mxfp4_gemm.py", "_mxfp4_grouped_mm_kernel")
def zoo_mxfp4_grouped_product(run, rng):
    """Rows of x are in order of their expert; the second expert has none."""
    counts = np.array([18, 0, 5], "i4")
    experts, rows, n, groups, block = 3, 23, 40, 4, 64
    k = 32 * groups
    x, bias = normal(rng, (rows, k), "f2"), normal(rng, n)
    blocks = integers(rng, (experts, n, groups, 16), 0, 256, "u1")
    scales = integers(rng, (experts, n, groups), 120, 127, "u1")
    w = mxfp4_values(blocks, scales)[np.repeat(np.arange(experts), counts)]
    expected = np.einsum("mk,mnk->mn", x.astype("f8"), w) + bias
    found = []
    for split in (False, True):
        given = x
        if split:
            given = x.reshape(rows, -1, block // 2, 2).swapaxes(2, 3).reshape(rows, k)
        out = np.zeros((rows, n), "f4")
        run(
            (5, 2),
            np.ascontiguousarray(given),
            blocks,
            scales,
            out,
            counts,
            bias,
            experts,
            n,
            groups,
            k,
            n,
            rows,
            k,
            n,
            TRANS_B=True,
            E_POW2=4,
            BLOCK_M=16,
            BLOCK_N=32,
            BLOCK_K=block,
            SPLIT=split,
            GROUPED=True,
            HAS_BIAS=True,
            ASM=0,
        )
        found.append(near(out, expected, 1e-5, 2e-4))
    # The product with the same weights not transposed: its rows are the inner dimension.
    y = normal(rng, (rows, n), "f2")
    for split in (False, True):
        out = np.zeros((rows, k), "f4")
        run(
            (5, 2),
            y,
            blocks,
            scales,
            out,
            counts,
            bias,
            experts,
            n,
            groups,
            n,
            k,
            rows,
            n,
            k,
            TRANS_B=False,
            E_POW2=4,
            BLOCK_M=16,
            BLOCK_N=64,
            BLOCK_K=16,
            SPLIT=split,
            GROUPED=True,
            HAS_BIAS=False,
            ASM=0,
        )
        found.append(near(out, np.einsum("mn,mnk->mk", y.astype("f8"), w), 1e-5, 2e-4))
    return found


# ---- routing and products by groups


@unsloth("moe/grouped_gemm/kernels/forward.py", "_grouped_gemm_forward_kernel")
def unsloth_grouped_product(run, rng):
    tokens, topk, experts, n, k = 19, 2, 4, 40, 64
    chosen = integers(rng, tokens * topk, 0, experts - 1)
    chosen[chosen == 1] = 3
    sizes = np.bincount(chosen, minlength=experts).astype("i4")
    order = np.argsort(chosen, kind="stable").astype("i4")
    w = normal(rng, (experts, n, k), "f2", 0.2)
    weights = uniform(rng, tokens * topk, dtype="f2")
    expert = np.repeat(np.arange(experts), sizes)
    total = tokens * topk
    blocks = dict(BLOCK_SIZE_M=16, BLOCK_SIZE_N=32, BLOCK_SIZE_K=32)

    def products(rows):
        return np.einsum("mk,mnk->mn", rows.astype("f8"), w[expert].astype("f8"))

    found = []
    # Rows of the tokens are gathered.
    x, y = normal(rng, (tokens, k), "f2"), np.zeros((total, n), "f2")
    run(
        (3,),
        x,
        w,
        y,
        sizes,
        order,
        weights,
        experts,
        tokens,
        topk,
        n,
        k,
        3,
        PERMUTE_X=True,
        **blocks,
    )
    found.append(near(y, products(x[order // topk]), 1e-3, 1e-3, "gather"))
    # Rows are in the experts' order; results are weighted and put in the tokens' order.
    x, y = normal(rng, (total, k), "f2"), np.zeros((total, n), "f2")
    run(
        (3,),
        x,
        w,
        y,
        sizes,
        order,
        weights,
        experts,
        tokens,
        topk,
        n,
        k,
        3,
        PERMUTE_Y=True,
        FUSE_MUL_POST=True,
        **blocks,
    )
    expected = np.zeros((total, n))
    expected[order] = products(x) * weights[order].astype("f8")[:, None]
    found.append(near(y, expected, 2e-3, 1e-3, "scatter"))
    # Descriptors load and store.
    y = np.zeros((total, n), "f2")
    run(
        (3,),
        x,
        w,
        y,
        sizes,
        order,
        weights,
        experts,
        tokens,
        topk,
        n,
        k,
        3,
        USE_TMA_LOAD_W=True,
        USE_TMA_LOAD_X=True,
        USE_TMA_STORE=True,
        **blocks,
    )
    found.append(near(y, products(x), 1e-3, 1e-3, "descriptors"))
    return found


@zoo("temporary_patches/moe_routing_triton.py", "_route_single_kernel")
def zoo_route_single(run, rng):
    """Ids that are no expert go behind all others; the array is read through its strides."""
    tokens, k, experts = 21, 3, 6
    ids = integers(rng, (k, tokens), 0, experts, "i8").T
    ids[3, 1], ids[8, 0] = -1, experts + 2
    n = tokens * k
    counts, ends, out = np.zeros(experts, "i4"), np.zeros(experts, "i4"), np.zeros(n, "i8")
    run((1,), ids, n, k, 1, tokens, experts, counts, ends, out, BLOCK=64, NUM_BINS=8)
    key = np.where((ids >= 0) & (ids < experts), ids, experts).ravel()
    expected = np.bincount(key, minlength=experts + 1)[:experts]
    return [
        same(counts, expected),
        same(ends, expected.cumsum()),
        same(out, np.argsort(key, kind="stable")),
    ]


@zoo("temporary_patches/moe_routing_triton.py", "_route_scatter_kernel")
def zoo_route_scatter(run, rng):
    n, experts, block, blocks = 75, 6, 32, 3
    ids = integers(rng, (25, 3), 0, experts + 1, "i8")
    key = ids.ravel()
    counts = np.stack([np.bincount(p, minlength=experts + 1) for p in np.split(key, [32, 64])])
    before = counts.cumsum(0) - counts
    below = counts.cumsum(1) - counts
    total = counts.sum(0)
    out = np.full(n, -1, "i8")
    run(
        (blocks,),
        ids,
        n,
        3,
        3,
        1,
        experts,
        (before - below).astype("i4"),
        (total.cumsum() - total).astype("i4"),
        out,
        BLOCK=block,
    )
    return [same(out, np.argsort(key, kind="stable"))]


@zoo("temporary_patches/moe_router_triton.py", "_router_fwd_kernel")
def zoo_router_forward(run, rng):
    tokens, experts, k, groups, kept = 13, 24, 3, 4, 2
    found = []
    for mode, renorm in [(0, True), (1, False), (2, True)]:
        z, bias = normal(rng, (tokens, experts), "f2", 2), normal(rng, experts)
        w, ids = np.zeros((tokens, k), "f4"), np.zeros((tokens, k), "i8")
        grouped = mode == 2
        run(
            (2,),
            z,
            bias,
            w,
            ids,
            tokens,
            experts,
            experts // groups if grouped else experts,
            experts,
            1.5,
            float("-inf"),
            K=k,
            BLOCK_K=4,
            MODE=mode,
            RENORM=renorm,
            HAS_BIAS=grouped,
            N_GROUP=groups if grouped else 1,
            TOPK_GROUP=kept if grouped else 1,
            BLOCK_G=4 if grouped else 2,
            BLOCK_T=8,
            BLOCK_E=32,
        )
        z = z.astype("f8")
        choice = value = [softmax(z), z, sigmoid(z)][mode]
        if grouped:
            # The groups with the greatest sums of two stay.
            choice = value + bias
            parts = choice.reshape(tokens, groups, -1)
            score = np.sort(parts, 2)[:, :, -2:].sum(2)
            stays = np.argsort(np.argsort(-score, 1), 1) < kept
            choice = np.where(stays[:, :, None], parts, -np.inf).reshape(tokens, experts)
        expected_ids = np.argsort(-choice, 1, kind="stable")[:, :k]
        expected = np.take_along_axis(value, expected_ids, 1)
        if mode == 1:
            expected = softmax(expected)
        elif renorm:
            expected = expected / expected.sum(1, keepdims=True)
        found += [same(ids, expected_ids), near(w, 1.5 * expected)]
    return found


# ---- longer kernels


@unsloth("large_head_attention.py", "_lh_fwd")
def unsloth_windowed_attention(run, rng):
    """Row i attends to the keys lo[i] ... hi[i], which do not decrease; two heads share keys."""
    batch, heads, shared, length, size = 2, 4, 2, 45, 32
    q = normal(rng, (batch, length, heads, size), "f2")
    k, v = (normal(rng, (batch, length, heads // shared, size), "f2") for _ in range(2))
    hi = np.arange(length) + np.zeros((batch, 1), int)
    lo = np.maximum(hi - 17, np.where(hi >= 25, 25, 0) * np.array([[0], [1]]))
    out = np.zeros((batch, heads, length, size), "f2")
    lse = np.zeros((batch, heads, length), "f4")
    run(
        (3, batch * heads),
        q,
        k,
        v,
        out,
        lse,
        lo.astype("i4"),
        hi.astype("i4"),
        0.2 / math.log(2),
        length * heads * size,
        size,
        heads * size,
        *[length * heads // shared * size, size, heads // shared * size] * 2,
        heads * length * size,
        length * size,
        size,
        heads,
        shared,
        length,
        HEAD_DIM=size,
        BLOCK_M=16,
        BLOCK_N=16,
    )
    k, v = (np.repeat(t, shared, 2).astype("f8") for t in (k, v))
    s = 0.2 * np.einsum("bihd,bjhd->bhij", q.astype("f8"), k)
    j = np.arange(length)
    inside = (j >= lo[..., None]) & (j <= hi[..., None])
    s = np.where(inside[:, None], s, -np.inf)
    expected = np.einsum("bhij,bjhd->bhid", softmax(s), v)
    return [near(out, expected, 2e-3, 1e-3), near(lse, log_sum_exp(s) / math.log(2), 1e-5, 1e-5)]


@unsloth("moe/grouped_gemm/kernels/backward.py", "_grouped_gemm_dW_per_expert_kernel")
def unsloth_grouped_weight_gradient(run, rng):
    tokens, topk, experts, n, k = 19, 2, 3, 32, 64
    sizes = np.array([21, 0, 17], "i4")
    order = rng.permutation(tokens * topk).astype("i4")
    expert = np.repeat(np.arange(experts), sizes)
    dy = normal(rng, (tokens * topk, n), "f2")
    found = []
    for gathered, descriptors, adds in [(True, False, True), (False, True, False)]:
        x = normal(rng, (tokens if gathered else tokens * topk, k), "f2")
        before = normal(rng, (experts, n, k))
        dw = before.copy()
        run(
            (experts * 2 * 2,),
            x,
            dy,
            dw,
            sizes,
            order,
            tokens,
            topk,
            experts,
            n,
            k,
            1,
            BLOCK_SIZE_N=16,
            BLOCK_SIZE_K=32,
            BLOCK_SIZE_M=16,
            PERMUTE_X=gathered,
            USE_TMA_LOAD_dY=descriptors,
            USE_TMA_LOAD_X=descriptors,
            USE_TMA_STORE=descriptors,
            ACCUMULATE=adds,
            EXPERTS_POW2=4,
        )
        rows = (x[order // topk] if gathered else x).astype("f8")
        one = (expert[:, None] == np.arange(experts)).astype("f8")
        expected = np.einsum("me,mn,mk->enk", one, dy.astype("f8"), rows)
        found.append(near(dw, expected + (before if adds else 0), 1e-5, 5e-5))
    return found


@zoo("temporary_patches/moe_nf4_grouped.py", "_nf4_grouped_kernel")
def zoo_nf4_grouped_product(run, rng):
    """The high half of a byte is the first of two elements, which are of a row or of a column."""
    experts, rows, inner, outer, block = 3, 41, 48, 64, 16
    ends = np.array([19, 19, 41], "i8")
    table = np.sort(uniform(rng, 16, -1, 1))
    offset, code_table, outer_scale = np.array([0.5], "f4"), uniform(rng, 256), uniform(rng, 99)
    x = normal(rng, (rows, inner), "f2")
    expert = np.repeat(np.arange(experts), np.diff(np.append(0, ends)))
    total = experts * inner * outer
    found = []
    for pair, nested, lookup, parts in [(1, True, 1, 1), (2, False, 0, 2), (0, True, 0, 1)]:
        packed = integers(rng, total // 2, 0, 256, "u1")
        flat = np.stack([packed >> 4, packed & 15], 1).ravel()
        codes = integers(rng, total // block, 0, 256, "u1")
        scale = code_table[codes] * outer_scale[np.arange(len(codes)) // 8] + offset
        plain = uniform(rng, len(codes))
        w = (table[flat] * np.repeat(scale if nested else plain, block)).astype("f2").astype("f8")
        by_row = pair != 2
        w = w.reshape(experts, inner, outer) if by_row else w.reshape(experts, outer, inner)
        w = w if by_row else w.swapaxes(1, 2)
        c = np.zeros((rows, outer), "f2")
        run(
            (6, 2),
            x,
            packed,
            codes if nested else plain,
            code_table,
            outer_scale,
            offset,
            table,
            ends,
            c,
            rows,
            16,
            NUM_E=experts,
            E_POW2=16,
            I=inner,
            J=outer,
            S_I=outer if by_row else 1,
            S_J=1 if by_row else inner,
            PAIR=pair,
            BS=block,
            BS2=8,
            NESTED=nested,
            W_DT=tl.float16,
            BM=16,
            BN=32,
            BK=16,
            LUT=lookup,
            MSUB=parts,
        )
        expected = np.einsum("mi,mij->mj", x.astype("f8"), w[expert])
        found.append(near(c, expected, 1e-3, 5e-3))
    return found


@zoo("fused_losses/fused_linear.py", "_fl_forward_kernel")
def zoo_fused_linear_forward(run, rng):
    """Statistics of the softmax of cap * tanh(scale * (x + bias) / cap) / temperature."""
    rows, n, inv_t, scale, cap = 4, 150, 0.5, 1.5, 20.0
    target = np.array([0, 149, -100, 64], "i8")
    x, bias = normal(rng, (rows, n + 3), "f2", 4)[:, :n], normal(rng, n)
    logp, lse, entropy, total, lssp, lpt = (np.zeros(rows, "f4") for _ in range(6))
    top = np.zeros(rows, "bool")
    run(
        (rows,),
        x,
        n + 3,
        n,
        target,
        x,
        bias,
        logp,
        lse,
        entropy,
        total,
        lssp,
        top,
        lpt,
        inv_t,
        scale,
        cap,
        HAS_BIAS=True,
        HAS_SCALE=True,
        HAS_CAP=True,
        HAS_EXACT=False,
        WANT_ENT=True,
        WANT_SUM=True,
        WANT_LSSP=True,
        WANT_TOP1=True,
        BLOCK=64,
    )
    bent = logits_of(x.astype("f8") + bias, cap, scale)
    z = bent * inv_t
    kept = target >= 0
    expected_lse = log_sum_exp(z)
    p = softmax(z)
    own = np.where(kept, z[np.arange(rows), target] - expected_lse, 0)
    return [
        near(lse, expected_lse, 1e-5, 1e-5, "logsumexp"),
        near(logp, own, 2e-5, 1e-5, "log p"),
        near(entropy, -(p * np.log(p)).sum(1), 1e-4, 1e-5, "entropy"),
        near(total, bent.sum(1), 1e-5, 1e-3, "sum"),
        near(lssp, np.log((p**2).sum(1)), 1e-5, 2e-5, "log of the sum of squares"),
        same(top, kept & (z.argmax(1) == target)),
    ]


@unsloth("cross_entropy_loss.py", "_cross_entropy_forward")
def unsloth_cross_entropy_forward(run, rng):
    rows, n = 5, 200
    labels = np.array([0, 199, -100, 7, 31], "i8")
    found = []
    for cap, scale in [(0, 0), (30.0, 0), (0, 0.25)]:
        x = normal(rng, (rows, n), scale=4)
        x[3, 7] = 60
        loss, lse = np.zeros(rows, "f4"), np.zeros(rows, "f4")
        run(
            (rows,),
            x,
            n,
            loss,
            lse,
            labels,
            n,
            BLOCK_SIZE=256,
            DO_SOFTCAPPING=cap != 0,
            SOFTCAP=cap,
            DO_LOGIT_SCALING=scale != 0,
            LOGIT_SCALE=scale,
        )
        z = logits_of(x, cap, scale)
        kept = labels != -100
        expected_lse = log_sum_exp(z)
        # The loss of a row is computed without its label's term, so that it stays exact near 0.
        others = z.copy()
        others[np.arange(rows)[kept], labels[kept]] = -np.inf
        delta = log_sum_exp(others) - z[np.arange(rows), labels]
        # The sum of a row that is left out is that of all its logits.
        found += [
            near(lse, expected_lse, 1e-5, 1e-5, "logsumexp"),
            near(loss, np.where(kept, np.logaddexp(0, delta), 0), 2e-5, 2e-6, "loss"),
        ]
    return found


@unsloth("cross_entropy_loss.py", "_cross_entropy_backward")
def unsloth_cross_entropy_backward(run, rng):
    rows, n = 4, 150
    labels = np.array([5, 149, -100, 0], "i8")
    found = []
    for cap, scale in [(20.0, 0), (0, 0.5)]:
        x, dloss = normal(rng, (rows, n), scale=3), normal(rng, rows)
        z = logits_of(x, cap, scale)
        lse = log_sum_exp(z)
        loss = np.where(labels == -100, 0, lse - z[np.arange(rows), labels])
        dx = np.zeros_like(x)
        run(
            (rows, 3),
            x,
            n,
            dx,
            dloss,
            1,
            lse.astype("f4"),
            loss.astype("f4"),
            labels,
            n,
            BLOCK_SIZE=64,
            DO_SOFTCAPPING=cap != 0,
            SOFTCAP=cap,
            DO_LOGIT_SCALING=scale != 0,
            LOGIT_SCALE=scale,
        )
        expected = np.exp(z - lse[:, None])
        expected[np.arange(rows), labels] -= 1
        expected *= np.where(labels == -100, 0, dloss)[:, None] * (scale or 1)
        if cap:
            expected *= 1 - (z / cap) ** 2
        found.append(near(dx, expected, 1e-5, 2e-6))
    return found


@case("unsloth", "unsloth/optimizers/flash_adamw.py", "kernel")
def unsloth_adam_variance(run, rng):
    """The kernel is defined in a function."""
    n = 300
    variance, gradient = uniform(rng, n), normal(rng, n, "f2")
    out = np.zeros_like(variance)
    run((3,), variance, gradient, out, n, 0.999, BLOCK=128)
    beta = float(np.float32(0.999))
    return [near(out, variance * beta + gradient.astype("f8") ** 2 * (1 - beta))]


@unsloth("nvfp4.py", "_nvfp4_dequant_kernel")
def unsloth_nvfp4_dequant(run, rng):
    rows, cols = 11, 80
    packed = integers(rng, (rows, cols // 2), 0, 256, "u1")
    scales = integers(rng, (rows, cols // 16), 0, 0x7F, "u1")
    total = np.array([3.0], "f4")
    found = []
    for as_bytes in (True, False):
        out = np.zeros((rows, cols), "f4")
        run(
            (2, 2),
            packed,
            scales if as_bytes else FP8(scales).array,
            total,
            out,
            rows,
            cols // 2,
            cols // 16,
            BLOCK_R=8,
            BLOCK_C=32,
            SCALE_E4M3_BYTES=as_bytes,
            INT64_OFFSETS=False,
        )
        scale = (E4M3[scales].astype("f4") / total).repeat(16, 1)
        found.append(same(out, E2M1[nibbles(packed)].astype("f4") * scale))
    return found


@zoo("temporary_patches/gdn_causal_conv1d.py", "_causal_conv1d_fwd_kernel")
def zoo_causal_convolution(run, rng):
    """Taps do not cross from one sequence to the next; channels are outer in x."""
    batch, length, channels, taps = 2, 45, 20, 4
    x = normal(rng, (batch, channels, length)).swapaxes(1, 2)
    w, b = normal(rng, (channels, taps)), normal(rng, channels)
    sequence = np.sort(integers(rng, (batch, length), 0, 4), 1)
    sequence[1, -5:] = -1
    y = np.zeros((batch, length, channels), "f4")
    run(
        (2, 3, batch),
        x,
        w,
        b,
        y,
        sequence,
        length,
        channels,
        channels * length,
        1,
        length,
        W=taps,
        BT=16,
        BD=16,
        HAS_BIAS=True,
        ACTIVATION=True,
        HAS_SEQ_IDX=True,
        PAD_NEG=True,
    )
    expected = np.zeros((batch, length, channels)) + b
    for back in range(taps):
        moved = np.zeros_like(expected)
        moved[:, back:] = x[:, : length - back]
        inside = np.zeros((batch, length), bool)
        inside[:, back:] = sequence[:, back:] == sequence[:, : length - back]
        expected += np.where(inside[..., None], moved, 0) * w[:, taps - 1 - back]
    expected = np.where((sequence >= 0)[..., None], silu(expected), 0)
    return [near(y, expected, 1e-5, 2e-6)]


@zoo("temporary_patches/gdn_causal_conv1d.py", "_causal_conv1d_update_kernel")
def zoo_causal_convolution_update(run, rng):
    """The state is the last inputs of each channel, and moves in place."""
    batch, channels, steps, kept, taps = 2, 20, 2, 3, 4
    x, state = normal(rng, (batch, channels, steps)), normal(rng, (batch, channels, kept))
    w = normal(rng, (channels, taps))
    y, new = np.zeros_like(x), state.copy()
    run(
        (2, batch),
        x,
        new,
        w,
        w,
        y,
        channels,
        steps,
        channels * steps,
        steps,
        1,
        channels * kept,
        kept,
        1,
        channels * steps,
        steps,
        1,
        L=kept,
        LP=4,
        W=taps,
        BD=16,
        HAS_BIAS=False,
        ACTIVATION=True,
    )
    line = np.concatenate([state, x], 2).astype("f8")
    expected = [(line[:, :, t : t + taps] * w).sum(2) for t in range(steps)]
    return [near(y, silu(np.stack(expected, 2)), 1e-5, 1e-6), same(new, line[:, :, steps:])]

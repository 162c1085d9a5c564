"""Kernels of torchao: quantization, layouts of scales, products of integers, permutations."""

import numpy as np

import tilec.language as tl
from case import BF16, E4M3, FP8, case, integers, near, normal, round_to_fp8, same, uniform


def torchao(file, kernel):
    return case("torchao", "torchao/" + file, kernel)


def prototype(file, kernel):
    return torchao("prototype/" + file, kernel)


# ---- fp8 with one scale for all elements, a row, a group


def fp8_scale(amax, eps=1e-12):
    """448 / amax, divided in fp64 and rounded to fp32."""
    return (448.0 / np.maximum(np.asarray(amax, "f8"), eps)).astype("f4")


@prototype("float8nocompile/kernels/fp8_dynamic_tensorwise.py", "_amax_atomic")
def torchao_amax_atomic(run, rng):
    x, amax = BF16(normal(rng, 500)), np.zeros(1, "f4")
    run(
        "triton.cdiv(num_elements, BLOCK_SIZE)",
        x.array,
        amax,
        500,
        tl.bfloat16,
        BLOCK_SIZE=128,
        EPS=1e-12,
    )
    return [same(amax[0], np.abs(x.values).max())]


@prototype("float8nocompile/kernels/fp8_dynamic_tensorwise.py", "_scale_reduction")
def torchao_scale_reduction(run, rng):
    parts, scale = uniform(rng, 4), np.zeros(1, "f4")
    run((1,), parts, scale, 500, 448.0, BLOCK_SIZE=128, EPS=1e-12)
    return [same(scale[0], fp8_scale(parts.max()))]


@prototype("float8nocompile/kernels/fp8_dynamic_tensorwise.py", "to_fp8_col_major_t")
def torchao_fp8_transposed(run, rng):
    rows, cols = 50, 70
    x, scale = normal(rng, (rows, cols), scale=30), np.array([7.5], "f4")
    y = FP8(np.zeros((cols, rows)))
    run(
        (2, 3),
        x,
        y.array,
        scale,
        rows * cols,
        -448.0,
        448.0,
        rows,
        cols,
        cols,
        rows,
        cols,
        1,
        rows,
        1,
        tl.float32,
        tl.float8e4nv,
        BLOCK_SIZE_ROWS=32,
        BLOCK_SIZE_COLS=32,
        EPS=1e-12,
    )
    return [same(y.values, round_to_fp8(x * scale).T)]


@prototype(
    "moe_training/kernels/float8_rowwise.py", "_triton_fp8_rowwise_2d_fused_scale_and_cast_kernel"
)
def torchao_fp8_rows(run, rng):
    rows, cols = 5, 300
    x = normal(rng, (rows, cols), "f2")
    x[1] = 0
    found = []
    for power in (False, True):
        y, scales = FP8(np.zeros((rows, cols))), np.zeros(rows, "f4")
        run(
            (rows,),
            x,
            cols,
            1,
            y.array,
            cols,
            1,
            scales,
            rows,
            cols,
            -448.0,
            448.0,
            tl.float16,
            tl.float8e4nv,
            power,
            BLOCK_SIZE_K=128,
            EPS=1e-12,
        )
        expected = fp8_scale(np.abs(x).max(1))
        if power:
            expected = 2 ** np.floor(np.log2(expected))
        found += [
            same(scales, expected),
            same(y.values, round_to_fp8(x.astype("f4") * expected[:, None])),
        ]
    return found


@prototype(
    "moe_training/kernels/jagged_float8_scales.py", "_triton_fp8_per_group_rowwise_scales_kernel"
)
def torchao_fp8_jagged_rows(run, rng):
    """A row has a scale for each group of columns; groups have any sizes, one of them 0."""
    rows, cols = 32, 90
    ends = np.array([21, 21, 64, 90], "i4")
    x = BF16(normal(rng, (rows, cols), scale=5))
    y, scales = FP8(np.zeros((rows, cols))), np.zeros((4, rows), "f4")
    run(
        (2, 4),
        x.array,
        ends,
        y.array,
        scales,
        rows,
        cols,
        4,
        cols,
        1,
        -448.0,
        448.0,
        tl.bfloat16,
        tl.float8e4nv,
        False,
        BLOCK_SIZE=16,
        BLOCK_SIZE_ITER=32,
        EPS=1e-12,
        STRIDE_OUTPUT_ROW=cols,
        STRIDE_INPUT_COL=1,
    )
    group = np.searchsorted(ends, np.arange(cols), "right")
    amax = [np.abs(x.values[:, group == g]).max(1, initial=0) for g in range(4)]
    expected = fp8_scale(np.stack(amax))
    return [same(scales, expected), same(y.values, round_to_fp8(x.values * expected[group].T))]


FP8_TRAINING = "blockwise_fp8_training/kernels.py"


@prototype(FP8_TRAINING, "triton_fp8_blockwise_act_quant_lhs_kernel")
def torchao_fp8_act_quant(run, rng):
    m, k, block = 21, 96, 32
    x = BF16(normal(rng, (m, k), scale=5))
    y, s = FP8(np.zeros((m, k))), np.zeros((k // block, m), "f4")
    run(
        (3, 3),
        x.array,
        k,
        1,
        y.array,
        k,
        1,
        s,
        1,
        m,
        M=m,
        K=k,
        BLOCK_SIZE=block,
        NUM_GROUPS=8,
        EPS=1e-12,
        FP8_MAX=448.0,
    )
    parts = x.values.reshape(m, -1, block)
    scale = fp8_scale(np.abs(parts).max(2))
    expected = round_to_fp8(parts * scale[..., None]).reshape(m, k)
    return [same(y.values, expected), near(s, (1 / scale).T, 3e-7, 0)]


@prototype(FP8_TRAINING, "triton_fp8_blockwise_act_quant_transposed_lhs_kernel")
def torchao_fp8_act_quant_transposed(run, rng):
    m, k, block = 64, 50, 32
    x = normal(rng, (m, k), scale=5)
    y, s = FP8(np.zeros((k, m))), np.zeros((m // block, k), "f4")
    run(
        (2, 4),
        x,
        k,
        1,
        y.array,
        m,
        1,
        s,
        1,
        k,
        m,
        K=k,
        BLOCK_SIZE=block,
        NUM_GROUPS=16,
        EPS=1e-12,
        FP8_MAX=448.0,
    )
    parts = x.reshape(-1, block, k)
    scale = fp8_scale(np.abs(parts).max(1))
    expected = round_to_fp8(parts * scale[:, None]).reshape(m, k).T
    return [same(y.values, expected), near(s, 1 / scale, 3e-7, 0)]


@prototype(FP8_TRAINING, "triton_fp8_blockwise_weight_quant_transposed_rhs_kernel")
def torchao_fp8_weight_quant_transposed(run, rng):
    """The kernel writes its scale through [:, None] of two numbers."""
    m, n, block = 64, 96, 32
    x = normal(rng, (m, n), "f2", 5)
    y, s = FP8(np.zeros((m, n))), np.zeros((m // block, n // block), "f4")
    run(
        (2, 3),
        x,
        n,
        1,
        y.array,
        1,
        n,
        s,
        1,
        n // block,
        m,
        n,
        BLOCK_SIZE=block,
        EPS=1e-12,
        FP8_MAX=448.0,
    )
    scale = fp8_scale(np.abs(x).reshape(2, block, 3, block).max((1, 3)))
    wide = np.kron(scale, np.ones((block, block), "f4"))
    return [same(y.values, round_to_fp8(x.astype("f4") * wide)), near(s, 1 / scale, 3e-7, 0)]


@prototype(
    "blockwise_fp8_training/deepgemm_quant.py",
    "triton_fp8_blockwise_act_quant_k_grouped_deepgemm_kernel",
)
def torchao_fp8_quant_groups(run, rng):
    """Each group of rows is stored transposed, one after the other."""
    sizes, d, block = [32, 0, 64], 40, 32
    ends = np.cumsum(sizes).astype("i4")
    total = int(ends[-1])
    x = normal(rng, (total, d), scale=5)
    q, s = FP8(np.zeros(total * d)), np.zeros((d, total // block), "f4")
    run(
        (3, 2, 3),
        x,
        d,
        1,
        ends,
        q.array,
        s,
        total // block,
        1,
        D=d,
        BLOCK_SIZE=block,
        NUM_GROUPS=16,
        EPS=1e-12,
        FP8_MAX=448.0,
    )
    parts = x.reshape(-1, block, d)
    scale = fp8_scale(np.abs(parts).max(1))
    rounded = round_to_fp8(parts * scale[:, None]).reshape(total, d)
    expected = [g.T.ravel() for g in np.split(rounded, ends[:-1])]
    return [same(q.values, np.concatenate(expected)), near(s, (1 / scale).T, 3e-7, 0)]


@prototype(FP8_TRAINING, "triton_fp8_gemm_1x128_128x128_kernel")
def torchao_fp8_product(run, rng):
    m, n, k, block = 32, 50, 64, 32
    a, b = (
        FP8(integers(rng, s, 0, 120, "u1") + integers(rng, s, 0, 2, "u1") * 128)
        for s in ((m, k), (n, k))
    )
    sa, sb = uniform(rng, (k // block, m), 0.001, 0.01), uniform(rng, (2, k // block), 0.001, 0.01)
    c = BF16(np.zeros((m, n)))
    run(
        (2, 2),
        a.array,
        k,
        1,
        b.array,
        1,
        k,
        c.array,
        n,
        1,
        sa,
        1,
        m,
        sb,
        1,
        k // block,
        m,
        n,
        k,
        out_dtype=tl.bfloat16,
        BLOCK_SIZE_M=16,
        BLOCK_SIZE_N=32,
        BLOCK_SIZE_K=block,
    )
    wide_a = a.values * np.repeat(sa, block, 0).T
    wide_b = b.values * np.kron(sb, np.ones((block, block)))[:n]
    size = np.abs(wide_a) @ np.abs(wide_b).T
    expected = wide_a @ wide_b.T
    # Matrix units keep 13 bits of the sums of fp8; the result has eight.
    error = (c.values - expected) / (np.abs(expected) * 2**-8 + size * 2**-12)
    return [near(error, np.zeros((m, n)), 0, 1)]


# ---- mxfp8: 32 elements have a scale that is a power of two


def mxfp8(x):
    """The scales' exponents (with a bias of 127) and the quantized elements of [..., 32]."""
    amax = np.abs(x).max(-1)
    exponent = np.floor(np.log2(np.where(amax > 0, amax, 1))) - 8
    biased = np.where(amax > 0, np.clip(exponent + 127, 0, 255), 0)
    scale = np.where(biased > 0, np.exp2(127.0 - biased), 1)
    return biased, round_to_fp8(x * scale[..., None])


@prototype("mx_formats/kernels.py", "to_mxfp8_dim0_kernel")
def torchao_mxfp8_rows(run, rng):
    rows, cols = 19, 160
    x = BF16(normal(rng, (rows, cols)) * np.exp2(integers(rng, (rows, 1), -20, 20)))
    x.bits[3] = 0
    y, s = FP8(np.zeros((rows, cols))), np.zeros((rows, cols // 32), "u1")
    run(
        (2, 3),
        x.array,
        y.array,
        s,
        rows,
        cols,
        ROW_TILE_SIZE=16,
        COL_TILE_SIZE=64,
        SCALE_BLOCK_SIZE=32,
        SCALING_MODE="floor",
    )
    scale, expected = mxfp8(x.values.reshape(rows, -1, 32))
    return [same(s, scale), same(y.values, expected.reshape(rows, cols))]


@prototype("mx_formats/kernels.py", "to_mxfp8_dim1_kernel")
def torchao_mxfp8_columns(run, rng):
    rows, cols = 128, 64
    x = BF16(normal(rng, (rows, cols), scale=100))
    y, s = FP8(np.zeros((cols, rows))), np.zeros((cols, rows // 32), "u1")
    run(
        (2, 2),
        x.array,
        y.array,
        s,
        rows,
        cols,
        ROW_TILE_SIZE=64,
        COL_TILE_SIZE=32,
        INNER_BLOCK_SIZE=32,
        SCALING_MODE="floor",
    )
    scale, expected = mxfp8(x.values.T.reshape(cols, -1, 32))
    return [same(s, scale), same(y.values, expected.reshape(cols, rows))]


@prototype("mx_formats/kernels.py", "_dequant_mxfp8_kernel")
def torchao_mxfp8_dequant(run, rng):
    rows, cols = 19, 96
    codes = integers(rng, (rows, cols), 0, 256, "u1")
    codes[codes % 128 == 127] = 1
    scales = integers(rng, (rows, cols // 32), 100, 150, "u1")
    scales[4, 1] = 255
    y = np.zeros((rows, cols), "f4")
    run(
        (2, 2),
        FP8(codes).array,
        scales,
        y,
        rows,
        cols,
        rows,
        cols // 32,
        tl.float32,
        SCALE_BLOCK_SIZE=32,
        ROW_TILE_SIZE=16,
        COL_TILE_SIZE=64,
    )
    factor = np.where(scales == 255, np.nan, np.exp2(scales - 127.0)).repeat(32, 1)
    return [near(y, E4M3[codes] * factor, 3e-7, 0)]


def swizzled(block):
    """A block of 128 x 4 bytes in the layout of scaled products: [32, 4 of 32 rows, 4]."""
    return block.reshape(4, 32, 4).swapaxes(0, 1).ravel()


def padded_blocks(scales):
    """The blocks of 128 x 4 of a matrix, which zeros fill, as [row, column] of lists."""
    rows, cols = scales.shape
    wide = np.zeros((-(-rows // 128) * 128, -(-cols // 4) * 4), "u1")
    wide[:rows, :cols] = scales
    return [
        [swizzled(b) for b in np.split(r, wide.shape[1] // 4, 1)]
        for r in np.split(wide, wide.shape[0] // 128)
    ]


@prototype("mx_formats/kernels.py", "triton_scale_swizzle")
def torchao_scale_swizzle(run, rng):
    rows, cols = 150, 6
    scales = integers(rng, (cols, rows), 0, 256, "u1").T
    out = np.zeros(2 * 2 * 512, "u1")
    run((2, 2), scales, rows, cols, out, 1, rows, 1024, BLOCK_ROWS=128, BLOCK_COLS=4)
    return [same(out, np.concatenate(sum(padded_blocks(scales), [])))]


MX_QUANT = "moe_training/kernels/mxfp8/quant.py"


@prototype(MX_QUANT, "triton_scale_swizzle_M_groups")
def torchao_scale_swizzle_row_groups(run, rng):
    """Each group of rows is padded to blocks."""
    ends, cols = np.array([130, 130, 200, 201], "i4"), 6
    scales = integers(rng, (201, cols), 0, 256, "u1")
    out = np.zeros((201 + 4 * 128, 8), "u1")
    run(
        (4, 2),
        scales,
        cols,
        1,
        201,
        cols,
        ends,
        out,
        8,
        512,
        1024,
        num_groups=4,
        BLOCK_ROWS=128,
        BLOCK_COLS=4,
    )
    groups = [g for g in np.split(scales, ends[:-1]) if len(g)]
    blocks = [b for g in groups for row in padded_blocks(g) for b in row]
    expected = np.zeros_like(out.ravel())
    expected[: 512 * len(blocks)] = np.concatenate(blocks)
    return [same(out.ravel(), expected)]


@prototype(MX_QUANT, "triton_scale_swizzle_2d_K_groups")
def torchao_scale_swizzle_column_groups(run, rng):
    ends, rows = np.array([5, 9, 9, 12], "i4"), 150
    scales = integers(rng, (rows, 12), 0, 256, "u1")
    out = np.zeros((256, 12 + 4 * 4), "u1")
    run(
        (4, 2),
        scales,
        12,
        1,
        rows,
        12,
        256,
        ends,
        out,
        512,
        num_groups=4,
        BLOCK_ROWS=128,
        BLOCK_COLS=4,
    )
    groups = [g for g in np.split(scales, ends[:-1], 1) if g.size]
    blocks = [b for g in groups for row in padded_blocks(g) for b in row]
    expected = np.zeros_like(out.ravel())
    expected[: 512 * len(blocks)] = np.concatenate(blocks)
    return [same(out.ravel(), expected)]


# ---- Hadamard transforms, rotary embeddings and fp8 for attention


def hadamard(n):
    h = np.ones((1, 1))
    while len(h) < n:
        h = np.block([[h, h], [h, -h]])
    return h / np.sqrt(n)


HADAMARD = "attention/quantization/triton_hadamard_utils.py"


@prototype(HADAMARD, "_inverse_hadamard_kernel")
def torchao_hadamard(run, rng):
    """Elements are exchanged through memory."""
    batch, heads, length, size, chunks, chunk = 2, 2, 5, 32, 2, 3
    x = normal(rng, (batch, length, heads, size), "f2").swapaxes(1, 2)
    y = np.zeros((batch, heads, length, size), "f2")
    temporary = np.zeros((batch, heads, chunks, size), "f4")
    run(
        (batch, heads, chunks),
        x,
        y,
        temporary,
        length * heads * size,
        size,
        heads * size,
        1,
        heads * length * size,
        length * size,
        size,
        1,
        heads * chunks * size,
        chunks * size,
        size,
        1,
        length,
        heads,
        chunk,
        chunks,
        D=size,
        LOG2_D=5,
        USE_BFLOAT16=False,
    )
    return [near(y, x.astype("f8") @ hadamard(size), 1e-3, 1e-4)]


def rotated_pairs(x, angle, interleaved):
    """x is [batch, length, heads, size]; angle is [length, half of the size]."""
    x = x.astype("f8")
    half = x.shape[-1] // 2
    first, second = (x[..., ::2], x[..., 1::2]) if interleaved else (x[..., :half], x[..., half:])
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    pairs = [first * c - second * s, second * c + first * s]
    return np.stack(pairs, -1).reshape(x.shape) if interleaved else np.concatenate(pairs, -1)


@prototype(
    "attention/quantization/triton_hadamard_rope_qkv_quantization.py",
    "hadamard_rope_single_phase1_kernel",
)
def torchao_hadamard_rope(run, rng):
    batch, heads, length, size, chunks, chunk = 1, 2, 5, 16, 2, 3
    x = normal(rng, (batch, length, heads, size), "f2")
    angle = uniform(rng, (length, size // 2), -3, 3)
    wide = np.tile(angle, 2)
    y = np.zeros((batch, heads, length, size), "f2")
    temporary = np.zeros((batch, heads, chunks, size), "f4")
    top = np.zeros((batch, heads, chunks), "f4")
    run(
        (batch, heads, chunks),
        x,
        np.cos(wide),
        np.sin(wide),
        y,
        temporary,
        top,
        length * heads * size,
        heads * size,
        size,
        1,
        heads * length * size,
        length * size,
        size,
        1,
        heads * chunks * size,
        chunks * size,
        size,
        1,
        length,
        heads,
        size // 2,
        chunk,
        chunks,
        D=size,
        LOG2_D=4,
        USE_BFLOAT16=False,
        ROPE_INTERLEAVED=False,
    )
    expected = (rotated_pairs(x, angle, False) @ hadamard(size)).swapaxes(1, 2)
    most = np.abs(expected).max(3)
    most = np.stack([most[..., :chunk].max(2), most[..., chunk:].max(2)], 2)
    return [near(y, expected, 1e-3, 1e-4), near(top, most, 1e-5, 0)]


ROPE_QKV = "attention/quantization/triton_rope_qkv_quantization.py"


@prototype(ROPE_QKV, "rope_single_phase1_kernel")
def torchao_rope_amax(run, rng):
    batch, heads, length, size, chunks, chunk = 2, 2, 7, 24, 2, 4
    x = normal(rng, (batch, length, heads, size))
    angle = uniform(rng, (length, size // 2), -3, 3)
    found = []
    for interleaved in (False, True):
        wide = np.repeat(angle, 2, 1) if interleaved else np.tile(angle, 2)
        y = np.zeros((batch, heads, length, size), "f4")
        top = np.zeros((batch, heads, chunks), "f4")
        run(
            (batch, heads, chunks),
            x,
            np.cos(wide),
            np.sin(wide),
            y,
            top,
            length * heads * size,
            heads * size,
            size,
            1,
            heads * length * size,
            length * size,
            size,
            1,
            length,
            size,
            size // 2,
            heads,
            chunk,
            chunks,
            BLOCK_SIZE=32,
            ROPE_INTERLEAVED=interleaved,
        )
        expected = rotated_pairs(x, angle.astype("f8"), interleaved).swapaxes(1, 2)
        most = np.abs(expected).max(3)
        most = np.stack([most[..., :chunk].max(2), most[..., chunk:].max(2)], 2)
        found += [near(y, expected, 1e-5, 1e-6), near(top, most)]
    return found


@prototype(ROPE_QKV, "group_reduce_kernel")
def torchao_group_scale(run, rng):
    batch, heads, kv_heads, chunks = 2, 6, 2, 3
    top = uniform(rng, (batch, heads, chunks))
    top[0, :3] = 0
    scale, inverse = np.zeros((batch, kv_heads), "f4"), np.zeros((batch, kv_heads), "f4")
    run((batch, kv_heads), top, scale, inverse, heads, kv_heads, heads // kv_heads, chunks)
    most = top.astype("f8").reshape(batch, kv_heads, -1).max(2)
    expected = np.where(most > 0, 448 / np.where(most > 0, most, 1), 1)
    return [near(scale, expected, 3e-7, 0), near(inverse, 1 / expected, 3e-7, 0)]


@prototype(ROPE_QKV, "v_phase2_kernel")
def torchao_fp8_transpose_heads(run, rng):
    batch, heads, length, size, chunks, chunk = 2, 3, 7, 24, 2, 4
    x, scale = normal(rng, (batch, length, heads, size)), uniform(rng, (batch, heads), 50, 150)
    y = FP8(np.zeros((batch, heads, length, size)))
    run(
        (batch, heads, chunks),
        x,
        y.array,
        scale,
        length * heads * size,
        heads * size,
        size,
        1,
        heads * length * size,
        length * size,
        size,
        1,
        length,
        size,
        heads,
        chunk,
        BLOCK_SIZE=64,
    )
    return [same(y.values, round_to_fp8(x.swapaxes(1, 2) * scale[:, :, None, None]))]


@prototype("moe_training/nvfp4_training/hadamard_amax_triton.py", "_hadamard_amax_kernel")
def torchao_hadamard_amax(run, rng):
    """The greatest of x and of the transform of parts of its columns. Two programs, six tiles."""
    m, n = 48, 64
    x = BF16(normal(rng, (m, n)))
    h = BF16(hadamard(16) * np.where(rng.random(16) < 0.5, -1, 1)[:, None])
    top, plain = np.zeros(1, "f4"), np.zeros(1, "f4")
    run(
        (2,),
        x.array,
        h.array,
        top,
        plain,
        m,
        n,
        BLOCK_M=16,
        BLOCK_N=32,
        GROUP_SIZE_N=8,
        NUM_SMS=2,
        NUM_STAGES=2,
    )
    turned = x.values.T.reshape(n, -1, 16).astype("f8") @ h.values
    return [
        near(top[0], BF16(np.abs(turned).max()).values, 2**-7, 0),
        same(plain[0], np.abs(x.values).max()),
    ]


# ---- products of small integers


@prototype("hqq/kernels.py", "_mixed_mm_kernel")
def torchao_mixed_product(run, rng):
    """Rows 2i and 2i + 1 of the weights are the low and the high halves of a byte.

    The kernel finds the scales only if a step of its loop is a group.
    """
    m, n, k, group = 21, 64, 128, 64
    q, s = integers(rng, (k, n), 0, 16, "u1"), uniform(rng, (k // group, n), 0.01, 0.1, "f2")
    z = integers(rng, (k // group, n), 0, 16).astype("f2")
    packed = q[::2] | (q[1::2] << 4)
    w = ((q - z.repeat(group, 0)).astype("f2") * s.repeat(group, 0)).astype("f8")
    found = []
    for split in (1, 2):
        a, c = normal(rng, (m, k), "f2"), np.zeros((m, n), "f4")
        run(
            (4, split),
            a,
            packed,
            s,
            z,
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
            n,
            1,
            IS_BFLOAT16=False,
            QGROUP_SIZE=group,
            BLOCK_M=16,
            BLOCK_N=32,
            BLOCK_K=group // split,
            SPLIT_K=split,
            EVEN_K=True,
        )
        found.append(near(c, a.astype("f8") @ w, 1e-5, 2e-4))
    # With the weights transposed, whose groups are then along the columns of the result.
    a, c = normal(rng, (m, n), "f2"), np.zeros((m, k), "f4")
    run(
        (4, 1),
        a,
        packed,
        s,
        z,
        c,
        m,
        k,
        n,
        n,
        1,
        n,
        1,
        k,
        1,
        n,
        1,
        IS_BFLOAT16=False,
        QGROUP_SIZE=group,
        BLOCK_M=16,
        BLOCK_N=group,
        BLOCK_K=32,
        SPLIT_K=1,
        EVEN_K=True,
        TRANSPOSED=True,
    )
    return found + [near(c, a.astype("f8") @ w.T, 1e-5, 2e-4)]


@prototype("quantized_training/int8_mm.py", "_scaled_int8_mm_kernel")
def torchao_scaled_int8_product(run, rng):
    """K is not a multiple of the block, which the heuristics of the file find; B is transposed."""
    m, n, k = 37, 50, 72
    a, b = integers(rng, (m, k), -128, 128, "i1"), integers(rng, (n, k), -128, 128, "i1")
    found = []
    for scalar in (False, True):
        rows, cols = uniform(rng, m, 0.01, 0.1), uniform(rng, 1 if scalar else n, 0.01, 0.1)
        c = np.zeros((m, n), "f4")
        run(
            (2 * 2,),
            a,
            b,
            c,
            rows,
            cols,
            m,
            n,
            k,
            k,
            1,
            1,
            k,
            n,
            1,
            BLOCK_M=32,
            BLOCK_N=32,
            BLOCK_K=32,
            COL_SCALE_SCALAR=scalar,
        )
        expected = (a.astype("i4") @ b.astype("i4").T) * rows[:, None].astype("f8") * cols
        found.append(near(c, expected, 1e-6))
    return found


@torchao("kernel/intmm_triton.py", "matmul_kernel_with_block_pointers")
def torchao_int8_block_pointers(run, rng):
    m, n, k = 37, 50, 72
    a, b = integers(rng, (m, k), -128, 128, "i1"), integers(rng, (k, n), -128, 128, "i1")
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
        BLOCK_M=32,
        BLOCK_N=32,
        BLOCK_K=32,
        GROUP_M=2,
    )
    return [same(c, a.astype("i4") @ b.astype("i4"))]


@torchao("kernel/intmm_triton.py", "scaled_matmul_kernel_with_block_pointers")
def torchao_int8_row_scales(run, rng):
    m, n, k = 37, 50, 72
    a, b = integers(rng, (m, k), -128, 128, "i1"), integers(rng, (k, n), -128, 128, "i1")
    scale, c = uniform(rng, m), np.zeros((m, n), "f4")
    run(
        (2 * 2,),
        a,
        b,
        c,
        scale,
        m,
        n,
        k,
        k,
        1,
        n,
        1,
        n,
        1,
        1,
        1,
        BLOCK_M=32,
        BLOCK_N=32,
        BLOCK_K=32,
        GROUP_M=2,
        EVEN_K=False,
    )
    return [near(c, (a.astype("i4") @ b.astype("i4")) * scale[:, None].astype("f8"), 1e-6)]


# ---- permutations


@prototype("moe_training/ep/kernels.py", "_fill_indices_kernel")
def torchao_fill_indices(run, rng):
    """Tokens come by rank and expert, and go by expert and rank. Two programs, five experts."""
    experts, ranks = 5, 3
    counts = integers(rng, (ranks, experts), 0, 40)
    counts[1, 2] = 0
    starts = (counts.cumsum() - counts.ravel()).astype("i4")
    writes = (counts.sum(0).cumsum() - counts.sum(0)).astype("i4")
    out = np.full(counts.sum(), -1, "i4")
    run((2,), counts, starts, writes, out, experts, ranks, BLOCK_SIZE=16)
    owner = np.repeat(np.tile(np.arange(experts), ranks), counts.ravel())
    return [same(out, np.argsort(owner, kind="stable"))]


@prototype("moe_training/ep/permute.py", "_triton_permute_bwd_kernel")
def torchao_permute_backward(run, rng):
    """Rows that were padding have the index -1."""
    rows, cols, kept = 50, 40, 37
    index = np.full(rows, -1, "i4")
    index[rng.permutation(rows)[:kept]] = rng.permutation(kept)
    dy, dx = normal(rng, (rows, cols), "f2"), np.zeros((kept, cols), "f2")
    run((4, 2), dy, index, dx, rows, cols, kept, cols, BLOCK_ROWS=16, BLOCK_COLS=32)
    expected = np.zeros_like(dx)
    expected[index[index >= 0]] = dy[index >= 0]
    return [same(dx, expected)]


@case("torchao", "torchao/kernel/blockwise_quantization.py", "blockwise_fp8_gemm_kernel")
def torchao_blockwise_fp8_product(run, rng):
    m, n, k, block = 20, 50, 96, 32
    a, b = (
        FP8(integers(rng, s, 0, 120, "u1") + integers(rng, s, 0, 2, "u1") * 128)
        for s in ((m, k), (n, k))
    )
    sa, sb = uniform(rng, (m, k // block), 1e-3, 1e-2), uniform(rng, (2, k // block), 1e-3, 1e-2)
    c = np.zeros((m, n), "f4")
    run(
        (2, 2),
        a.array,
        b.array,
        c,
        sa,
        sb,
        m,
        n,
        k,
        5,
        BLOCK_SIZE_M=16,
        BLOCK_SIZE_N=32,
        BLOCK_SIZE_K=block,
    )
    wide_a = a.values * np.repeat(sa, block, 1)
    wide_b = b.values * np.kron(sb, np.ones((block, block)))[:n]
    size = np.abs(wide_a) @ np.abs(wide_b).T
    return [near((c - wide_a @ wide_b.T) / size, np.zeros((m, n)), 0, 2**-12)]


@case(
    "torchao", "torchao/kernel/blockwise_quantization.py", "_fp8_blockwise_weight_quant_kernel_impl"
)
def torchao_blockwise_weight_quant(run, rng):
    m, n, block = 64, 96, 32
    x = normal(rng, (m, n), "f2", 5)
    y, s = FP8(np.zeros((m, n))), np.zeros((2, 3), "f4")
    run((2, 3), x, y.array, s, m, n, BLOCK_SIZE=block)
    scale = np.abs(x).reshape(2, block, 3, block).max((1, 3)) / np.float32(448)
    wide = np.kron(scale, np.ones((block, block), "f4"))
    return [near(s, scale, 1e-6, 0), same(y.values, round_to_fp8(x / wide))]


@case("torchao", "torchao/kernel/bsr_triton_ops.py", "_bsr_strided_addmm_kernel_impl")
def torchao_bsr_addmm(run, rng):
    """beta * input + left * (alpha * (bsr @ dense)) * right, of blocks of 16 x 32."""
    rows, inner, cols = 16, 32, 32
    crow, col = np.array([0, 2, 2, 5], "i8"), np.array([0, 2, 1, 2, 3], "i8")
    m, k, n = 3 * rows, 4 * inner, 2 * cols
    values, dense = normal(rng, (5, rows, inner), "f2"), normal(rng, (k, n), "f2")
    given, left, right = normal(rng, (m, n), "f2"), normal(rng, m, "f2"), normal(rng, n, "f2")
    out = np.zeros((m, n), "f2")
    a = np.zeros((m, k))
    for row in range(3):
        for i in range(crow[row], crow[row + 1]):
            j = int(col[i])
            a[row * rows : (row + 1) * rows, j * inner : (j + 1) * inner] = values[i]
    run(
        (3, 2, 1),
        values,
        0,
        rows * inner,
        inner,
        1,
        crow,
        0,
        1,
        col,
        0,
        1,
        given,
        0,
        rows * n,
        cols,
        n,
        1,
        dense,
        0,
        inner * n,
        cols,
        n,
        1,
        left,
        0,
        rows,
        0,
        1,
        0,
        right,
        0,
        0,
        cols,
        0,
        1,
        out,
        0,
        rows * n,
        cols,
        n,
        1,
        0.5,
        2.0,
        beta_is_one=False,
        beta_is_nonzero=True,
        alpha_is_one=False,
        left_alpha_is_one=False,
        right_alpha_is_one=False,
        BLOCKSIZE_ROW=rows,
        BLOCKSIZE_COL=cols,
        BLOCKSIZE_INNER=inner,
        acc_dtype=tl.float32,
        allow_tf32=False,
        GROUP_SIZE_ROW=2,
        SPLIT_N=2,
    )
    product = 2 * (a @ dense.astype("f8"))
    expected = 0.5 * given + product * left[:, None].astype("f8") * right
    return [near(out, expected, 1e-3, 1e-2)]

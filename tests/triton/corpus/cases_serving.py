"""vllm and sglang: attention over paged caches, experts, state spaces, LoRA, sampling."""

import numpy as np
import tilec
import tilec.language as tl
from case import BF16, FP8, case, integers, near, normal, same, sigmoid, silu, softmax, uniform

OPS = "vllm/v1/attention/ops/"
LAYERS = "vllm/model_executor/layers/"


def strides(a):
    return [s // a.itemsize for s in a.strides]


def random_fp8(rng, shape):
    """Finite numbers of e4m3, of magnitude 0.25 to 4."""
    return FP8(integers(rng, shape, 0x28, 0x48, "u1") | (integers(rng, shape, 0, 2, "u1") << 7))


def near_fp8(found, exact, name=""):
    """The exact values are rounded to e4m3: half a unit in the last place of 4 bits."""
    return near(found, np.clip(exact, -448, 448), 2**-4 + 1e-4, 2**-10 + 1e-6, name)


# ---- experts


def assign_experts(experts, count, block):
    """Slots sorted by expert, each expert's padded to blocks; the expert of each block."""
    slots, owners = [], []
    flat = experts.reshape(-1)
    for e in range(count):
        mine = np.flatnonzero(flat == e)
        blocks = -(-len(mine) // block)
        slots += [*mine, *[flat.size] * (blocks * block - len(mine))]
        owners += [e] * blocks
    return np.array(slots, "i4"), np.array(owners, "i4"), np.array([len(slots)], "i4")


@case("vllm", LAYERS + "fused_moe/fused_moe.py", "fused_moe_kernel")
def vllm_fused_moe(run, rng):
    m, top_k, count, n, k = 11, 2, 4, 40, 72
    experts = np.stack([rng.permutation(count)[:top_k] for _ in range(m)])
    weights = uniform(rng, (m, top_k))
    lost = 2  # an expert of another rank, whose rows become zeros
    compared = []

    def launch(name, a, b, exact, a_scale=None, b_scale=None, bias=None, block=16, **options):
        slots, owners, padded = assign_experts(experts, count, block)
        owners[owners == lost] = -1
        values = dict(
            group_n=0,
            group_k=0,
            naive_block_assignment=False,
            use_fp8_w8a8=False,
            use_int8_w8a8=False,
            use_int8_w8a16=False,
            per_channel_quant=False,
            HAS_BIAS=bias is not None,
            SWAP_AB=False,
            MUL_ROUTED_WEIGHT=True,
        )
        values.update(options)
        if values["naive_block_assignment"]:
            owners = np.where(experts.reshape(-1) == lost, -1, experts.reshape(-1)).astype("i4")
            padded[:] = m * top_k * block
        out = np.full((m, top_k, n), 9, "f2")
        em = len(owners) * block
        run(
            (len(owners) * 3,),
            a,
            b,
            out,
            bias,
            a_scale,
            b_scale,
            weights,
            slots,
            owners,
            padded,
            n,
            k,
            em,
            m * top_k,
            k,
            1,
            n * k,
            1,
            k,
            n,
            1,
            *(strides(a_scale) if np.ndim(a_scale) == 2 else (1, 0)),
            *(
                (b_scale.shape[1] * b_scale.shape[2], 1, b_scale.shape[2])
                if np.ndim(b_scale) == 3
                else (n, 0, 1)
            ),
            n,
            1,
            BLOCK_SIZE_M=block,
            BLOCK_SIZE_N=16,
            BLOCK_SIZE_K=32,
            GROUP_SIZE_M=2,
            SPLIT_K=1,
            top_k=top_k,
            compute_type=tl.float16,
            **values,
        )
        expected = np.einsum("mk,mtnk->mtn", exact[0], exact[1][experts])
        if bias is not None:
            expected += bias[experts]
        if values["MUL_ROUTED_WEIGHT"]:
            expected *= weights[:, :, None]
        expected[experts == lost] = 0
        compared.append(near(out, expected, 2e-3, 2e-3, name))

    a, b = normal(rng, (m, k), "f2"), normal(rng, (count, n, k), "f2", 0.2)
    bias = normal(rng, (count, n))
    exact = a.astype("f8"), b.astype("f8")
    launch("f16", a, b, exact, bias=bias)
    launch("one token a block", a, b, exact, naive_block_assignment=True)
    # int8, a scale for each row of A and each column of B
    a8, b8 = integers(rng, (m, k), -127, 128, "i1"), integers(rng, (count, n, k), -127, 128, "i1")
    a_scale, b_scale = uniform(rng, (m, 1), 1e-3, 2e-3), uniform(rng, (count, n), 1e-3, 2e-3)
    launch(
        "int8",
        a8,
        b8,
        (a8 * a_scale.astype("f8"), b8 * b_scale[..., None].astype("f8")),
        a_scale,
        b_scale,
        use_int8_w8a8=True,
        per_channel_quant=True,
    )
    # fp8, a scale for each 32 of k (and 16 columns)
    a8, b8 = random_fp8(rng, (m, k)), random_fp8(rng, (count, n, k))
    a_scale, b_scale = uniform(rng, (m, 3), 0.1, 0.3), uniform(rng, (count, 3, 3), 0.1, 0.3)
    wide_a = np.repeat(a_scale, 32, 1)[:, :k]
    wide_b = np.repeat(np.repeat(b_scale, 16, 1), 32, 2)[:, :n, :k]
    exact = a8.values * wide_a, b8.values * wide_b
    for swap in (False, True):
        launch(
            f"fp8 {swap}",
            a8.array,
            b8.array,
            exact,
            a_scale,
            b_scale,
            use_fp8_w8a8=True,
            group_n=16,
            group_k=32,
            SWAP_AB=swap,
            MUL_ROUTED_WEIGHT=not swap,
        )
    return compared


@case("vllm", LAYERS + "fused_moe/fused_moe.py", "fused_moe_kernel_gptq_awq")
def vllm_fused_moe_int4(run, rng):
    m, top_k, count, n, k, group = 7, 2, 3, 24, 96, 48
    a = normal(rng, (m, k), "f2")
    experts = np.stack([rng.permutation(count)[:top_k] for _ in range(m)])
    slots, owners, padded = assign_experts(experts, count, 16)
    weights = uniform(rng, (m, top_k))
    scale = uniform(rng, (count, n, 2), 0.01, 0.03, "f2")
    wide_scale = np.repeat(scale.astype("f8"), group, 2)
    compared = []
    for bits, has_zero in ((4, True), (4, False), (8, False), (8, True)):
        b = integers(rng, (count, n, k), 0, 1 << bits, "u1")
        zero = integers(rng, (count, n, 2), 0, 1 << bits, "u1")
        packed, packed_zero = b, zero
        if bits == 4:
            packed = b[..., ::2] | b[..., 1::2] << 4
            packed_zero = zero[:, ::2] | zero[:, 1::2] << 4
        out = np.zeros((m, top_k, n), "f2")
        divisible = bits == 4
        run(
            (len(owners) * 2,),
            a,
            packed,
            out,
            scale,
            packed_zero if has_zero else None,
            weights,
            slots,
            owners,
            padded,
            N=n,
            K=k,
            EM=len(slots),
            num_valid_tokens=m * top_k,
            stride_am=k,
            stride_ak=1,
            stride_be=packed[0].size,
            stride_bk=1,
            stride_bn=packed.shape[2],
            stride_cm=n,
            stride_cn=1,
            stride_bse=n * 2,
            stride_bsk=1,
            stride_bsn=2,
            stride_bze=packed_zero[0].size,
            stride_bzk=1,
            stride_bzn=2,
            block_k_diviable=divisible,
            group_size=group,
            BLOCK_SIZE_M=16,
            BLOCK_SIZE_N=16,
            BLOCK_SIZE_K=32,
            GROUP_SIZE_M=1,
            SPLIT_K=1,
            MUL_ROUTED_WEIGHT=has_zero,
            top_k=top_k,
            compute_type=tl.float16,
            has_zp=has_zero,
            use_int4_w4a16=bits == 4,
            use_int8_w8a16=bits == 8,
        )
        wide_zero = np.repeat(zero, group, 2).astype("f8") if has_zero else 1 << bits >> 1
        dense = (b.astype("f8") - wide_zero) * wide_scale
        expected = np.einsum("mk,mtnk->mtn", a.astype("f8"), dense[experts])
        if has_zero:
            expected *= weights[:, :, None]
        size = np.abs(dense).max() * 3 * k**0.5
        compared.append(near(out, expected, 2e-3, 5e-4 * size, f"int{bits} {has_zero}"))
    return compared


# ---- quantized products


@case("vllm", LAYERS + "quantization/awq_triton.py", "awq_gemm_kernel")
def vllm_awq_gemm(run, rng):
    m, n, k, group, split = 5, 72, 128, 32, 2
    a = normal(rng, (m, k), "f2")
    b, zero = integers(rng, (k, n), 0, 16), integers(rng, (k // group, n), 0, 16)
    scale = uniform(rng, (k // group, n), 0.005, 0.01, "f2")

    def pack(x):
        """Column c of 8 stands in the nibble of its place in 0, 2, 4, 6, 1, 3, 5, 7."""
        columns = x.reshape(len(x), -1, 8)[..., [0, 2, 4, 6, 1, 3, 5, 7]].astype("u4")
        return (columns << (np.arange(8, dtype="u4") * 4)).sum(2, dtype="u4").view("i4")

    out = np.zeros((split, m, n), "f2")
    run(
        (3, split),
        a,
        pack(b),
        out,
        pack(zero),
        scale,
        m,
        n,
        k,
        group,
        BLOCK_SIZE_M=16,
        BLOCK_SIZE_N=32,
        BLOCK_SIZE_K=32,
        SPLIT_K=split,
    )
    dense = (b - np.repeat(zero, group, 0)) * np.repeat(scale.astype("f8"), group, 0)
    blocks = (np.arange(k) // 32 % split)[:, None] == np.arange(split)[:, None, None]
    return [near(out, a.astype("f8") @ (dense * blocks), 2e-3, 1e-3)]


# ---- attention


def paged(rng, rows, pages, page):
    """Puts rows (tokens, …) of each sequence in pages; returns the cache and the page table."""
    table = np.zeros((len(rows), pages), "i4")
    free = list(rng.permutation(len(rows) * pages))
    cache = np.full((len(free), page, *rows[0].shape[1:]), 7, rows[0].dtype)
    for i, sequence in enumerate(rows):
        for p in range(pages):
            table[i, p] = free.pop()
            part = sequence[p * page : (p + 1) * page]
            cache[table[i, p], : len(part)] = part
    return cache, table


@case("vllm", OPS + "triton_decode_attention.py", "_fwd_grouped_kernel_stage1")
def vllm_decode_stage1(run, rng):
    """Each program has a part of the keys. With IS_MLA the values are the first 32 of a key."""
    heads, splits, page, lens = 6, 3, 4, (29, 5)
    compared = []
    for mla in (True, False):
        d, dv, kv_heads = (48, 32, 1) if mla else (24, 24, 2)
        q = normal(rng, (2, heads, d), "f2")
        k = [normal(rng, (n, kv_heads, d), "f2") for n in lens]
        v = [x[..., :dv] if mla else normal(rng, x.shape, "f2") for x in k]
        k_scale, v_scale = np.array([0.5], "f4"), np.array([0.25], "f4")
        state = rng.bit_generator.state
        k_cache, table = paged(rng, k, 8, page)
        rng.bit_generator.state = state
        v_cache, _ = paged(rng, v, 8, page)
        if mla:
            v_cache = k_cache
        out = np.full((2, heads, splits, dv + 1), -7, "f4")
        group = heads // kv_heads
        k_strides, v_strides = strides(k_cache)[:3], strides(v_cache)[:3]
        cap = 0 if mla else 5.0
        run(
            (2, -(-heads // min(16, group)), splits),
            q,
            k_cache,
            v_cache,
            0.3,
            table,
            np.array(lens, "i4"),
            out,
            8,
            heads * d,
            d,
            *k_strides,
            *v_strides,
            *strides(out)[:3],
            k_scale,
            v_scale,
            kv_group_num=group,
            q_head_num=heads,
            BLOCK_DMODEL=32,
            BLOCK_DPE=16 if mla else 0,
            BLOCK_DV=32,
            BLOCK_N=16,
            BLOCK_H=16,
            NUM_KV_SPLITS=splits,
            PAGE_SIZE=page,
            logit_cap=cap,
            Lk=d,
            Lv=dv,
            IS_MLA=mla,
        )
        expected = np.full(out.shape, -7.0)
        for i, n in enumerate(lens):
            part = -(-n // splits)
            for h in range(heads):
                s = k[i][:, h // group].astype("f8") @ q[i, h].astype("f8") * 0.3
                s = cap * np.tanh(s / cap) if cap else s
                for p in range(splits):
                    chunk = slice(p * part, min(n, (p + 1) * part))
                    if len(s[chunk]):
                        values = v[i][chunk, h // group].astype("f8")
                        expected[i, h, p, :dv] = softmax(s[chunk]) @ values
                        expected[i, h, p, dv] = np.log(np.exp(s[chunk]).sum())
        compared.append(near(out, expected, 2e-3, 2e-3, f"mla {mla}"))
    return compared


@case("vllm", OPS + "triton_decode_attention.py", "_fwd_kernel_stage2")
def vllm_decode_stage2(run, rng):
    heads, splits, dv, lens = 3, 4, 24, (30, 2)
    parts = normal(rng, (2, heads, splits, dv + 1))
    out, lse = np.zeros((2, heads, dv), "f4"), np.zeros((2, heads), "f4")
    run(
        (2, heads),
        parts,
        out,
        lse,
        np.array(lens, "i4"),
        *strides(parts)[:3],
        heads * dv,
        dv,
        heads,
        NUM_KV_SPLITS=splits,
        BLOCK_DV=32,
        Lv=dv,
    )
    expected, sums = np.zeros(out.shape), np.zeros(lse.shape)
    for i, count in enumerate((4, 2)):
        w = parts[i, :, :count, dv].astype("f8")
        expected[i] = np.einsum("hs,hsd->hd", softmax(w), parts[i, :, :count, :dv])
        sums[i] = np.log(np.exp(w).sum(1))
    return [near(out, expected), near(lse, sums)]


def attend(q, k, v, scale, context, window=0, sink=None, cap=0, slopes=None):
    """Causal attention of (tokens, heads, d); q's first row is at position `context` of k."""
    group = q.shape[1] // k.shape[1]
    out = np.zeros((*q.shape[:2], v.shape[2]))
    place = context + np.arange(len(q))[:, None] - np.arange(len(k))
    hidden = place < 0 if not window else (place < 0) | (place >= window)
    for h in range(q.shape[1]):
        s = q[:, h].astype("f8") @ k[:, h // group].astype("f8").T * scale
        s = cap * np.tanh(s / cap) if cap else s
        if slopes is not None:
            s = s + slopes[h] * (np.arange(len(k)) - context)
        s = np.where(hidden, -np.inf, s)
        if sink is not None:
            s = np.concatenate([s, np.full((len(q), 1), sink[h])], 1)
        out[:, h] = softmax(s)[:, : len(k)] @ v[:, h // group].astype("f8")
    return out


@case("vllm", OPS + "prefix_prefill.py", "_fwd_kernel")
def vllm_prefix_prefill(run, rng):
    """Queries see the context in the paged cache and, causally, each other."""
    heads, kv_heads, d, x, page, pages = 4, 2, 24, 8, 16, 5
    context, queries = (37, 0, 20), (19, 6, 1)
    starts = np.cumsum((0, *queries)).astype("i4")
    compared = []
    for dtype, window, precision in (("f4", 0, "ieee"), ("f2", 11, None)):
        q, k, v = (normal(rng, (26, n, d), dtype) for n in (heads, kv_heads, kv_heads))
        old_k = [normal(rng, (n, kv_heads, d), dtype) for n in context]
        old_v = [normal(rng, (n, kv_heads, d), dtype) for n in context]
        state = rng.bit_generator.state
        k_cache, table = paged(rng, old_k, pages, page)
        rng.bit_generator.state = state
        v_cache, _ = paged(rng, old_v, pages, page)
        blocks = len(k_cache)
        k_cache = np.ascontiguousarray(
            k_cache.reshape(blocks, page, kv_heads, d // x, x).transpose(0, 2, 3, 1, 4)
        )
        v_cache = np.ascontiguousarray(v_cache.transpose(0, 2, 3, 1))
        sink = None if window else normal(rng, heads)
        out = np.zeros_like(q)
        one = np.ones(1, "f4")
        lens = np.add(context, queries).astype("i4")
        names = [f"stride_k_cache_{s}" for s in ("bs", "h", "d", "bl", "x")]
        names += [f"stride_v_cache_{s}" for s in ("bs", "h", "d", "bl")]
        run(
            (3, heads, 2),
            q,
            k,
            v,
            k_cache,
            v_cache,
            sink,
            table,
            0.2,
            one,
            one,
            one,
            starts,
            lens,
            Out=out,
            x=x,
            stride_b_loc_b=pages,
            stride_b_loc_s=1,
            stride_qbs=heads * d,
            stride_qh=d,
            stride_qd=1,
            stride_kbs=kv_heads * d,
            stride_kh=d,
            stride_kd=1,
            stride_vbs=kv_heads * d,
            stride_vh=d,
            stride_vd=1,
            stride_obs=heads * d,
            stride_oh=d,
            stride_od=1,
            **dict(zip(names, strides(k_cache) + strides(v_cache))),
            num_queries_per_kv=heads // kv_heads,
            IN_PRECISION=precision,
            BLOCK_M=16,
            BLOCK_DMODEL=d,
            BLOCK_DMODEL_PADDED=32,
            BLOCK_SIZE=32,
            PHYSICAL_BLOCK_SIZE=page,
            BLOCK_N=16,
            SLIDING_WINDOW=window,
            num_unroll_cache=2,
            num_unroll_request=1,
            SKIP_DECODE=True,
            USE_SINKS=sink is not None,
            USE_FP8=False,
            FP8_MIN=-448.0,
            FP8_MAX=448.0,
        )
        expected = np.zeros(q.shape)
        for i in range(2):  # the third sequence has one query only and is skipped
            rows = slice(starts[i], starts[i + 1])
            expected[rows] = attend(
                q[rows],
                np.concatenate([old_k[i], k[rows]]),
                np.concatenate([old_v[i], v[rows]]),
                0.2,
                context[i],
                window,
                sink,
            )
        error = 1e-5 if dtype == "f4" else 2e-3
        compared.append(near(out, expected, error, error, dtype))
    return compared


@case("vllm", OPS + "triton_unified_attention.py", "kernel_unified_attention")
def vllm_unified_attention(run, rng):
    heads, kv_heads, d, page, pages = 4, 2, 24, 16, 4
    context, queries = (30, 22, 0), (5, 1, 12)
    starts = np.cumsum((0, *queries)).astype("i4")
    total, segments = starts[-1], 2
    lens = np.add(context, queries).astype("i4")
    sink, slopes = normal(rng, heads), uniform(rng, heads, 0.05, 0.2)
    k_scale, v_scale = np.array([0.5], "f4"), np.array([0.25], "f4")
    compared = []
    variants = (
        dict(window=12, cap=4.0),
        dict(sink=sink, slopes=slopes, descriptors=True),
        dict(fp8=True, parts=True, sink=sink),
    )
    for variant in variants:
        get = variant.get
        q = normal(rng, (total, heads, d), "f2")
        k, v = ([normal(rng, (n, kv_heads, d), "f2") for n in lens] for _ in range(2))
        if get("fp8"):
            k8, v8 = ([random_fp8(rng, x.shape) for x in part] for part in (k, v))
            k, v = [x.values * 0.5 for x in k8], [x.values * 0.25 for x in v8]
        state = rng.bit_generator.state
        k_cache, table = paged(rng, [x.bits for x in k8] if get("fp8") else k, pages, page)
        rng.bit_generator.state = state
        v_cache, _ = paged(rng, [x.bits for x in v8] if get("fp8") else v, pages, page)
        cache_strides = [strides(k_cache), strides(v_cache)]
        if get("fp8"):
            k_cache, v_cache = FP8(k_cache).array, FP8(v_cache).array
        out = np.zeros_like(q)
        acc = np.zeros((total, heads, segments, 32), "f4")
        top = np.full((total, heads, segments), -np.inf, "f4")
        sums = np.zeros((total, heads, segments), "f4")
        parts = get("parts", False)
        tile = 16 if get("descriptors") else 32
        names = [f"stride_{c}_cache_{i}" for c in "kv" for i in range(4)]
        run(
            (total // 8 + 3, kv_heads, segments if parts else 1),
            out,
            q,
            k_cache,
            v_cache,
            get("sink"),
            table,
            lens,
            get("slopes"),
            None,
            0.3,
            None,
            k_scale,
            v_scale,
            None,
            get("cap", 0.0),
            num_query_heads=heads,
            num_queries_per_kv=heads // kv_heads,
            block_table_stride=pages,
            query_stride_0=heads * d,
            query_stride_1=d,
            output_stride_0=heads * d,
            output_stride_1=d,
            qq_bias_stride_0=0,
            BLOCK_SIZE=page,
            TILE_SIZE=tile,
            HEAD_SIZE=d,
            HEAD_SIZE_PADDED=32,
            USE_ALIBI_SLOPES="slopes" in variant,
            USE_ALIBI_SQRT=False,
            USE_QQ_BIAS=False,
            USE_SOFTCAP="cap" in variant,
            USE_SINKS="sink" in variant,
            SLIDING_WINDOW=get("window", 0),
            USE_CAUSAL=True,
            USE_PER_SEQ_CAUSAL=False,
            per_seq_causal_ptr=None,
            USE_MM_PREFIX=False,
            MAX_MM_RANGES=0,
            mm_prefix_range_ptr=None,
            rswa_prefix_lens_ptr=None,
            R_SWA_WINDOW=0,
            USE_R_SWA=False,
            **dict(zip(names, cache_strides[0] + cache_strides[1])),
            query_start_len_ptr=starts,
            BLOCK_Q=8,
            num_seqs=3,
            BLOCK_M=16,
            NUM_SEGMENTS_PER_SEQ=segments,
            USE_FP8=False,
            IS_3D=parts,
            segm_output_ptr=acc if parts else None,
            segm_max_ptr=top if parts else None,
            segm_expsum_ptr=sums if parts else None,
            KV_QUANT_MODE=1 if get("fp8") else 0,
            FP8_MIN=-448.0,
            FP8_MAX=448.0,
            USE_TD=get("descriptors", False),
        )
        found = out
        if parts:
            factor = np.exp(top - top.max(2, keepdims=True))
            found = (acc[..., :d] * factor[..., None]).sum(2)
            found /= (sums * factor).sum(2)[..., None]
        expected = np.zeros(q.shape)
        for i in range(3):
            rows = slice(starts[i], starts[i + 1])
            expected[rows] = attend(
                q[rows],
                k[i],
                v[i],
                0.3,
                context[i],
                get("window", 0),
                get("sink"),
                get("cap", 0),
                get("slopes"),
            )
        compared.append(near(found, expected, 2e-3, 2e-3, str(list(variant))))
    return compared


# ---- state spaces


class StateSpace:
    """Two sequences of Mamba 2, in chunks of 16 tokens, with what the kernels compute of them."""

    def __init__(self, rng, initial):
        self.heads, self.groups, self.d, self.n, self.chunk = 4, 2, 24, 20, 16
        self.starts = np.array([0, 16, 21, 34], "i4")
        self.sequence = np.array([0, 0, 1], "i4")
        tokens = 34
        self.x = normal(rng, (tokens, self.heads, self.d), "f2")
        self.b = normal(rng, (tokens, self.groups, self.n), "f2", 0.5)
        self.c = normal(rng, (tokens, self.groups, self.n), "f2", 0.5)
        self.dt = uniform(rng, (self.heads, tokens), 0.1, 0.6)
        self.a = -uniform(rng, self.heads, 0.1, 1)
        shape = (self.heads, self.d, self.n)
        self.initial = normal(rng, (2, *shape)) if initial else None
        self.chunk_dt = np.zeros((self.heads, 3, self.chunk), "f4")
        self.decay = np.zeros((self.heads, 3, self.chunk), "f4")
        self.own = np.zeros((3, *shape), "f4")  # each chunk's state if it began with zeros
        self.after = np.zeros((3, *shape), "f4")  # the state after each chunk
        self.cb = np.zeros((3, self.groups, self.chunk, self.chunk), "f4")
        self.y = np.zeros((tokens, self.heads, self.d))
        ratio = self.heads // self.groups
        state = np.zeros(shape)
        for i in range(3):
            rows = slice(self.starts[i], self.starts[i + 1])
            size = rows.stop - rows.start
            self.chunk_dt[:, i, :size] = self.dt[:, rows]
            self.decay[:, i] = np.cumsum(self.chunk_dt[:, i] * self.a[:, None], 1)
            b, c = (m[rows].astype("f8").swapaxes(0, 1) for m in (self.b, self.c))
            self.cb[i, :, :size, :size] = c @ b.swapaxes(1, 2)
            if i == 0 or self.sequence[i] != self.sequence[i - 1]:
                state = np.zeros(shape) if self.initial is None else self.initial[self.sequence[i]]
            own = np.zeros(shape)
            for t in range(rows.start, rows.stop):
                keep = np.exp(self.dt[:, t] * self.a)[:, None, None]
                b, c = (np.repeat(m[t].astype("f8"), ratio, 0)[:, None] for m in (self.b, self.c))
                new = self.dt[:, t, None, None] * self.x[t].astype("f8")[..., None] * b
                state, own = state * keep + new, own * keep + new
                self.y[t] = (state * c).sum(2)
            self.own[i], self.after[i] = own, state


@case("vllm", LAYERS + "mamba/ops/ssd_chunk_state.py", "_chunk_cumsum_fwd_kernel")
def vllm_chunk_cumsum(run, rng):
    heads, chunk = 5, 16
    starts = np.array([0, 16, 21, 34], "i4")
    dt, a, bias = normal(rng, (34, heads), scale=3), -uniform(rng, heads), normal(rng, heads)
    dt[3, 1] = 25
    out, sums = np.zeros((heads, 3, chunk), "f4"), np.zeros((heads, 3, chunk), "f4")
    run(
        (3, 2),
        dt,
        a,
        bias,
        out,
        sums,
        starts,
        nheads=heads,
        chunk_size=chunk,
        dt_min=0.05,
        dt_max=20.5,
        stride_dt_seqlen=heads,
        stride_dt_head=1,
        stride_A_head=1,
        stride_dt_bias_head=1,
        stride_dt_out_head=3 * chunk,
        stride_dt_out_chunk=chunk,
        stride_dt_out_csize=1,
        stride_dA_cs_head=3 * chunk,
        stride_dA_cs_chunk=chunk,
        stride_dA_cs_csize=1,
        DT_SOFTPLUS=True,
        HAS_DT_BIAS=True,
        BLOCK_SIZE_H=4,
        BLOCK_SIZE_CHUNK=16,
    )
    step = np.clip(np.log1p(np.exp(dt.astype("f8") + bias)), 0.05, 20.5)
    expected = np.zeros(out.shape)
    for i in range(3):
        rows = slice(starts[i], starts[i + 1])
        expected[:, i, : rows.stop - rows.start] = step[rows].T
    return [
        near(out, expected, 1e-5, 1e-6, "dt"),
        near(sums, np.cumsum(expected * a[:, None, None], 2), 2e-5, 1e-5, "sums"),
    ]


@case("vllm", LAYERS + "mamba/ops/ssd_chunk_state.py", "_chunk_state_fwd_kernel")
def vllm_chunk_state(run, rng):
    s = StateSpace(rng, False)
    out = np.zeros_like(s.own)
    run(
        (4, 3, s.heads),
        s.x,
        s.b,
        out,
        s.chunk_dt,
        s.decay,
        s.starts,
        s.d,
        s.n,
        s.chunk,
        2,
        *strides(s.x),
        *strides(s.b),
        *strides(out),
        *strides(s.chunk_dt),
        *strides(s.decay),
        BLOCK_SIZE_M=16,
        BLOCK_SIZE_N=16,
        BLOCK_SIZE_K=16,
    )
    return [near(out, s.own, 2e-3, 4e-3)]


@case("vllm", LAYERS + "mamba/ops/ssd_state_passing.py", "_state_passing_fwd_kernel")
def vllm_state_passing(run, rng):
    compared = []
    for initial in (False, True):
        s = StateSpace(rng, initial)
        dim = s.d * s.n
        out, final = np.zeros_like(s.after), np.zeros((3, s.heads, dim), "f4")
        last, slots = np.array([1, 2], "i4"), np.array([2, 0], "i8")
        flat = s.heads * dim, dim, 1
        run(
            (-(-dim // 128), 2, s.heads),
            s.own,
            out,
            s.decay,
            s.initial,
            last,
            final,
            slots,
            dim,
            s.chunk,
            *flat,
            *flat,
            *strides(s.decay),
            *flat,
            *flat,
            1,
            HAS_INITSTATES=initial,
            HAS_FINAL_STATES=True,
            BLOCK_SIZE=128,
        )
        expected = np.zeros(final.shape)
        expected[slots] = s.after[last].reshape(2, s.heads, dim)
        compared += [near(out, s.after, 1e-5, 1e-5), near(final, expected, 1e-5, 1e-5)]
    return compared


@case("vllm", LAYERS + "mamba/ops/ssd_chunk_scan.py", "_chunk_scan_fwd_kernel")
def vllm_chunk_scan(run, rng):
    compared = []
    for initial in (False, True):
        s = StateSpace(rng, initial)
        out = np.zeros(s.x.shape, "f4")
        z, skip = normal(rng, s.x.shape, "f2"), normal(rng, (s.heads, s.d))
        first = strides(s.initial) if initial else (0,) * 4
        swap = (1, 0, 2)
        run(
            (2, 3, s.heads),
            s.cb,
            s.x,
            z,
            out,
            s.chunk_dt,
            s.decay,
            s.sequence,
            s.c,
            s.after,
            skip,
            s.initial,
            s.starts,
            s.chunk,
            s.d,
            s.n,
            2,
            *strides(s.cb),
            *strides(s.x),
            *strides(z),
            *strides(out),
            *[strides(s.chunk_dt)[i] for i in swap],
            *[strides(s.decay)[i] for i in swap],
            1,
            *strides(s.c),
            *strides(s.after),
            *first,
            s.d,
            IS_CAUSAL=True,
            HAS_D=True,
            D_HAS_HDIM=True,
            HAS_Z=True,
            BLOCK_SIZE_M=16,
            BLOCK_SIZE_N=16,
            BLOCK_SIZE_K=16,
            BLOCK_SIZE_DSTATE=32,
            IS_TRITON_22=True,
            HAS_INITSTATES=initial,
        )
        expected = (s.y + s.x.astype("f8") * skip) * silu(z.astype("f8"))
        compared.append(near(out, expected, 2e-3, 5e-3))
    return compared


@case("vllm", LAYERS + "mamba/ops/causal_conv1d.py", "_causal_conv1d_fwd_kernel")
def vllm_causal_conv1d(run, rng):
    """The state of a sequence is its last 3 inputs; a short one keeps part of the old state."""
    dim, width, block = 40, 4, 8
    lens, slots, has_state = (19, 2, 1, 5), (3, 0, 4, 1), np.array([1, 1, 0, 0], bool)
    starts = np.cumsum((0, *lens)).astype("i4")
    x, weight, bias = normal(rng, (27, dim)), normal(rng, (dim, width)), normal(rng, dim)
    states = normal(rng, (5, width - 1, dim))
    before, out = states.astype("f8"), np.zeros_like(x)
    chunks = [(i, c) for i, n in enumerate(lens) for c in range(-(-n // block))] + [(-1, -1)]
    owner, chunk = np.array(chunks, "i4").T.copy()
    run(
        (len(chunks), 2),
        x,
        weight,
        bias,
        states,
        np.array(slots, "i4"),
        has_state,
        starts,
        owner,
        chunk,
        out,
        dim,
        5,
        stride_x_dim=1,
        stride_x_token=dim,
        stride_w_dim=width,
        stride_w_width=1,
        stride_istate_seq=3 * dim,
        stride_istate_dim=1,
        stride_istate_token=dim,
        stride_cache_indices=1,
        stride_o_dim=1,
        stride_o_token=dim,
        pad_slot_id=-1,
        null_block_id=-7,
        HAS_BIAS=True,
        KERNEL_WIDTH=width,
        SILU_ACTIVATION=True,
        HAS_NULL_BLOCK=True,
        NP2_STATELEN=4,
        BLOCK_M=block,
        BLOCK_N=32,
        launch_pdl=False,
    )
    expected, after = np.zeros(x.shape), before.copy()
    for i, n in enumerate(lens):
        head = before[slots[i]] if has_state[i] else np.zeros((width - 1, dim))
        row = np.concatenate([head, x[starts[i] : starts[i + 1]]])
        taps = np.stack([row[j : j + n] * weight[:, j] for j in range(width)]).sum(0)
        expected[starts[i] : starts[i + 1]] = silu(taps + bias)
        after[slots[i]] = row[-3:]
    return [near(out, expected, 1e-5, 1e-5, "out"), same(states, after, "states")]


# ---- positions


@case("vllm", LAYERS + "rotary_embedding/mrope.py", "_triton_mrope_forward")
def vllm_mrope(run, rng):
    """Each pair of a head rotates by the time's, height's or width's angle."""
    tokens, n_q, n_k, d, rotary = 5, 3, 2, 40, 36
    sections = (8, 5, 5)
    angle = uniform(rng, (3, tokens, rotary // 2), -3, 3)
    cos, sin = np.cos(angle), np.sin(angle)
    compared = []
    for interleaved in (False, True):
        pair = np.arange(rotary // 2)
        if interleaved:
            axis = np.where(pair < 3 * np.array(sections)[pair % 3], pair % 3, 0)
        else:
            axis = np.repeat(np.arange(3), sections)
        c, s = (np.take_along_axis(m, axis[None, None], 0)[0][:, None] for m in (cos, sin))
        for neox in (True, False):
            q, k = normal(rng, (tokens, n_q, d)), normal(rng, (tokens, n_k, d))
            expected = []
            for m in (q, k):
                e = m.astype("f8")
                half = rotary // 2
                first, second = (
                    (slice(half), slice(half, rotary))
                    if neox
                    else (slice(0, rotary, 2), slice(1, rotary, 2))
                )
                a, b = m[..., first], m[..., second]
                e[..., first], e[..., second] = a * c - b * s, b * c + a * s
                expected.append(e)
            run(
                (tokens,),
                q,
                k,
                cos,
                sin,
                tokens,
                n_q * d,
                n_k * d,
                n_qh=n_q,
                n_kh=n_k,
                hd=d,
                rd=rotary,
                pad_n_qh=4,
                pad_n_kh=2,
                pad_rd=64,
                mrope_section_t=sections[0],
                mrope_section_h=sections[1],
                mrope_section_w=sections[2],
                is_interleaved=interleaved,
                is_neox_style=neox,
            )
            compared += [near(q, expected[0]), near(k, expected[1])]
    return compared


# ---- sampling


@case("vllm", "vllm/v1/sample/rejection_sampler.py", "rejection_random_sample_kernel")
def vllm_rejection_sample(run, rng):
    counts, vocab, most = (3, 0, 4, 2, 1), 11, 4
    ends = np.cumsum(counts).astype("i4")
    total, batch = ends[-1], len(counts)
    draft = integers(rng, total, 0, vocab)
    draft[-2] = -1
    p = softmax(normal(rng, (total, vocab), scale=2))
    q = softmax(normal(rng, (total, vocab)))
    bonus, recovered = integers(rng, batch, 100, 200, "i8"), integers(rng, total, 200, 300)
    greedy = np.array([0, 0, 0, 0, 1], bool)
    compared = []
    for use_draft in (True, False):
        chance = rng.random(total) * (0.7 if use_draft else 0.1)
        out = np.full((batch, most + 1), -1, "i4")
        run(
            (batch,),
            out,
            ends,
            draft,
            q if use_draft else None,
            p,
            bonus,
            recovered,
            chance,
            greedy,
            most,
            vocab,
            None,
            NO_DRAFT_PROBS=not use_draft,
            SYNTHETIC_MODE=False,
        )
        expected = np.full(out.shape, -1)
        for i in range(batch - 1):
            begin = ends[i] - counts[i]
            for j in range(counts[i]):
                t = begin + j
                share = p[t, draft[t]] / (q[t, draft[t]] if use_draft else 1)
                if draft[t] < 0 or share < chance[t]:
                    expected[i, j] = recovered[t]
                    break
                expected[i, j] = draft[t]
            else:
                expected[i, counts[i]] = bonus[i]
        compared.append(same(out, expected))
    return compared


@case("vllm", "vllm/v1/worker/gpu/sample/penalties.py", "_penalties_kernel")
def vllm_penalties(run, rng):
    vocab, states = 150, 3
    logits = normal(rng, (5, 160), scale=3)
    before = logits.astype("f8")
    state, place = np.array([0, 0, 0, 2, 1], "i4"), np.array([0, 1, 2, 0, 0], "i4")
    tokens = np.array([40, 41, 42, 9, 3], "i4")
    repetition, frequency = np.array([1.5, 1, 0.8], "f4"), np.array([0.3, 0, 0], "f4")
    presence = np.array([0.7, 0, 0], "f4")
    seen = rng.random((states, 160)) < 0.2
    bits = np.packbits(seen, axis=1, bitorder="little").view("i4")
    counts = np.where(rng.random((states, vocab)) < 0.2, 2, 0).astype("i4")
    run(
        (5, 3),
        logits,
        160,
        state,
        tokens,
        place,
        repetition,
        frequency,
        presence,
        bits,
        5,
        counts,
        vocab,
        vocab,
        BLOCK_SIZE=64,
    )
    expected = before.copy()
    for t in (0, 1, 2, 3):  # the last one has no penalties
        r = state[t]
        count = counts[r].copy()
        np.add.at(count, tokens[t - place[t] + 1 : t + 1], 1)
        x = before[t, :vocab]
        scale = np.where(seen[r, :vocab] | (count > 0), repetition[r].astype("f8"), 1)
        x = np.where(x > 0, x / scale, x * scale)
        expected[t, :vocab] = x - frequency[r] * count - presence[r] * (count > 0)
    return [near(logits, expected, 1e-5, 1e-5)]


@case("vllm", "vllm/v1/worker/gpu/sample/logprob.py", "_topk_log_softmax_kernel")
def vllm_topk_logprobs(run, rng):
    batch, vocab, k = 3, 150, 6
    logits = normal(rng, (batch, 160), "f2", 4)
    ids = integers(rng, (batch, 8), 0, vocab, "i8")
    out = np.zeros((batch, k), "f4")
    run((batch,), out, logits, 160, ids, 8, k, vocab, BLOCK_SIZE=64, TOPK_BLOCK_SIZE=4)
    log_p = np.log(softmax(logits[:, :vocab].astype("f8")))
    return [near(out, np.take_along_axis(log_p, ids[:, :k], 1), 1e-5, 1e-5)]


@case("vllm", "vllm/v1/sample/ops/topk_topp_triton.py", "_topk_topp_kernel")
def vllm_topk_topp(run, rng):
    """The tables only steer the search; any that falls gives the same result."""
    batch, vocab = 4, 300
    sigma = np.linspace(2.6, -3.8, 200, dtype="f4")
    k, p = np.array([7, 40, 300, 1], "i4"), np.array([0.5, 0.9, 0.6, 0.3], "f4")
    compared = []
    for use_k, use_p in ((True, False), (False, True), (True, True)):
        logits = np.full((batch, 310), 5, "f4")
        for row in logits:
            row[:vocab] = rng.permutation(vocab) * 0.05 - 6
        logits[1, :250] = -np.inf  # as a grammar leaves it
        expected = logits.astype("f8")
        for i, row in enumerate(expected[:, :vocab]):
            order = np.argsort(-row, kind="stable")
            keep = k[i] if use_k else vocab
            if use_p:
                share = softmax(row[order[:keep]])
                keep = min(keep, np.searchsorted(np.cumsum(share), p[i]) + 1)
            row[order[keep:]] = -np.inf
        run(
            (3,),
            logits,
            310,
            np.zeros((3, vocab), "f4"),
            sigma,
            sigma,
            k if use_k else None,
            p if use_p else None,
            batch,
            VOCAB_SIZE=vocab,
            MASK_VALUE=-np.inf,
            BLOCK_SIZE=128,
            BLOCK_SIZE_TRUNC=64,
            TOPK_ENABLED=use_k,
            TOPP_ENABLED=use_p,
            SPLIT_COVERS_PONLY=False,
        )
        compared.append(same(logits, expected, f"k {use_k}, p {use_p}"))
    return compared


@case("vllm", LAYERS + "quantization/compressed_tensors/triton_scaled_mm.py", "scaled_mm_kernel")
def vllm_scaled_mm(run, rng):
    m, n, k = 21, 40, 80
    compared = []
    for fp8 in (False, True):
        if fp8:
            a8, b8 = random_fp8(rng, (m, k)), random_fp8(rng, (n, k))
            a, b, wide_a, wide_b = a8.array, b8.array, a8.values, b8.values
        else:
            a, b = integers(rng, (m, k), -127, 128, "i1"), integers(rng, (n, k), -127, 128, "i1")
            wide_a, wide_b = a.astype("f8"), b.astype("f8")
        scale_a = uniform(rng, 1 if fp8 else m, 0.01, 0.02)
        scale_b = uniform(rng, n, 0.01, 0.02)
        bias = None if fp8 else normal(rng, n)
        out = np.zeros((m, n), "f4")
        run(
            (6,),
            a,
            b,
            scale_a,
            scale_b,
            out,
            bias,
            m,
            n,
            k,
            k,
            1,
            1,
            k,
            n,
            1,
            ACCUMULATOR_DTYPE=tl.float32 if fp8 else tl.int32,
            BLOCK_SIZE_M=16,
            BLOCK_SIZE_N=16,
            BLOCK_SIZE_K=32,
            BLOCK_SIZE_SCALE_A=1 if fp8 else 16,
            BLOCK_SIZE_SCALE_B=16,
            USE_TD=fp8,
            B_T=fp8,
        )
        expected = wide_a @ wide_b.T * scale_a[:, None] * scale_b + (0 if fp8 else bias)
        compared.append(near(out, expected, 1e-5, 1e-4))
    return compared


@case("vllm", OPS + "triton_reshape_and_cache_flash.py", "reshape_and_cache_kernel_flash")
def vllm_reshape_and_cache(run, rng):
    tokens, heads, d, blocks, size, x = 6, 3, 24, 4, 8, 8
    slots = np.array([9, 0, -1, 31, 17, 8], "i8")
    k, v = normal(rng, (tokens, heads, d)), normal(rng, (tokens, heads, d))
    k_scale, v_scale = np.array([0.5], "f4"), np.array([0.02], "f4")
    block, slot = slots // size, slots % size
    valid = np.flatnonzero(slots >= 0)
    compared = []
    for head_major in (False, True):
        caches = [FP8(np.zeros(blocks * heads * d * size)) for _ in range(2)]
        page = heads * d * size
        run(
            (tokens, 2),
            k,
            v,
            caches[0].array,
            caches[1].array,
            slots,
            k_scale,
            v_scale,
            heads * d,
            heads * d,
            page,
            d * size if head_major else d,
            size * x,
            size,
            heads * d,
            num_heads=heads,
            head_size=d,
            block_size=size,
            x=x,
            USE_HEAD_MAJOR_LAYOUT=head_major,
            INTERLEAVED_V_PACK_FACTOR=0,
            FP8_KV_CACHE=True,
            TILE_SIZE=64,
        )
        expected = np.zeros((2, blocks, heads, size, d))
        for t in valid:
            expected[0, block[t], :, slot[t]] = k[t] / 0.5
            expected[1, block[t], :, slot[t]] = v[t] / v_scale.astype("f8")
        for cache, e, name in zip(caches, expected, "kv"):
            if not head_major:
                found = cache.values.reshape(blocks, size, heads, d).transpose(0, 2, 1, 3)
            elif name == "k":
                found = cache.values.reshape(blocks, heads, d // x, size, x)
                found = found.transpose(0, 1, 3, 2, 4).reshape(e.shape)
            else:
                found = cache.values.reshape(blocks, heads, d, size).swapaxes(2, 3)
            compared.append(near_fp8(found, e, name))
    return compared


# ---- sglang

SGL = "sglang/kernels/ops/"
TRITON_KERNELS = "vllm/third_party/triton_kernels/"


@case("sglang", SGL + "moe/gate_topk.py", "_streaming_topk_kernel")
def sglang_gate_topk(run, rng):
    """Values and columns are packed into one integer and sorted; the first of equals wins."""
    rows, columns, k = 7, 90, 6
    compared = []
    for dtype in ("f4", "f2"):
        x = np.round(normal(rng, (rows, columns), scale=4) * 2).astype(dtype) / 2
        values, index = np.zeros((rows, k), dtype), np.zeros((rows, k), "i4")
        run(
            (2,),
            x,
            columns,
            values,
            index,
            rows,
            columns,
            N_PAD=96,
            K=k,
            K_POW2=8,
            BLOCK_SIZE_M=4,
            BLOCK_SIZE_N=32,
            RETURN_VALUES=True,
        )
        order = np.argsort(-x, axis=1, kind="stable")[:, :k]
        compared.append(same(index, order, "index"))
        compared.append(same(values, np.take_along_axis(x, order, 1), "values"))
    return compared


@case("sglang", SGL + "moe/moe_align_small_numel.py", "_moe_align_small_numel_kernel")
def sglang_moe_align(run, rng):
    numel, experts, size = 23, 6, 4
    ids = integers(rng, numel, -1, experts)
    slots, owners = np.full(64, -9, "i4"), np.full(16, -9, "i4")
    total = np.zeros(2, "i4")
    run(
        (1,),
        ids,
        slots,
        owners,
        total,
        experts + 1,
        size,
        numel,
        NP=32,
        NB=16,
        WRITE_INACTIVE_PREFIX_COUNT=True,
    )
    expected, owner = [], []
    for e in range(-1, experts):
        mine = list(np.flatnonzero(ids == e))
        blocks = -(-len(mine) // size)
        expected += mine + [numel] * (blocks * size - len(mine))
        owner += [e] * blocks
    n = len(expected)
    return [
        same(slots, expected + [-9] * (64 - n), "slots"),
        same(total, [n, owner.count(-1)]),
        same(owners, owner + [-9] * (16 - len(owner)), "experts"),
    ]


@case("sglang", SGL + "speculative/spec_tree.py", "sgl_build_tree_kernel_efficient_triton")
def sglang_build_tree(run, rng):
    """Draft tokens are numbered level by level, 2 children for each of 2 parents of a level."""
    batch, topk, depth, n = 3, 2, 3, 6
    parents, selected, tokens = [], [], []
    for _ in range(batch):
        chosen = sorted(rng.permutation(np.arange(2, 6))[:2])
        parent_of = {0: -1, 1: -1, 2: 0, 3: 0, 4: 1, 5: 1}
        parent_of.update({6: chosen[0], 7: chosen[0], 8: chosen[1], 9: chosen[1]})
        tree = {0}
        while len(tree) < n - 1:
            t = int(rng.integers(0, 10))
            if parent_of[t] < 0 or parent_of[t] in tree:
                tree.add(t)
        parents.append([-1, 0, 1, *chosen])
        selected.append(sorted(tree))
        tokens.append(parent_of)
    lens = np.array([4, 9, 2], "i8")
    mask = np.ones(int((lens * n).sum()) + batch * n * n, bool)
    positions = np.zeros((batch, n), "i8")
    index, child, sibling = (np.full((batch, n), -1, "i8") for _ in range(3))
    run(
        (batch,),
        np.array(parents, "i8"),
        np.array(selected, "i8"),
        lens,
        np.cumsum(lens) - lens,
        mask,
        positions,
        index,
        child,
        sibling,
        topk=topk,
        depth=depth,
        draft_token_num=n,
        tree_mask_mode=0,
        batch_size=batch,
        parent_list_stride=5,
        selected_index_stride=n - 1,
    )
    expected_mask, expected_positions = [], np.zeros((batch, n))
    expected_child, expected_sibling = np.full((2, batch, n), -1)
    for b in range(batch):
        place = {-1: 0, **{t: i + 1 for i, t in enumerate(selected[b])}}
        parent = [None] + [place[tokens[b][t]] for t in selected[b]]
        sees = np.zeros((n, n), bool)
        for i in range(n):
            above = i
            while above is not None:
                sees[i, above] = True
                above = parent[above]
            children = [c for c in range(1, n) if parent[c] == i]
            for c, following in zip(children, children[1:] + [-1]):
                expected_sibling[b, c] = following
            expected_child[b, i] = children[0] if children else -1
        expected_positions[b] = lens[b] + sees.sum(1) - 1
        rows = np.concatenate([np.ones((n, lens[b]), bool), sees], 1)
        expected_mask.append(rows.reshape(-1))
    return [
        same(mask, np.concatenate(expected_mask), "mask"),
        same(positions, expected_positions, "positions"),
        same(index, np.arange(batch * n).reshape(batch, n), "index"),
        same(child, expected_child, "child"),
        same(sibling, expected_sibling, "sibling"),
    ]


@case("sglang", SGL + "speculative/spec_tree.py", "verify_tree_greedy_kernel_triton")
def sglang_verify_tree(run, rng):
    batch, n, steps = 4, 6, 4
    parent = [None, 0, 0, 1, 2, 3]
    child = np.tile(np.array([1, 3, 4, 5, -1, -1]), (batch, 1))
    sibling = np.tile(np.array([-1, 2, -1, -1, -1, -1]), (batch, 1))
    index = np.arange(batch * n).reshape(batch, n)
    tokens, target = (integers(rng, (batch, n), 0, 50, "i8") for _ in range(2))
    for b, path in enumerate(([1, 3, 5], [2, 4], [1], [])):  # what the target accepts
        node = 0
        for following in path:
            target[b, node] = tokens[b, following]
            node = following
        target[b, node] = 99
        tokens[b, 1] += 100 * (path[:1] == [2])
    predicted = np.full(batch * n, -1, "i4")
    accepted, count = np.full((batch, steps), -1, "i4"), np.zeros(batch, "i4")
    run(
        (batch,),
        predicted,
        accepted,
        count,
        tokens,
        index,
        child,
        sibling,
        target,
        batch_size=batch,
        num_speculative_tokens=steps,
        num_draft_tokens=n,
    )
    expected, path_of = np.full(batch * n, -1), np.full((batch, steps), -1)
    lengths = np.zeros(batch)
    for b in range(batch):
        node, path = 0, [0]
        while True:
            expected[b * n + node] = target[b, node]
            hits = [c for c in range(1, n) if parent[c] == node and tokens[b, c] == target[b, node]]
            if not hits or len(path) == steps:
                break
            node = hits[0]
            path.append(node)
        path_of[b, : len(path)] = np.array(path) + b * n
        lengths[b] = len(path) - 1
    return [
        same(predicted, expected, "predicted"),
        same(accepted, path_of, "path"),
        same(count, lengths, "length"),
    ]


@case("sglang", SGL + "sampling/murmur_hash.py", "murmur_hash32_kernel")
def sglang_murmur_hash(run, rng):
    rows, columns = 3, 150
    seeds, positions = integers(rng, rows, 0, 2**62, "i8"), integers(rng, rows, 0, 2**31, "i8")
    ids = integers(rng, columns, 0, 2**31, "i8")
    out = np.zeros((rows, columns), "u4")
    run((rows, 3), seeds, positions, ids, out, rows, columns, BLOCK_SIZE=64)

    def rotate(x, r):
        return x << np.uint32(r) | x >> np.uint32(32 - r)

    word = np.uint64(0xFFFFFFFF)
    low, high = (seeds.view("u8") & word).astype("u4"), (seeds.view("u8") >> np.uint64(32))
    h = np.zeros((rows, columns), "u4")
    blocks = low[:, None], high.astype("u4")[:, None], positions.astype("u4")[:, None], ids
    for block in blocks:
        k = rotate(block.astype("u4") * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
        h = rotate(h ^ k, 13) * np.uint32(5) + np.uint32(0xE6546B64)
    h = h ^ np.uint32(16)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        h = (h ^ h >> np.uint32(shift)) * np.uint32(factor)
    return [same(out, h)]


@case("sglang", SGL + "grammar/bitmask_ops.py", "apply_token_bitmask_inplace_kernel")
def sglang_token_bitmask(run, rng):
    rows, vocab = 4, 150
    logits = normal(rng, (rows, vocab))
    allowed = rng.random((rows, 160)) < 0.5
    bits = np.packbits(allowed, axis=1, bitorder="little").view("i4")
    chosen = np.array([2, 0, 3], "i4")
    expected = logits.astype("f8")
    expected[chosen] = np.where(allowed[chosen, :vocab], expected[chosen], -np.inf)
    run((2,), logits, bits, chosen, 3, vocab, vocab, 5, NUM_SMS=2, BLOCK_SIZE=64)
    return [same(logits, expected)]


@case(
    "sglang",
    SGL + "attention/linear/fused_sigmoid_gating_recurrent.py",
    "fused_sigmoid_gating_delta_rule_update_kernel",
)
def sglang_gated_delta_rule(run, rng):
    """A state that decays and takes the part of v that it does not predict from k."""
    heads, v_heads, dk, dv = 2, 4, 24, 20
    lens, slots = (4, 1, 3), np.array([2, -1, 0], "i4")
    starts = np.cumsum((0, *lens)).astype("i4")
    total = starts[-1]
    q, k = normal(rng, (total, heads, dk)), normal(rng, (total, heads, dk))
    v, b = normal(rng, (total, v_heads, dv)), normal(rng, (total, v_heads))
    a_log = normal(rng, v_heads)
    compared = []
    for per_channel in (False, True):
        shape = (v_heads, dk) if per_channel else (v_heads,)
        a, bias = normal(rng, (total, *shape)), normal(rng, shape)
        states = normal(rng, (3, v_heads, dv, dk))
        expected, after = np.zeros((total, v_heads, dv)), states.astype("f8")
        out = np.zeros(v.shape, "f4")
        run(
            (1, 2, 3 * v_heads),
            a_log,
            a,
            bias,
            1.0,
            20.0,
            -5.0,
            q,
            k,
            v,
            b,
            out,
            states,
            slots,
            v_heads * dk * dv,
            starts,
            None,
            None,
            0,
            None,
            0,
            0,
            dk**-0.5,
            total,
            a[0].size,
            heads * dk,
            heads * dk,
            v_heads * dv,
            v_heads,
            NP2_T=1,
            B=1,
            H=heads,
            HV=v_heads,
            K=dk,
            V=dv,
            BK=32,
            BV=16,
            USE_INITIAL_STATE=True,
            USE_QK_L2NORM_IN_KERNEL=True,
            IS_VARLEN=True,
            IS_KDA=per_channel,
            USE_LOWER_BOUND=per_channel,
        )
        x = (a + bias).astype("f8")
        rate = np.exp(a_log.astype("f8")).reshape(v_heads, *[1] * (len(shape) - 1))
        gate = -5 * sigmoid(rate * x) if per_channel else -rate * np.log1p(np.exp(x))
        unit_q, unit_k = (
            m / np.sqrt((m.astype("f8") ** 2).sum(-1, keepdims=True) + 1e-6) for m in (q, k)
        )
        for i in range(3):
            for h in range(v_heads):
                s = after[slots[i], h] if slots[i] >= 0 else np.zeros((dv, dk))
                for t in range(starts[i], starts[i + 1]):
                    key, s = unit_k[t, h // 2], s * np.exp(gate[t, h])
                    s = s + np.outer((v[t, h] - s @ key) * sigmoid(b[t, h]), key)
                    expected[t, h] = s @ unit_q[t, h // 2] * dk**-0.5
                if slots[i] >= 0:
                    after[slots[i], h] = s
        compared.append(near(out, expected, 1e-4, 2e-5, "out"))
        compared.append(near(states, after, 1e-4, 2e-5, "states"))
    return compared


@case("sglang", SGL + "lora/dense/chunked_sgmv_shrink.py", "_chunked_lora_shrink_kernel")
def sglang_lora_shrink(run, rng):
    tokens, k, rank, slices = 30, 72, 12, 2
    n = rank * slices
    x, weights = normal(rng, (tokens, k), "f2"), normal(rng, (3, n, k), "f2", 0.2)
    ranks, adapter = np.array([12, 0, 8], "i4"), np.array([0, 2, 1, 2], "i4")
    ends = np.array([0, 13, 20, 24, 30], "i4")
    order = rng.permutation(tokens).astype("i4")
    out = np.full((tokens, n), 9, "f2")
    run(
        (2, 5),
        x,
        weights,
        out,
        ends,
        adapter,
        ranks,
        order,
        4,
        N=n,
        K=k,
        NUM_SLICES=slices,
        BLOCK_M=16,
        BLOCK_N=16,
        BLOCK_K=32,
    )
    expected = np.full(out.shape, 9.0)
    for i, w in enumerate(adapter):
        rows, width = order[ends[i] : ends[i + 1]], ranks[w] * slices
        expected[rows, :width] = x[rows].astype("f8") @ weights[w, :width].astype("f8").T
    return [near(out, expected, 2e-3, 2e-3)]


@case("sglang", SGL + "gemm/int8_kernel.py", "_w8a8_block_int8_matmul")
def sglang_block_int8_matmul(run, rng):
    m, n, k, group_n, group_k = 37, 40, 112, 8, 32
    a, b = integers(rng, (m, k), -127, 128, "i1"), integers(rng, (n, k), -127, 128, "i1")
    a_scale, b_scale = uniform(rng, (m, 4), 0.001, 0.01), uniform(rng, (5, 4), 0.001, 0.01)
    out = BF16(np.zeros((m, n)))
    run(
        (9,),
        a,
        b,
        out.array,
        a_scale,
        b_scale,
        m,
        n,
        k,
        group_n,
        group_k,
        k,
        1,
        1,
        k,
        n,
        1,
        4,
        1,
        1,
        4,
        BLOCK_SIZE_M=16,
        BLOCK_SIZE_N=16,
        BLOCK_SIZE_K=32,
        GROUP_SIZE_M=2,
    )
    wide_a = a * np.repeat(a_scale, group_k, 1)[:, :k].astype("f8")
    wide_b = b * np.repeat(np.repeat(b_scale, group_n, 0), group_k, 1)[:, :k].astype("f8")
    return [near(out.values, wide_a @ wide_b.T, 2**-8, 1e-5)]


@case("sglang", SGL + "quantization/int8_kernel.py", "_per_token_quant_int8")
def sglang_quantize_int8(run, rng):
    rows, n = 5, 90
    x = normal(rng, (rows, n), "f2", 3)
    x[2] = 0
    out, scale, sums = np.zeros((rows, n), "i1"), np.zeros(rows, "f4"), np.zeros(rows, "f2")
    run((rows,), x, out, scale, sums, n, n, n, CAL_SUM=True, BLOCK=128, IS_HIP=False)
    wide = x.astype("f8")
    top = np.maximum(np.abs(wide).max(1), 1e-10)
    return [
        near(out, wide / top[:, None] * 127, 0, 0.501),
        near(scale, top / 127),
        near(sums, wide.sum(1), 1e-3, 1e-3),
    ]


@case("sglang", SGL + "quantization/fp8_kernel.py", "_per_token_group_quant_8bit_colmajor")
def sglang_quantize_fp8_groups(run, rng):
    rows, groups, size = 5, 3, 24
    x = normal(rng, (rows, groups, size), "f2", 3)
    top = np.maximum(np.abs(x.astype("f8")).max(2), 1e-4)
    compared = []
    for powers in (False, True):
        out, scale = FP8(np.zeros(x.shape)), np.zeros((groups, 8), "f4")
        run(
            (rows * groups,),
            x,
            out.array,
            scale,
            size,
            groups * size,
            8,
            1e-4,
            -448.0,
            448.0,
            BLOCK=32,
            SCALE_UE8M0=powers,
        )
        expected = np.zeros(scale.shape)
        exact = 2 ** np.ceil(np.log2(top / 448)) if powers else top / 448
        expected[:, :rows] = exact.T
        compared.append(near(scale, expected, 1e-6, 0, "scale"))
        compared.append(near_fp8(out.values, x / exact[..., None], "out"))
    return compared


@case("sglang", SGL + "kvcache/kv_read_table.py", "build_kv_read_indices_kernel")
def sglang_kv_read_indices(run, rng):
    requests, longest, page, pages = 5, 48, 4, 20
    virtual = np.stack([rng.permutation(pages)[: longest // page] for _ in range(requests)])
    tokens = (np.repeat(virtual, page, 1) * page + np.arange(longest) % page).astype("i4")
    tokens[1, 8:12] = -1
    physical = rng.permutation(pages + 1).astype("i8")
    physical[3] = -1
    pool, lens = np.array([3, 1, 4], "i4"), np.array([30, 13, 48], "i4")
    compared = []
    for per_token in (False, True):
        starts = np.array([2, 40, 60, 108], "i4")
        out = np.full(120, -5, "i8" if per_token else "i4")
        width = longest // page
        run(
            (3, 2),
            tokens,
            pool,
            lens,
            physical,
            starts if per_token else None,
            None,
            out,
            longest,
            16,
            16,
            0 if per_token else 3,
            width,
            PAGE_SIZE=page,
            EMIT_PER_TOKEN=per_token,
            OUT_INT64=per_token,
            ZERO_TAIL=not per_token,
            BLOCK=8,
        )
        expected = np.full(120, -5)
        for i, r in enumerate(pool):
            token = tokens[r, ::page]
            entry = np.maximum(physical[np.where(token < 0, 0, token // page)], 0)
            if per_token:
                place = np.arange(lens[i])
                expected[starts[i] + place] = entry[place // page] * page + place % page
            else:
                used = min(-(-(lens[i] + 3) // page), width)
                expected[i * 16 : i * 16 + width] = 0
                expected[i * 16 : i * 16 + used] = entry[:used]
        compared.append(same(out, expected))
    return compared


@case("sglang", SGL + "attention/extend_attention.py", "_fwd_kernel")
def sglang_extend_attention(run, rng):
    """New tokens see the cached ones and each other, by causality or by a mask of their own."""
    heads, kv_heads = 4, 2
    prefix, extend = (21, 0, 9), (18, 3, 7)
    starts, cached = (np.cumsum((0, *n)).astype("i4") for n in (extend, prefix))
    total = starts[-1]
    compared = []
    for tree in (False, True):
        d, dv, pe = (24, 24, 0) if tree else (48, 32, 16)
        q = normal(rng, (total, heads, d), "f2")
        k, v = normal(rng, (total, kv_heads, d), "f2"), normal(rng, (total, kv_heads, dv), "f2")
        k_cache = normal(rng, (40, kv_heads, d), "f2")
        v_cache = normal(rng, (40, kv_heads, dv), "f2")
        rows = rng.permutation(40)[: cached[-1]].astype("i8")
        sink = normal(rng, heads)
        masks = [rng.random((n, m + n)) < 0.5 for n, m in zip(extend, prefix)]
        for m, n in zip(masks, prefix):
            np.fill_diagonal(m[:, n:], True)
        mask_starts = np.cumsum([0] + [m.size for m in masks]).astype("i8")
        mask = np.concatenate([m.reshape(-1) for m in masks]).astype("i1")
        out, lse = np.zeros((total, heads, dv), "f4"), np.zeros((total, heads), "f4")
        options = dict(
            USE_CUSTOM_MASK=tree,
            IS_CAUSAL=not tree,
            HAS_SINK=tree,
            USE_EXP2=tree,
            STORE_TRANSPOSE=tree,
            USE_COMPACT_TILE_GRID=not tree,
            PAGE_SIZE=4 if tree else 1,
        )
        kb, vb = kv_heads * d, kv_heads * dv
        run(
            (3, heads, 2) if tree else (5, heads),
            q,
            k,
            v,
            out,
            lse,
            k_cache,
            v_cache,
            starts,
            cached,
            rows,
            mask if tree else None,
            mask_starts if tree else None,
            sink if tree else None,
            None,
            0.2,
            1.5,
            0.75,
            heads // kv_heads,
            heads * d,
            d,
            kb,
            d,
            vb,
            dv,
            heads * dv,
            dv,
            heads,
            1,
            kb,
            d,
            vb,
            dv,
            4 * kb,
            kb,
            4 * vb,
            vb,
            3,
            SLIDING_WINDOW_SIZE=-1,
            logit_cap=0,
            xai_temperature_len=-1,
            Lq=d,
            Lv=dv,
            BLOCK_DMODEL=32,
            BLOCK_DPE=pe,
            BLOCK_DV=32,
            BLOCK_M=16,
            BLOCK_N=16,
            BLOCK_N_PREFIX=16,
            SKIP_PREFIX_CUSTOM_MASK=False,
            STORE_LSE=True,
            SKIP_PREFIX=False,
            SKIP_EXTEND=False,
            USE_FP8_PREFIX=False,
            USE_FP8_EXTEND=False,
            FP8_MAX=448.0,
            **options,
        )
        expected, sums = np.zeros(out.shape), np.zeros(lse.shape)
        for i in range(3):
            new, old = slice(starts[i], starts[i + 1]), rows[cached[i] : cached[i + 1]]
            keys = np.concatenate([k_cache[old].astype("f8") * 1.5, k[new]])
            values = np.concatenate([v_cache[old].astype("f8") * 0.75, v[new]])
            distance = prefix[i] + np.arange(extend[i])[:, None] - np.arange(len(keys))
            for h in range(heads):
                s = q[new, h].astype("f8") @ keys[:, h // 2].T * 0.2
                w = np.exp(np.where(masks[i] if tree else distance >= 0, s, -np.inf))
                sums[new, h] = w.sum(1) + (np.exp(sink[h].astype("f8")) if tree else 0)
                expected[new, h] = w @ values[:, h // 2] / sums[new, h, None]
        compared.append(near(out, expected, 2e-3, 2e-3, f"out {tree}"))
        compared.append(near(lse, np.log(sums), 1e-4, 1e-3, f"lse {tree}"))
    return compared


@case("sglang", SGL + "moe/moe_fused_gate.py", "_router_triton_kernel")
def sglang_router(run, rng):
    """Of 4 groups the 2 with the greatest sums of 2 scores; of their experts the best 4."""
    rows, n, k, live = 7, 24, 5, 6
    scores, bias = normal(rng, (rows, n)), normal(rng, n, scale=0.3)
    weights, index = np.zeros((rows, k), "f4"), np.zeros((rows, k), "i4")
    padding = np.array([live], "i4")
    run(
        (2,),
        scores,
        bias,
        None,
        None,
        padding,
        weights,
        index,
        None,
        rows,
        2.5,
        0.0,
        N=n,
        K=k,
        K_ROUTED=4,
        BLOCK_M=4,
        BLOCK_N=32,
        BLOCK_K=8,
        N_GROUP=4,
        TOPK_GROUP=2,
        EXPERTS_PER_GROUP=6,
        BLOCK_G=4,
        SCORING_FUNC=0,
        SQRTSOFTPLUS_LOG1P=False,
        HAS_SOFTCAP=False,
        RENORMALIZE=True,
        APPLY_SCALE=True,
        HAS_BIAS=True,
        HAS_TOKEN_BIAS=False,
        BIAS_ALT_TOKEN_ID=0,
        HAS_PADDING=True,
        HAS_PACKED=False,
        RENORMALIZE_EPSILON=0.0,
        USE_PDL=False,
        stride_bias=1,
        stride_bias_alt=0,
        stride_input_ids=0,
        stride_sm=n,
        stride_sn=1,
        stride_wm=k,
        stride_wk=1,
        stride_im=k,
        stride_ik=1,
        stride_pm=0,
        stride_pk=0,
    )
    p = sigmoid(scores)
    ranked = (p + bias).reshape(rows, 4, 6)
    groups = np.sort(ranked, 2)[:, :, -2:].sum(2)
    dropped = np.argsort(-groups, 1)[:, 2:]
    np.put_along_axis(ranked, dropped[:, :, None], -np.inf, 1)
    chosen = np.argsort(-ranked.reshape(rows, n), 1)[:, :4]
    w = np.take_along_axis(p, chosen, 1)
    w = np.concatenate([2.5 * w / w.sum(1, keepdims=True), np.ones((rows, 1))], 1)
    chosen = np.concatenate([chosen, np.full((rows, 1), n)], 1)
    w[live:], chosen[live:] = 0, -1
    return [same(index, chosen, "index"), near(weights, w, 1e-5, 1e-6, "weights")]


@case("sglang", SGL + "moe/moe_fused_gate.py", "_sm120_router_top22_kernel")
def sglang_router_top22(run, rng):
    rows, n, k = 3, 512, 22
    scores, bias = normal(rng, (rows, n), scale=2), normal(rng, n, scale=0.2)
    weights, index = np.zeros((rows, k), "f4"), np.zeros((rows, k), "i4")
    run(
        (rows,),
        scores,
        bias,
        weights,
        index,
        n,
        1,
        2.5,
        RENORMALIZE=True,
        APPLY_SCALE=True,
        USE_PDL=False,
    )
    p = sigmoid(scores)
    chosen = np.argsort(-(p + bias), 1)[:, :k]
    w = np.take_along_axis(p, chosen, 1)
    return [same(index, chosen), near(weights, 2.5 * w / w.sum(1, keepdims=True))]


@case(
    "vllm",
    TRITON_KERNELS + "numerics_details/mxfp_details/_downcast_to_mxfp.py",
    "_downcast_to_mxfp",
)
def vllm_downcast_to_mxfp(run, rng):
    """Groups of 32 have one scale, a power of 2; the last group is of 16."""
    rows, n = 11, 80
    x = normal(rng, (rows, n), "f2", 3)
    x[4, 32:64] = 0
    groups = np.pad(x.astype("f8"), ((0, 0), (0, 16))).reshape(rows, 3, 32)
    top = np.abs(groups).max(2)
    compared = []
    for fp4 in (True, False):
        exponent = np.ceil(np.log2(np.maximum(top, 1e-30) / (6 if fp4 else 448)))
        exponent = np.where(top > 0, exponent, -127)
        scaled = (groups / 2.0 ** exponent[..., None]).reshape(rows, 96)[:, :n]
        scale = np.zeros((rows, 3), "u1")
        out = np.zeros((rows, n // 2 if fp4 else n), "u1")
        target = out if fp4 else FP8(out)
        run(
            (2, 2),
            out if fp4 else target.array,
            out.shape[1],
            1,
            scale,
            3,
            1,
            x,
            n,
            1,
            rows,
            n,
            BLOCK_SIZE_OUT_DIM=8,
            BLOCK_SIZE_QUANT_DIM=64,
            DEQUANT_SCALE_ROUNDING_MODE=0,
        )
        compared.append(same(scale, exponent + 127, "scale"))
        if fp4:
            levels = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
            found = np.stack([out & 15, out >> 4], 2).reshape(rows, n)
            place = np.abs(np.abs(scaled)[..., None] - levels)
            found = levels[found & 7] * np.where(found & 8, -1, 1)
            compared.append(near(np.abs(found - scaled), place.min(2), 0, 1e-12, "fp4"))
            compared.append(same(np.sign(found) * np.sign(scaled) < 0, np.zeros(x.shape), "sign"))
        else:
            compared.append(near_fp8(target.values, scaled, "fp8"))
    return compared


@case("vllm", "vllm/models/kimi_k3/nvidia/ops/attn_res.py", "_attn_res_kernel")
def vllm_attention_residual(run, rng):
    """Pointers into two arrays are chosen by row."""
    tokens, hidden, blocks, slots = 3, 90, 3, 5
    prefix, delta = (BF16(normal(rng, (tokens, hidden))) for _ in range(2))
    sources = BF16(normal(rng, (tokens, slots, hidden)))
    weights = [BF16(normal(rng, hidden)) for _ in range(3)]
    old = sources.values.copy()
    total = BF16(prefix.values + delta.values).values
    out = BF16(np.zeros((tokens, hidden)))
    run(
        (tokens,),
        prefix.array,
        delta.array,
        sources.array,
        *[w.array for w in weights],
        out.array,
        hidden,
        hidden,
        slots * hidden,
        hidden,
        hidden,
        num_blocks=blocks,
        hidden_size=hidden,
        block_write_idx=blocks,
        eps=1e-5,
        output_norm_eps=1e-6,
        HAS_DELTA=True,
        WRITE_BLOCK=True,
        APPLY_OUTPUT_NORM=True,
        BLOCK_L=2,
        BLOCK_D=128,
        launch_pdl=False,
    )
    norm, query, last = (w.values.astype("f8") for w in weights)
    v = np.concatenate([old[:, :blocks], total[:, None]], 1).astype("f8")
    scores = (v * norm * query).sum(2) / np.sqrt((v * v).mean(2) + 1e-5)
    mixed = (softmax(scores)[..., None] * v).sum(1)
    expected = mixed / np.sqrt((mixed * mixed).mean(1, keepdims=True) + 1e-6) * last
    old[:, blocks] = total
    return [
        near(out.values, expected, 2**-8, 1e-4, "out"),
        same(prefix.values, total, "prefix"),
        same(sources.values, old, "blocks"),
    ]


@case("sglang", SGL + "attention/linear/seg_la.py", "seg_la_p_kernel")
def sglang_segmented_linear_attention(run, rng):
    """Parts of a head's state are in several programs, whose outputs are to be added."""
    heads, d, split = 2, 32, 16
    lens, slots, carries = (21, 5, 16), np.array([2, 0, -1], "i4"), np.array([1, 0, 1], "i4")
    starts = np.cumsum((0, *lens)).astype("i4")
    total = starts[-1]
    q, k, v = (normal(rng, (total, heads, d), "f2", 0.5) for _ in range(3))
    decay = uniform(rng, heads, 0.02, 0.1)
    states = normal(rng, (3, heads, d, d), scale=0.5)
    expected, after = np.zeros((total, heads, d)), states.astype("f8")
    out = np.zeros((2, total, heads, d), "f4")
    sizes = np.array(lens, "i4")
    run(
        (3, heads, 4),
        q,
        k,
        v,
        states,
        out,
        0.25,
        heads * d,
        heads * d,
        heads * d,
        heads * d * d,
        total * heads * d,
        slots,
        starts,
        sizes,
        carries,
        decay,
        sizes,
        slots,
        HEAD_DIM=d,
        K_SPLIT_DIM=split,
        V_SPLIT_DIM=split,
        BLOCK=16,
        EVEN=False,
        TRACK_STATE=False,
    )
    for i in range(2):  # the third has no slot
        for h in range(heads):
            s = after[slots[i], h] * carries[i]
            for t in range(starts[i], starts[i + 1]):
                s = s * np.exp(-decay[h]) + np.outer(k[t, h].astype("f8"), v[t, h])
                expected[t, h] = q[t, h].astype("f8") @ s * 0.25
            after[slots[i], h] = s
    return [near(out.sum(0), expected, 2e-3, 8e-3, "out"), near(states, after, 2e-3, 8e-3, "state")]


VLLM = "vllm/v1/attention/ops/"


@case("vllm", VLLM + "triton_merge_attn_states.py", "merge_attn_states_kernel")
def vllm_merge_attention_states(run, rng):
    """Empty parts have the sum -inf, or inf; tokens from the sixth on have no prefix."""
    tokens, heads, d, with_prefix = 8, 3, 24, 6
    prefix, suffix = normal(rng, (tokens, heads, d)), normal(rng, (tokens, heads, d))
    prefix_lse, suffix_lse = normal(rng, (heads, tokens)), normal(rng, (heads, tokens))
    prefix_lse[0, 1], suffix_lse[1, 2], prefix_lse[2, 3] = np.inf, -np.inf, -np.inf
    prefix_lse[1, 4], suffix_lse[1, 4] = np.inf, -np.inf
    a, b = np.where(prefix_lse == np.inf, -np.inf, prefix_lse), suffix_lse.copy()
    a[:, with_prefix:] = -np.inf
    sums = np.logaddexp(a.astype("f8"), b)
    share = np.where(np.isinf(sums), 0, np.exp(a - sums)).T[..., None]
    rest = np.where(np.isinf(sums), 0, np.exp(b - sums)).T[..., None]
    expected = prefix * share + suffix * rest
    compared = []
    for fp8 in (False, True):
        out, lse = np.zeros((tokens, heads, d), "f4"), np.zeros((heads, tokens), "f4")
        out8, scale = FP8(np.zeros(out.shape)), np.array([0.02], "f4")
        run(
            (tokens, heads),
            out8.array if fp8 else out,
            lse,
            prefix,
            prefix_lse,
            suffix,
            suffix_lse,
            d,
            d,
            tokens,
            1,
            tokens,
            1,
            tokens,
            1,
            scale if fp8 else None,
            with_prefix,
            HEAD_SIZE=d,
            PADDED_HEAD_SIZE=32,
            OUTPUT_LSE=True,
            USE_FP8=fp8,
            FP8_MIN=-448.0,
            FP8_MAX=448.0,
        )
        compared.append(near(lse, sums, name="lse"))
        compared.append(near_fp8(out8.values, expected / 0.02) if fp8 else near(out, expected))
    return compared


@case("vllm", "vllm/lora/ops/triton_ops/lora_expand_op.py", "_lora_expand_kernel")
def vllm_lora_expand(run, rng):
    tokens, n, rank, adapters = 21, 40, 24, 3
    which = integers(rng, tokens, -1, adapters)
    x, b = normal(rng, (1, tokens, rank)), normal(rng, (adapters, n, rank), "f2")
    ids = np.array([-1, 0, 1, 2], "i4")
    order = np.argsort(which, kind="stable").astype("i4")
    counts = (which[:, None] == ids).sum(0).astype("i4")
    begins = np.concatenate([[0], np.cumsum(counts)]).astype("i4")
    base = normal(rng, (tokens, n + 10), "f2")
    expected = base.astype("f8")
    active = which >= 0
    rounded = x[0].astype("f2").astype("f8")
    expected[active, 5 : n + 5] += np.einsum(
        "tk,tnk->tn", rounded[active], b[which[active]].astype("f8")
    )
    run(
        (2 * 3, 1, len(ids)),
        x,
        b,
        base,
        tokens,
        n,
        rank,
        order,
        counts,
        begins,
        ids,
        5,
        *strides(x),
        *strides(b),
        n + 10,
        1,
        None,
        BLOCK_M=16,
        BLOCK_N=16,
        BLOCK_K=16,
        EVEN_K=False,
        ADD_INPUTS=True,
        CAST_TYPE=True,
        SLICE_NUM=1,
        SAME_STRIDE=True,
        USE_GDC=False,
        launch_pdl=False,
    )
    return [near(base, expected, 2e-3, 8e-3)]


# SCORE_MOD is a function that the caller brings along (sglang passes
# relative_bias_score_mod of attention/score_mod.py, which extend_attention.py does not import).
@tilec.jit
def add_relative_bias(s, q_place, k_place, q_row, head, mask, bias, stride_t, stride_h, length):
    distance = q_place - k_place
    inside = mask & (distance >= 0) & (distance < length)
    where = bias + q_row * stride_t + head * stride_h + tl.where(inside, distance, 0)
    return s + tl.load(where, mask=inside, other=0.0)


@case("sglang", SGL + "attention/extend_attention.py", "_fwd_kernel")
def sglang_extend_attention_score_mod(run, rng):
    """New tokens see the cached ones and each other, by causality or by a mask of their own."""
    heads, kv_heads = 4, 2
    prefix, extend = (21, 0, 9), (18, 3, 7)
    starts, cached = (np.cumsum((0, *n)).astype("i4") for n in (extend, prefix))
    total = starts[-1]
    compared = []
    for tree in (False, True):
        d, dv, pe = (24, 24, 0) if tree else (48, 32, 16)
        q = normal(rng, (total, heads, d), "f2")
        k, v = normal(rng, (total, kv_heads, d), "f2"), normal(rng, (total, kv_heads, dv), "f2")
        k_cache = normal(rng, (40, kv_heads, d), "f2")
        v_cache = normal(rng, (40, kv_heads, dv), "f2")
        rows = rng.permutation(40)[: cached[-1]].astype("i8")
        bias, sink = normal(rng, (total, heads, 6)), normal(rng, heads)
        masks = [rng.random((n, m + n)) < 0.5 for n, m in zip(extend, prefix)]
        for m, n in zip(masks, prefix):
            np.fill_diagonal(m[:, n:], True)
        mask_starts = np.cumsum([0] + [m.size for m in masks]).astype("i8")
        mask = np.concatenate([m.reshape(-1) for m in masks]).astype("i1")
        out, lse = np.zeros((total, heads, dv), "f4"), np.zeros((total, heads), "f4")
        options = dict(
            USE_CUSTOM_MASK=tree,
            IS_CAUSAL=not tree,
            HAS_SINK=tree,
            USE_EXP2=tree,
            STORE_TRANSPOSE=tree,
            USE_COMPACT_TILE_GRID=not tree,
            PAGE_SIZE=4 if tree else 1,
        )
        if not tree:
            options.update(
                SCORE_MOD=add_relative_bias,
                Aux0=bias,
                aux0_stride_t=heads * 6,
                aux0_stride_h=6,
                aux0_len=6,
            )
        kb, vb = kv_heads * d, kv_heads * dv
        run(
            (3, heads, 2) if tree else (5, heads),
            q,
            k,
            v,
            out,
            lse,
            k_cache,
            v_cache,
            starts,
            cached,
            rows,
            mask if tree else None,
            mask_starts if tree else None,
            sink if tree else None,
            None,
            0.2,
            1.5,
            0.75,
            heads // kv_heads,
            heads * d,
            d,
            kb,
            d,
            vb,
            dv,
            heads * dv,
            dv,
            heads,
            1,
            kb,
            d,
            vb,
            dv,
            4 * kb,
            kb,
            4 * vb,
            vb,
            3,
            SLIDING_WINDOW_SIZE=-1,
            logit_cap=0,
            xai_temperature_len=-1,
            Lq=d,
            Lv=dv,
            BLOCK_DMODEL=32,
            BLOCK_DPE=pe,
            BLOCK_DV=32,
            BLOCK_M=16,
            BLOCK_N=16,
            BLOCK_N_PREFIX=16,
            SKIP_PREFIX_CUSTOM_MASK=False,
            STORE_LSE=True,
            SKIP_PREFIX=False,
            SKIP_EXTEND=False,
            USE_FP8_PREFIX=False,
            USE_FP8_EXTEND=False,
            FP8_MAX=448.0,
            **options,
        )
        expected, sums = np.zeros(out.shape), np.zeros(lse.shape)
        for i in range(3):
            new, old = slice(starts[i], starts[i + 1]), rows[cached[i] : cached[i + 1]]
            keys = np.concatenate([k_cache[old].astype("f8") * 1.5, k[new]])
            values = np.concatenate([v_cache[old].astype("f8") * 0.75, v[new]])
            distance = prefix[i] + np.arange(extend[i])[:, None] - np.arange(len(keys))
            for h in range(heads):
                s = q[new, h].astype("f8") @ keys[:, h // 2].T * 0.2
                if tree:
                    s = np.where(masks[i], s, -np.inf)
                else:
                    near_ones = (distance >= 0) & (distance < 6)
                    s[near_ones] += bias[new, h][np.nonzero(near_ones)[0], distance[near_ones]]
                    s = np.where(distance >= 0, s, -np.inf)
                w = np.exp(s)
                sums[new, h] = w.sum(1) + (np.exp(sink[h].astype("f8")) if tree else 0)
                expected[new, h] = w @ values[:, h // 2] / sums[new, h, None]
        compared.append(near(out, expected, 2e-3, 2e-3, f"out {tree}"))
        compared.append(near(lse, np.log(sums), 1e-4, 1e-3, f"lse {tree}"))
    return compared


# number_for_dead_pointer.py: n_rows may be a number or a pointer (isinstance, is_ptr).
@case("vllm", TRITON_KERNELS + "topk_details/_topk_forward.py", "_topk_forward")
def vllm_topk_bitmatrix(run, rng):
    """The chosen experts in ascending order, the softmax of their scores, and a bit for each."""
    rows, n, k = 9, 40, 4
    x = np.round(normal(rng, (rows, n), "f2", 3))
    compared = []
    for count in (rows, np.array([rows], "i4")):
        values, index = np.zeros((rows, k), "f2"), np.zeros((rows, k), "i2")
        bits, cleared = np.zeros((rows, 2), "u4"), np.full(40, 5, "i4")
        run(
            (3,),
            x,
            n,
            values,
            index,
            k,
            USE_PROVIDED_INDX=False,
            Bits=bits,
            stride_rm=2,
            stride_rn=1,
            n_rows=count,
            n_expts_tot=n,
            S=cleared,
            BLOCK_S=16,
            s_blocks=2,
            APPLY_SOFTMAX=True,
            BLOCK_M=4,
            N_EXPTS_PAD=64,
            N_EXPTS_ACT=k,
            BLOCK_N=32,
        )
        chosen = np.sort(np.argsort(-x, axis=1, kind="stable")[:, :k], 1)
        p = softmax(np.take_along_axis(x, chosen, 1).astype("f8"))
        marks = np.zeros((rows, 64), bool)
        np.put_along_axis(marks, chosen, True, 1)
        packed = np.packbits(marks, axis=1, bitorder="little").view("u4")
        compared += [
            same(index, chosen, "index"),
            near(values, p, 1e-3, 1e-4, "values"),
            same(bits, packed, "bits"),
            same(cleared, [0] * 32 + [5] * 8, "cleared"),
        ]
    return compared

"""Recurrent models: a gated delta of states in chunks, with sequences of several lengths."""
import torch
import torch.nn.functional as F

import triton
import triton.language as tl

from .utils import LOG2E

NUM_WARPS = [2, 4, 8]


@triton.heuristics({
    'USE_INITIAL_STATE': lambda args: args['h0'] is not None,
    'STORE_FINAL_STATE': lambda args: args['ht'] is not None,
    'IS_VARLEN': lambda args: args['cu_seqlens'] is not None,
})
@triton.autotune(
    configs=[
        triton.Config({'BV': 16}, num_warps=num_warps, num_stages=num_stages)
        for num_warps in NUM_WARPS
        for num_stages in [2, 3]
    ],
    key=['K', 'V'],
)
@triton.jit(do_not_specialize=['T'])
def fused_recurrent_fwd(
    q,
    k,
    v,
    g,
    o,
    h0,
    ht,
    cu_seqlens,
    scale,
    T,
    H: tl.constexpr,
    K: tl.constexpr,
    V: tl.constexpr,
    BK: tl.constexpr,
    BV: tl.constexpr,
    USE_INITIAL_STATE: tl.constexpr,
    STORE_FINAL_STATE: tl.constexpr,
    IS_VARLEN: tl.constexpr,
):
    i_v, i_nh = tl.program_id(0), tl.program_id(1)
    i_n, i_h = i_nh // H, i_nh % H
    if IS_VARLEN:
        bos, eos = tl.load(cu_seqlens + i_n).to(tl.int64), tl.load(cu_seqlens + i_n + 1).to(tl.int64)
        T = eos - bos
    else:
        bos, eos = i_n * T, i_n * T + T

    o_k = tl.arange(0, BK)
    o_v = i_v * BV + tl.arange(0, BV)
    m_k, m_v = o_k < K, o_v < V
    m_h = m_v[:, None] & m_k[None, :]
    p_q = q + (bos * H + i_h) * K + o_k
    p_k = k + (bos * H + i_h) * K + o_k
    p_v = v + (bos * H + i_h) * V + o_v
    p_g = g + bos * H + i_h
    p_o = o + (bos * H + i_h) * V + o_v

    b_h = tl.zeros([BV, BK], dtype=tl.float32)
    if USE_INITIAL_STATE:
        p_h0 = h0 + i_nh * K * V + o_k[None, :] * V + o_v[:, None]
        b_h += tl.load(p_h0, mask=m_h, other=0).to(tl.float32)
    for _ in range(0, T):
        b_q = tl.load(p_q, mask=m_k, other=0).to(tl.float32) * scale
        b_k = tl.load(p_k, mask=m_k, other=0).to(tl.float32)
        b_v = tl.load(p_v, mask=m_v, other=0).to(tl.float32)
        b_g = tl.load(p_g).to(tl.float32)
        b_h *= tl.exp2(b_g * LOG2E)
        b_v -= tl.sum(b_h * b_k[None, :], 1)
        b_h += b_k[None, :] * b_v[:, None]
        b_o = tl.sum(b_h * b_q[None, :], 1)
        tl.store(p_o, b_o.to(p_o.dtype.element_ty), mask=m_v)
        p_q += H * K
        p_k += H * K
        p_v += H * V
        p_g += H
        p_o += H * V
    if STORE_FINAL_STATE:
        p_ht = ht + i_nh * K * V + o_k[None, :] * V + o_v[:, None]
        tl.store(p_ht, b_h.to(p_ht.dtype.element_ty), mask=m_h)


def _causal_conv1d(x_ptr, w_ptr, bias_ptr, out_ptr, seqlen, dim, WIDTH: tl.constexpr,
                   SILU: tl.constexpr, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr):
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    t = tl.program_id(0) * BLOCK_T
    live = d < dim
    acc_preload = tl.load(bias_ptr + d, mask=live, other=0.0).to(tl.float32)
    w_col0 = tl.load(w_ptr + d * WIDTH, mask=live, other=0.0)
    w_col1 = tl.load(w_ptr + d * WIDTH + 1, mask=live, other=0.0)
    if WIDTH >= 3:
        w_col2 = tl.load(w_ptr + d * WIDTH + 2, mask=live, other=0.0)
    col0 = tl.load(x_ptr + (t - WIDTH + 1) * dim + d, mask=live & (t - WIDTH + 1 >= 0), other=0.0)
    if WIDTH >= 3:
        col1 = tl.load(x_ptr + (t - 1) * dim + d, mask=live & (t - 1 >= 0), other=0.0)
    for i in range(min(BLOCK_T, seqlen - t)):
        acc = acc_preload
        matrix_w = w_col0
        matrix_x = col0
        for j in tl.static_range(WIDTH):
            if WIDTH == 2:
                if j == 1:
                    matrix_w = w_col1
                    matrix_x = tl.load(x_ptr + (t + i) * dim + d, mask=live)
            elif WIDTH == 3:
                if j == 1:
                    matrix_w = w_col1
                    matrix_x = col1
                elif j == 2:
                    matrix_w = w_col2
                    matrix_x = tl.load(x_ptr + (t + i) * dim + d, mask=live)
            acc += matrix_x * matrix_w
        if WIDTH == 2:
            col0 = matrix_x
        elif WIDTH == 3:
            col0 = col1
            col1 = matrix_x
        if SILU:
            acc = acc / (1 + tl.exp(-acc))
        tl.store(out_ptr + (t + i) * dim + d, acc, mask=live)


causal_conv1d = triton.jit(_causal_conv1d)


@triton.jit
def softplus(dt):
    return tl.where(dt <= 20.0, tl.math.log(tl.math.exp(dt) + 1), dt)


@triton.jit
def pack_int4(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Two numbers of four bits in a byte, and the difference of neighbours to check it."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0)
    low, high = tl.split(tl.reshape(x, (BLOCK // 2, 2)))
    packed = (low & 0xF) | (high << 4)
    half = tl.program_id(0) * (BLOCK // 2) + tl.arange(0, BLOCK // 2)
    tl.store(out_ptr + half, packed.to(tl.uint8), mask=half < n // 2)


@triton.jit
def unpack_int4(packed_ptr, out_ptr, n, BLOCK: tl.constexpr):
    half = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    packed = tl.load(packed_ptr + half, mask=half < n // 2, other=0)
    low = (packed << 4).to(tl.int8, bitcast=True) >> 4
    high = packed.to(tl.int8, bitcast=True) >> 4
    at = tl.program_id(0) * (2 * BLOCK) + tl.arange(0, 2 * BLOCK)
    tl.store(out_ptr + at, tl.interleave(low, high), mask=at < n)


@triton.jit
def sample_gumbel(logits_ptr, out_ptr, seed_ptr, temperature, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(logits_ptr + row * n + cols, mask=cols < n, other=float("-inf")).to(tl.float32)
    if temperature == 0:
        tl.store(out_ptr + row, tl.argmax(x, axis=0))
        return
    seed = tl.load(seed_ptr + row)
    u = tl.maximum(tl.rand(seed, cols), 1e-7)
    noise = -tl.log(-tl.log(u))
    tl.store(out_ptr + row, tl.argmax(x / temperature + noise, axis=0))

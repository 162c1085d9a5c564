"""Kernels of flash linear attention: recurrences, chunks, attention, sums, layers, losses."""

import numpy as np
from case import BF16, case, integers, near, normal, same, sigmoid, silu, softmax, uniform

FLA = "fla-core"


# ---- recurrences, one step after the other, for a head: [T, K] and [T, V]; gates are natural logs


def state_steps(q, k, v, decay_k=None, decay_v=None, h0=None):
    """S = Diag(exp(decay_k)) S Diag(exp(decay_v)) + k v^T, o = S^T q: (outputs, states)."""
    q, k, v = (np.asarray(x, dtype=np.float64) for x in (q, k, v))
    s = np.zeros((k.shape[1], v.shape[1])) if h0 is None else np.array(h0, dtype=np.float64)
    outputs, states = [], [s.copy()]
    for t in range(len(k)):
        if decay_k is not None:
            s = s * np.exp(np.float64(decay_k[t])).reshape(-1, 1)
        if decay_v is not None:
            s = s * np.exp(np.float64(decay_v[t])).reshape(1, -1)
        s = s + np.outer(k[t], v[t])
        outputs.append(q[t] @ s)
        states.append(s.copy())
    return np.array(outputs), np.array(states)


def delta_steps(q, k, v, beta, decay=None, h0=None):
    """S = exp(decay) S, e = v - S^T k, S += k (beta e)^T, o = S^T q: (outputs, errors, states)."""
    q, k, v, beta = (np.asarray(x, dtype=np.float64) for x in (q, k, v, beta))
    s = np.zeros((k.shape[1], v.shape[1])) if h0 is None else np.array(h0, dtype=np.float64)
    outputs, errors, states = [], [], [s.copy()]
    for t in range(len(k)):
        if decay is not None:
            s = s * np.exp(np.float64(decay[t]))
        e = v[t] - k[t] @ s
        s = s + np.outer(k[t], beta[t] * e)
        outputs.append(q[t] @ s)
        errors.append(e)
        states.append(s.copy())
    return np.array(outputs), np.array(errors), np.array(states)


def unit(x):
    return x / np.sqrt((x * x).sum(-1, keepdims=True))


def softplus(x):
    return np.logaddexp(0, x)


def chunks_of(offsets, size):
    """Pairs of sequence and chunk, as the kernels of packed sequences want them."""
    counts = [cdiv(n, size) for n in np.diff(offsets)]
    return np.array([(n, c) for n, count in enumerate(counts) for c in range(count)], "i8")


def cdiv(a, b):
    return -(-a // b)


@case(FLA, "fla/ops/delta_rule/fused_recurrent.py", "fused_recurrent_delta_rule_fwd_kernel")
def fla_delta_rule_recurrent(run, rng):
    B, T, H, K, V, BV = 2, 7, 2, 20, 19, 8
    compared = []
    for headwise in (False, True):
        q, k, v = (normal(rng, (B, T, H, n)) for n in (K, K, V))
        k, beta = unit(k), uniform(rng, (B, T, H, V) if headwise else (B, T, H))
        h0 = normal(rng, (B, H, K, V)) if headwise else None
        o, u, ht = np.zeros_like(v), np.zeros_like(v), np.zeros((B, H, K, V), "f4")
        run(
            (cdiv(V, BV) * B * H,),
            q=q,
            k=k,
            v=v,
            u=u,
            beta=beta,
            o=o,
            h0=h0,
            ht=ht,
            cu_seqlens=None,
            scale=0.25,
            T=T,
            B=B,
            H=H,
            K=K,
            V=V,
            BK=32,
            BV=BV,
            IS_BETA_HEADWISE=headwise,
        )
        for b in range(B):
            for h in range(H):
                expected = delta_steps(
                    q[b, :, h] * 0.25,
                    k[b, :, h],
                    v[b, :, h],
                    beta[b, :, h],
                    h0=None if h0 is None else h0[b, h],
                )
                compared += [
                    near(o[b, :, h], expected[0], 1e-5, 1e-5, "o"),
                    near(u[b, :, h], expected[1], 1e-5, 1e-5, "u"),
                    near(ht[b, h], expected[2][-1], 1e-5, 1e-5, "ht"),
                ]
    return compared


@case(
    FLA,
    "fla/ops/gated_delta_rule/fused_recurrent.py",
    "fused_recurrent_gated_delta_rule_fwd_kernel",
)
def fla_gated_delta_rule_recurrent(run, rng):
    """Packed sequences, more value heads than key heads, and the gates computed in the kernel."""
    H, HV, K, V, BV = 1, 2, 13, 11, 8
    offsets = np.array([0, 5, 6, 14], "i8")
    T, N = int(offsets[-1]), len(offsets) - 1
    compared = []
    for v_first in (False, True):
        q, k, v = normal(rng, (T, H, K)), normal(rng, (T, H, K)), normal(rng, (T, HV, V))
        g, beta = normal(rng, (T, HV)), normal(rng, (T, HV))
        a_log, bias = normal(rng, HV), normal(rng, HV)
        h0 = normal(rng, (N, HV, V, K) if v_first else (N, HV, K, V))
        o, ht = np.zeros_like(v), np.zeros_like(h0)
        run(
            (cdiv(V, BV) * N * HV,),
            q=q,
            k=k,
            v=v,
            g=g,
            gk=None,
            gv=None,
            beta=beta,
            A_log=a_log,
            dt_bias=bias,
            o=o,
            h0=h0,
            ht=ht,
            cu_seqlens=offsets,
            scale=0.3,
            T=T,
            H=H,
            HV=HV,
            K=K,
            V=V,
            BK=16,
            BV=BV,
            USE_QK_L2NORM_IN_KERNEL=True,
            IS_BETA_HEADWISE=True,
            STATE_V_FIRST=v_first,
            APPLY_BETA_SIGMOID=True,
            ALLOW_NEG_EIGVAL=v_first,
        )
        decay = -np.exp(np.float64(a_log)) * softplus(np.float64(g) + bias)
        rate = sigmoid(beta) * (2 if v_first else 1)
        for n in range(N):
            part = slice(offsets[n], offsets[n + 1])
            for h in range(HV):
                start = h0[n, h].T if v_first else h0[n, h]
                expected = delta_steps(
                    unit(q[part, 0]) * 0.3,
                    unit(k[part, 0]),
                    v[part, h],
                    rate[part, h],
                    decay[part, h],
                    start,
                )
                last = expected[2][-1]
                compared += [
                    near(o[part, h], expected[0], 1e-5, 2e-5, "o"),
                    near(ht[n, h], last.T if v_first else last, 1e-5, 2e-5, "ht"),
                ]
    return compared


@case(FLA, "fla/ops/common/chunk_scaled_dot_kkt.py", "chunk_scaled_dot_kkt_fwd_kernel")
def fla_chunk_scaled_dot_kkt(run, rng):
    """The strictly lower triangle of beta_i 2^(g_i - g_j) k_i k_j, chunk by chunk."""
    T, H, HV, K, BT = 45, 1, 2, 40, 32
    compared = []
    for offsets in (None, np.array([0, 35, 45], "i8")):
        B = 2 if offsets is None else 1
        k, beta = normal(rng, (B, T, H, K), "f2"), uniform(rng, (B, T, HV))
        if offsets is None:
            g, chunks = -np.cumsum(uniform(rng, (B, T, HV), 0, 0.2), 1, dtype="f4"), None
        else:
            g, chunks = None, chunks_of(offsets, BT)
        a = np.full((B, T, HV, BT), 7, "f4")
        count = cdiv(T, BT) if offsets is None else len(chunks)
        run(
            (count, B * HV),
            k=k,
            g=g,
            beta=beta,
            A=a,
            cu_seqlens=offsets,
            chunk_indices=chunks,
            T=T,
            H=H,
            HV=HV,
            K=K,
            BT=BT,
        )
        expected = np.zeros_like(a)
        ends = [0, T] if offsets is None else offsets
        for b in range(B):
            for first, end in zip(ends[:-1], ends[1:]):
                for i in range(first, end):
                    for j in range(i - (i - first) % BT, i):
                        gate = 1 if g is None else np.exp2(g[b, i] - g[b, j])
                        dot = np.float64(k[b, i, 0]) @ np.float64(k[b, j, 0])
                        expected[b, i, :, (j - first) % BT] = beta[b, i] * gate * dot
        compared.append(near(a, expected, 1e-5, 1e-4))
    return compared


@case(FLA, "fla/ops/delta_rule/wy_fast.py", "recompute_w_u_fwd_kernel")
def fla_delta_rule_wy(run, rng):
    B, T, H, K, V, BT = 2, 27, 2, 24, 40, 16
    k, v, beta = normal(rng, (B, T, H, K)), normal(rng, (B, T, H, V)), uniform(rng, (B, T, H))
    a = normal(rng, (B, T, H, BT))
    w, u = np.zeros_like(k), np.zeros_like(v)
    run(
        (cdiv(T, BT), B * H), k, v, beta, w, u, a, None, None, T, H=H, K=K, V=V, BT=BT, BK=16, BV=32
    )
    expected_w, expected_u = np.zeros_like(w), np.zeros_like(u)
    for first in range(0, T, BT):
        part = slice(first, min(first + BT, T))
        # A's columns beyond the sequence meet rows that are not there
        block = a[:, part, :, : part.stop - first]
        rate = beta[:, part, :, None]
        expected_w[:, part] = np.einsum("bihj,bjhk->bihk", block, k[:, part] * rate)
        expected_u[:, part] = np.einsum("bihj,bjhk->bihk", block, v[:, part] * rate)
    return [near(w, expected_w, 1e-5, 2e-5, "w"), near(u, expected_u, 1e-5, 2e-5, "u")]


@case(FLA, "fla/ops/delta_rule/wy_fast.py", "prepare_wy_repr_bwd_kernel")
def fla_delta_rule_wy_backward(run, rng):
    """Gradients of w = A diag(beta) k and u = A diag(beta) v, A = (I + tril(beta k k^T, -1))^-1."""
    B, T, H, K, V, BT = 1, 27, 2, 20, 24, 16
    k, v, beta = unit(normal(rng, (B, T, H, K))), normal(rng, (B, T, H, V)), uniform(rng, (B, T, H))
    dw, du = normal(rng, k.shape), normal(rng, v.shape)
    a = np.zeros((B, T, H, BT), "f4")
    expected = [np.zeros(x.shape) for x in (k, v, beta)]
    for first in range(0, T, BT):
        n = min(BT, T - first)
        part = slice(first, first + n)
        for h in range(H):
            keys, values, rate = (np.float64(x[0, part, h]) for x in (k, v, beta))
            inverse = np.linalg.inv(np.eye(n) + np.tril(rate[:, None] * (keys @ keys.T), -1))
            a[0, part, h, :n] = inverse
            d_keys, d_values = inverse.T @ dw[0, part, h], inverse.T @ du[0, part, h]
            d_inverse = dw[0, part, h] @ (keys * rate[:, None]).T
            d_inverse += du[0, part, h] @ (values * rate[:, None]).T
            d_lower = np.tril(-inverse.T @ d_inverse @ inverse.T, -1)
            expected[0][0, part, h] = rate[:, None] * d_keys + d_lower.T @ (keys * rate[:, None])
            expected[0][0, part, h] += rate[:, None] * (d_lower @ keys)
            expected[1][0, part, h] = rate[:, None] * d_values
            expected[2][0, part, h] = (d_keys * keys).sum(1) + (d_values * values).sum(1)
            expected[2][0, part, h] += ((d_lower @ keys) * keys).sum(1)
    dk, dv, dbeta = np.zeros_like(k), np.zeros_like(v), np.zeros_like(beta)
    run(
        (cdiv(T, BT), B * H),
        k,
        v,
        beta,
        a,
        dw,
        du,
        dk,
        dv,
        dbeta,
        None,
        None,
        T,
        H=H,
        K=K,
        V=V,
        BT=BT,
        BK=16,
        BV=16,
    )
    return [
        near(dk, expected[0], 2e-3, 1e-2, "dk"),
        near(dv, expected[1], 1e-5, 2e-5, "dv"),
        near(dbeta, expected[2], 2e-3, 1e-2, "dbeta"),
    ]


@case(FLA, "fla/ops/common/chunk_delta_h.py", "chunk_gated_delta_rule_fwd_kernel_h_blockdim64")
def fla_gated_delta_rule_chunk_states(run, rng):
    """Chunks' states from the WY form of chunks; the reference steps through the sequence."""
    B, T, H, HV, K, V, BT, BV = 1, 40, 1, 2, 72, 40, 16, 32
    count = cdiv(T, BT)
    compared = []
    for v_first in (False, True):
        k, v = unit(normal(rng, (B, T, H, K))), normal(rng, (B, T, HV, V))
        beta, decay = uniform(rng, (B, T, HV)), -uniform(rng, (B, T, HV), 0, 0.3)
        h0 = normal(rng, (B, HV, V, K) if v_first else (B, HV, K, V))
        g = np.zeros_like(decay)
        w, u = np.zeros((B, T, HV, K), "f4"), np.zeros_like(v)
        for first in range(0, T, BT):
            part = slice(first, min(first + BT, T))
            g[:, part] = np.cumsum(decay[:, part], 1) / np.log(2)
            for h in range(HV):
                keys, rate, gate = k[0, part, 0], beta[0, part, h, None], g[0, part, h]
                a = np.tril(rate * (keys @ keys.T) * np.exp2(gate[:, None] - gate), -1)
                inverse = np.linalg.inv(np.eye(len(a)) + a)
                w[0, part, h] = inverse @ (rate * np.exp2(gate)[:, None] * keys)
                u[0, part, h] = inverse @ (rate * v[0, part, h])
        states = np.zeros((B, count) + h0.shape[1:], "f4")
        v_new, ht = np.zeros_like(v), np.zeros_like(h0)
        run(
            (cdiv(V, BV) * B * HV,),
            k=k,
            v=u,
            w=w,
            v_new=v_new,
            g=g,
            gk=None,
            h=states,
            h0=h0,
            ht=ht,
            cu_seqlens=None,
            chunk_offsets=None,
            T=T,
            H=H,
            HV=HV,
            K=K,
            V=V,
            BT=BT,
            BV=BV,
            STATE_V_FIRST=v_first,
        )
        for h in range(HV):
            start = h0[0, h].T if v_first else h0[0, h]
            _, errors, steps = delta_steps(
                k[0, :, 0], k[0, :, 0], v[0, :, h], beta[0, :, h], decay[0, :, h], start
            )
            if v_first:
                steps = steps.transpose(0, 2, 1)
            compared += [
                near(states[0, :, h], steps[:T:BT], 1e-3, 4e-3, "h"),
                near(ht[0, h], steps[-1], 1e-3, 4e-3, "ht"),
                near(v_new[0, :, h], errors * beta[0, :, h, None], 1e-3, 4e-3, "v_new"),
            ]
    return compared


@case(FLA, "fla/ops/common/chunk_o.py", "chunk_fwd_kernel_o")
def fla_chunk_outputs(run, rng):
    """Outputs of gated linear attention and of retention from the states before the chunks."""
    B, T, H, K, V, BT, BK, BV = 2, 37, 2, 40, 24, 16, 32, 32
    compared = []
    for retention in (False, True):
        q, k, v = (normal(rng, (B, T, H, n), "f2") for n in (K, K, V))
        decay = -uniform(rng, (B, T, H), 0, 0.3)
        if retention:
            decay[:] = decay[0, 0]
        g = np.zeros_like(decay)
        for first in range(0, T, BT):
            g[:, first : first + BT] = np.cumsum(decay[:, first : first + BT], 1) / np.log(2)
        shape = (V, K) if retention else (K, V)
        states, expected = np.zeros((B, cdiv(T, BT), H) + shape, "f2"), np.zeros((B, T, H, V))
        for b in range(B):
            for h in range(H):
                outputs, steps = state_steps(*(x[b, :, h] for x in (q, k, v, decay)))
                expected[b, :, h] = outputs
                states[b, :, h] = steps[:T:BT].transpose(0, 2, 1) if retention else steps[:T:BT]
        o = np.zeros_like(v)
        gamma = np.ascontiguousarray(decay[0, 0] / np.float32(np.log(2)))
        run(
            (cdiv(V, BV) * cdiv(T, BT), B * H),
            q=q,
            k=k,
            v=v,
            h=states,
            g=None if retention else g,
            g_gamma=gamma if retention else None,
            o=o,
            cu_seqlens=None,
            chunk_indices=None,
            scale=0.1,
            T=T,
            H=H,
            HV=H,
            K=K,
            V=V,
            BT=BT,
            BK=BK,
            BV=BV,
            STATE_V_FIRST=retention,
        )
        compared.append(near(o, expected * 0.1, 2e-3, 6e-3))
    return compared


@case(FLA, "fla/ops/common/chunk_h.py", "chunk_fwd_kernel_h")
def fla_chunk_states(run, rng):
    """States before every second chunk, with gates along the rows and the columns of the state."""
    B, T, H, K, V, BT, BS = 1, 41, 2, 20, 18, 16, 32
    compared = []
    for v_first in (False, True):
        k, v = normal(rng, (B, T, H, K)), normal(rng, (B, T, H, V))
        rows, columns = -uniform(rng, (B, T, H, K), 0, 0.2), -uniform(rng, (B, T, H, V), 0, 0.2)
        gk, gv = np.zeros_like(rows), np.zeros_like(columns)
        for first in range(0, T, BT):
            part = slice(first, first + BT)
            gk[:, part] = np.cumsum(rows[:, part], 1) / np.log(2)
            gv[:, part] = np.cumsum(columns[:, part], 1) / np.log(2)
        h0 = normal(rng, (B, H, V, K) if v_first else (B, H, K, V))
        states = np.zeros((B, cdiv(T, BS)) + h0.shape[1:], "f4")
        ht = np.zeros_like(h0)
        run(
            (cdiv(K, 16) * cdiv(V, 16) * B * H,),
            k,
            v,
            states,
            None,
            None,
            gk,
            gv,
            h0,
            ht,
            None,
            None,
            T,
            H=H,
            K=K,
            V=V,
            BT=BT,
            BS=BS,
            BK=16,
            BV=16,
            USE_G=False,
            USE_G_GAMMA=False,
            USE_GK=True,
            USE_GV=True,
            STATE_V_FIRST=v_first,
        )
        for h in range(H):
            start = h0[0, h].T if v_first else h0[0, h]
            _, steps = state_steps(*(x[0, :, h] for x in (k, k, v, rows, columns)), start)
            if v_first:
                steps = steps.transpose(0, 2, 1)
            compared += [
                near(states[0, :, h], steps[:T:BS], 1e-3, 4e-3, "h"),
                near(ht[0, h], steps[-1], 1e-3, 4e-3, "ht"),
            ]
    return compared


@case(FLA, "fla/ops/gla/chunk.py", "chunk_gla_fwd_A_kernel_intra_sub_inter")
def fla_gla_scores_between_blocks(run, rng):
    B, T, H, K, BT, BC = 1, 55, 2, 40, 64, 16
    q, k = normal(rng, (B, T, H, K)), normal(rng, (B, T, H, K))
    g = -np.cumsum(uniform(rng, (B, T, H, K), 0, 0.1), 1, dtype="f4")
    a = np.full((B, T, H, BT), 7, "f4")
    run(
        (cdiv(T, BT), (BT // BC) ** 2, B * H),
        q,
        k,
        g,
        a,
        None,
        None,
        0.2,
        T,
        H=H,
        K=K,
        BT=BT,
        BC=BC,
        NC=BT // BC,
    )
    expected = np.full_like(a, 7)
    for i in range(T):
        for j in range(i // BC * BC):
            expected[:, i, :, j] = 0.2 * (q[:, i] * k[:, j] * np.exp2(g[:, i] - g[:, j])).sum(-1)
    return [near(a, expected, 1e-3, 4e-3)]


@case(FLA, "fla/ops/gla/chunk.py", "chunk_gla_fwd_A_kernel_intra_sub_intra")
def fla_gla_scores_in_blocks(run, rng):
    """Each block of the diagonal; what is above the diagonal becomes 0."""
    H, K, BT, BC = 2, 19, 32, 16
    offsets = np.array([0, 20, 57], "i8")
    T, chunks = int(offsets[-1]), chunks_of(offsets, BT)
    q, k = normal(rng, (T, H, K)), normal(rng, (T, H, K))
    g = -np.cumsum(uniform(rng, (T, H, K), 0, 0.1), 0, dtype="f4")
    a = np.full((T, H, BT), 7, "f4")
    run(
        (len(chunks), BT // BC, H),
        q,
        k,
        g,
        a,
        offsets,
        chunks,
        0.2,
        T,
        H=H,
        K=K,
        BT=BT,
        BC=BC,
        BK=32,
    )
    expected = np.full_like(a, 7)
    for first, end in zip(offsets[:-1], offsets[1:]):
        for i in range(first, end):
            block = i - (i - first) % BC
            column = (block - first) % BT
            expected[i, :, i - block + column : column + BC] = 0
            for j in range(block, i + 1):
                score = (q[i] * k[j] * np.exp2(g[i] - g[j])).sum(-1)
                expected[i, :, j - block + column] = 0.2 * score
    return [near(a, expected, 1e-5, 1e-5)]


@case(FLA, "fla/ops/kda/chunk_intra_token_parallel.py", "chunk_kda_fwd_kernel_intra_token_parallel")
def fla_kda_scores(run, rng):
    """A program for each token, which searches its sequence; scores of blocks on the diagonal."""
    H, HV, K, BT, BC = 2, 4, 19, 16, 8
    offsets = np.array([0, 11, 12, 33], "i8")
    T, N = int(offsets[-1]), len(offsets) - 1
    q, k, beta = normal(rng, (T, H, K)), normal(rng, (T, H, K)), uniform(rng, (T, HV))
    g = -np.cumsum(uniform(rng, (T, HV, K), 0, 0.2), 0, dtype="f4")
    qk, kk = np.zeros((T, HV, BT), "f4"), np.zeros((T, HV, BC), "f4")
    run(
        (T, 2),
        q,
        k,
        g,
        beta,
        qk,
        kk,
        0.3,
        offsets,
        N,
        T,
        H=H,
        HV=HV,
        K=K,
        BK=32,
        BT=BT,
        BC=BC,
        BH=2,
    )
    expected_qk, expected_kk = np.zeros(qk.shape), np.zeros(kk.shape)
    for first, end in zip(offsets[:-1], offsets[1:]):
        for i in range(first, end):
            for j in range(i - (i - first) % BC, i + 1):
                for h in range(HV):
                    gated = np.float64(k[j, h // 2]) * np.exp2(g[i, h] - g[j, h])
                    expected_qk[i, h, (j - first) % BT] = 0.3 * q[i, h // 2] @ gated
                    if j < i:
                        expected_kk[i, h, (j - first) % BC] = beta[i, h] * k[i, h // 2] @ gated
    return [near(qk, expected_qk, 1e-5, 1e-5, "qk"), near(kk, expected_kk, 1e-5, 1e-5, "kk")]


@case(FLA, "fla/ops/common/fused_recurrent.py", "fused_recurrent_fwd_kernel")
def fla_linear_attention_recurrent(run, rng):
    """Linear attention, retention, gates of rows and columns; keys are split into two blocks."""
    B, T, H, K, V, BK, BV = 2, 9, 3, 20, 11, 16, 8
    compared = []
    for kind in ("none", "gamma", "g", "gk", "gv"):
        reverse, v_first = kind == "g", kind == "gk"
        q, k, v = (normal(rng, (B, T, H, n)) for n in (K, K, V))
        shapes = {"gamma": (H,), "g": (B, T, H), "gk": (B, T, H, K), "gv": (B, T, H, V)}
        gate = -uniform(rng, shapes.get(kind, ()))
        h0 = normal(rng, (B, H, V, K) if v_first else (B, H, K, V))
        o, ht = np.zeros((2, B, T, H, V), "f4"), np.zeros_like(h0)
        run(
            (2 * 2 * B * H,),
            q=q,
            k=k,
            v=v,
            g=gate if kind == "g" else None,
            g_gamma=gate if kind == "gamma" else None,
            gk=gate if kind == "gk" else None,
            gv=gate if kind == "gv" else None,
            o=o,
            h0=h0,
            ht=ht,
            cu_seqlens=None,
            scale=0.5,
            B=B,
            T=T,
            H=H,
            K=K,
            V=V,
            BK=BK,
            BV=BV,
            REVERSE=reverse,
            USE_G=kind == "g",
            USE_G_GAMMA=kind == "gamma",
            USE_GK=kind == "gk",
            USE_GV=kind == "gv",
            STATE_V_FIRST=v_first,
        )
        order = slice(None, None, -1 if reverse else 1)
        for b in range(B):
            for h in range(H):
                if kind == "none":
                    decay = None
                elif kind == "gamma":
                    decay = np.full(T, gate[h])
                else:
                    decay = gate[b, order, h]
                start = h0[b, h].T if v_first else h0[b, h]
                by_column = kind == "gv"
                outputs, states = state_steps(
                    q[b, order, h] * 0.5,
                    k[b, order, h],
                    v[b, order, h],
                    None if by_column else decay,
                    decay if by_column else None,
                    start,
                )
                last = states[-1].T if v_first else states[-1]
                compared += [
                    near(o.sum(0)[b, order, h], outputs, 1e-5, 2e-5, kind),
                    near(ht[b, h], last, 1e-5, 2e-5, kind),
                ]
    return compared


@case(FLA, "fla/ops/rwkv6/fused_recurrent.py", "fused_recurrent_rwkv6_fwd_kernel")
def fla_rwkv6_recurrent(run, rng):
    """o = (S + (u k) v^T)^T q, then S = Diag(exp(w)) S + k v^T."""
    B, T, H, K, V, BK, BV = 2, 6, 2, 12, 21, 16, 16
    compared = []
    for reverse in (False, True):
        q, k, v = (normal(rng, (B, T, H, n)) for n in (K, K, V))
        w, u, h0 = -uniform(rng, (B, T, H, K)), normal(rng, (H, K)), normal(rng, (B, H, K, V))
        o, ht = np.zeros_like(v), np.zeros_like(h0)
        run(
            (cdiv(V, BV) * B * H,),
            q=q,
            k=k,
            v=v,
            w=w,
            u=u,
            o=o,
            h0=h0,
            ht=ht,
            cu_seqlens=None,
            scale=0.5,
            T=T,
            B=B,
            H=H,
            K=K,
            V=V,
            BK=BK,
            BV=BV,
            REVERSE=reverse,
        )
        s, expected = np.float64(h0), np.zeros(v.shape)
        for t in range(T - 1, -1, -1) if reverse else range(T):
            kv = np.einsum("bhk,bhv->bhkv", k[:, t], v[:, t])
            expected[:, t] = np.einsum("bhkv,bhk->bhv", s + kv * u[..., None], q[:, t] * 0.5)
            s = s * np.exp(w[:, t])[..., None] + kv
        compared += [near(o, expected, 1e-5, 2e-5, "o"), near(ht, s, 1e-5, 2e-5, "ht")]
    return compared


@case(FLA, "fla/ops/rwkv7/fused_recurrent.py", "fused_recurrent_rwkv7_fwd_kernel")
def fla_rwkv7_recurrent(run, rng):
    """S = Diag(exp(w)) S - (a kk) (S^T kk)^T + k v^T, o = S^T r; also a single step."""
    B, H, K, V = 2, 2, 24, 19
    compared = []
    for T, decode in ((6, False), (1, True)):
        r, k, v, w = (normal(rng, (B, T, H, n)) for n in (K, K, V, K))
        w, a = -np.exp(w), uniform(rng, (B, T, H, K))
        kk, h0 = unit(normal(rng, (B, T, H, K))), normal(rng, (B, H, K, V))
        o, ht = np.zeros_like(v), np.zeros_like(h0)
        run(
            (cdiv(V, 16) * B * H,),
            r=r,
            w=w,
            k=k,
            v=v,
            kk=kk,
            a=a,
            o=o,
            h0=h0,
            ht=ht,
            cu_seqlens=None,
            scale=0.5,
            T=T,
            B=B,
            H=H,
            K=K,
            V=V,
            BK=32,
            BV=16,
            REVERSE=False,
            IS_DECODE=decode,
        )
        s, expected = np.float64(h0), np.zeros(v.shape)
        for t in range(T):
            removed = np.einsum("bhkv,bhk->bhv", s, kk[:, t])
            s = s * np.exp(w[:, t])[..., None]
            s = s - np.einsum("bhk,bhv->bhkv", kk[:, t] * a[:, t], removed)
            s = s + np.einsum("bhk,bhv->bhkv", k[:, t], v[:, t])
            expected[:, t] = np.einsum("bhkv,bhk->bhv", s, r[:, t] * 0.5)
        compared += [near(o, expected, 1e-5, 2e-5, "o"), near(ht, s, 1e-5, 2e-5, "ht")]
    return compared


@case(FLA, "fla/ops/rwkv4/fused_recurrent.py", "fused_recurrent_rwkv4_forward_kernel")
def fla_rwkv4_recurrent(run, rng):
    """wkv_t is the mean of the values, weighted by exp(k_i + (t - 1 - i) w) and exp(u + k_t)."""
    B, T, C = 2, 6, 40
    w, u = -uniform(rng, C), normal(rng, C)
    k, v = normal(rng, (B, T, C)), normal(rng, (B, T, C))
    state = np.zeros((B, 3, 1, C), "f4")
    state[:, 2] = -1e38
    wkv, states = np.zeros_like(k), np.zeros((B, 3, T, C), "f4")
    run(
        (B, 2),
        w,
        1,
        u,
        1,
        k,
        T * C,
        C,
        1,
        v,
        T * C,
        C,
        1,
        state,
        3 * C,
        C,
        1,
        wkv,
        T * C,
        C,
        1,
        states,
        3 * T * C,
        T * C,
        C,
        1,
        C,
        T,
        BLOCK_SIZE_C=32,
    )
    expected = np.zeros(k.shape)
    total = np.zeros((B, 2, T, C))
    for t in range(T):
        past = np.arange(t).reshape(-1, 1)
        weights = np.exp(k[:, :t] + (t - 1 - past) * np.float64(w))
        last = np.exp(np.float64(u) + k[:, t])
        expected[:, t] = (weights * v[:, :t]).sum(1) + last * v[:, t]
        expected[:, t] /= weights.sum(1) + last
        after = np.exp(k[:, : t + 1] + (t - np.arange(t + 1).reshape(-1, 1)) * np.float64(w))
        total[:, 0, t], total[:, 1, t] = (after * v[:, : t + 1]).sum(1), after.sum(1)
    found = states[:, :2] * np.exp(np.float64(states[:, 2:]))
    return [near(wkv, expected, 1e-5, 2e-6, "wkv"), near(found, total, 2e-5, 2e-6, "state")]


@case(FLA, "fla/ops/hgrn/fused_recurrent.py", "fused_recurrent_hgrn_fwd_kernel")
def fla_hgrn_recurrent(run, rng):
    D = 50
    offsets = np.array([0, 4, 4, 11], "i8")
    T, N = 11, 3
    x, g, h0 = normal(rng, (T, D)), -uniform(rng, (T, D)), normal(rng, (N, D))
    bf = BF16(np.zeros((T, D)))
    ht = np.zeros_like(h0)
    run((2 * N,), x, g, bf.array, h0, ht, offsets, T, D=D)
    expected, last = np.zeros((T, D)), np.zeros((N, D))
    for n in range(N):
        h = np.float64(h0[n])
        for t in range(offsets[n], offsets[n + 1]):
            expected[t] = h = np.exp(g[t]) * h + x[t]
        last[n] = h
    return [near(bf.values, expected, 4e-3, 1e-5, "o"), near(ht, last, 1e-5, 1e-5, "ht")]


@case(FLA, "fla/ops/hgrn/chunk.py", "chunk_hgrn_bwd_kernel_h")
def fla_hgrn_chunk_backward(run, rng):
    """dx_t = do_t + exp(g_(t+1)) dx_(t+1) in a chunk; gc sums the gates behind a step."""
    B, T, D, BT = 2, 21, 40, 8
    g, do = -uniform(rng, (B, T, D)), normal(rng, (B, T, D))
    gc, dx = np.zeros_like(g), np.zeros_like(g)
    run((cdiv(D, 32) * cdiv(T, BT), B), g, gc, dx, do, T, D=D, BT=BT, BD=32)
    expected_dx, expected_gc = np.zeros(g.shape), np.zeros(g.shape)
    for t in range(T - 1, -1, -1):
        inside = t + 1 < T and (t + 1) % BT != 0
        following = g[:, t + 1] if t + 1 < T else np.zeros_like(g[:, t])
        expected_gc[:, t] = following + (expected_gc[:, t + 1] if inside else 0)
        expected_dx[:, t] = do[:, t] + (np.exp(following) * expected_dx[:, t + 1] if inside else 0)
    return [near(dx, expected_dx, 1e-5, 1e-5, "dx"), near(gc, expected_gc, 1e-5, 1e-5, "gc")]


# ---- attention


def causal(length):
    return np.arange(length)[:, None] >= np.arange(length)


@case(FLA, "fla/ops/based/parallel.py", "parallel_based_fwd_kernel")
def fla_based_parallel(run, rng):
    """Attention with weights 1 + x + x^2 / 2, and the sums of the weights."""
    B, H, T, K, V, BTL, BTS = 1, 2, 45, 12, 14, 32, 16
    q, k, v = (normal(rng, (B, H, T, n)) for n in (K, K, V))
    o, z = np.zeros((B, H, T, V), "f4"), np.zeros((B, H, T), "f4")
    run(
        (cdiv(T, BTL), B * H),
        q,
        k,
        v,
        o,
        z,
        0.3,
        T,
        B=B,
        H=H,
        K=K,
        V=V,
        BTL=BTL,
        BTS=BTS,
        BK=16,
        BV=16,
    )
    x = 0.3 * np.einsum("bhik,bhjk->bhij", np.float64(q), k)
    weights = (1 + x + x * x / 2) * causal(T)
    return [near(o, weights @ v, 1e-5, 2e-4, "o"), near(z, weights.sum(-1), 1e-5, 1e-5, "z")]


@case(FLA, "fla/ops/based/fused_chunk.py", "fused_chunk_based_fwd_kernel")
def fla_based_fused_chunk(run, rng):
    B, H, T, K, V, BT = 1, 2, 37, 13, 20, 16
    q, k, v = (normal(rng, (B, H, T, n)) for n in (K, K, V))
    o, z = np.zeros((B, H, T, V), "f4"), np.zeros((B, H, T), "f4")
    run((2, 1, B * H), q, k, v, o, z, 0.3, T, B=B, H=H, K=K, V=V, BT=BT, BK=16, BV=16)
    x = 0.3 * np.einsum("bhik,bhjk->bhij", np.float64(q), k)
    weights = (1 + x + x * x / 2) * causal(T)
    return [near(o, weights @ v, 1e-5, 2e-4, "o"), near(z, weights.sum(-1), 1e-5, 1e-4, "z")]


@case(FLA, "fla/ops/rebased/parallel.py", "parallel_rebased_fwd_kernel")
def fla_rebased_parallel(run, rng):
    B, H, T, K, V, BTL, BTS = 2, 1, 50, 15, 16, 32, 32
    q, k, v = (normal(rng, (B, H, T, n), "f2") for n in (K, K, V))
    o, z = np.zeros((B, H, T, V), "f4"), np.zeros((B, H, T), "f4")
    run(
        (cdiv(T, BTL), B * H),
        q,
        k,
        v,
        o,
        z,
        0.25,
        T,
        B=B,
        H=H,
        K=K,
        V=V,
        BTL=BTL,
        BTS=BTS,
        BK=16,
        BV=16,
    )
    x = 0.25 * np.einsum("bhik,bhjk->bhij", np.float64(q), k)
    weights = x * x * causal(T)
    return [near(o, weights @ v, 2e-3, 1e-2, "o"), near(z, weights.sum(-1), 1e-5, 1e-4, "z")]


@case(FLA, "fla/ops/attn/parallel.py", "parallel_attn_fwd_kernel")
def fla_parallel_attention(run, rng):
    """Grouped heads, packed sequences; a window, a bias in the denominator, a forget gate."""
    H, HQ, K, V, BT, BS = 1, 2, 24, 20, 32, 16
    offsets = np.array([0, 39, 57], "i8")
    T, chunks = int(offsets[-1]), chunks_of(offsets, BT)
    compared = []
    for window, sink, gated in ((None, False, False), (10, True, True)):
        q, k, v = (normal(rng, (T, n, m), "f2") for n, m in ((HQ, K), (H, K), (H, V)))
        bias = normal(rng, HQ) if sink else None
        gate = -np.cumsum(uniform(rng, (T, HQ)), 0, dtype="f4") if gated else None
        o, lse = np.zeros((T, HQ, V), "f2"), np.zeros((T, HQ), "f4")
        run(
            (2 * len(chunks), HQ),
            q=q,
            k=k,
            v=v,
            o=o,
            g_cumsum=gate,
            sink_bias=bias,
            lse=lse,
            scale=0.2,
            cu_seqlens=offsets,
            chunk_indices=chunks,
            T=T,
            W=window,
            B=1,
            H=H,
            HQ=HQ,
            G=HQ // H,
            K=K,
            V=V,
            BT=BT,
            BS=BS,
            BK=32,
            BV=16,
        )
        for first, end in zip(offsets[:-1], offsets[1:]):
            part, length = slice(first, end), end - first
            visible = causal(length)
            if window:
                visible &= np.arange(length)[:, None] - np.arange(length) < window
            for h in range(HQ):
                # scores are logarithms to the base 2, as lse, the gate and the bias are
                x = np.float64(q[part, h]) @ np.float64(k[part, 0]).T * 0.2 / np.log(2)
                if gated:
                    x += gate[part, h, None] - gate[part, h]
                weights = np.where(visible, np.exp2(x), 0)
                total = weights.sum(-1)
                inside = total + np.exp2(bias[h]) if sink else total
                expected = weights @ np.float64(v[part, 0]) / inside[:, None]
                compared += [
                    near(o[part, h], expected, 2e-3, 1e-3, "o"),
                    near(lse[part, h], np.log2(inside), 1e-5, 2e-5, "lse"),
                ]
    return compared


@case(FLA, "fla/ops/attn/decoding.py", "naive_attn_decoding_kernel")
def fla_attention_decoding(run, rng):
    """One query for each sequence; one sequence is empty."""
    B, H, HQ, K, V = 3, 2, 4, 20, 18
    offsets = np.array([0, 21, 21, 33], "i8")
    T = int(offsets[-1])
    compared = []
    for window in (None, 7):
        q, k, v = normal(rng, (B, HQ, K)), normal(rng, (T, H, K)), normal(rng, (T, H, V))
        gate, bias = -np.cumsum(uniform(rng, (T, HQ)), 0, dtype="f4"), normal(rng, HQ)
        if window:
            gate = None
        o = np.full((B, HQ, V), 7, "f4")
        run(
            (2 * B * HQ,),
            q=q,
            k=k,
            v=v,
            o=o,
            g_cumsum=gate,
            sink_bias=bias,
            scale=0.3,
            cu_seqlens=offsets,
            T=T,
            B=B,
            H=H,
            HQ=HQ,
            G=2,
            K=K,
            V=V,
            W=window,
            BS=16,
            BK=32,
            BV=16,
        )
        expected = np.zeros(o.shape)
        for b in range(B):
            first, end = offsets[b], offsets[b + 1]
            first = max(first, end - window) if window else first
            for h in range(HQ if end > first else 0):
                x = 0.3 * np.float64(k[first:end, h // 2]) @ q[b, h]
                if gate is not None:
                    x += gate[end - 1, h] - gate[first:end, h]
                total = np.exp(x).sum() + np.exp(bias[h])
                expected[b, h] = np.exp(x) @ v[first:end, h // 2] / total
        compared.append(near(o, expected, 1e-5, 1e-5))
    return compared


@case(FLA, "fla/ops/nsa/parallel.py", "parallel_nsa_kernel_topk")
def fla_nsa_topk(run, rng):
    """The best blocks for a token: the first, the last two, and those of the greatest weights."""
    B, TQ, TK, H, G, K, S, BS, BC = 1, 12, 100, 2, 16, 24, 4, 4, 16
    HQ, blocks = H * G, cdiv(TK, BS)
    compared = []
    for given in (False, True):
        q, k = normal(rng, (B, TQ, HQ, K), "f2"), normal(rng, (B, blocks, H, K), "f2")
        scaled = np.float64((q * np.float32(0.25)).astype("f2"))
        expected = np.full((TQ, H, S), -1)
        lse = np.zeros((B, TQ, HQ), "f4")
        for t in range(TQ):
            position = TK - TQ + t
            current, whole = position // BS, (position + 1) // BS
            for h in range(H):
                x = scaled[0, t, h * G : h * G + G] @ np.float64(k[0, :, h]).T
                sums = np.log(np.exp(x[:, :whole]).sum(-1))
                lse[0, t, h * G : h * G + G] = sums
                weight = np.exp(x - sums[:, None]).sum(0)[: current + 1]
                weight[[0, current - 1, current]] = np.inf
                expected[t, h] = np.sort(np.argsort(-weight)[:S])
        indices = np.zeros((B, TQ, H, S), "i4")
        run(
            (TQ, B * H),
            q=q,
            k=k,
            lse=lse if given else None,
            scale=0.25,
            block_indices=indices,
            cu_seqlens_q=None,
            cu_seqlens_k=None,
            token_indices_q=None,
            chunk_offsets=None,
            TQ=TQ,
            TK=TK,
            H=H,
            HQ=HQ,
            G=G,
            K=K,
            S=S,
            BC=BC,
            BS=BS,
            BK=32,
        )
        compared.append(same(np.sort(indices[0]), expected))
    return compared


@case(FLA, "fla/ops/nsa/parallel.py", "parallel_nsa_fwd_kernel")
def fla_nsa_selected(run, rng):
    """Attention to chosen blocks of keys; a block's index may be -1."""
    B, TQ, TK, H, G, K, V, S, BS = 1, 9, 41, 2, 16, 24, 20, 4, 16
    HQ = H * G
    q = normal(rng, (B, TQ, HQ, K), "f2")
    k, v = normal(rng, (B, TK, H, K), "f2"), normal(rng, (B, TK, H, V), "f2")
    indices = np.zeros((B, TQ, H, S), "i4")
    for t in range(TQ):
        for h in range(H):
            indices[0, t, h] = rng.permutation([0, 1, 2, -1])
            indices[0, t, h, 3] = indices[0, t, h, 3] if t % 2 else -1
    counts = integers(rng, (B, TQ, H), 2, S + 1)
    compared = []
    for counted in (False, True):
        o, lse = np.zeros((B, TQ, HQ, V), "f2"), np.zeros((B, TQ, HQ), "f4")
        run(
            (TQ, 2, B * H),
            q=q,
            k=k,
            v=v,
            o=o,
            lse=lse,
            scale=0.25,
            block_indices=indices,
            block_counts=counts if counted else None,
            cu_seqlens_q=None,
            cu_seqlens_k=None,
            token_indices_q=None,
            TQ=TQ,
            TK=TK,
            H=H,
            HQ=HQ,
            G=G,
            K=K,
            V=V,
            S=S,
            BS=BS,
            BK=32,
            BV=16,
            USE_BLOCK_COUNTS=counted,
        )
        scaled = np.float64((q * np.float32(0.25)).astype("f2"))
        expected, sums = np.zeros(o.shape), np.zeros(lse.shape)
        for t in range(TQ):
            for h in range(H):
                chosen = indices[0, t, h, : counts[0, t, h] if counted else S]
                seen = [i for i in range(TK - TQ + t + 1) if i // BS in chosen]
                group = slice(h * G, h * G + G)
                x = scaled[0, t, group] @ np.float64(k[0, seen, h]).T
                expected[0, t, group] = softmax(x) @ np.float64(v[0, seen, h])
                sums[0, t, group] = np.log(np.exp(x).sum(-1))
        compared += [near(o, expected, 2e-3, 1e-3, "o"), near(lse, sums, 1e-5, 2e-5, "lse")]
    return compared


@case(FLA, "fla/ops/utils/csr.py", "prepare_block_csr_kernel")
def fla_nsa_blocks_to_queries(run, rng):
    """Counts the queries of each block, then lists them; the order in a list is open."""
    H, S, BS = 2, 4, 8
    offsets = np.array([0, 13, 30], "i8")
    T, starts = int(offsets[-1]), np.array([0, 2, 5], "i8")
    indices, counts = np.full((1, T, H, S), -1, "i8"), integers(rng, (1, T, H), 1, S + 1)
    for t in range(T):
        for h in range(H):
            indices[0, t, h, :3] = rng.permutation([0, 1, 2])
    cursor, places = np.zeros(5 * H, "i4"), np.zeros(5 * H + 1, "i4")
    queries = np.full(T * H * S, -1, "i4")
    # positions count from the beginning of all sequences, so blocks hide no later keys here
    expected = [[] for _ in range(5 * H)]
    for t in range(T):
        n = 0 if t < offsets[1] else 1
        for h in range(H):
            for block in indices[0, t, h, : counts[0, t, h]]:
                if 0 <= block < 3 and block * BS <= t:
                    expected[(starts[n] + block) * H + h].append(t)
    for count_only in (True, False):
        run(
            (cdiv(T, 16), H),
            indices,
            counts,
            offsets,
            starts,
            cursor,
            queries,
            places,
            2,
            T,
            H=H,
            S=S,
            BT=16,
            BS=BS,
            TC=3,
            COUNT_ONLY=count_only,
            USE_BLOCK_COUNTS=True,
        )
        if count_only:
            found = places.copy()
            places = np.cumsum(places, dtype="i4")
    compared = [same(found[1:], [len(e) for e in expected], "counts")]
    for i, e in enumerate(expected):
        compared.append(same(np.sort(queries[places[i] : places[i + 1]]), e, "queries"))
    return compared


@case(FLA, "fla/ops/stickbreaking_attn/parallel.py", "parallel_stickbreaking_attn_fwd_kernel")
def fla_stickbreaking_attention(run, rng):
    """Key j takes the part sigmoid(x_ij) of what the keys between j and i left of a stick."""
    B, T, H, HQ, K, V, BT, BS = 1, 45, 1, 2, 24, 20, 32, 16
    compared = []
    for current in (True, False):
        q, k, v = (normal(rng, (B, T, n, m), "f2") for n, m in ((HQ, K), (H, K), (H, V)))
        o, rest = np.zeros((B, T, HQ, V), "f2"), np.zeros((B, T, HQ), "f4")
        run(
            (2, B * HQ, cdiv(T, BT)),
            q=q,
            k=k,
            v=v,
            o=o,
            rem=rest,
            scale=0.2,
            cu_seqlens=None,
            chunk_indices=None,
            T=T,
            H=H,
            HQ=HQ,
            G=2,
            K=K,
            V=V,
            BT=BT,
            BS=BS,
            BK=32,
            BV=16,
            ATTEND_CURRENT=current,
        )
        expected, left = np.zeros(o.shape), np.zeros(rest.shape)
        for h in range(HQ):
            part = sigmoid(0.2 * np.float64(q[0, :, h]) @ np.float64(k[0, :, 0]).T)
            for t in range(T):
                stick = 1.0
                for j in range(t if current else t - 1, -1, -1):
                    expected[0, t, h] += stick * part[t, j] * np.float64(v[0, j, 0])
                    stick *= 1 - part[t, j]
                left[0, t, h] = stick
        compared += [near(o, expected, 2e-3, 1e-3, "o"), near(rest, left, 3e-5, 1e-9, "rem")]
    return compared


@case(FLA, "fla/ops/path_attn/prepare_k_cache.py", "parallel_path_fwd_kernel_prepare_k_cache")
def fla_path_attention_keys(run, rng):
    """Each block's keys pass through I - W2^T W1 of all later blocks."""
    B, T, H, K, BT = 1, 55, 2, 24, 16
    k, w1, w2 = normal(rng, (B, T, H, K)), *(normal(rng, (B, T, H, K), scale=0.1) for _ in range(2))
    found = np.zeros_like(k)
    run((cdiv(T, BT), B * H), k, found, w1, w2, None, None, T, H=H, K=K, BT=BT, BK=32)
    expected = np.float64(k)
    for h in range(H):
        for first in range(0, T, BT):
            for later in range(first + BT, T, BT):
                block = expected[0, first : first + BT, h]
                a, b = w1[0, later : later + BT, h], np.float64(w2[0, later : later + BT, h])
                expected[0, first : first + BT, h] = block - block @ b.T @ a
    return [near(found, expected, 1e-3, 2e-3)]


# ---- sums along the sequence, triangular systems, normalization


@case(FLA, "fla/ops/utils/cumsum.py", "chunk_local_cumsum_vector_kernel")
def fla_local_cumsum(run, rng):
    H, S, BT = 2, 40, 16
    offsets = np.array([0, 20, 21, 44], "i8")
    T, chunks = int(offsets[-1]), chunks_of(offsets, BT)
    compared = []
    for reverse, scale in ((False, None), (True, 1.4426950408889634)):
        s, o = normal(rng, (T, H, S)), np.zeros((T, H, S), "f4")
        run(
            (2 * len(chunks), H),
            s,
            o,
            scale,
            offsets,
            chunks,
            T,
            B=1,
            H=H,
            S=S,
            BT=BT,
            BS=32,
            REVERSE=reverse,
        )
        expected = np.zeros(s.shape)
        for n, c in chunks:
            part = slice(offsets[n] + c * BT, min(offsets[n] + c * BT + BT, offsets[n + 1]))
            block = np.float64(s[part])
            sums = np.cumsum(block[::-1], 0)[::-1] if reverse else np.cumsum(block, 0)
            expected[part] = sums * (scale or 1)
        compared.append(near(o, expected, 1e-5, 1e-5))
    return compared


@case(FLA, "fla/ops/utils/cumsum.py", "chunk_global_cumsum_scalar_kernel")
def fla_global_cumsum(run, rng):
    B, T, H = 2, 75, 3
    compared = []
    for reverse in (False, True):
        s, o = normal(rng, (B, T, H), "f2"), np.zeros((B, T, H), "f4")
        run((B * H,), s, o, 0.5, None, T, B=B, H=H, BT=32, REVERSE=reverse)
        order = slice(None, None, -1 if reverse else 1)
        expected = np.cumsum(np.float64(s[:, order]), 1)[:, order] * 0.5
        compared.append(near(o, expected, 1e-5, 1e-5))
    return compared


@case(FLA, "fla/ops/utils/logcumsumexp.py", "logcumsumexp_fwd_kernel")
def fla_logcumsumexp(run, rng):
    B, T, S = 3, 41, 32
    s, z = normal(rng, (B, T, S), scale=3), np.zeros((B, T, S), "f4")
    run((B,), s, z, T, S=S)
    return [near(z, np.logaddexp.accumulate(np.float64(s), 1), 1e-5, 1e-5)]


@case(FLA, "fla/ops/gsa/gate.py", "fused_additive_gate_fwd_kernel")
def fla_additive_gate(run, rng):
    """z = logcumsumexp(x); k = exp(x - z), g = the step of z with the sign turned."""
    S, BS = 24, 16
    offsets = np.array([0, 19, 20, 43], "i8")
    T, N = int(offsets[-1]), len(offsets) - 1
    compared = []
    for start in (False, True):
        x, h0 = normal(rng, (T, S), scale=2), normal(rng, (N, S)) if start else None
        z, k, g, last = (np.zeros((n, S), "f4") for n in (T, T, T, N))
        run((2 * N,), x, z, k, g, h0, last, offsets, T, S=S, BS=BS)
        for n in range(N):
            part = slice(offsets[n], offsets[n + 1])
            before = np.float64(h0[n : n + 1]) if start else np.full((1, S), -np.inf)
            sums = np.logaddexp.accumulate(np.vstack([before, np.float64(x[part])]), 0)
            gate = sums[:-1] - sums[1:]
            if not start:
                gate[0] = 0
            compared += [
                near(z[part], sums[1:], 1e-5, 1e-5, "z"),
                near(last[n], sums[-1], 1e-5, 1e-5, "final"),
                near(k[part], np.exp(x[part] - sums[1:]), 1e-5, 1e-5, "k"),
                near(g[part], gate, 1e-5, 1e-5, "g"),
            ]
    return compared


@case(FLA, "fla/ops/utils/logsumexp.py", "logsumexp_fwd_kernel")
def fla_logsumexp(run, rng):
    N, D, B = 3, 150, 64
    x, z = normal(rng, (N, D), "f2"), np.zeros((N, 3), "f4")
    run((N, 3), x=x, z=z, scale=1.5, D=D, B=B)
    parts = np.split(np.exp(1.5 * np.float64(x)), [B, 2 * B], 1)
    return [near(z, np.log(np.stack([p.sum(1) for p in parts], 1)), 1e-5, 1e-5)]


@case(FLA, "fla/ops/utils/solve_tril.py", "merge_16x16_to_64x64_inverse_kernel")
def fla_solve_triangular(run, rng):
    """(I + A)^-1 of strictly lower A in blocks of 64; with and without descriptors."""
    B, T, H, BT = 1, 115, 2, 64
    compared = []
    for descriptors in (False, True):
        a = np.zeros((B, T, H, BT), "f4")
        for t in range(T):
            a[:, t, :, : t % BT] = normal(rng, (B, H, t % BT), scale=0.3)
        inverse = np.zeros_like(a)
        run(
            (cdiv(T, BT), B * H),
            a,
            inverse,
            None,
            None,
            T,
            H=H,
            BT=BT,
            USE_TMA=descriptors,
            DOT_PRECISION="ieee",
        )
        for first in range(0, T, BT):
            n = min(BT, T - first)
            for h in range(H):
                expected = np.linalg.inv(np.eye(n) + np.float64(a[0, first : first + n, h, :n]))
                compared.append(near(inverse[0, first : first + n, h, :n], expected, 1e-4, 1e-4))
    return compared


def sinkhorn(x, steps):
    x = np.exp(x)
    for _ in range(steps):
        x = x / x.sum(-2, keepdims=True)
        x = x / x.sum(-1, keepdims=True)
    return x


@case(FLA, "fla/ops/utils/sinkhorn/ops.py", "sinkhorn_fwd_kernel")
def fla_sinkhorn(run, rng):
    """Columns and rows are divided by their sums in turn."""
    T, N = 3, 7
    x, o = normal(rng, (T, N, N), "f2"), np.zeros((T, N, N), "f4")
    run((T,), x, o, T, scale=1.4426950408889634, N=N, BN=8, NUM_ITERS=6)
    return [near(o, sinkhorn(np.float64(x), 6), 1e-5, 1e-6)]


@case(FLA, "fla/ops/utils/sinkhorn/ops.py", "sinkhorn_bwd_kernel")
def fla_sinkhorn_backward(run, rng):
    """The derivative along each element, from differences in double."""
    T, N, steps = 2, 5, 23
    x, do, dx = normal(rng, (T, N, N)), normal(rng, (T, N, N)), np.zeros((T, N, N), "f4")
    run((T,), x, do, dx, T, scale=1.4426950408889634, N=N, BN=8, NUM_ITERS=steps)
    expected = np.zeros(x.shape)
    for i in range(N):
        for j in range(N):
            step = np.zeros((N, N))
            step[i, j] = 1e-4
            change = sinkhorn(x + step, steps) - sinkhorn(x - step, steps)
            expected[:, i, j] = (do * change).sum((1, 2)) / 2e-4
    return [near(dx, expected, 1e-5, 3e-6)]


@case(FLA, "fla/modules/norm/l2norm.py", "l2norm_bwd_kernel")
def fla_l2norm_backward(run, rng):
    T, D = 21, 50
    x, dy = normal(rng, (T, D)), normal(rng, (T, D), "f2")
    rstd = 1 / np.sqrt((x * x).sum(1) + np.float32(1e-6))
    y, dx = x * rstd[:, None], np.zeros_like(x)
    run((cdiv(T, 8),), y, rstd, dy, dx, 1e-6, T, D=D, BD=64, NB=1, BT=8)
    # the gradient of x / |x| has no part along y
    grad = np.float64(dy)
    expected = (grad - (grad * y).sum(1, keepdims=True) * y) * rstd[:, None]
    return [near(dx, expected, 1e-5, 1e-6)]


@case(FLA, "fla/modules/norm/layernorm_gated.py", "layer_norm_fwd_kernel_group")
def fla_layer_norm_gated(run, rng):
    """Norms of groups of columns, the gate before or after; the rows have gaps between them."""
    T, groups, D = 5, 2, 27
    compared = []
    for rms, before, biased in ((False, True, True), (True, False, False), (False, False, False)):
        wide, gates = normal(rng, (T, 70)), normal(rng, (T, 60))
        w, b = normal(rng, groups * D), normal(rng, groups * D) if biased else None
        y = np.zeros((T, groups * D), "f4")
        mean, rstd = None if rms else np.zeros((groups, T), "f4"), np.zeros((groups, T), "f4")
        run(
            (T, groups),
            wide,
            y,
            w,
            b,
            gates,
            mean,
            rstd,
            70,
            groups * D,
            60,
            T,
            D,
            1e-5,
            BD=32,
            NORM_BEFORE_GATE=before,
            IS_RMS_NORM=rms,
        )
        x, gate = (np.float64(a[:, : groups * D]).reshape(T, groups, D) for a in (wide, gates))
        if not before:
            x = x * silu(gate)
        middle = 0 if rms else x.mean(-1, keepdims=True)
        scale = 1 / np.sqrt(((x - middle) ** 2).mean(-1, keepdims=True) + 1e-5)
        expected = (x - middle) * scale * w.reshape(groups, D)
        if biased:
            expected = expected + b.reshape(groups, D)
        if before:
            expected = expected * silu(gate)
        compared += [
            near(y, expected.reshape(y.shape), 1e-5, 1e-5, "y"),
            near(rstd, scale[..., 0].T, 1e-5, 0, "rstd"),
        ]
        if not rms:
            compared.append(near(mean, middle[..., 0].T, 1e-5, 1e-6, "mean"))
    return compared


# ---- layers


@case(FLA, "fla/modules/rotary/ops.py", "rotary_embedding_kernel")
def fla_rotary(run, rng):
    """Halves or neighbours are rotated; each sequence has an offset, which may be negative."""
    B, T, H, D, R, TR, BT = 2, 11, 2, 28, 10, 16, 4
    compared = []
    for interleaved in (False, True):
        x = normal(rng, (B, T, H, D), "f2")
        angle = uniform(rng, (TR, R), 0, 6)
        cos, sin = np.cos(angle).astype("f2"), np.sin(angle).astype("f2")
        # with the offset -2 the first two tokens are padding, which keeps its old contents
        offset = np.array([5, -2], "i4")
        y = np.zeros_like(x)
        run(
            (cdiv(T, BT), B, H),
            x,
            cos,
            sin,
            y,
            None,
            None,
            offset,
            T,
            B=B,
            H=H,
            D=D,
            R=R,
            TR=TR,
            BT=BT,
            BD=32,
            IS_SEQLEN_OFFSETS_TENSOR=True,
            IS_VARLEN=False,
            INTERLEAVED=interleaved,
            CONJUGATE=interleaved,
        )
        expected = np.zeros(x.shape)
        for b in range(B):
            for t in range(T):
                position = t + offset[b]
                if position < 0 or position >= TR:
                    continue
                turn = np.float64(cos[position]) + 1j * np.float64(sin[position])
                if interleaved:
                    pairs = (
                        x[b, t, :, 0 : 2 * R : 2] + 1j * x[b, t, :, 1 : 2 * R : 2]
                    ) * turn.conj()
                    expected[b, t, :, 0 : 2 * R : 2] = pairs.real
                    expected[b, t, :, 1 : 2 * R : 2] = pairs.imag
                else:
                    pairs = (x[b, t, :, :R] + 1j * x[b, t, :, R : 2 * R]) * turn
                    expected[b, t, :, :R] = pairs.real
                    expected[b, t, :, R : 2 * R] = pairs.imag
        compared.append(near(y, expected, 1e-3, 1e-3))
    return compared


@case(FLA, "fla/modules/token_shift.py", "token_shift_fwd_kernel_short")
def fla_token_shift(run, rng):
    """y_t = x_(t-1) - x_t, the first one from the cache; an empty sequence is among them."""
    D = 20
    offsets = np.array([0, 4, 4, 5, 9], "i8")
    x, cache = normal(rng, (9, D)), normal(rng, (4, D))
    compared = []
    for cached in (False, True):
        y, last = np.zeros_like(x), np.full_like(cache, 7)
        run(
            (4, 4),
            x,
            y,
            offsets,
            cache if cached else None,
            last,
            9,
            D=D,
            BD=32,
            STORE_FINAL_STATE=True,
            IS_DECODE=False,
        )
        expected, ends = np.zeros_like(x), np.full_like(cache, 7)
        for n in range(4):
            previous = cache[n] if cached else np.zeros(D, "f4")
            for t in range(offsets[n], offsets[n + 1]):
                expected[t] = previous - x[t]
                previous = ends[n] = x[t]
        compared += [same(y, expected, "y"), same(last, ends, "cache_out")]
    return compared


@case(FLA, "fla/modules/causal_conv1d/ops.py", "causal_conv1d_fwd_kernel")
def fla_short_convolution(run, rng):
    """With tokens before the sequence or without; x is a part of wider rows."""
    B, T, D, W, BT = 2, 13, 20, 3, 8
    compared = []
    for full in (False, True):
        wide, weight = normal(rng, (B, T, 31)), normal(rng, (D, W))
        bias, residual = (normal(rng, D), normal(rng, (B, T, D))) if full else (None, None)
        initial = normal(rng, (B, D, W)) if full else None
        y = np.zeros((B, T, D), "f4")
        run(
            (2, cdiv(T, BT), B),
            wide,
            y,
            weight,
            bias,
            residual,
            None,
            initial,
            None,
            B,
            T,
            T * 31,
            31,
            1,
            D=D,
            W=W,
            BT=BT,
            BW=4,
            BD=16,
            ACTIVATION="swish" if full else None,
        )
        before = initial.transpose(0, 2, 1) if full else np.zeros((B, W, D))
        x = np.concatenate([before, wide[..., :D]], 1)
        expected = sum(x[:, 1 + i : 1 + i + T] * weight[:, i] for i in range(W))
        if full:
            expected = silu(expected + bias) + residual
        compared.append(near(y, expected, 1e-5, 1e-5))
    return compared


@case(FLA, "fla/modules/causal_conv1d/ops.py", "causal_conv1d_update_kernel")
def fla_short_convolution_step(run, rng):
    """The new token pushes the oldest one out of the cache."""
    N, D, W = 3, 20, 3
    x, y = normal(rng, (N, 2 * D)), np.zeros((N, D), "f2")
    cache, weight, bias = normal(rng, (N, D, W)), normal(rng, (D, W)), normal(rng, D)
    window = np.concatenate([cache[..., 1:], x[:, 1::2, None]], -1)
    run(
        (2 * N,),
        x[:, 1:],
        cache,
        None,
        y,
        weight,
        bias,
        2 * D,
        2,
        D,
        1,
        D=D,
        W=W,
        BD=16,
        BW=4,
        ACTIVATION="silu",
        USE_INITIAL_STATE=True,
        HAS_WEIGHT=True,
        HAS_BIAS=True,
        HAS_RESIDUAL=False,
    )
    expected = silu((window * weight).sum(-1) + bias)
    return [near(y, expected, 1e-3, 1e-4, "y"), same(cache, window, "cache")]


@case(FLA, "fla/modules/activations/ops.py", "swiglu_fwdbwd_kernel")
def fla_swiglu_backward(run, rng):
    """x and y are the halves of wide rows; z is made again only where it is wanted."""
    N, D, B = 5, 27, 64
    compared = []
    for again in (False, True):
        both, grad = normal(rng, (N, 2 * D)), normal(rng, (N, D))
        dx, dy, z = np.zeros_like(grad), np.zeros((N, 30), "f4"), np.zeros((N, D), "f2")
        x, y = both[:, :D], np.ascontiguousarray(both[:, D:])
        run(
            (cdiv(N * D, B),),
            both,
            y,
            grad,
            dx,
            dy,
            z if again else None,
            2 * D,
            D,
            D,
            D,
            30,
            D,
            N * D,
            D=D,
            B=B,
        )
        s = sigmoid(x)
        expected = np.zeros((N, 30))
        expected[:, :D] = grad * silu(x)
        compared += [
            near(dx, grad * y * s * (1 + x * (1 - s)), 1e-5, 1e-6, "dx"),
            near(dy, expected, 1e-5, 1e-6, "dy"),
            near(z, silu(x) * y if again else 0 * y, 1e-3, 1e-6, "z"),
        ]
    return compared


@case(FLA, "fla/ops/kda/gate.py", "kda_gate_fwd_kernel")
def fla_kda_gate(run, rng):
    T, H, D = 37, 2, 20
    compared = []
    for bound in (None, -5.0):
        g, beta = normal(rng, (T, H, D), scale=4), normal(rng, (T, H), "f2")
        a, bias = normal(rng, H), normal(rng, H * D)
        yg, yb = np.zeros_like(g), np.zeros((T, H), "f4")
        run((2, H), g, a, bias, beta, yg, yb, bound, T, H=H, D=D, BD=32)
        x, rate = np.float64(g) + bias.reshape(H, D), np.exp(np.float64(a))[:, None]
        expected = -rate * softplus(x) if bound is None else bound * sigmoid(rate * x)
        compared += [near(yg, expected, 1e-5, 1e-6, "g"), near(yb, sigmoid(beta), 1e-5, 0, "beta")]
    return compared


@case(FLA, "fla/ops/mesa_net/decoding_one_step.py", "mesa_net_decoding_one_step_kernel")
def fla_mesa_net_decoding(run, rng):
    """o = S_kv^T (S_kk + Diag(lambda))^-1 q; conjugate gradients find the solution."""
    B, H, K, V = 2, 2, 12, 10
    q, k, v = normal(rng, (B, H, K)), unit(normal(rng, (B, H, K))), normal(rng, (B, H, V))
    g, beta, lamb = -uniform(rng, (B, H)), uniform(rng, (B, H)), uniform(rng, (H, K), 1, 2)
    keys = normal(rng, (B, H, K, K))
    kk, kv = keys @ keys.transpose(0, 1, 3, 2) / K, normal(rng, (B, H, K, V))
    o, new_kk, new_kv = np.zeros_like(v), np.zeros_like(kk), np.zeros_like(kv)
    run(
        (B * H,),
        q,
        k,
        v,
        g,
        o,
        lamb,
        beta,
        kk,
        kv,
        new_kk,
        new_kv,
        B=B,
        H=H,
        K=K,
        V=V,
        BK=16,
        BV=16,
        MAX_CG_STEP=30,
    )
    decay, rate = np.exp(np.float64(g))[..., None, None], beta[..., None, None]
    expected_kk = kk * decay + rate * k[..., :, None] * k[..., None, :]
    expected_kv = kv * decay + rate * k[..., :, None] * v[..., None, :]
    system = expected_kk + np.eye(K) * lamb[:, None, :]
    x = np.linalg.solve(system, q[..., None])
    expected = (expected_kv.transpose(0, 1, 3, 2) @ x)[..., 0]
    return [
        near(new_kk, expected_kk, 1e-5, 1e-6, "kk"),
        near(new_kv, expected_kv, 1e-5, 1e-6, "kv"),
        near(o, expected, 1e-3, 1e-3, "o"),
    ]


@case(FLA, "fla/ops/utils/pack.py", "packunpack_sequence_kernel")
def fla_pack_sequences(run, rng):
    S, D = 6, 20
    offsets = np.array([0, 4, 10, 11], "i8")
    compared = []
    for side in ("left", "right"):
        for pack in (False, True):
            padded, packed = normal(rng, (3, S, D)), normal(rng, (11, D))
            x, y = (padded, np.zeros_like(packed)) if pack else (packed, np.zeros_like(padded))
            run((2 * S * 3,), x, y, offsets, S, D, BD=16, PADDING_SIDE=side, PACK=pack)
            expected = np.zeros_like(y)
            for n in range(3):
                part = slice(offsets[n], offsets[n + 1])
                length = part.stop - part.start
                place = slice(S - length, S) if side == "left" else slice(0, length)
                if pack:
                    expected[part] = x[n, place]
                else:
                    expected[n, place] = x[part]
            compared.append(same(y, expected, side))
    return compared


# ---- losses


@case(FLA, "fla/modules/fused_cross_entropy/ops.py", "cross_entropy_fwd_kernel")
def fla_cross_entropy(run, rng):
    """Smoothed labels, capped logits, the square of lse; or a vocabulary that is cut in two."""
    N, V, stride = 5, 50, 53
    target = np.array([3, -100, 49, 0, 20], "i8")
    compared = []
    for split in (False, True):
        x = normal(rng, (N, stride), scale=4)
        smoothing, scale, square, cap = (0.0, 1.0, 0.0, None) if split else (0.1, 0.7, 0.01, 3.0)
        BV = 32 if split else 64
        parts = cdiv(V, BV)
        loss, lse = np.zeros((parts, N), "f4"), np.zeros((parts, N), "f4")
        z = np.zeros(N, "f4")
        run(
            (N, parts),
            x,
            target,
            loss,
            z,
            lse,
            stride,
            label_smoothing=smoothing,
            logit_scale=scale,
            lse_square_scale=square,
            logit_softcapping=cap,
            ignore_index=-100,
            N=N,
            V=V,
            V_TOTAL=V,
            V_START=0,
            BV=BV,
            SPLIT=split,
        )
        logits = np.float64(x[:, :V]) * scale
        logits = cap * np.tanh(logits / cap) if cap else logits
        for p in range(parts):
            part = logits[:, p * BV : (p + 1) * BV]
            sums = np.log(np.exp(part).sum(1))
            expected, squares = np.zeros(N), np.zeros(N)
            for n in range(N):
                if target[n] >= 0:
                    inside = 0 <= target[n] - p * BV < part.shape[1]
                    expected[n] = -(1 - smoothing) * logits[n, target[n]] if inside else 0
                    expected[n] -= smoothing * part[n].sum() / V
                    if not split:
                        squares[n] = square * sums[n] ** 2
                        expected[n] += sums[n] + squares[n]
            compared += [
                near(loss[p], expected, 1e-5, 1e-5, "loss"),
                near(lse[p], sums, 1e-5, 1e-5, "lse"),
            ]
            if not split:
                compared.append(near(z, squares, 1e-5, 1e-6, "z"))
    return compared


@case(FLA, "fla/modules/fused_kl_div/ops.py", "kl_div_kernel")
def fla_kl_divergence(run, rng):
    """The divergence of rows, and its gradient in place of the logits."""
    N, V = 3, 75
    compared = []
    for reduction in ("sum", "batchmean"):
        x, y, loss = normal(rng, (N, V), scale=2), normal(rng, (N, V), scale=2), np.zeros(N, "f4")
        p, t = softmax(np.float64(x)), softmax(np.float64(y))
        run((N,), x, y, loss, V, 1, reduction=reduction, N=N, V=V, BV=32)
        count = N if reduction == "batchmean" else 1
        compared += [
            near(loss, (t * np.log(t / p)).sum(1) / count, 1e-5, 1e-5, "loss"),
            near(x, (p - t) / count, 1e-5, 1e-6, "gradient"),
        ]
    return compared


@case(FLA, "fla/modules/grpo/ops.py", "grpo_fwd_kernel")
def fla_grpo(run, rng):
    """beta KL - advantage for each token of a completion; rows have one token more than it."""
    B, L, V, start = 2, 4, 70, 2
    logits = normal(rng, (B, L + 1, V), scale=2)
    ids = integers(rng, (B, start + L), 0, V, "i8")
    reference, advantage = -uniform(rng, (B, L), 1, 5), normal(rng, B)
    mask = np.array([[1, 1, 0, 1], [1, 0, 1, 1]], "i4")
    loss, lse = np.full((2, B, L), 7, "f4"), np.zeros((B, L), "f4")
    run(
        (B * L,),
        logits,
        reference,
        ids,
        advantage,
        mask,
        loss,
        lse,
        0.3,
        save_kl=True,
        B=B,
        M=B * L,
        N=V,
        L=L,
        start_idx=start,
        BLOCK_SIZE=32,
    )
    sums = np.log(np.exp(np.float64(logits)).sum(-1))[:, :L]
    taken = np.take_along_axis(logits[:, :L], ids[:, start:, None], -1)[..., 0]
    difference = reference - (taken - sums)
    kl = (np.exp(difference) - difference - 1) * mask
    expected = (kl * 0.3 - advantage[:, None]) * mask
    return [
        near(loss[0], expected, 1e-5, 2e-5, "loss"),
        near(loss[1], kl, 1e-5, 2e-5, "kl"),
        near(lse, sums * mask, 1e-5, 1e-6, "lse"),
    ]


@case("fla-core", "fla/ops/nsa/parallel.py", "parallel_nsa_fwd_kernel")
def pending_fla_nsa_block_counts(run, rng):
    """block_counts is a number (refused) or an array (taken for none); the heuristic decides."""
    TQ, TK, G, K, S, BS = 9, 41, 16, 16, 4, 16
    q, k, v = normal(rng, (TQ, G, K), "f2"), normal(rng, (TK, K), "f2"), normal(rng, (TK, K), "f2")
    indices = np.array([rng.permutation([0, 1, 2, -1]) for _ in range(TQ)], "i4")
    counts = integers(rng, TQ, 2, S + 1)
    compared = []
    for given in (counts, S):
        o, lse = np.zeros((TQ, G, K), "f2"), np.zeros((TQ, G), "f4")
        run(
            (TQ, 1, 1),
            q=q,
            k=k,
            v=v,
            o=o,
            lse=lse,
            scale=0.25,
            block_indices=indices,
            block_counts=given,
            cu_seqlens_q=None,
            cu_seqlens_k=None,
            token_indices_q=None,
            TQ=TQ,
            TK=TK,
            H=1,
            HQ=G,
            G=G,
            K=K,
            V=K,
            S=S,
            BS=BS,
            BK=16,
            BV=16,
        )
        scaled = np.float64((q * np.float32(0.25)).astype("f2"))
        for t in range(TQ):
            chosen = indices[t, : S if given is S else counts[t]]
            seen = [i for i in range(TK - TQ + t + 1) if i // BS in chosen]
            expected = softmax(scaled[t] @ np.float64(k[seen]).T) @ np.float64(v[seen])
            compared.append(near(o[t], expected, 2e-3, 1e-3))
    return compared


@case("fla-core", "fla/modules/rotary/ops.py", "rotary_embedding_kernel")
def pending_fla_rotary_number(run, rng):
    """The usual call: seq_offsets is a number."""
    B, T, H, D, R = 1, 5, 2, 16, 8
    x, angle = normal(rng, (B, T, H, D)), uniform(rng, (8, R), 0, 6)
    y = np.zeros_like(x)
    run(
        (2, B, H),
        x,
        np.cos(angle),
        np.sin(angle),
        y,
        None,
        None,
        3,
        T,
        B=B,
        H=H,
        D=D,
        R=R,
        TR=8,
        BT=4,
        BD=16,
        IS_SEQLEN_OFFSETS_TENSOR=False,
        IS_VARLEN=False,
        INTERLEAVED=False,
        CONJUGATE=False,
    )
    turned = (x[..., :R] + 1j * x[..., R:]) * np.exp(1j * np.float64(angle))[None, 3:, None]
    return [near(y, np.concatenate([turned.real, turned.imag], -1), 1e-5, 1e-5)]

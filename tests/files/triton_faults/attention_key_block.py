# Attention: the last block of keys is masked in the scores, but not where it is loaded.
import triton
import triton.language as tl


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, out_ptr, n, scale, BM: tl.constexpr, BN: tl.constexpr,
              D: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + rm[:, None] * D + d[None, :], mask=rm[:, None] < n, other=0.0)
    top = tl.full((BM,), -1e30, dtype=tl.float32)
    total = tl.zeros((BM,), dtype=tl.float32)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    for start in range(0, n, BN):
        rn = start + tl.arange(0, BN)
        k = tl.load(k_ptr + rn[:, None] * D + d[None, :])
        s = tl.where(rn[None, :] < n, tl.dot(q, tl.trans(k)) * scale, -1e30)
        new_top = tl.maximum(top, tl.max(s, axis=1))
        p = tl.exp(s - new_top[:, None])
        old = tl.exp(top - new_top)
        v = tl.load(v_ptr + rn[:, None] * D + d[None, :], mask=rn[:, None] < n, other=0.0)
        acc = acc * old[:, None] + tl.dot(p.to(tl.float16), v)
        total = total * old + tl.sum(p, axis=1)
        top = new_top
    tl.store(out_ptr + rm[:, None] * D + d[None, :], (acc / total[:, None]).to(tl.float16),
             mask=rm[:, None] < n)


# RUN: tilec run %s --device interp --sanitize --set q_ptr='*fp16' --set k_ptr='*fp16' --set v_ptr='*fp16' --set out_ptr='*fp16' --set q_ptr.size=1280 --set k_ptr.size=1280 --set v_ptr.size=1280 --set out_ptr.size=1280 --set n=40 --set scale=0.18 --set BM=16 --set BN=16 --set D=32 --grid 'triton.cdiv(n, BM)'
# OUT:
#| attention_key_block.py:17:13: error: program (0, 0, 0), lane 256: reads element 1280 of 'k_ptr', a buffer of 1280 elements [bounds]
#|             k = tl.load(k_ptr + rn[:, None] * D + d[None, :])
#|                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 767 more like this here
# EXIT: 3
# RUN: tilec run %s --device sim:sm_80 --set q_ptr='*fp16' --set k_ptr='*fp16' --set v_ptr='*fp16' --set out_ptr='*fp16' --set q_ptr.size=1280 --set k_ptr.size=1280 --set v_ptr.size=1280 --set out_ptr.size=1280 --set n=40 --set scale=0.18 --set BM=16 --set BN=16 --set D=32 --grid 'triton.cdiv(n, BM)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| attention_key_block.py:17:13: error: out-of-bounds
# EXIT: 3
# RUN: tilec run %s --device sim:gfx942 --set q_ptr='*fp16' --set k_ptr='*fp16' --set v_ptr='*fp16' --set out_ptr='*fp16' --set q_ptr.size=1280 --set k_ptr.size=1280 --set v_ptr.size=1280 --set out_ptr.size=1280 --set n=40 --set scale=0.18 --set BM=16 --set BN=16 --set D=32 --grid 'triton.cdiv(n, BM)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| attention_key_block.py:17:13: error: out-of-bounds
# EXIT: 3

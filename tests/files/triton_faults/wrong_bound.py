# Matrix product: the columns of B are compared with M, the number of rows.
import triton
import triton.language as tl


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        in_k = k + rk < K
        a = tl.load(a_ptr + rm[:, None] * K + (k + rk)[None, :],
                    mask=(rm[:, None] < M) & in_k[None, :], other=0.0)
        b = tl.load(b_ptr + (k + rk)[:, None] * N + rn[None, :],
                    mask=in_k[:, None] & (rn[None, :] < M), other=0.0)
        acc += tl.dot(a, b)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc,
             mask=(rm[:, None] < M) & (rn[None, :] < N))


# RUN: tilec run %s --device interp --sanitize --set a_ptr='*fp16' --set b_ptr='*fp16' --set c_ptr='*fp32' --set a_ptr.size=1920 --set b_ptr.size=1200 --set c_ptr.size=2560 --set M=64 --set N=40 --set K=30 --set BM=32 --set BN=32 --set BK=16 --grid 'cdiv(M, BM), cdiv(N, BN)'
# OUT:
#| wrong_bound.py:16:13: error: program (0, 1, 0), lane 424: reads element 1200 of 'b_ptr', a buffer of 1200 elements [bounds]
#|             b = tl.load(b_ptr + (k + rk)[:, None] * N + rn[None, :],
#|                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 47 more like this here
# EXIT: 3
# RUN: tilec run %s --device sim:sm_80 --set a_ptr='*fp16' --set b_ptr='*fp16' --set c_ptr='*fp32' --set a_ptr.size=1920 --set b_ptr.size=1200 --set c_ptr.size=2560 --set M=64 --set N=40 --set K=30 --set BM=32 --set BN=32 --set BK=16 --grid 'cdiv(M, BM), cdiv(N, BN)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| wrong_bound.py:16:13: error: out-of-bounds
# EXIT: 3
# RUN: tilec run %s --device sim:gfx942 --set a_ptr='*fp16' --set b_ptr='*fp16' --set c_ptr='*fp32' --set a_ptr.size=1920 --set b_ptr.size=1200 --set c_ptr.size=2560 --set M=64 --set N=40 --set K=30 --set BM=32 --set BN=32 --set BK=16 --grid 'cdiv(M, BM), cdiv(N, BN)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| wrong_bound.py:16:13: error: out-of-bounds
# EXIT: 3

# Matrix product: the last step of K has no mask for B, so it reads rows beyond the last.
import triton
import triton.language as tl


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    a_ptrs = a_ptr + rm[:, None] * K + rk[None, :]
    b_ptrs = b_ptr + rk[:, None] * N + rn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=(rm[:, None] < M) & (rk[None, :] < K - k * BK), other=0.0)
        b = tl.load(b_ptrs, mask=rn[None, :] < N, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BK
        b_ptrs += BK * N
    c_mask = (rm[:, None] < M) & (rn[None, :] < N)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(tl.float16), mask=c_mask)


# RUN: tilec run %s --device interp --sanitize --set a_ptr='*fp16' --set b_ptr='*fp16' --set c_ptr='*fp16' --set a_ptr.size=1280 --set b_ptr.size=1280 --set c_ptr.size=1024 --set M=32 --set N=32 --set K=40 --set BM=32 --set BN=32 --set BK=16 --grid 'cdiv(M, BM), cdiv(N, BN)'
# OUT:
#| last_k_step.py:16:13: error: program (0, 0, 0), lane 256: reads element 1280 of 'b_ptr', a buffer of 1280 elements [bounds]
#|             b = tl.load(b_ptrs, mask=rn[None, :] < N, other=0.0)
#|                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 255 more like this here
# EXIT: 3
# RUN: tilec run %s --device sim:sm_80 --set a_ptr='*fp16' --set b_ptr='*fp16' --set c_ptr='*fp16' --set a_ptr.size=1280 --set b_ptr.size=1280 --set c_ptr.size=1024 --set M=32 --set N=32 --set K=40 --set BM=32 --set BN=32 --set BK=16 --grid 'cdiv(M, BM), cdiv(N, BN)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| last_k_step.py:16:13: error: out-of-bounds
# EXIT: 3
# RUN: tilec run %s --device sim:gfx942 --set a_ptr='*fp16' --set b_ptr='*fp16' --set c_ptr='*fp16' --set a_ptr.size=1280 --set b_ptr.size=1280 --set c_ptr.size=1024 --set M=32 --set N=32 --set K=40 --set BM=32 --set BN=32 --set BK=16 --grid 'cdiv(M, BM), cdiv(N, BN)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| last_k_step.py:16:13: error: out-of-bounds
# EXIT: 3

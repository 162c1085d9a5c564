# Products through pointers are as fast as those of views: the loads of a step are copied ahead, the
# factors with neighbours along K are turned, and all accesses are wide where strides and extents allow it.
import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr,
           BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    group = pid // (GROUP * columns)
    first = group * GROUP
    size = min(rows - first, GROUP)
    pm = first + (pid % (GROUP * columns)) % size
    pn = (pid % (GROUP * columns)) // size
    om = (pm * BM + tl.arange(0, BM)) % M
    on = (pn * BN + tl.arange(0, BN)) % N
    ok = tl.arange(0, BK)
    a_ptrs = a + om[:, None] * sam + ok[None, :] * sak
    b_ptrs = b + ok[:, None] * sbk + on[None, :] * sbn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(a_ptrs, mask=ok[None, :] < K - k * BK, other=0.0)
        y = tl.load(b_ptrs, mask=ok[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(x, y, acc)
        a_ptrs += BK * sak
        b_ptrs += BK * sbk
    om = pm * BM + tl.arange(0, BM)
    on = pn * BN + tl.arange(0, BN)
    mask = (om[:, None] < M) & (on[None, :] < N)
    tl.store(c + om[:, None] * scm + on[None, :] * scn, acc.to(c.dtype.element_ty), mask=mask)


@triton.jit
def attention(Q, K, V, O, sz, sh, sm, scale, H, N, BM: tl.constexpr, BN: tl.constexpr,
              D: tl.constexpr, CAUSAL: tl.constexpr):
    zh = tl.program_id(1)
    base = (zh // H).to(tl.int64) * sz + (zh % H).to(tl.int64) * sh
    om = tl.program_id(0) * BM + tl.arange(0, BM)
    od = tl.arange(0, D)
    q = tl.load(Q + base + om[:, None] * sm + od[None, :], om[:, None] < N, other=0.0)
    m = tl.full([BM], -float('inf'), tl.float32)
    l = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    hi = tl.minimum(N, (tl.program_id(0) + 1) * BM) if CAUSAL else N
    for start in range(0, hi, BN):
        n = start + tl.arange(0, BN)
        k = tl.load(K + base + n[None, :] * sm + od[:, None], n[None, :] < N, other=0.0)
        s = tl.dot(q, k) * scale
        keep = n[None, :] < N
        if CAUSAL:
            keep = keep & (om[:, None] >= n[None, :])
        s = tl.where(keep, s, -float('inf'))
        higher = tl.maximum(m, tl.max(s, 1))
        p = tl.exp2(s - higher[:, None])
        rescale = tl.exp2(m - higher)
        l = l * rescale + tl.sum(p, 1)
        v = tl.load(V + base + n[:, None] * sm + od[None, :], n[:, None] < N, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * rescale[:, None])
        m = higher
    acc = acc / l[:, None]
    tl.store(O + base + om[:, None] * sm + od[None, :], acc.to(O.dtype.element_ty),
             om[:, None] < N)


# RUN: tilec explain %s matmul --target sm_80 --only pipelined --all --set a='*fp16' --set b='*fp16' --set c='*fp16' --set M=i32:16 --set N=i32:16 --set K=i32:16 --set sam=i32:16 --set sak=i32:1 --set sbk=i32:16 --set sbn=i32:1 --set scm=i32:16 --set scn=i32:1 --set BM=128 --set BN=128 --set BK=64 --set GROUP=8 --set warps=8
# OUT:
#| products.py:24:13: load through a pointer is prefetched into shared memory 2 steps ahead, 16384 bytes per step [pipelined]
#|             x = tl.load(a_ptrs, mask=ok[None, :] < K - k * BK, other=0.0)
#|                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| products.py:25:13: load through a pointer is prefetched into shared memory 2 steps ahead, 16384 bytes per step [pipelined]
#|             y = tl.load(b_ptrs, mask=ok[:, None] < K - k * BK, other=0.0)
#|                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
# RUN: tilec explain %s matmul --target sm_80 --only access-pointer --set a='*fp16' --set b='*fp16' --set c='*fp16' --set M=i32:16 --set N=i32:16 --set K=i32:16 --set sam=i32:16 --set sak=i32:1 --set sbk=i32:16 --set sbn=i32:1 --set scm=i32:16 --set scn=i32:1 --set BM=128 --set BN=128 --set BK=64 --set GROUP=8 --set warps=8
# OUT:
#| no remark [access-pointer]
# RUN: tilec explain %s matmul --target sm_80 --only access-pointer --set a='*fp16' --set b='*fp16' --set c='*fp16' --set BM=128 --set BN=128 --set BK=64 --set GROUP=8 --set warps=8
# OUT:
#| products.py:24:13: load moves one element (2 bytes) at a time: it goes through pointers [access-pointer]
#|             x = tl.load(a_ptrs, mask=ok[None, :] < K - k * BK, other=0.0)
#|                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| help: the compiler must know which elements are neighbours: take a view, `f32 x[N]`; in Python give strides, `--set stride=i32:1`
#| products.py:25:13: load moves one element (2 bytes) at a time: it goes through pointers [access-pointer]
#|             y = tl.load(b_ptrs, mask=ok[:, None] < K - k * BK, other=0.0)
#|                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| help: the compiler must know which elements are neighbours: take a view, `f32 x[N]`; in Python give strides, `--set stride=i32:1`
#| products.py:32:5: store moves one element (2 bytes) at a time: it goes through pointers [access-pointer]
#|         tl.store(c + om[:, None] * scm + on[None, :] * scn, acc.to(c.dtype.element_ty), mask=mask)
#|         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| help: the compiler must know which elements are neighbours: take a view, `f32 x[N]`; in Python give strides, `--set stride=i32:1`
# RUN: tilec explain %s attention --target sm_90a --only pipelined --set Q='*fp16' --set K='*fp16' --set V='*fp16' --set O='*fp16' --set sz=i32:16 --set sh=i32:16 --set sm=i32:16 --set scale=fp32 --set N=i32:16 --set BM=128 --set BN=64 --set D=64 --set CAUSAL=1
# OUT:
#| products.py:49:13: load through a pointer is prefetched into shared memory 2 steps ahead, 8192 bytes per step (2 times) [pipelined]
#|             k = tl.load(K + base + n[None, :] * sm + od[:, None], n[None, :] < N, other=0.0)
#|                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| products.py:59:13: load through a pointer is prefetched into shared memory 2 steps ahead, 8192 bytes per step (2 times) [pipelined]
#|             v = tl.load(V + base + n[:, None] * sm + od[None, :], n[:, None] < N, other=0.0)
#|                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
# RUN: tilec run %s matmul --device sim:sm_80 --check --quiet --set a='*fp16' --set b='*fp16' --set c='*fp16' --set a.size=6912 --set b.size=6912 --set c.size=9216 --set M=96 --set N=96 --set K=72 --set sam=72 --set sak=1 --set sbk=96 --set sbn=1 --set scm=96 --set scn=1 --set BM=32 --set BN=32 --set BK=32 --set GROUP=2 --grid 'cdiv(M, BM) * cdiv(N, BN)'
# OUT:
# RUN: tilec run %s matmul --device sim:sm_90a --check --quiet --set a='*fp16' --set b='*fp16' --set c='*fp16' --set a.size=6912 --set b.size=6912 --set c.size=9216 --set M=96 --set N=96 --set K=72 --set sam=72 --set sak=1 --set sbk=1 --set sbn=72 --set scm=96 --set scn=1 --set BM=64 --set BN=32 --set BK=32 --set GROUP=2 --grid 'cdiv(M, BM) * cdiv(N, BN)'
# OUT:
# RUN: tilec run %s attention --device sim:gfx942 --check --quiet --set Q='*fp16' --set K='*fp16' --set V='*fp16' --set O='*fp16' --set Q.size=12800 --set K.size=12800 --set V.size=12800 --set O.size=12800 --set sz=12800 --set sh=6400 --set sm=64 --set scale=0.18 --set H=2 --set N=100 --set BM=32 --set BN=32 --set D=64 --set CAUSAL=1 --grid 'cdiv(N, BM), 2'
# OUT:

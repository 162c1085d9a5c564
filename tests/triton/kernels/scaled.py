# Products of narrow formats with scales, products of many dimensions, and names by getattr.
import triton
import triton.language as tl


@triton.jit
def dot_scaled(a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr,
               K: tl.constexpr, A: tl.constexpr, B: tl.constexpr, GROUP: tl.constexpr,
               A_ALONG_K: tl.constexpr, B_ALONG_K: tl.constexpr):
    a_rows: tl.constexpr = M // 2 if A == "e2m1" and not A_ALONG_K else M
    a_cols: tl.constexpr = K // 2 if A == "e2m1" and A_ALONG_K else K
    b_rows: tl.constexpr = K // 2 if B == "e2m1" and B_ALONG_K else K
    b_cols: tl.constexpr = N // 2 if B == "e2m1" and not B_ALONG_K else N
    blocks: tl.constexpr = K // GROUP
    a = tl.load(a_ptr + tl.arange(0, a_rows)[:, None] * a_cols + tl.arange(0, a_cols))
    b = tl.load(b_ptr + tl.arange(0, b_rows)[:, None] * b_cols + tl.arange(0, b_cols))
    a_scale = None
    b_scale = None
    if a_scale_ptr is not None:
        a_scale = tl.load(a_scale_ptr + tl.arange(0, M)[:, None] * blocks + tl.arange(0, blocks))
    if b_scale_ptr is not None:
        b_scale = tl.load(b_scale_ptr + tl.arange(0, N)[:, None] * blocks + tl.arange(0, blocks))
    acc = tl.full([M, N], 1.0, tl.float32)
    acc = tl.dot_scaled(a, a_scale, A, b, b_scale, B, acc, lhs_k_pack=A_ALONG_K,
                        rhs_k_pack=B_ALONG_K)
    tl.store(c_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N), acc)


@triton.jit
def dot_batches(a_ptr, b_ptr, c_ptr, P: tl.constexpr, Q: tl.constexpr, M: tl.constexpr,
                N: tl.constexpr, K: tl.constexpr):
    a = tl.load(a_ptr + tl.arange(0, P * Q * M * K)).reshape(P, Q, M, K)
    b = tl.load(b_ptr + tl.arange(0, P * Q * K * N)).reshape(P, Q, K, N)
    c = tl.dot(a, b, tl.full([P, Q, M, N], 2.0, tl.float32))
    tl.store(c_ptr + tl.arange(0, P * Q * M * N), c.reshape(P * Q * M * N))


@triton.jit
def places_with_nan(x_ptr, values_ptr, places_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * N + tl.arange(0, N))
    most, at = tl.max(x, 0, return_indices=True)
    least, below = tl.min(x, 0, return_indices=True)
    tl.store(values_ptr + row * 2, most)
    tl.store(values_ptr + row * 2 + 1, least)
    tl.store(places_ptr + row * 4, at)
    tl.store(places_ptr + row * 4 + 1, below)
    tl.store(places_ptr + row * 4 + 2, getattr(tl, "argmax")(x, 0))
    tl.store(places_ptr + row * 4 + 3, tl.argmin(x, axis=0))


@triton.jit
def first_of(a, b):
    return a


@triton.jit
def small_things(out_ptr, unused, x):
    bits = tl.full([64], 1, tl.int1)
    tl.store(out_ptr, tl.sum(bits, dtype=tl.int1).to(tl.int32))
    tl.store(out_ptr + 1, tl.sum(bits))
    first, = tl.reduce((tl.arange(0, 8) + 5,), 0, first_of)
    tl.store(out_ptr + 2, first)
    tl.store(out_ptr + 3 + tl.arange(0, 2), tl.interleave(7, 9))
    tl.store(out_ptr + 5, getattr(x, "nothing", 3))
    scalar = tl.full([], 4, tl.int32)
    tl.store((out_ptr + 6)[None, None, :], scalar[None, None:None])

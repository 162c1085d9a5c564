"""A matrix product: pointers with strides, masks at the edges, programs in groups of rows."""

import triton
import triton.language as tl


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.25 * x)


@triton.jit
def tile_of(program, rows, columns, GROUP: tl.constexpr):
    """The tile that a program computes.

    Tiles are counted in bands of GROUP rows, column by column, so programs that run at the same
    time read few rows of the first matrix and few columns of the second.
    """
    band = program // (GROUP * columns)
    within = program % (GROUP * columns)
    height = min(rows - band * GROUP, GROUP)
    return band * GROUP + within % height, within // height


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr,
    M, N, K,
    a_row, a_col, b_row, b_col, c_row, c_col,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
    ACTIVATION: tl.constexpr = None,
):  # fmt: skip
    """C = ACTIVATION(A @ B), where A is M x K, B is K x N, and any of them may be transposed."""
    row, column = tile_of(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), GROUP)
    m = row * BM + tl.arange(0, BM)
    n = column * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    # Rows and columns past the end repeat others, and are not stored.
    a = a_ptr + (m % M)[:, None] * a_row + k[None, :] * a_col
    b = b_ptr + k[:, None] * b_row + (n % N)[None, :] * b_col
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for done in range(0, K, BK):
        left = tl.load(a, mask=k[None, :] < K - done, other=0.0)
        right = tl.load(b, mask=k[:, None] < K - done, other=0.0)
        sums = tl.dot(left, right, sums)
        a += BK * a_col
        b += BK * b_row
    if ACTIVATION is not None:
        sums = ACTIVATION(sums)
    c = c_ptr + m[:, None] * c_row + n[None, :] * c_col
    tl.store(c, sums.to(c_ptr.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))

"""A layer of experts: each token goes to some of them, and takes the weighted sum of what they say.

A slot is one choice of one token: slot s belongs to token s // TOP. The host sorts the slots by
their experts and pads the list of each expert to a multiple of BM, so that every block of BM
entries is for one expert. Entries that only pad have a number past the last slot.
"""

import triton
import triton.language as tl


@triton.jit
def experts(
    x_ptr, w_ptr, y_ptr,
    weights_ptr, slots_ptr, experts_ptr, used_ptr,
    N, K, slot_count,
    x_row, x_col, w_expert, w_row, w_col, y_row, y_col,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
    TOP: tl.constexpr, WEIGHTED: tl.constexpr, ACTIVATION: tl.constexpr,
):  # fmt: skip
    """Row s of y is row s // TOP of x times the matrix (N x K) of the expert of slot s."""
    used = tl.load(used_ptr)  # entries of the sorted list
    rows = tl.cdiv(used, BM)
    columns = tl.cdiv(N, BN)
    program = tl.program_id(0)
    if program >= rows * columns:
        return
    # Bands of GROUP blocks, column by column: their programs share the expert's columns.
    band = program // (GROUP * columns)
    height = min(rows - band * GROUP, GROUP)
    within = program % (GROUP * columns)
    block = band * GROUP + within % height
    column = within // height

    slot = tl.load(slots_ptr + block * BM + tl.arange(0, BM)).to(tl.int64)
    exists = slot < slot_count
    expert = tl.load(experts_ptr + block).to(tl.int64)
    n = column * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    x = x_ptr + (slot // TOP)[:, None] * x_row + k[None, :] * x_col
    w = w_ptr + expert * w_expert + (n % N)[None, :] * w_row + k[:, None] * w_col
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for done in range(0, K, BK):
        tokens = tl.load(x, mask=exists[:, None] & (k[None, :] < K - done), other=0.0)
        matrix = tl.load(w, mask=k[:, None] < K - done, other=0.0)
        sums = tl.dot(tokens, matrix, sums)
        x += BK * x_col
        w += BK * w_col
    if ACTIVATION == "relu":
        sums = tl.maximum(sums, 0.0)
    if WEIGHTED:
        sums *= tl.load(weights_ptr + slot, mask=exists, other=0.0)[:, None]
    y = y_ptr + slot[:, None] * y_row + n[None, :] * y_col
    tl.store(y, sums.to(y_ptr.dtype.element_ty), mask=exists[:, None] & (n[None, :] < N))


@triton.jit
def add_slots(y_ptr, out_ptr, N, TOP: tl.constexpr, BN: tl.constexpr):
    """Row t of out is the sum of the rows of the token's slots."""
    token = tl.program_id(0).to(tl.int64)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    sums = tl.zeros((BN,), dtype=tl.float32)
    for i in tl.static_range(TOP):
        sums += tl.load(y_ptr + (token * TOP + i) * N + n, mask=n < N, other=0.0)
    tl.store(out_ptr + token * N + n, sums, mask=n < N)

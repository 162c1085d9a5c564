"""Scans, reductions with functions, sorting, counting, and indices."""
import triton
import triton.language as tl


@triton.jit
def cumsum_kernel(x_ptr, out_ptr, n, REVERSE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    carry = tl.zeros([], dtype=tl.int32)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        if REVERSE:
            cols = n - 1 - cols
        mask = (cols >= 0) & (cols < n)
        x = tl.load(x_ptr + row * n + cols, mask=mask, other=0)
        tl.store(out_ptr + row * n + cols, tl.cumsum(x, axis=0) + carry, mask=mask)
        carry += tl.sum(x, axis=0)


@triton.jit
def first_order_op(fl, xl, fr, xr):
    f = fr * fl
    x = fr * xl + xr
    return f, x


@triton.jit
def linear_recurrence(gate_ptr, token_ptr, out_ptr, SEQ: tl.constexpr, CHANNELS: tl.constexpr):
    seq = tl.arange(0, SEQ)[:, None]
    channel = tl.arange(0, CHANNELS)[None, :]
    at = tl.program_id(0) * SEQ * CHANNELS + seq * CHANNELS + channel
    f = tl.load(gate_ptr + at)
    x = tl.load(token_ptr + at)
    _, h = tl.associative_scan((f, x), 0, first_order_op)
    tl.store(out_ptr + at, h)


@triton.jit
def welford_combine(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2):
    delta = mean_2 - mean_1
    new_weight = weight_1 + weight_2
    w2_over_w = tl.where(new_weight == 0.0, 0.0, weight_2 / new_weight)
    return (
        mean_1 + delta * w2_over_w,
        m2_1 + m2_2 + delta * delta * weight_1 * w2_over_w,
        new_weight,
    )


@triton.jit
def welford_kernel(x_ptr, mean_ptr, var_ptr, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    x = tl.load(x_ptr + tl.program_id(0) * n + cols, mask=mask, other=0.0)
    weight = mask.to(tl.float32)
    mean, m2, count = tl.reduce((x, x * 0, weight), 0, welford_combine)
    tl.store(mean_ptr + tl.program_id(0), mean)
    tl.store(var_ptr + tl.program_id(0), m2 / count)


@triton.jit
def argmax_rows(x_ptr, values_ptr, max_ptr, min_ptr, n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.arange(0, BLOCK_N)
    mask = cols[None, :] < n
    x = tl.load(x_ptr + rows[:, None] * n + cols[None, :], mask=mask, other=float("-inf"))
    value, where = tl.max(x, axis=1, return_indices=True)
    tl.store(values_ptr + rows, value)
    tl.store(max_ptr + rows, where)
    tl.store(min_ptr + rows, tl.argmin(tl.where(mask, x, float("inf")), axis=1))


@triton.jit
def sort_rows(x_ptr, out_ptr, top_ptr, N: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * N + tl.arange(0, N))
    tl.store(out_ptr + row * N + tl.arange(0, N), tl.sort(x, descending=True))
    tl.store(top_ptr + row * K + tl.arange(0, K), tl.topk(x, K))


@triton.jit
def histogram_kernel(x_ptr, bins_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask, other=0)
    counts = tl.histogram(x, BINS, mask=mask)
    tl.atomic_add(bins_ptr + tl.arange(0, BINS), counts)


@triton.jit
def embedding_kernel(table_ptr, index_ptr, out_ptr, n_tokens, dim: tl.constexpr, row_stride,
                     BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr):
    tokens = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    live = tokens < n_tokens
    index = tl.load(index_ptr + tokens, mask=live, other=0)
    rows = tl.load(table_ptr + index[:, None] * row_stride + d[None, :],
                   mask=live[:, None] & (d[None, :] < dim), other=0.0)
    tl.store(out_ptr + tokens[:, None] * dim + d[None, :], rows,
             mask=live[:, None] & (d[None, :] < dim))


@triton.jit
def lower_bound(sorted_ptr, wanted_ptr, out_ptr, n):
    wanted = tl.load(wanted_ptr + tl.program_id(0))
    low = 0
    high = n
    while low < high:
        middle = (low + high) // 2
        if tl.load(sorted_ptr + middle) < wanted:
            low = middle + 1
        else:
            high = middle
    tl.store(out_ptr + tl.program_id(0), low)


@triton.jit
def collatz(x_ptr, steps_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    steps = tl.zeros_like(x)
    while tl.max(x, axis=0) > 1:
        steps += (x > 1).to(steps.dtype)
        x = tl.where(x <= 1, x, tl.where(x % 2 == 0, x // 2, 3 * x + 1))
    tl.store(steps_ptr + at, steps)

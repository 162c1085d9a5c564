"""Elementwise kernels, with the host code that calls them."""
import torch

import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    assert x.is_cuda and y.is_cuda and out.is_cuda
    n = out.numel()
    add_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE"]),)](x, y, out, n, BLOCK_SIZE=1024)
    return out


@triton.jit
def scaled_sum_2d(
    x_ptr,
    y_ptr,
    out_ptr,
    M,
    N,
    stride_xm,
    stride_xn,
    stride_ym,
    stride_yn,
    stride_om,
    stride_on,
    alpha,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    x = tl.load(x_ptr + rows[:, None] * stride_xm + cols[None, :] * stride_xn, mask=mask, other=0.0)
    y = tl.load(y_ptr + rows[:, None] * stride_ym + cols[None, :] * stride_yn, mask=mask, other=0.0)
    tl.store(out_ptr + rows[:, None] * stride_om + cols[None, :] * stride_on, alpha * x + y, mask)


@triton.jit
def bias_kernel(x_ptr, bias_ptr, scale_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    if scale_ptr is not None:
        x *= tl.load(scale_ptr + row)
    if bias_ptr is not None:
        x += tl.load(bias_ptr + cols, mask=mask, other=0.0)
    tl.store(out_ptr + row * n_cols + cols, x.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def ragged_scale(x_ptr, lengths_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    length = tl.load(lengths_ptr + row)
    if length == 0:
        return
    start = tl.program_id(1) * BLOCK
    if start >= length:
        return
    cols = start + tl.arange(0, BLOCK)
    mask = cols < length
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask)
    tl.store(out_ptr + row * n_cols + cols, x * 2, mask=mask)


@triton.jit
def dropout_kernel(x_ptr, out_ptr, n_elements, p, seed, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    random = tl.rand(seed, offsets)
    keep = random > p
    tl.store(out_ptr + offsets, tl.where(keep, x / (1 - p), 0.0), mask=mask)


def seeded_dropout(x, p, seed):
    out = torch.empty_like(x)
    grid = lambda meta: (triton.cdiv(x.numel(), meta["BLOCK_SIZE"]),)
    dropout_kernel[grid](x, out, x.numel(), p, seed, BLOCK_SIZE=1024)
    return out


@triton.jit
def extremes_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask)
    y = tl.load(y_ptr + at, mask=mask)
    nan: tl.constexpr = tl.PropagateNan.ALL
    number: tl.constexpr = tl.PropagateNan.NONE
    tl.store(out_ptr + at, tl.maximum(x, y), mask=mask)
    tl.store(out_ptr + n + at, tl.minimum(x, y, propagate_nan=number), mask=mask)
    tl.store(out_ptr + 2 * n + at, tl.maximum(x, y, propagate_nan=nan), mask=mask)
    tl.store(out_ptr + 3 * n + at, tl.minimum(x, y, propagate_nan=nan), mask=mask)
    tl.store(out_ptr + 4 * n + at, tl.clamp(x, -1.0, 1.0), mask=mask)
    tl.store(out_ptr + 5 * n + at, tl.clamp(x, -1.0, 1.0, propagate_nan=nan), mask=mask)


@triton.jit
def row_extremes_kernel(x_ptr, most_ptr, least_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=float("nan"))
    tl.store(most_ptr + row, tl.max(x, axis=0))
    tl.store(least_ptr + row, tl.min(x, axis=0))

"""Loops over blocks, tuples, constants of the file, tables of pointers, wide offsets."""
import os

import torch
import triton
import triton.language as tl

BLOCK = tl.constexpr(16)
TAPS: tl.constexpr = (1, 4, 6, 4, 1)
SCALE = tl.constexpr(1.0 / 16)
DEBUG = os.environ.get("TILES_DEBUG", "0") == "1"


@triton.jit
def transpose_blocks(x_ptr, y_ptr, M, N, stride_x, stride_y):
    row = tl.make_block_ptr(x_ptr, (M, N), (stride_x, 1), (0, 0), (BLOCK, BLOCK), (1, 0))
    column = tl.make_block_ptr(y_ptr, (N, M), (stride_y, 1), (0, 0), (BLOCK, BLOCK), (1, 0))
    for i in range(0, M, BLOCK):
        x = row
        y = column
        for j in range(0, N, BLOCK):
            tile = tl.load(x, boundary_check=(0, 1))
            tl.store(y, tl.trans(tile), boundary_check=(0, 1))
            x = tl.advance(x, (0, BLOCK))
            y = tl.advance(y, (BLOCK, 0))
        row = tl.advance(row, [BLOCK, 0])
        column = tl.advance(column, [0, BLOCK])


@triton.jit
def minmax(a, b):
    return tl.minimum(a, b), tl.maximum(a, b)


@triton.jit
def smooth_kernel(x_ptr, y_ptr, low_ptr, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    acc = tl.zeros([B], tl.float32)
    bounds = (float("inf"), float("-inf"))
    for i in tl.static_range(len(TAPS)):
        near = at + (i - len(TAPS) // 2)
        inside = (near >= 0) & (near < n)
        x = tl.load(x_ptr + near, mask=inside, other=0.0)
        acc += TAPS[i] * x
        low, _ = minmax(bounds[0], tl.where(inside, x, float("inf")))
        _, high = minmax(bounds[1], tl.where(inside, x, float("-inf")))
        bounds = (low, high)
    tl.store(y_ptr + at, acc * SCALE, mask=at < n)
    tl.store(low_ptr + at, bounds[1] - bounds[0], mask=at < n)


@triton.jit
def sum_of_arrays(table_ptr, count, out_ptr, n, B: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    acc = tl.zeros([B], tl.float32)
    for i in range(count):
        address = tl.load(table_ptr + i)
        array = tl.cast(address, tl.pointer_type(tl.float32))
        acc += tl.load(array + at, mask=at < n, other=0.0)
    tl.store(out_ptr + at, acc, mask=at < n)


@triton.jit
def far_rows(base_ptr, out_ptr, row_stride, first_row: tl.int64, n, B: tl.constexpr):
    """Rows far from the base: their offsets need 64 bits."""
    row = first_row + tl.program_id(0)
    at = tl.arange(0, B)
    x = tl.load(base_ptr + row * row_stride + at, mask=at < n, other=0.0)
    tl.store(out_ptr + tl.program_id(0) * n + at, x, mask=at < n)


@triton.heuristics({
    "B": lambda args: max(16, triton.next_power_of_2(args["n"])),
    "num_warps": lambda args: 4 if args["n"] > 64 else 1,
    "HAS_WEIGHT": lambda args: args["w_ptr"] is not None,
})
@triton.jit
def weighted_mean(x_ptr, w_ptr, out_ptr, n, HAS_WEIGHT: tl.constexpr, B: tl.constexpr):
    at = tl.arange(0, B)
    x = tl.load(x_ptr + tl.program_id(0) * n + at, mask=at < n, other=0.0)
    if HAS_WEIGHT:
        w = tl.load(w_ptr + at, mask=at < n, other=0.0)
        mean = tl.sum(x * w, 0) / tl.sum(w, 0)
    else:
        mean = tl.sum(x, 0) / n
    tl.store(out_ptr + tl.program_id(0), mean)


class Tiles:
    """Host code."""

    def __init__(self, block: int = 16, *, device: "torch.device | None" = None):
        self.block = block
        self.stream = torch.cuda.Stream(device) if device else None

    def transpose(self, x):
        y = x.new_empty(x.shape[1], x.shape[0])
        if DEBUG:
            print(f"transpose {x.shape=} {self.block!r:>10}")
        transpose_blocks[(1,)](x, y, *x.shape, x.stride(0), y.stride(0))
        return y

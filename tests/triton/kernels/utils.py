"""Helpers that several files share."""
import triton
import triton.language as tl

LOG2E: tl.constexpr = tl.constexpr(1.4426950408889634)


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def gelu_tanh(x):
    inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1 + 2 * tl.sigmoid(2 * inner) - 1)


@triton.jit
def offsets_2d(row, stride, cols):
    return row * stride + cols

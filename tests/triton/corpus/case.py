"""Launches of kernels of public projects, with references in NumPy.

A case names a wheel of scripts/lib/triton-corpus.txt, a file in it and a kernel, and is a function
that makes arguments, launches, and returns what to compare:

    @case("liger-kernel", "liger_kernel/ops/swiglu.py", "_swiglu_forward_kernel")
    def swiglu_forward(run, rng):
        a, b = normal(rng, (4, 100)), normal(rng, (4, 100))
        c = np.zeros_like(a)
        run((4,), a, b, c, 100, 1.0, n_cols=100, BLOCK_SIZE=128)
        return [near(c, a / (1 + np.exp(-a)) * b)]

Only the names and the references stand here, never the kernels' source.
"""

import numpy as np

import tilec
import tilec.language as tl

CASES = []


class Case:
    def __init__(self, project, path, kernel, body):
        self.project = project
        self.path = path
        self.kernel = kernel
        self.body = body
        self.name = body.__name__


def case(project, path, kernel):
    """Adds the function to the cases; its name is the case's."""

    def add(body):
        CASES.append(Case(project, path, kernel, body))
        return body

    return add


# ---- comparisons


class Comparison:
    def __init__(self, found, expected, rtol, atol, name):
        self.found = found
        self.expected = expected
        self.rtol = rtol
        self.atol = atol
        self.name = name

    def check(self):
        np.testing.assert_allclose(
            np.asarray(self.found, dtype=np.float64),
            np.asarray(self.expected, dtype=np.float64),
            rtol=self.rtol,
            atol=self.atol,
            err_msg=self.name,
        )


def near(found, expected, rtol=1e-5, atol=1e-6, name=""):
    """Each element differs by at most rtol of the expected one plus atol."""
    return Comparison(found, expected, rtol, atol, name)


def same(found, expected, name=""):
    return Comparison(found, expected, 0, 0, name)


# ---- arrays


def normal(rng, shape, dtype="f4", scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(dtype)


def uniform(rng, shape, low=0.0, high=1.0, dtype="f4"):
    return rng.uniform(low, high, shape).astype(dtype)


def integers(rng, shape, low, high, dtype="i4"):
    return rng.integers(low, high, shape).astype(dtype)


class BF16:
    """An array of bf16: `bits` is uint16, `values` float32. Pass `array` to a kernel."""

    def __init__(self, values):
        bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        self.bits = rounded.astype(np.uint16)
        self.array = tilec.reinterpret(self.bits, tl.bfloat16)

    @property
    def values(self):
        return (self.bits.astype(np.uint32) << 16).view(np.float32)


def _fp8_table(exponent, mantissa):
    bits = np.arange(256)
    e = (bits >> mantissa) & ((1 << exponent) - 1)
    m = (bits & ((1 << mantissa) - 1)) / (1 << mantissa)
    bias = (1 << (exponent - 1)) - 1
    values = np.where(e > 0, (1 + m) * 2.0 ** (e - bias), m * 2.0 ** (1 - bias))
    values = np.where(bits >> 7, -values, values)
    if exponent == 4:
        values[[0x7F, 0xFF]] = np.nan
    else:
        values[bits & 0x7F > 0x7C] = np.nan
        values[[0x7C, 0xFC]] = np.inf, -np.inf
    return values


E4M3 = _fp8_table(4, 3)
E5M2 = _fp8_table(5, 2)


class FP8:
    """An array of fp8: `bits` is uint8, `values` float64. Pass `array` to a kernel."""

    def __init__(self, bits, table=E4M3):
        self.bits = np.ascontiguousarray(bits, dtype=np.uint8)
        self.table = table
        kind = tl.float8e4nv if table is E4M3 else tl.float8e5
        self.array = tilec.reinterpret(self.bits, kind)

    @property
    def values(self):
        return self.table[self.bits]


def round_to_fp8(values, table=E4M3):
    """The nearest value of the type, ties to the even one, and the greatest beyond the range."""
    values = np.asarray(values, dtype=np.float64)
    finite = np.where(np.isfinite(table[:128]))[0]
    levels = table[finite]
    magnitude = np.minimum(np.abs(values), levels[-1])
    high = np.clip(np.searchsorted(levels, magnitude), 1, len(levels) - 1)
    low = high - 1
    up, down = levels[high] - magnitude, magnitude - levels[low]
    take_high = (up < down) | ((up == down) & (finite[high] % 2 == 0))
    rounded = np.where(take_high, levels[high], levels[low])
    return np.copysign(rounded, values)


# ---- references that several cases share


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-np.asarray(x, dtype=np.float64)))


def silu(x):
    return x * sigmoid(x)

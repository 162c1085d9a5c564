"""tilec: compile tile kernels and launch them on NVIDIA GPUs, AMD GPUs, CPUs and simulated GPUs.

import numpy as np, tilec
add = tilec.load("add.py")["add_kernel"]        # or a .tile file
add[(98,)](x, y, out, x.size, BLOCK=1024)       # arrays of NumPy, torch, or with __dlpack__
"""

from . import language
from ._autotune import Autotuner, Config, Heuristics, autotune, do_bench, heuristics
from ._device import Device, device, device_count, set_device, synchronize
from ._kernel import JITFunction, jit, load
from ._library import (
    ArgumentError,
    Diagnostic,
    Error,
    FileError,
    InternalError,
    KernelError,
    LaunchError,
    OutOfMemoryError,
    SourceError,
    UnavailableError,
    UnsupportedError,
)
from ._source import Text as expression
from ._tensor import Reinterpreted
from ._version import VERSION as __version__


def cdiv(x, y):
    """x / y, rounded up."""
    return (x + y - 1) // y


def next_power_of_2(n):
    """The least power of two that is not below n."""
    return 1 << max(int(n) - 1, 0).bit_length()


def reinterpret(array, dtype):
    """The array's memory, as a kernel sees it, with elements of another type of the same size."""
    return Reinterpreted(array, dtype)


__all__ = [
    "ArgumentError", "Autotuner", "Config", "Device", "Diagnostic", "Error", "FileError", "Heuristics",
    "InternalError", "JITFunction", "KernelError", "LaunchError", "OutOfMemoryError", "SourceError",
    "UnavailableError", "UnsupportedError", "autotune", "cdiv", "device", "device_count", "do_bench", "expression",
    "heuristics", "jit", "language", "load", "next_power_of_2", "reinterpret", "set_device", "synchronize",
]  # fmt: skip

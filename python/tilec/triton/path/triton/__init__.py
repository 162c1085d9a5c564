"""A stand-in for Triton whose compiler is tilec, for programs that import triton."""

import tilec
from tilec import (
    Autotuner,
    Config,
    Heuristics,
    JITFunction,
    autotune,
    cdiv,
    heuristics,
    jit,
    next_power_of_2,
    reinterpret,
)

from . import backends, compiler, knobs, language, runtime, testing, tools
from .compiler import ASTSource, CompilationError, compile
from .runtime import (
    InterpreterError,
    KernelInterface,
    MockTensor,
    OutOfResources,
    TensorWrapper,
    TritonError,
    driver,
)

__version__ = "3.9.0"


def set_allocator(allocator):
    """Kernels of tilec need no memory of the host's, so there is nothing to allocate."""


def constexpr_function(fn):
    """A function of the host that kernels call with values that are known when they are compiled."""
    return fn


def must_use_result(fn_or_message):
    return fn_or_message if callable(fn_or_message) else lambda fn: fn


def aggregate(cls):
    raise tilec.UnsupportedError("triton.aggregate: classes in kernels are not supported")

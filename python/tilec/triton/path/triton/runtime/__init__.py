from tilec import Autotuner, Config, Heuristics, JITFunction, autotune, heuristics, reinterpret  # noqa: F401

from . import driver, errors, jit  # noqa: F401
from .errors import InterpreterError, OutOfResources, PTXASError, TritonError  # noqa: F401
from .jit import KernelInterface, MockTensor, TensorWrapper  # noqa: F401

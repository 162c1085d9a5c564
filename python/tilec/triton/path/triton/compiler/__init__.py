import tilec

from . import errors  # noqa: F401
from .errors import CompilationError, CompileTimeAssertionFailure, UnsupportedLanguageConstruct  # noqa: F401


class ASTSource:
    """A kernel with the types of its parameters and the values of its constexprs."""

    def __init__(self, fn, signature, constexprs=None, attrs=None):
        self.fn = fn
        self.signature = signature
        self.constants = constexprs or {}
        self.attrs = attrs


class CompiledKernel:
    """What compile returns."""

    def __init__(self, handle):
        self.handle = handle
        self.asm = {}


def compile(src, target=None, options=None):
    """Compiles a kernel for the default device and launches nothing."""
    return CompiledKernel(src.fn.compile(src.signature, src.constants, **(options or {})))


def make_backend(_target):
    raise tilec.UnsupportedError("triton.compiler.make_backend: tilec has no back ends of Triton")

import tilec

from . import ASTSource, CompiledKernel, compile, make_backend  # noqa: F401


def triton_key():
    """What torch's compiler keeps its own code by."""
    return f"tilec-{tilec.__version__}"

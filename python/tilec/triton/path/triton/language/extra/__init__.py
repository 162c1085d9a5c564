from tilec.language import Function

from . import cuda, hip, libdevice  # noqa: F401


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return Function(f"triton.language.extra.{name}")

"""triton.language: names for kernels, and types."""

from tilec.language import *  # noqa: F401,F403
from tilec.language import (
    Function,
    _TYPES,
    cdiv,
    const,
    constexpr,
    dtype,
    pointer_type,
    tensor,
)
from tilec import next_power_of_2

for _name in _TYPES:
    globals()[_name] = dtype(_TYPES[_name][0])

from . import core, extra, math  # noqa: E402


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return Function(f"triton.language.{name}")

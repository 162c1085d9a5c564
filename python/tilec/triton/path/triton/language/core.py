from tilec.language import *  # noqa: F401,F403
from tilec.language import Function, _TYPES, const, constexpr, dtype, pointer_type, tensor  # noqa: F401

for _name in _TYPES:
    globals()[_name] = dtype(_TYPES[_name][0])
constexpr_type = Function("triton.language.core.constexpr_type")


def _unwrap_if_constexpr(x):
    return x.value if isinstance(x, constexpr) else x


def builtin(fn):
    return fn


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return Function(f"triton.language.{name}")

"""Arguments that have parts: tuples, and descriptors of tensors.

A launch passes numbers and arrays only. So a kernel with other arguments gets a kernel around it,
which has a parameter for each part and makes the whole of them:

    @triton.jit
    def kernel__parts(pair__0, pair__1, n):
        kernel((pair__0, pair__1, ), n)
"""

from . import language as tl
from ._source import HasSource, literal, named_tuple

SUFFIX = "__parts"


def is_descriptor(value):
    return hasattr(value, "block_shape") and hasattr(value, "base") and hasattr(value, "strides")


def has_parts(value):
    return isinstance(value, (tuple, list)) or is_descriptor(value)


class Parts:
    """The parts of all arguments: parameters of the outer kernel and their values."""

    def __init__(self, functions):
        self.functions = functions
        self.classes = {}  # of named tuples
        self.names = []
        self.values = []

    def leaf(self, name, value):
        self.names.append(name)
        self.values.append(value)
        return name

    def add(self, name, value):
        """Takes a value apart; returns the expression that puts it together."""
        if is_descriptor(value):
            return self.add_descriptor(name, value)
        if isinstance(value, (tuple, list)):
            items = [self.add(f"{name}__{i}", v) for i, v in enumerate(value)]
            kind = type(value)
            if hasattr(kind, "_fields"):
                self.classes[kind.__name__] = kind
                return f"{kind.__name__}({', '.join(items)})"
            return "(" + "".join(f"{item}, " for item in items) + ")"
        if value is None or isinstance(value, (tl.constexpr, tl.dtype, str, HasSource)):
            return literal(value, self.functions)
        return self.leaf(name, value)

    def add_descriptor(self, name, d):
        base = self.leaf(f"{name}__base", d.base)
        shape = [self.leaf(f"{name}__shape{i}", int(n)) for i, n in enumerate(d.shape)]
        last = len(d.strides) - 1
        strides = [
            "1" if i == last and n == 1 else self.leaf(f"{name}__stride{i}", int(n))
            for i, n in enumerate(d.strides)
        ]
        padding = getattr(d, "padding", "zero")
        return (
            f"tl.make_tensor_descriptor({base}, [{', '.join(shape)}], [{', '.join(strides)}], "
            f"{list(map(int, d.block_shape))}, padding_option={padding!r})"
        )


def outer_kernel(name, params, expressions, parts):
    """The text of the kernel around kernel `name`.

    `params` are its parameters, `expressions` what is passed for those that have parts.
    """
    outer, passed = [], []
    for p in params:
        if p.name in expressions:
            passed.append(f"{p.name}={expressions[p.name]}")
        else:
            outer.append(f"{p.name}: tl.constexpr" if p.is_constexpr else p.name)
            passed.append(f"{p.name}={p.name}")
    outer += parts.names
    classes = "".join(named_tuple(c) for c in parts.classes.values())
    return f"{classes}@triton.jit\ndef {name}{SUFFIX}({', '.join(outer)}):\n    {name}({', '.join(passed)})\n"

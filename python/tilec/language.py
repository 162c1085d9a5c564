"""The names of triton.language, for kernels under @tilec.jit.

    import tilec
    import tilec.language as tl

A kernel's text is compiled, never executed, so functions of this module only have names. Types
(`tl.float32`) and `tl.constexpr` are objects, since host code passes them to kernels.
"""

_TYPES = {
    # name: (name in signatures, bits)
    "void": ("void", 0),
    "int1": ("int1", 1),
    "int8": ("int8", 8),
    "int16": ("int16", 16),
    "int32": ("int32", 32),
    "int64": ("int64", 64),
    "uint8": ("uint8", 8),
    "uint16": ("uint16", 16),
    "uint32": ("uint32", 32),
    "uint64": ("uint64", 64),
    "float16": ("fp16", 16),
    "bfloat16": ("bf16", 16),
    "float32": ("fp32", 32),
    "float64": ("fp64", 64),
    "float8e4nv": ("fp8e4nv", 8),
    "float8e5": ("fp8e5", 8),
    "float8e4b8": ("fp8e4b8", 8),
    "float8e5b16": ("fp8e5b16", 8),
    "float8e4b15": ("fp8e4b15", 8),
}
# Bits of the mantissa, and the exponent's bias.
_FLOATS = {
    "fp8e4b15": (3, 15), "fp8e4nv": (3, 7), "fp8e4b8": (3, 8), "fp8e5": (2, 15), "fp8e5b16": (2, 16),
    "fp16": (10, 15), "bf16": (7, 127), "fp32": (23, 127), "fp64": (52, 1023),
}  # fmt: skip
_ATTRIBUTES = {name: attribute for attribute, (name, _) in _TYPES.items()}


class dtype:
    """An element type. dtype("fp16") is tl.float16."""

    SINT_TYPES = ["int8", "int16", "int32", "int64"]
    UINT_TYPES = ["int1", "uint8", "uint16", "uint32", "uint64"]
    FP_TYPES = [
        "fp8e4b15",
        "fp8e4nv",
        "fp8e4b8",
        "fp8e5",
        "fp8e5b16",
        "fp16",
        "bf16",
        "fp32",
        "fp64",
    ]
    STANDARD_FP_TYPES = ["fp16", "bf16", "fp32", "fp64"]
    OTHER_TYPES = ["void"]

    def __init__(self, name):
        if name not in _ATTRIBUTES:
            raise TypeError(
                f"triton.language has no type '{name}'; known: {', '.join(_ATTRIBUTES)}"
            )
        self.name = name
        self.primitive_bitwidth = _TYPES[_ATTRIBUTES[name]][1]
        self.itemsize = (self.primitive_bitwidth + 7) // 8
        if self.is_floating():
            self.fp_mantissa_width, self.exponent_bias = _FLOATS[name]

    def is_floating(self):
        return self.name.startswith(("fp", "bf"))

    def is_fp8(self):
        return self.name.startswith("fp8")

    def is_int(self):
        return "int" in self.name

    def is_int_signed(self):
        return self.name.startswith("int")

    def is_int_unsigned(self):
        return self.name.startswith("uint")

    def is_bool(self):
        return self.name == "int1"

    def is_block(self):
        return False

    def is_ptr(self):
        return False

    @property
    def scalar(self):
        return self

    def __eq__(self, other):
        return isinstance(other, dtype) and other.name == self.name

    def __hash__(self):
        return hash(self.name)

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"triton.language.{_ATTRIBUTES[self.name]}"


for _attribute, (_name, _) in _TYPES.items():
    globals()[_attribute] = dtype(_name)


class pointer_type:
    """The type of a pointer to elements of a type; for annotations and signatures."""

    def __init__(self, element_ty, address_space=1, const=False):
        self.element_ty = element_ty
        self.name = f"pointer<{element_ty}>"

    def is_ptr(self):
        return True

    def __str__(self):
        return self.name

    def __repr__(self):
        return self.name


class constexpr:
    """A value that is known when a kernel is compiled, and the annotation of such parameters."""

    def __init__(self, value):
        self.value = value.value if isinstance(value, constexpr) else value

    def __repr__(self):
        return f"constexpr[{self.value}]"

    def __index__(self):
        return self.value.__index__()

    def __bool__(self):
        return bool(self.value)

    def __hash__(self):
        return hash(self.value)

    def __call__(self, *args, **kwargs):
        return self.value(*args, **kwargs)

    @property
    def name(self):
        return self.value.name


def _plain(x):
    return x.value if isinstance(x, constexpr) else x


def _operators():
    import operator

    binary = "add sub mul truediv floordiv mod pow lshift rshift and or xor".split()
    functions = {"and": "and_", "or": "or_"}
    for name in binary:
        f = getattr(operator, functions.get(name, name))
        setattr(constexpr, f"__{name}__", lambda a, b, f=f: constexpr(f(a.value, _plain(b))))
        setattr(constexpr, f"__r{name}__", lambda a, b, f=f: constexpr(f(_plain(b), a.value)))
    for name in "lt le gt ge eq ne".split():
        f = getattr(operator, name)
        setattr(constexpr, f"__{name}__", lambda a, b, f=f: constexpr(f(a.value, _plain(b))))
    for name in "neg pos invert".split():
        f = getattr(operator, name)
        setattr(constexpr, f"__{name}__", lambda a, f=f: constexpr(f(a.value)))


_operators()


class const:
    """The annotation of a pointer that a kernel only reads."""


class tensor:
    """The annotation of tensors. Kernels have tensors; the host has none."""


class Function:
    """A function of the language: a kernel's text may name it; the host cannot call it."""

    def __init__(self, path):
        self.path = path
        self.__name__ = path.split(".")[-1]

    def __call__(self, *args, **kwargs):
        raise TypeError(
            f"{self.path}() is called outside of a kernel: decorate the function with @tilec.jit"
        )

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Function(f"{self.path}.{name}")

    def __repr__(self):
        return f"<function {self.path} of kernels>"


class PropagateNan:
    NONE = 0
    ALL = 0xFFFF


PropagateNan.NONE = Function("triton.language.PropagateNan.NONE")
PropagateNan.ALL = Function("triton.language.PropagateNan.ALL")
TRITON_MAX_TENSOR_NUMEL = 1048576


def cdiv(x, div):
    """The quotient, rounded up. Host code may call it, too."""
    return (_plain(x) + _plain(div) - 1) // _plain(div)


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    return Function(f"triton.language.{name}")

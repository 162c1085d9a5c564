from tilec import JITFunction, Reinterpreted, reinterpret  # noqa: F401
from tilec._kernel import Launchable as KernelInterface  # noqa: F401

TensorWrapper = Reinterpreted
type_canonicalisation_dict = {
    "bool": "i1", "int1": "i1", "uint1": "i1",
    **{f"int{n}": f"i{n}" for n in (8, 16, 32, 64)},
    **{f"uint{n}": f"u{n}" for n in (8, 16, 32, 64)},
    "float8e4nv": "fp8e4nv", "float8e5": "fp8e5", "float8e4b15": "fp8e4b15", "float8_e4m3fn": "fp8e4nv",
    "float8e4b8": "fp8e4b8", "float8_e4m3fnuz": "fp8e4b8", "float8_e5m2": "fp8e5",
    "float8e5b16": "fp8e5b16", "float8_e5m2fnuz": "fp8e5b16",
    "half": "fp16", "float16": "fp16", "bfloat16": "bf16", "float": "fp32", "float32": "fp32",
    "double": "fp64", "float64": "fp64", "void": "void",
}  # fmt: skip
for _name in list(type_canonicalisation_dict.values()):
    type_canonicalisation_dict[_name] = _name


class MockTensor:
    """An array without memory, for warmup."""

    def __init__(self, dtype, shape=None):
        self.dtype = dtype
        self.shape = shape or [1]

    @staticmethod
    def data_ptr():
        return 0

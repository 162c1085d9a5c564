"""What Triton's own tests share: types, random arrays, questions about the target."""

import os

import numpy as np
import pytest
import torch
from numpy.random import RandomState

import tilec
import triton.language as tl
from triton.runtime import driver
from triton.runtime.jit import TensorWrapper, reinterpret, type_canonicalisation_dict

int_dtypes = ["int8", "int16", "int32", "int64"]
uint_dtypes = ["uint8", "uint16", "uint32", "uint64"]
integral_dtypes = int_dtypes + uint_dtypes
float_dtypes = ["float16", "float32", "float64"]
float_dtypes_with_bfloat16 = float_dtypes + ["bfloat16"]
dtypes = integral_dtypes + float_dtypes
dtypes_with_bfloat16 = dtypes + ["bfloat16"]
torch_float8_dtypes = ["float8_e4m3fn", "float8_e5m2"]
torch_dtypes = ["bool"] + int_dtypes + ["uint8"] + float_dtypes + ["bfloat16"]
tma_dtypes = sorted(set(dtypes_with_bfloat16) - {"int64", "uint64", "float64"})


def get_current_target():
    return driver.active.get_current_target()


def is_interpreter():
    return False


def _never(*_args):
    return False


# The target is `tilec`, whatever device runs it.
is_cuda = is_hip = is_xpu = is_cpu = _never
is_ampere_or_newer = is_blackwell = is_blackwell_ultra = is_hopper = is_hopper_or_newer = (
    is_sm12x
) = _never
is_hip_cdna = is_hip_cdna2 = is_hip_cdna3 = is_hip_cdna4 = is_hip_cdna3_or_newer = _never
is_hip_rdna = is_hip_rdna3 = is_hip_rdna4 = is_hip_gfx1250 = supports_ws = _never


def supports_tma(byval_only=False):
    return True


def tma_skip_msg(byval_only=False):
    return "needs tensor descriptors"


requires_tma = pytest.mark.skipif(not supports_tma(), reason=tma_skip_msg())


def get_hip_lds_size():
    return 65536


def numpy_random(shape, dtype_str, rs=None, low=None, high=None):
    """Random elements of a type, never 0 for integers; always the same for the same `rs`."""
    rs = rs or RandomState(seed=17)
    shape = (shape,) if isinstance(shape, int) else shape
    if dtype_str in integral_dtypes:
        info = np.iinfo(dtype_str)
        low = info.min if low is None else max(low, info.min)
        high = info.max if high is None else min(high, info.max)
        x = rs.randint(low, high, shape, dtype=dtype_str)
        x[x == 0] = 1
        return x
    if "float8" in dtype_str:
        return rs.randint(20, 40, shape, dtype=np.int8)
    x = rs.normal(0, 1, shape)
    if dtype_str in float_dtypes:
        return x.astype(dtype_str)
    if dtype_str == "bfloat16":
        return (x.astype("float32").view("uint32") & np.uint32(0xFFFF0000)).view("float32")
    if dtype_str in ("bool", "bool_", "int1"):
        return x > 0.0
    raise RuntimeError(f"there is no type {dtype_str}")


def to_triton(x, device, dst_type=None):
    """An array of NumPy as a tensor; of bfloat16 or a type of 8 bits where dst_type says so."""
    name = x.dtype.name
    if name in uint_dtypes:
        signed = torch.tensor(x.astype(name[1:]), device=device)
        return reinterpret(signed, getattr(tl, name))
    t = torch.tensor(x, device=device)
    if dst_type and "float8" in dst_type:
        return reinterpret(t, getattr(tl, dst_type))
    return t.bfloat16() if name == "float32" and dst_type == "bfloat16" else t


def str_to_triton_dtype(x):
    return tl.dtype(
        {"i1": "int1"}.get(type_canonicalisation_dict[x])
        or _long_name(type_canonicalisation_dict[x])
    )


def _long_name(name):
    return (
        {"i": "int", "u": "uint"}.get(name[0], "") + name[1:]
        if name[0] in "iu" and name[1:].isdigit()
        else name
    )


def torch_dtype_name(dtype):
    if isinstance(dtype, tl.dtype):
        names = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}
        return names.get(dtype.name, dtype.name)
    if isinstance(dtype, torch.dtype):
        return str(dtype).split(".")[-1]
    raise TypeError(f"not a type of triton or torch: {type(dtype)}")


def to_numpy(x):
    if isinstance(x, TensorWrapper):
        return x.base.cpu().numpy().astype(torch_dtype_name(x.dtype))
    if isinstance(x, torch.Tensor):
        return x.cpu().float().numpy() if x.dtype is torch.bfloat16 else x.cpu().numpy()
    raise ValueError(f"not a tensor: {x}")


def unwrap_tensor(t):
    return t.base if isinstance(t, TensorWrapper) else t


def _fresh_knobs_impl(skipped_attr=None):
    from triton import knobs

    return lambda: knobs, lambda: None


def default_alloc_fn(size, align, _stream):
    return torch.empty(size, dtype=torch.int8)

"""Arrays of other libraries as arguments of a launch.

Each argument becomes one tilec_arg in a bytearray. Nothing is copied unless an array in the host's
memory goes to a device with memory of its own: then its bytes are copied there before the launch
and back after it.
"""

import ctypes
import struct
import sys

from . import _library as C

# tilec_dtype, in the order of the header.
DTYPES = (
    "bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 f8e4m3 f8e5m2 f8e4m3fnuz f8e5m2fnuz i4 u4"
).split()
NUMBERS = {name: i for i, name in enumerate(DTYPES)}
BYTES = (1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 1, 1, 1, 1, 1, 1)
# Names that other libraries use.
OTHER_NAMES = {
    "bool": "bool",
    "bool_": "bool",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "float8_e4m3fn": "f8e4m3",
    "float8_e5m2": "f8e5m2",
    "float8_e4m3fnuz": "f8e4m3fnuz",
    "float8_e5m2fnuz": "f8e5m2fnuz",
    "int1": "bool",
    "fp16": "f16",
    "bf16": "bf16",
    "fp32": "f32",
    "fp64": "f64",
    "fp8e4nv": "f8e4m3",
    "fp8e5": "f8e5m2",
    "fp8e4b8": "f8e4m3fnuz",
    "fp8e5b16": "f8e5m2fnuz",
}


def dtype_number(name):
    """The tilec_dtype of a name that tilec, NumPy, torch or Triton uses; None for another name."""
    return NUMBERS.get(OTHER_NAMES.get(name, name))


VIEW, POINTER, INT, UINT, DOUBLE, NONE = range(6)
READ_ONLY = 1

_ARG = struct.Struct("@i4xiiQQq5q5qI4xQQQqQd")
ARG_SIZE = _ARG.size
assert ARG_SIZE == ctypes.sizeof(C.CArg), "the layout of tilec_arg"
_pack = _ARG.pack_into
_pad = ((), (0,), (0, 0), (0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0, 0))


class Memory:
    """An array: its element type (tilec_dtype), address, extents, strides in elements, and where it is.

    `place` is None for the host's memory, else the name of a device: "cuda:0", "hip:1". `owner` keeps
    the memory alive.
    """

    __slots__ = ("dtype", "address", "shape", "strides", "read_only", "place", "owner")

    def __init__(self, dtype, address, shape, strides, read_only, place, owner):
        self.dtype = dtype
        self.address = address
        self.shape = shape
        self.strides = strides
        self.read_only = read_only
        self.place = place
        self.owner = owner

    def span(self):
        """The addresses that the array reaches: the first, and the first beyond it."""
        low = high = 0
        for n, stride in zip(self.shape, self.strides):
            if n == 0:
                return self.address, self.address
            reach = (n - 1) * stride
            low, high = low + min(reach, 0), high + max(reach, 0)
        size = BYTES[self.dtype]
        return self.address + low * size, self.address + (high + 1) * size


def merge(shape, strides):
    """The same elements with at most MAX_RANK dimensions: for pointers, to which shapes mean nothing."""
    merged = []
    for n, stride in sorted(zip(shape, strides), key=lambda d: -abs(d[1])):
        if n == 1:
            continue
        if merged and merged[-1][1] == n * stride:
            merged[-1] = (merged[-1][0] * n, stride)
        else:
            merged.append((n, stride))
    if len(merged) > C.MAX_RANK:
        if any(stride < 0 for _, stride in merged):
            raise C.ArgumentError(
                f"an array of {len(shape)} dimensions with negative strides: copy it first"
            )
        reach = 1 + sum((n - 1) * stride for n, stride in merged)
        merged = [(reach, 1)]
    return [n for n, _ in merged], [stride for _, stride in merged]


# ---- torch

_torch_dtypes = {}


def _torch_dtype(dtype):
    name = str(dtype).split(".")[-1]
    number = dtype_number(name)
    if number is None:
        raise C.ArgumentError(f"an array of torch's {dtype}: tilec has no such element type")
    _torch_dtypes[dtype] = number
    return number


_torch_places = {}


def _torch_place(device):
    if device.type == "cpu":
        place = None
    elif device.type == "cuda":
        torch = sys.modules["torch"]
        kind = "hip" if getattr(torch.version, "hip", None) else "cuda"
        place = f"{kind}:{device.index or 0}"
    else:
        raise C.ArgumentError(
            f"a tensor on '{device}': tilec reaches only memory of cpu and cuda devices"
        )
    _torch_places[device] = place
    return place


def _from_torch(t):
    dtype = _torch_dtypes.get(t.dtype)
    if dtype is None:
        dtype = _torch_dtype(t.dtype)
    device = t.device
    place = _torch_places.get(device, 0)
    if place == 0:
        place = _torch_place(device)
    return Memory(dtype, t.data_ptr(), t.shape, t.stride(), False, place, t)


# ---- NumPy

_numpy_dtypes = {}


def _numpy_dtype(dtype):
    number = dtype_number(dtype.name) if dtype.isnative else None
    if number is None:
        order = "" if dtype.isnative else " in the other byte order"
        raise C.ArgumentError(
            f"an array of NumPy's {dtype.name}{order}: tilec has no such element type"
        )
    _numpy_dtypes[dtype] = number
    return number


class _ArrayStruct(ctypes.Structure):
    """What NumPy's __array_struct__ points to; it is much faster than __array_interface__."""

    _fields_ = [
        ("two", ctypes.c_int),
        ("nd", ctypes.c_int),
        ("typekind", ctypes.c_char),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_int),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("data", ctypes.c_void_p),
        ("descr", ctypes.c_void_p),
    ]


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_DATA = _ArrayStruct.data.offset
_word_at = ctypes.c_void_p.from_address


def _numpy_address(a):
    capsule = a.__array_struct__  # must live while its struct is read
    return _word_at(_capsule_pointer(capsule, None) + _DATA).value or 0


def _from_numpy(a):
    dtype = _numpy_dtypes.get(a.dtype)
    if dtype is None:
        dtype = _numpy_dtype(a.dtype)
    size = a.itemsize
    strides = a.strides
    if size != 1:
        if any(s % size for s in strides):
            raise C.ArgumentError(
                "an array whose strides are no multiples of its element's size: copy it first"
            )
        strides = [s // size for s in strides]
    return Memory(dtype, _numpy_address(a), a.shape, strides, not a.flags.writeable, None, a)


# ---- DLPack


class _DlTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_DL_PLACES = {1: None, 3: None, 11: None, 2: "cuda", 13: "cuda", 10: "hip"}
_DL_DTYPES = {
    (0, 8): "i8",
    (0, 16): "i16",
    (0, 32): "i32",
    (0, 64): "i64",
    (1, 8): "u8",
    (1, 16): "u16",
    (1, 32): "u32",
    (1, 64): "u64",
    (2, 16): "f16",
    (2, 32): "f32",
    (2, 64): "f64",
    (4, 16): "bf16",
    (6, 8): "bool",
    (10, 8): "f8e4m3",
    (11, 8): "f8e4m3fnuz",
    (12, 8): "f8e5m2",
    (13, 8): "f8e5m2fnuz",
}


def _from_dlpack(x):
    # The capsule is not consumed, so its destructor frees the tensor with it.
    capsule = x.__dlpack__()
    t = _DlTensor.from_address(_capsule_pointer(capsule, b"dltensor"))
    if t.device_type not in _DL_PLACES:
        raise C.ArgumentError(
            f"an array in memory of DLPack's kind {t.device_type}, which tilec does not reach"
        )
    kind = _DL_PLACES[t.device_type]
    name = _DL_DTYPES.get((t.code, t.bits)) if t.lanes == 1 else None
    if name is None:
        raise C.ArgumentError(
            f"an array of DLPack's type {t.code} with {t.bits} bits and {t.lanes} lanes: tilec has no such "
            "element type"
        )
    shape = t.shape[: t.ndim]
    if t.strides:
        strides = t.strides[: t.ndim]
    else:
        strides, n = [], 1
        for extent in reversed(shape):
            strides.insert(0, n)
            n *= extent
    place = kind and f"{kind}:{t.device_id}"
    return Memory(
        NUMBERS[name], (t.data or 0) + t.byte_offset, shape, strides, False, place, capsule
    )


# ---- any of them


class Reinterpreted:
    """An array whose memory a kernel sees as elements of another type of the same size."""

    def __init__(self, base, dtype):
        self.base = base
        self.dtype = dtype
        self.data = base.data
        self.shape = base.shape
        self.device = getattr(base, "device", None)

    def data_ptr(self):
        return self.base.data_ptr()

    def stride(self, *args):
        return self.base.stride(*args)

    def numel(self):
        return self.base.numel()

    def element_size(self):
        return self.base.element_size()

    def cpu(self):
        return Reinterpreted(self.base.cpu(), self.dtype)

    def clone(self):
        return Reinterpreted(self.base.clone(), self.dtype)

    def new_empty(self, shape):
        return Reinterpreted(self.base.new_empty(shape), self.dtype)

    def copy_(self, other):
        self.base.copy_(other.base)

    def to(self, device):
        return Reinterpreted(self.base.to(device), self.dtype)

    def __str__(self):
        return f"reinterpreted as {self.dtype}: {self.base}"


def _from_reinterpreted(r):
    m = memory(r.base)
    number = dtype_number(str(r.dtype))
    if number is None or BYTES[number] != BYTES[m.dtype]:
        raise C.ArgumentError(f"elements of {DTYPES[m.dtype]} cannot be taken for {r.dtype}")
    return Memory(number, m.address, m.shape, m.strides, m.read_only, m.place, m.owner)


_readers = {Reinterpreted: _from_reinterpreted}


def _find_reader(kind):
    module = kind.__module__.split(".")[0]
    for base in kind.__mro__:
        root = base.__module__.split(".")[0]
        if root == "torch" and base.__name__ == "Tensor":
            return _from_torch
        if root == "numpy" and base.__name__ == "ndarray":
            return _from_numpy
    if hasattr(kind, "__dlpack__"):
        return _from_dlpack
    raise C.ArgumentError(
        f"a value of type {module}.{kind.__name__}: pass a number, None, or an array of torch, NumPy or another "
        "library with __dlpack__"
    )


def memory(x):
    """The memory of an array, or an ArgumentError that says what was found."""
    kind = type(x)
    reader = _readers.get(kind)
    if reader is None:
        reader = _readers[kind] = _find_reader(kind)
    return reader(x)


def is_array(x):
    kind = type(x)
    if kind in _readers:
        return True
    try:
        _readers[kind] = _find_reader(kind)
    except C.ArgumentError:
        return False
    return True


# ---- arguments of a launch


def _number(name, value):
    if isinstance(value, float):
        return float(value)
    if hasattr(value, "__index__"):
        return int(value)
    if hasattr(value, "__float__") and not is_array(value):
        return float(value)
    return None


def pack_view(data, at, name, m, handle, address, offset, collapse):
    shape, strides = m.shape, m.strides
    rank = len(shape)
    if rank > C.MAX_RANK:
        if not collapse:
            raise C.ArgumentError(
                f"argument '{name}' has {rank} dimensions; views have at most {C.MAX_RANK}"
            )
        shape, strides = merge(shape, strides)
        rank = len(shape)
    if rank == 0:
        shape, strides, rank = (1,), (1,), 1
    rest = _pad[C.MAX_RANK - rank]
    _pack(
        data, at, VIEW, m.dtype, rank, handle, address, offset, *shape, *rest, *strides, *rest,
        READ_ONLY if m.read_only else 0, 0, 0, 0, 0, 0, 0.0,
    )  # fmt: skip


class Arguments:
    """The arguments of one launch: tilec_arg structs in `data`, and what must outlive the launch."""

    __slots__ = ("data", "count", "memories", "place", "collapse")

    def __init__(self, names, values, collapse):
        self.count = len(values)
        self.data = bytearray(ARG_SIZE * self.count)
        self.memories = []  # (index, Memory)
        self.place = None
        self.collapse = collapse
        at = 0
        for i, value in enumerate(values):
            kind = type(value)
            if kind is int or kind is bool:
                self.pack_int(at, names[i], value)
            elif kind is float:
                _pack(
                    self.data,
                    at,
                    DOUBLE,
                    0,
                    0,
                    0,
                    0,
                    0,
                    *_pad[5],
                    *_pad[5],
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    value,
                )
            elif value is None:
                _pack(self.data, at, NONE, 0, 0, 0, 0, 0, *_pad[5], *_pad[5], 0, 0, 0, 0, 0, 0, 0.0)
            else:
                self.pack_other(at, i, names[i], value)
            at += ARG_SIZE

    def pack_int(self, at, name, value):
        if -(1 << 63) <= value < 1 << 63:
            _pack(self.data, at, INT, 0, 0, 0, 0, 0, *_pad[5], *_pad[5], 0, 0, 0, 0, value, 0, 0.0)
        elif 0 <= value < 1 << 64:
            _pack(self.data, at, UINT, 0, 0, 0, 0, 0, *_pad[5], *_pad[5], 0, 0, 0, 0, 0, value, 0.0)
        else:
            raise C.ArgumentError(f"argument '{name}' is {value}, which has more than 64 bits")

    def pack_other(self, at, index, name, value):
        if not is_array(value):
            number = _number(name, value)
            if isinstance(number, int):
                return self.pack_int(at, name, number)
            if number is not None:
                _pack(
                    self.data,
                    at,
                    DOUBLE,
                    0,
                    0,
                    0,
                    0,
                    0,
                    *_pad[5],
                    *_pad[5],
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    number,
                )
                return None
        try:
            m = memory(value)
        except C.ArgumentError as e:
            raise C.ArgumentError(f"argument '{name}' is {e}") from None
        if m.place:
            if self.place and self.place != m.place:
                raise C.ArgumentError(
                    f"argument '{name}' is on {m.place}, an earlier one on {self.place}"
                )
            self.place = m.place
        self.memories.append((index, m))
        self.pack_view(at, name, m, 0, m.address, 0)
        return None

    def pack_view(self, at, name, m, handle, address, offset):
        pack_view(self.data, at, name, m, handle, address, offset, self.collapse)


# ---- the same launch with other values

_pack_word = struct.Struct("@Q").pack_into
_pack_integer = struct.Struct("@q").pack_into
_pack_real = struct.Struct("@d").pack_into
_ADDRESS, _INTEGER, _REAL = (
    C.CArg.view.offset + C.CView.data.offset,
    C.CArg.integer.offset,
    C.CArg.real.offset,
)


class Refill:
    """The arguments of a launch, kept for the next one with arguments of the same types.

    Only fields that changed are written again. `fits` says whether all arguments are of kinds that
    this class knows: numbers, None, and arrays of NumPy and torch.
    """

    __slots__ = ("data", "count", "place", "names", "kinds", "kept")

    def __init__(self, arguments, names, values):
        self.data = arguments.data
        self.count = arguments.count
        self.place = arguments.place
        self.names = names
        self.kinds = []
        self.kept = []
        memories = dict(arguments.memories)
        for i, value in enumerate(values):
            kind = type(value)
            if kind is int and value.bit_length() > 63:  # passed as u64
                self.kinds = None
                return
            if kind is int or kind is float or value is None:
                self.kinds.append(kind)
                self.kept.append(value)
                continue
            reader = _readers.get(kind)
            if i not in memories or reader not in (_from_numpy, _from_torch):
                self.kinds = None
                return
            m = memories[i]
            if reader is _from_numpy:
                self.kinds.append(reader)
                self.kept.append([value.dtype, m.address, m.read_only, value.shape, value.strides])
            else:
                self.kinds.append(reader)
                self.kept.append(
                    [value.dtype, m.address, value.device, value.shape, value.stride()]
                )

    @property
    def fits(self):
        return self.kinds is not None

    def fill(self, values):
        """Writes these values. False: something else is needed, and nothing was written wrongly."""
        at = 0
        data, kept = self.data, self.kept
        for i, kind in enumerate(self.kinds):
            value = values[i]
            k = kept[i]
            if kind is int:
                if value != k:
                    if value.bit_length() > 63:
                        return False
                    _pack_integer(data, at + _INTEGER, value)
                    kept[i] = value
            elif kind is float:
                _pack_real(data, at + _REAL, value)
            elif kind is _from_numpy:
                if value.dtype is not k[0] or value.flags.writeable is k[2]:
                    return False
                # The capsule must live while its struct is read.
                capsule = value.__array_struct__
                address = _word_at(_capsule_pointer(capsule, None) + _DATA).value or 0
                if value.shape != k[3] or value.strides != k[4]:
                    pack_view(data, at, self.names[i], _from_numpy(value), 0, address, 0, True)
                    k[1], k[3], k[4] = address, value.shape, value.strides
                elif address != k[1]:
                    _pack_word(data, at + _ADDRESS, address)
                    k[1] = address
            elif kind is _from_torch:
                if value.dtype is not k[0] or value.device != k[2]:
                    return False
                address, strides = value.data_ptr(), value.stride()
                if value.shape != k[3] or strides != k[4]:
                    pack_view(data, at, self.names[i], _from_torch(value), 0, address, 0, True)
                    k[1], k[3], k[4] = address, value.shape, strides
                elif address != k[1]:
                    _pack_word(data, at + _ADDRESS, address)
                    k[1] = address
            at += ARG_SIZE
        return True


class Staged:
    """Arrays of the host that a launch uses on a device with memory of its own."""

    def __init__(self, device, names, arguments):
        self.device = device
        self.parts = []  # [first address, end, buffer, read only]
        try:
            self.copy_in(names, arguments)
        except BaseException:
            self.free()
            raise

    def copy_in(self, names, arguments):
        host = [(i, m, m.span()) for i, m in arguments.memories if m.place is None]
        # Arrays that share memory share a buffer.
        for _, m, (low, high) in sorted(host, key=lambda h: h[2]):
            if high == low:
                continue
            if self.parts and low < self.parts[-1][1]:
                part = self.parts[-1]
                part[1] = max(part[1], high)
                part[3] = part[3] and m.read_only
            else:
                self.parts.append([low, high, 0, m.read_only])
        for part in self.parts:
            handle = ctypes.c_uint64()
            C.check(
                C.lib.tilec_buffer_create(
                    self.device.handle, part[1] - part[0], ctypes.byref(handle)
                )
            )
            part[2] = handle.value
            C.check(
                C.lib.tilec_buffer_write(
                    self.device.handle, None, part[2], 0, part[0], part[1] - part[0]
                )
            )
        for i, m, (low, high) in host:
            if low == high:
                arguments.pack_view(i * ARG_SIZE, names[i], m, 0, 0, 0)
                continue
            part = next(p for p in self.parts if p[0] <= low < p[1])
            offset, rest = divmod(m.address - part[0], BYTES[m.dtype])
            if rest:
                raise C.ArgumentError(
                    f"argument '{names[i]}' shares memory with another in an unaligned way"
                )
            arguments.pack_view(i * ARG_SIZE, names[i], m, part[2], 0, offset)

    def copy_out(self):
        for low, high, handle, read_only in self.parts:
            if not read_only:
                C.check(
                    C.lib.tilec_buffer_read(self.device.handle, None, handle, 0, low, high - low)
                )

    def free(self):
        for part in self.parts:
            if part[2]:
                C.lib.tilec_buffer_destroy(self.device.handle, part[2])
        self.parts = []

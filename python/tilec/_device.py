"""Devices by name, the default device, and streams that torch made."""

import ctypes
import os
import sys

from . import _library as C


class Device:
    """An open device. `info` has what is known of it; `synchronize` waits for its work."""

    def __init__(self, name):
        self.name = name
        handle = ctypes.c_void_p()
        C.check(C.lib.tilec_device_open(C.context(), name.encode(), ctypes.byref(handle)))
        self.handle = handle
        self.context = C.context()
        full = C.text(C.lib.tilec_device_name(handle))
        self.kind = full.split(":")[0]
        # Does the device work in the host's memory?
        self.is_host = self.kind in ("cpu", "interp")
        self.is_gpu = self.kind in ("cuda", "hip")
        self._stream = C.lib.tilec_device_stream(handle)
        self._streams = {}

    @property
    def info(self):
        c = C.CDeviceInfo(size=ctypes.sizeof(C.CDeviceInfo))
        C.check(C.lib.tilec_device_describe(self.handle, ctypes.byref(c)))
        return {
            name: C.text(getattr(c, name)) if kind is ctypes.c_char_p else getattr(c, name)
            for name, kind in c._fields_
            if name not in ("size", "reserved")
        }

    def synchronize(self):
        C.check(C.lib.tilec_device_synchronize(self.handle))

    def stream(self):
        """The stream for a launch: torch's current one on a GPU that torch uses, else the device's first."""
        torch = sys.modules.get("torch") if self.is_gpu else None
        if torch is None or not torch.cuda.is_initialized():
            return self._stream
        index = int(self.name.split(":")[1]) if ":" in self.name else torch.cuda.current_device()
        native = torch.cuda.current_stream(index).cuda_stream
        stream = self._streams.get(native)
        if stream is None:
            made = ctypes.c_void_p()
            C.check(C.lib.tilec_stream_from_native(self.handle, native, ctypes.byref(made)))
            stream = self._streams[native] = made
        return stream

    def __repr__(self):
        return f"tilec.device({self.name!r})"


_devices = {}
_default = None


def default_name():
    return _default or os.environ.get("TILEC_DEVICE") or "auto"


def device(name=None):
    """The device of this name, opened once; without a name the default device."""
    global _default
    if isinstance(name, Device):
        name = name.name
    if name is None:
        name = default_name()
    found = _devices.get(name)
    if found is None or found.context is not C.context():
        found = _devices[name] = Device(name)
    return found


def device_count(kind):
    """How many devices of the kind this machine has: "cuda", "hip", "cpu", …"""
    count = ctypes.c_uint32()
    C.check(C.lib.tilec_device_count(C.context(), kind.encode(), ctypes.byref(count)))
    return count.value


def set_device(name):
    """Makes this the default device: the one of kernels whose arguments are in the host's memory."""
    global _default
    found = device(name)
    _default = found.name
    return found


def synchronize():
    """Waits for the work of all open devices."""
    for d in list(_devices.values()):
        if d.context is C.context():
            d.synchronize()

"""The C library: where it is, its structs and functions, and its errors as exceptions.

Everything else in this package calls C through `call(function, …)`, which raises an exception for
every status that is not TILEC_OK.
"""

import ctypes
import os
import sys
import threading
from ctypes import (
    POINTER,
    c_char_p,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)

from ._version import VERSION

MAX_RANK = 5


class Diagnostic:
    """One error, warning or note: where it is and what it says."""

    __slots__ = (
        "severity",
        "code",
        "message",
        "help",
        "file",
        "line",
        "column",
        "end_line",
        "end_column",
    )

    def __init__(self, **fields):
        for name in self.__slots__:
            setattr(self, name, fields[name])

    def __repr__(self):
        return (
            f"{self.file}:{self.line}:{self.column}: {self.severity}: {self.message} [{self.code}]"
        )


class Error(Exception):
    """A call failed. str(error) is tilec's text; `diagnostics` are its parts for errors in a source."""

    def __init__(self, text, diagnostics=()):
        super().__init__(text)
        self.diagnostics = list(diagnostics)


class SourceError(Error):
    """The source or the values that a kernel is compiled for are wrong."""


class ArgumentError(Error, ValueError):
    """An argument of a call is wrong."""


class LaunchError(Error):
    """The arguments do not fit the kernel."""


class KernelError(Error):
    """A kernel ran into a failed assert or a finding of the sanitizer."""


class UnavailableError(Error):
    """There is no such device or target here."""


class UnsupportedError(Error):
    """The device cannot do what the kernel asks."""


class OutOfMemoryError(Error, MemoryError):
    """There is not enough memory."""


class FileError(Error, OSError):
    """A file could not be read or written."""


class InternalError(Error):
    """A defect of tilec."""


ERRORS = {
    1: SourceError,
    2: ArgumentError,
    3: LaunchError,
    4: KernelError,
    5: UnavailableError,
    6: UnsupportedError,
    7: OutOfMemoryError,
    8: FileError,
    9: InternalError,
}
SEVERITIES = ("error", "warning", "note")


class CDiagnostic(ctypes.Structure):
    _fields_ = [
        ("severity", c_int),
        ("code", c_char_p),
        ("message", c_char_p),
        ("help", c_char_p),
        ("file", c_char_p),
        ("line", c_uint32),
        ("column", c_uint32),
        ("end_line", c_uint32),
        ("end_column", c_uint32),
    ]


PRINT = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_size_t)
LOG = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p)


class CContextOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("print", PRINT),
        ("user", c_void_p),
        ("log", LOG),
        ("allocate", c_void_p),
        ("release", c_void_p),
        ("allocator_user", c_void_p),
        ("cpu_threads", c_uint32),
        ("compile_in_child", c_uint32),
        ("cache_folder", c_char_p),
        ("compiler_library", c_char_p),
        ("ptx_compiler", c_char_p),
        ("compile_seconds", c_uint32),
        ("reserved", c_uint32),
    ]


class CDeviceInfo(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("target", c_char_p),
        ("driver", c_char_p),
        ("bus", c_char_p),
        ("memory", c_uint64),
        ("shared_memory", c_uint64),
        ("multiprocessors", c_uint32),
        ("warp", c_uint32),
        ("clock_khz", c_uint32),
        ("reserved", c_uint32),
    ]


class CView(ctypes.Structure):
    _fields_ = [
        ("dtype", c_int),
        ("rank", c_int32),
        ("buffer", c_uint64),
        ("data", c_void_p),
        ("offset", c_int64),
        ("extent", c_int64 * MAX_RANK),
        ("stride", c_int64 * MAX_RANK),
        ("flags", c_uint32),
    ]


class CArg(ctypes.Structure):
    _fields_ = [
        ("kind", c_int),
        ("view", CView),
        ("pointer", c_void_p),
        ("buffer", c_uint64),
        ("offset", c_size_t),
        ("integer", c_int64),
        ("natural", c_uint64),
        ("real", ctypes.c_double),
    ]


class CSpecEntry(ctypes.Structure):
    _fields_ = [("kind", c_int), ("name", c_char_p), ("dtype", c_int), ("value", c_int64)]


class CSpec(ctypes.Structure):
    _fields_ = [("count", c_size_t), ("entries", POINTER(CSpecEntry))]


FUNCTIONS = {
    # name: (result, arguments)
    "tilec_version": (c_char_p, []),
    "tilec_context_create": (c_int, [POINTER(CContextOptions), POINTER(c_void_p)]),
    "tilec_context_destroy": (None, [c_void_p]),
    "tilec_last_error": (c_char_p, [c_void_p]),
    "tilec_diagnostic_count": (c_size_t, [c_void_p]),
    "tilec_diagnostic_get": (c_int, [c_void_p, c_size_t, POINTER(CDiagnostic)]),
    "tilec_device_open": (c_int, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "tilec_device_name": (c_char_p, [c_void_p]),
    "tilec_device_count": (c_int, [c_void_p, c_char_p, POINTER(c_uint32)]),
    "tilec_device_describe": (c_int, [c_void_p, POINTER(CDeviceInfo)]),
    "tilec_device_synchronize": (c_int, [c_void_p]),
    "tilec_stream_from_native": (c_int, [c_void_p, c_void_p, POINTER(c_void_p)]),
    "tilec_stream_synchronize": (c_int, [c_void_p]),
    "tilec_device_stream": (c_void_p, [c_void_p]),
    "tilec_event_create": (c_int, [c_void_p, POINTER(c_void_p)]),
    "tilec_event_destroy": (None, [c_void_p]),
    "tilec_event_record": (c_int, [c_void_p, c_void_p]),
    "tilec_event_synchronize": (c_int, [c_void_p]),
    "tilec_event_elapsed_ns": (c_int, [c_void_p, c_void_p, POINTER(c_uint64)]),
    "tilec_buffer_create": (c_int, [c_void_p, c_size_t, POINTER(c_uint64)]),
    "tilec_buffer_destroy": (c_int, [c_void_p, c_uint64]),
    "tilec_buffer_write": (c_int, [c_void_p, c_void_p, c_uint64, c_size_t, c_void_p, c_size_t]),
    "tilec_buffer_read": (c_int, [c_void_p, c_void_p, c_uint64, c_size_t, c_void_p, c_size_t]),
    "tilec_kernel_from_file": (
        c_int,
        [c_void_p, c_void_p, c_char_p, c_char_p, POINTER(CSpec), POINTER(c_void_p)],
    ),
    "tilec_kernel_from_source": (
        c_int,
        [
            c_void_p,
            c_void_p,
            c_char_p,
            c_char_p,
            c_size_t,
            c_char_p,
            POINTER(CSpec),
            POINTER(c_void_p),
        ],
    ),
    "tilec_kernel_destroy": (None, [c_void_p]),
    "tilec_kernel_metadata": (c_int, [c_void_p, POINTER(c_char_p)]),
    "tilec_launch": (c_int, [c_void_p, c_void_p, c_void_p, c_size_t]),
    "tilec_launch_grid": (c_int, [c_void_p, c_void_p, c_int, c_void_p, c_void_p, c_size_t]),
    "tilec_kernel_prepare": (c_int, [c_void_p, c_void_p, c_void_p, c_size_t]),
    "tilec_kernel_prepare_grid": (
        c_int,
        [c_void_p, c_void_p, c_int, c_void_p, c_void_p, c_size_t],
    ),
    "tilec_tune": (c_int, [c_void_p, c_void_p, c_void_p, c_size_t, ctypes.c_double]),
}


HERE = os.path.dirname(os.path.abspath(__file__))


def find_library():
    """The path of libtilec.so: TILEC_LIBRARY, the file beside this one, else the loader's."""
    named = os.environ.get("TILEC_LIBRARY")
    if named:
        return named
    beside = os.path.join(HERE, "libtilec.so.0")
    return beside if os.path.exists(beside) else "libtilec.so.0"


def open_library():
    path = find_library()
    try:
        # A wheel brings libraries that libtilec.so needs; once loaded, they are found by name.
        for name in os.listdir(HERE) if os.path.dirname(path) == HERE else ():
            if ".so" in name and not name.startswith("libtilec"):
                ctypes.CDLL(os.path.join(HERE, name))
        library = ctypes.CDLL(path)
    except OSError as e:
        raise ImportError(
            f"tilec: the C library '{path}' cannot be loaded: {e}; install tilec, or set TILEC_LIBRARY to "
            "the path of libtilec.so"
        ) from None
    for name, (result, arguments) in FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(
                f"tilec: '{path}' has no function '{name}'; this package needs tilec {VERSION}"
            ) from None
        function.restype = result
        function.argtypes = arguments
    return library


lib = open_library()


def text(bytes_):
    return bytes_.decode("utf-8", "replace") if bytes_ else ""


@PRINT
def _print(_user, line, length):
    """Kernels print to sys.stdout, as Python does."""
    sys.stdout.write(ctypes.string_at(line, length).decode("utf-8", "replace") + "\n")


def _create():
    options = CContextOptions(size=ctypes.sizeof(CContextOptions), print=_print)
    made = c_void_p()
    status = lib.tilec_context_create(ctypes.byref(options), ctypes.byref(made))
    if status:
        raise ERRORS[status]("tilec: the context cannot be made")
    return made


_context = None
_lock = threading.Lock()
_owner = 0


def context():
    """The process's context. A child made by fork gets a context of its own."""
    global _context, _owner
    if _context is None or _owner != os.getpid():
        with _lock:
            if _context is None or _owner != os.getpid():
                _context = _create()
                _owner = os.getpid()
    return _context


def diagnostics():
    found = []
    c = CDiagnostic()
    for i in range(lib.tilec_diagnostic_count(context())):
        if lib.tilec_diagnostic_get(context(), i, ctypes.byref(c)):
            break
        found.append(
            Diagnostic(
                severity=SEVERITIES[c.severity],
                code=text(c.code),
                message=text(c.message),
                help=text(c.help),
                file=text(c.file),
                line=c.line,
                column=c.column,
                end_line=c.end_line,
                end_column=c.end_column,
            )
        )
    return found


def check(status):
    """Raises the exception of a status that is not TILEC_OK, with the text of the last call."""
    if status:
        message = text(lib.tilec_last_error(context())).rstrip("\n")
        raise ERRORS.get(status, Error)(message or f"tilec: status {status}", diagnostics())

"""Kernels: made once for each set of values, launched with arrays and numbers."""

import ast
import ctypes
import inspect
import os
import threading

from . import _library as C
from . import language as tl
from ._compose import SUFFIX, Parts, has_parts, outer_kernel
from ._device import default_name
from ._device import device as find_device
from ._source import HasSource, Jit, Module, Text, literal
from ._tensor import Arguments, Refill, Staged, dtype_number

TYPE, CONST, OPTION, VALUE = range(4)
BOOL = 0

# Options of launches as Triton writes them, and as tilec does.
OPTIONS = {
    "num_warps": "warps",
    "num_stages": "stages",
    "num_ctas": "ctas",
    "warps": "warps",
    "stages": "stages",
    "ctas": "ctas",
    "producers": "producers",
    "chiplets": "chiplets",
    "turns": "turns",
    "direct": "direct",
    "sanitize": "sanitize",
}
# How many threads of the processor run a launch; it matters on the device cpu only.
THREADS = "num_cpu_threads"
# Options of Triton's back ends, which have no meaning here.
IGNORED = {
    "allow_fp8e4nv", "allowed_dot_input_precisions", "arch", "backend_name", "cluster_dims", "debug",
    "deprecated_fp8_dtypes", "enable_fp_fusion", "extern_libs", "instruction_sched_variant",
    "instrumentation_mode", "ir_override", "kpack", "launch_cooperative_grid", "launch_pdl",
    "matrix_instr_nonkdim", "maxnreg", "num_buffers_warp_spec", "num_consumer_groups",
    "reg_dec_producer", "reg_inc_consumer", "sanitize_overflow", "schedule_hint",
    "supported_fp8_dtypes", "waves_per_eu",
}  # fmt: skip


# Values that no launch passes: a kernel is compiled for them.
COMPILED = (tl.constexpr, str, tl.dtype, HasSource)
# Types of values without parts, of which most arguments are.
PLAIN = {int, float, bool, type(None)}


class Handle:
    """A kernel of the C library, with what its texts need to stay alive."""

    def __init__(self, device, entries, make):
        self.device = device
        self.kept = []
        spec = (C.CSpecEntry * len(entries))()
        for c, (kind, name, value) in zip(spec, entries):
            c.kind = kind
            c.name = name.encode()
            if kind == TYPE:
                c.dtype = value
            elif kind == VALUE:
                text = ctypes.c_char_p(value.encode())
                self.kept.append(text)
                c.value = ctypes.cast(text, ctypes.c_void_p).value
            else:
                c.value = value
        made = ctypes.c_void_p()
        C.check(make(device, ctypes.byref(C.CSpec(len(entries), spec)), ctypes.byref(made)))
        self.value = made

    def launch(self, names, values, grid, collapse, only_prepare=False):
        """`grid` is up to three numbers, or None where the kernel has one."""
        arguments = Arguments(names, values, collapse)
        device = self.device
        staged = None
        if not device.is_host and any(m.place is None for _, m in arguments.memories):
            staged = Staged(device, names, arguments)
        try:
            data = (ctypes.c_char * max(len(arguments.data), 1)).from_buffer(
                arguments.data or bytearray(1)
            )
            stream = None if staged else device.stream()
            if grid is None:
                call = C.lib.tilec_kernel_prepare if only_prepare else C.lib.tilec_launch
                status = call(self.value, stream, data, arguments.count)
            else:
                call = C.lib.tilec_kernel_prepare_grid if only_prepare else C.lib.tilec_launch_grid
                numbers = (ctypes.c_int64 * 3)(*grid)
                status = call(self.value, stream, -1, numbers, data, arguments.count)
            if status:
                C.check(status)
            # Arrays in the host's memory are ready when the launch returns.
            if device.is_host or staged:
                status = C.lib.tilec_stream_synchronize(device._stream)
                if status:
                    C.check(status)
            if staged:
                staged.copy_out()
        finally:
            if staged:
                staged.free()


class Launched:
    """What a launch returns."""

    def __init__(self, name, handle):
        self.name = name
        self.handle = handle
        self.asm = {}

    def __repr__(self):
        return f"<launched {self.name} on {self.handle.device.name}>"


def grid_of(grid, values):
    """Three numbers from a grid: a number, a tuple, or a function of the arguments by name."""
    if callable(grid):
        grid = grid(values)
    if isinstance(grid, int) or not hasattr(grid, "__len__"):
        grid = (grid,)
    if not 1 <= len(grid) <= 3:
        raise C.LaunchError(f"a grid has one to three numbers, this one has {len(grid)}")
    return tuple(int(n) for n in grid) + (1,) * (3 - len(grid))


class Plan:
    """A launch that is kept: its kernel and its arguments, for the next one of the same kind."""

    def __init__(self, kernel, handle, refill):
        self.handle = handle
        self.refill = refill
        self.memory = (ctypes.c_char * max(len(refill.data), 1)).from_buffer(refill.data)
        self.grid = (ctypes.c_int64 * 3)()
        self.launched = Launched(kernel.__name__, handle)
        device = handle.device
        self.waits = device.is_host
        self.stream = device.stream() if device.is_host else None

    @staticmethod
    def of(kernel, handle, names, values):
        """The plan of a launch that was made; None: others like it need the longer way."""
        if not values:
            return None
        arguments = Arguments(names, values, True)
        if not handle.device.is_host and any(m.place is None for _, m in arguments.memories):
            return None
        refill = Refill(arguments, names, values)
        return Plan(kernel, handle, refill) if refill.fits else None

    def launch(self, kernel, args, kwargs, grid):
        """None: the longer way is needed."""
        handle, refill = self.handle, self.refill
        if handle.device.context is not C.context():
            return None
        if not refill.fill([args[i] for i in kernel._runtime if i < len(args)]):
            return None
        if type(grid) is not tuple:
            if callable(grid):
                grid = grid({**dict(zip(kernel.arg_names, args)), **kwargs})
            grid = grid_of(grid, None)
        numbers = self.grid
        numbers[0] = grid[0]
        numbers[1] = grid[1] if len(grid) > 1 else 1
        numbers[2] = grid[2] if len(grid) > 2 else 1
        if len(grid) > 3 or 0 in grid:
            return None
        stream = self.stream or handle.device.stream()
        status = C.lib.tilec_launch_grid(
            handle.value, stream, -1, numbers, self.memory, refill.count
        )
        if not status and self.waits:
            status = C.lib.tilec_stream_synchronize(stream)
        if status:
            C.check(status)
        return self.launched


class Parameter:
    """A parameter of a kernel: its name, whether it is a constexpr, its default."""

    __slots__ = ("name", "num", "is_constexpr", "default", "annotation")

    def __init__(self, name, num, is_constexpr, default, annotation=""):
        self.name = name
        self.num = num
        self.is_constexpr = is_constexpr
        self.default = default
        self.annotation = annotation

    @property
    def has_default(self):
        return self.default is not inspect.Parameter.empty


class Launchable:
    """A kernel whose parameters have names: launched as kernel[grid](…)."""

    # Must a function that is passed stand in the text of an outer kernel?
    functions_need_outer = False

    def __init__(self, name, params):
        self.__name__ = name
        self.params = params
        self.arg_names = [p.name for p in params]
        self._handles = {}
        self._plans = {}
        self._constexprs = [i for i, p in enumerate(params) if p.is_constexpr]
        self._runtime = [i for i, p in enumerate(params) if not p.is_constexpr]
        self._lock = threading.RLock()

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, **kwargs)

    def _bind(self, args, kwargs):
        """The parameters' values by name, and the options that are left."""
        names = self.arg_names
        if len(args) > len(names):
            raise TypeError(
                f"{self.__name__}() takes {len(names)} arguments, {len(args)} were given"
            )
        values = dict(zip(names, args))
        for p in self.params[len(args) :]:
            if p.name in kwargs:
                values[p.name] = kwargs.pop(p.name)
            elif p.default is not inspect.Parameter.empty:
                values[p.name] = p.default
            else:
                raise TypeError(f"{self.__name__}(): argument '{p.name}' is missing")
        for name in kwargs:
            if name in values:
                raise TypeError(f"{self.__name__}(): argument '{name}' is given twice")
            if name not in OPTIONS and name not in IGNORED and name != THREADS:
                raise TypeError(
                    f"{self.__name__}(): there is no parameter '{name}', and no such option of a launch"
                )
        return values, kwargs

    def run(self, *args, grid=None, warmup=False, device=None, **kwargs):
        """Launches; a launch like an earlier one only fills in what has changed."""
        plans = None
        try:
            key = (
                tuple(map(type, args)),
                tuple(kwargs.items()),
                tuple(map(type, kwargs.values())),
                tuple([args[i] for i in self._constexprs if i < len(args)]),
                device,
                default_name(),
            )
            plans = self._plans.get(key)
        except TypeError:  # a value without a hash
            key = None
        if plans and not warmup and type(grid) is not str and grid is not None:
            try:
                plan = plans.pop()  # no other thread has it now
            except IndexError:
                plan = None
            if plan:
                launched = plan.launch(self, args, kwargs, grid)
                if launched:
                    plans.append(plan)
                    return launched
        return self._run(args, kwargs, grid, warmup, device, key)

    def _keep_plan(self, key, handle, names, args, passed):
        """Keeps the launch for others of the same kind, if all its arguments were positional."""
        runtime = [args[i] for i in self._runtime if i < len(args)]
        if len(runtime) != len(passed) or any(a is not b for a, b in zip(runtime, passed)):
            return
        plan = Plan.of(self, handle, names, passed)
        if plan:
            self._plans.setdefault(key, []).append(plan)

    def _run(self, args, kwargs, grid, warmup, device, key):
        values, options = self._bind(args, kwargs)
        entries, functions, names, passed = [], [], [], []
        parts, expressions = None, None
        for p in self.params:
            name = p.name
            if name not in values:  # the file has its value
                continue
            value = values[name]
            kind = type(value)
            if p.is_constexpr or isinstance(value, COMPILED):
                text = literal(value, functions)
                if text is None:
                    raise C.ArgumentError(
                        f"{self.__name__}(): constexpr '{name}' is a {kind.__name__}; it must be a "
                        "number, string, type, tuple, None or @jit function"
                    )
                entries.append((VALUE, name, text))
                if kind is tl.constexpr:
                    values[name] = value.value
            elif kind not in PLAIN and has_parts(value):
                if parts is None:
                    parts, expressions = Parts(functions), {}
                expressions[name] = parts.add(name, value)
            else:
                names.append(name)
                passed.append(value)
                if kind is bool:
                    entries.append((TYPE, name, BOOL))
        outer = None
        if parts is None and functions and self.functions_need_outer:
            parts, expressions = Parts(functions), {}
        if parts is not None:
            names += parts.names
            passed += parts.values
            outer = outer_kernel(
                self.__name__, [p for p in self.params if p.name in values], expressions, parts
            )
        for name, value in options.items():
            if name in OPTIONS and value is not None:
                entries.append((OPTION, OPTIONS[name], int(value)))
        if isinstance(grid, str):
            entries.append((VALUE, "grid", grid))
            numbers = None
        elif grid is None:
            raise TypeError(f"{self.__name__}() needs a grid: {self.__name__}[grid](…)")
        else:
            numbers = grid_of(grid, values)
        where = device or self._place(passed) or self._with_threads(options.get(THREADS))
        variant = (where, outer, tuple(entries), tuple(map(id, functions)))
        handle = self._handles.get(variant)
        if handle is None or handle.device.context is not C.context():
            with self._lock:
                handle = self._handles[variant] = Handle(
                    find_device(where),
                    entries,
                    lambda d, spec, out: self._make(functions, outer, d, spec, out),
                )
                handle.kept.append(functions)
        if numbers is not None and 0 in numbers and not warmup:
            return Launched(self.__name__, handle)
        handle.launch(names, passed, numbers, True, only_prepare=warmup)
        if key and outer is None and numbers is not None and not warmup:
            self._keep_plan(key, handle, names, args, passed)
        return Launched(self.__name__, handle)

    def _place(self, values):
        """The device of a GPU's tensors; None: the default device."""
        for v in values:
            d = getattr(v, "device", None)
            if d is not None and getattr(d, "type", "cpu") not in ("cpu", None):
                from ._tensor import memory

                return memory(v).place
        return None

    def _with_threads(self, count):
        """The default device with as many threads; None: the default device as it is."""
        if not count or find_device().kind != "cpu":
            return None
        return f"cpu:{int(count)}"

    def __call__(self, *args, **kwargs):
        raise TypeError(f"{self.__name__} is a kernel: launch it as {self.__name__}[grid](…)")


def make_from_text(file, text, name, outer, device, spec, out):
    """Makes a kernel of a text, or the outer kernel that is added to it."""
    if outer:
        text += outer
        name += SUFFIX
    data = text.encode()
    return C.lib.tilec_kernel_from_source(
        C.context(), device.handle, os.fsencode(file), data, len(data), name.encode(), spec, out
    )


def _is_constexpr(annotation):
    return annotation is tl.constexpr or (
        isinstance(annotation, str) and annotation.replace('"', "").split(".")[-1] == "constexpr"
    )


class JITFunction(Launchable, HasSource):
    """A function under @tilec.jit."""

    def __init__(self, fn, do_not_specialize=None, do_not_specialize_on_alignment=None, **ignored):
        if isinstance(fn, JITFunction):
            fn = fn.fn
        self.fn = fn
        params = []
        for i, p in enumerate(inspect.signature(fn).parameters.values()):
            params.append(
                Parameter(p.name, i, _is_constexpr(p.annotation), p.default, p.annotation)
            )
        super().__init__(fn.__name__, params)
        self.__module__ = fn.__module__
        self.__doc__ = fn.__doc__
        self.__qualname__ = fn.__qualname__
        self.__globals__ = fn.__globals__
        options = []
        for name, names in (
            ("do_not_specialize", do_not_specialize),
            ("do_not_specialize_on_alignment", do_not_specialize_on_alignment),
        ):
            if names:
                written = [self.arg_names[n] if isinstance(n, int) else n for n in names]
                options.append(f"{name}={written!r}")
        self._options = ", ".join(options)
        self._replaced = None
        self._source = None

    def jit_source(self):
        if self._source is None:
            self._source = Jit(self.fn, self._options, self._replaced)
        return self._source

    @property
    def src(self):
        """The function's text, from `def` on."""
        return self.jit_source().text.split("\n", 1)[1]

    def _unsafe_update_src(self, text):
        """Replaces the function's text, as tests that make kernels from a template do."""
        self._replaced = text
        self._source = None
        self._handles = {}
        self._plans = {}

    def _make(self, functions, outer, device, spec, out):
        module = Module(self.jit_source())
        for f in functions:
            module.values.setdefault(f.__name__, f)
            module.add_function(f.jit_source())
        file = module.file if module.file.endswith(".py") else module.file + ".py"
        return make_from_text(file, module.text(), self.fn.__name__, outer, device, spec, out)

    def warmup(self, *args, grid=(1,), **kwargs):
        return self.run(*args, grid=grid, warmup=True, **kwargs)

    def __repr__(self):
        return f"<kernel {self.__module__}.{self.__name__}>"


def jit(fn=None, **options):
    """Makes a kernel of a function: @tilec.jit, or @tilec.jit(do_not_specialize=["n"])."""
    if fn is None:
        return lambda f: JITFunction(f, **options)
    return JITFunction(fn, **options)


# ---- kernels of files


class FileKernel(Launchable):
    """A @triton.jit function of a .py file, which is read and never executed."""

    functions_need_outer = True

    def __init__(self, path, node):
        params = []
        arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
        positional = node.args.posonlyargs + node.args.args
        defaults = [inspect.Parameter.empty] * (
            len(positional) - len(node.args.defaults)
        ) + node.args.defaults
        defaults += [d if d is not None else inspect.Parameter.empty for d in node.args.kw_defaults]
        for i, (a, d) in enumerate(zip(arguments, defaults)):
            annotation = ast.unparse(a.annotation) if a.annotation else ""
            params.append(
                Parameter(a.arg, i, _is_constexpr(annotation), self._default(d), annotation)
            )
        super().__init__(node.name, params)
        self.path = path
        self.__doc__ = ast.get_docstring(node)

    @staticmethod
    def _default(node):
        if node is inspect.Parameter.empty:
            return node
        try:
            return ast.literal_eval(node)
        except ValueError:
            return Text(ast.unparse(node))

    def _bind(self, args, kwargs):
        """Constexprs that are left out have values in the file."""
        given = set(self.arg_names[: len(args)]) | set(kwargs)
        left = [p.name for p in self.params if p.is_constexpr and p.name not in given]
        values, options = super()._bind(args, {**kwargs, **dict.fromkeys(left)})
        for name in left:
            del values[name]
        return values, options

    def _make(self, functions, outer, device, spec, out):
        if outer:
            stem = os.path.splitext(os.path.basename(self.path))[0]
            # Functions that are passed come before the import, which may hide their names.
            module = Module(functions[0].jit_source()) if functions else None
            for f in functions[1:]:
                module.add_function(f.jit_source())
            text = module.text() if module else "import triton, triton.language as tl\n"
            text += f"from .{stem} import {self.__name__}\n"
            file = f"{os.path.splitext(self.path)[0]}{SUFFIX}.py"
            return make_from_text(file, text, self.__name__, outer, device, spec, out)
        return C.lib.tilec_kernel_from_file(
            C.context(), device.handle, os.fsencode(self.path), self.__name__.encode(), spec, out
        )

    def __repr__(self):
        return f"<kernel {self.__name__} of {self.path}>"


def _type_number(value):
    """The tilec_dtype of a type in any library's words; None for another value."""
    if isinstance(value, str):
        return dtype_number(value)
    if isinstance(value, tl.dtype):
        return dtype_number(value.name)
    name = getattr(value, "__name__", None) or getattr(value, "name", None) or str(value)
    return dtype_number(str(name).split(".")[-1])


class TileKernel:
    """A kernel of a .tile file: kernel(x, y, T="f16", BM=128), with its own grid; kernel[grid](…)."""

    def __init__(self, path, name):
        self.path = path
        self.__name__ = name
        self._handles = {}
        self._lock = threading.RLock()

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, **kwargs)

    def __call__(self, *args, **kwargs):
        return self.run(*args, **kwargs)

    def run(self, *args, grid=None, device=None, **kwargs):
        entries = []
        for name, value in kwargs.items():
            if isinstance(value, int):
                kind = OPTION if name in OPTIONS else CONST
                entries.append((kind, OPTIONS.get(name, name), int(value)))
                continue
            number = _type_number(value)
            if number is None:
                raise C.ArgumentError(
                    f"{self.__name__}(): '{name}' is {value!r}; constants are integers, types are 'f16' and the like"
                )
            entries.append((TYPE, name, number))
        where = device or Launchable._place(self, args)
        key = (where, tuple(entries))
        handle = self._handles.get(key)
        if handle is None or handle.device.context is not C.context():
            with self._lock:
                handle = self._handles[key] = Handle(find_device(where), entries, self._make)
        names = [str(i + 1) for i in range(len(args))]
        handle.launch(names, args, None if grid is None else grid_of(grid, kwargs), False)
        return Launched(self.__name__, handle)

    def _make(self, device, spec, out):
        return C.lib.tilec_kernel_from_file(
            C.context(), device.handle, os.fsencode(self.path), self.__name__.encode(), spec, out
        )

    def __repr__(self):
        return f"<kernel {self.__name__} of {self.path}>"


class File:
    """A file of kernels: file["name"]."""

    def __init__(self, path):
        self.path = os.fspath(path)
        self._kernels = {}
        self._functions = None
        if not os.path.isfile(self.path):
            raise C.FileError(f"there is no file '{self.path}'")
        if self.path.endswith(".py"):
            with open(self.path, encoding="utf-8") as f:
                text = f.read()
            try:
                tree = ast.parse(text, self.path)
            except SyntaxError as e:
                raise C.SourceError(f"{self.path}:{e.lineno}:{e.offset}: error: {e.msg}") from None
            self._functions = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}

    def __getitem__(self, name):
        found = self._kernels.get(name)
        if found is None:
            if self._functions is None:
                found = TileKernel(self.path, name)
            elif name in self._functions:
                found = FileKernel(self.path, self._functions[name])
            else:
                raise KeyError(f"{self.path} has no function '{name}'")
            self._kernels[name] = found
        return found

    def __repr__(self):
        return f"tilec.load({self.path!r})"


def load(path):
    """The kernels of a .py or .tile file: tilec.load("add.py")["add_kernel"][grid](x, y, …)."""
    return File(path)

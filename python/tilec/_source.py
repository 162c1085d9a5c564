"""The text of a @jit function with everything that it refers to, as one module that tilec reads.

Functions stand at the lines that they have in their file, so messages name the right places. What
a function refers to goes by value: a number that is a global of the module becomes an assignment,
another @jit function is written out, `tl` becomes an import.
"""

import ast
import builtins
import linecache
import math
import textwrap
import types

from . import _library as C
from . import language as tl

PREFIX = {"triton", "tilec"}


class HasSource:
    """A kernel with a text: jit_source() returns it as a Jit."""


class Text(str):
    """An expression in Python's words."""


def literal(value, functions=None):
    """A value as Python writes it, for constexprs; None where it has no such form.

    @jit functions are named, and collected in `functions`.
    """
    kind = type(value)
    if value is None or kind is bool or kind is int or kind is str:
        return repr(value)
    if kind is float:
        return repr(value) if math.isfinite(value) else f"float('{value}')"
    if isinstance(value, tl.constexpr):
        return literal(value.value, functions)
    if isinstance(value, tl.dtype):
        return repr(value).replace("triton.language", "tl")
    if isinstance(value, tl.Function):
        return value.path.replace("triton.language", "tl")
    if isinstance(value, (tuple, list)):
        parts = [literal(v, functions) for v in value]
        if None in parts:
            return None
        return "(" + "".join(p + ", " for p in parts) + ")"
    if isinstance(value, Text):
        return str(value)
    if isinstance(value, HasSource):
        if functions is not None:
            functions.append(value)
        return value.__name__
    if isinstance(value, int):  # an enum, a bool of NumPy
        return repr(int(value))
    if isinstance(value, float):
        return literal(float(value))
    if hasattr(value, "__index__") and getattr(value, "ndim", 0) == 0:
        return repr(value.__index__())
    if (
        kind.__module__ == "numpy"
        and hasattr(value, "__float__")
        and getattr(value, "ndim", 1) == 0
    ):
        return literal(bool(value) if kind.__name__.startswith("bool") else float(value))
    return None


_functions = {}  # (file, number of lines) → functions by the line of their first decorator


def _functions_of(file, lines):
    key = (file, len(lines), hash("".join(lines)))
    found = _functions.get(key)
    if found is None:
        found = _functions[key] = {}
        for node in ast.walk(ast.parse("".join(lines))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([node.lineno] + [d.lineno for d in node.decorator_list])
                found[(first, node.name)] = (first, node.end_lineno)
    return found


def get_source(fn):
    """The text of a function, from its first decorator on, and the line where it begins."""
    code = fn.__code__
    lines = linecache.getlines(code.co_filename, fn.__globals__)
    try:
        place = _functions_of(code.co_filename, lines).get((code.co_firstlineno, code.co_name))
    except SyntaxError:
        place = None
    if place is None:
        raise C.SourceError(
            f"the text of function '{fn.__name__}' cannot be found in '{code.co_filename}'; kernels "
            "must stand in a file"
        )
    first, last = place
    return "".join(lines[first - 1 : last]), first


def without_decorators(text):
    """(lines before `def`, the text from `def` on) of a decorated function's dedented text."""
    tree = ast.parse(text)
    node = tree.body[0]
    lines = text.splitlines(keepends=True)
    return node.lineno - 1, "".join(lines[node.lineno - 1 :])


def names_of(text):
    """The names that a function's text reads and does not define itself, in order of appearance."""
    tree = ast.parse(text).body[0]
    own = {a.arg for a in ast.walk(tree) if isinstance(a, ast.arg)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in own and node.id not in found:
            found.append(node.id)
    return found


MISSING = object()


def lookup(fn, name):
    """What a name means in a function: in the functions around it, its module, or builtins."""
    code = fn.__code__
    if name in code.co_freevars and fn.__closure__:
        try:
            return fn.__closure__[code.co_freevars.index(name)].cell_contents
        except ValueError:
            return MISSING
    if name in fn.__globals__:
        return fn.__globals__[name]
    return MISSING


def is_language(module, last):
    name = module.__name__.split(".")
    return name[0] in PREFIX and name[-1] == last


def import_of(name, value):
    """The import that binds the name to this module of ours; None: another value."""
    if not isinstance(value, types.ModuleType):
        return None
    path = value.__name__
    if path in ("tilec.language", "triton.language") or path.startswith("triton.language."):
        path = path.replace("tilec.", "triton.")
        return f"import {path} as {name}"
    if path in ("triton", "tilec"):
        return f"import triton as {name}"
    if path in ("math", "torch"):
        return f"import {path} as {name}"
    return None


def named_tuple(cls):
    """The text of a class of named tuples."""
    lines = [f"class {cls.__name__}(NamedTuple):"]
    for field in cls._fields:
        default = cls._field_defaults.get(field, MISSING)
        written = None if default is MISSING else literal(default)
        lines.append(f"    {field}: object" + (f" = {written}" if written is not None else ""))
    return "\n".join(lines) + "\n"


class Module:
    """Collects the text of one kernel and everything that it needs."""

    def __init__(self, jit):
        self.file = jit.file
        self.head = ["import triton, triton.language as tl"]
        self.pieces = []  # (line, text) of functions of this file
        self.tail = []  # texts of functions of other files
        self.values = {}  # name → value
        self.seen = set()
        self.add_function(jit)

    def add_function(self, jit, name=None):
        if id(jit) in self.seen:
            return
        self.seen.add(id(jit))
        text, line = jit.text, jit.line
        if jit.file == self.file:
            self.pieces.append((line, text, jit.indent))
        else:
            self.tail.append(text)
        for used in names_of(text):
            self.add_name(jit.fn, used)

    def add_name(self, fn, name):
        value = lookup(fn, name)
        if value is MISSING:
            return
        if name in self.values:
            if self.values[name] is not value and not same_value(self.values[name], value):
                raise C.SourceError(
                    f"two functions of this kernel use the name '{name}' for different values: rename one"
                )
            return
        if getattr(builtins, name, MISSING) is value:
            return
        self.values[name] = value
        if isinstance(value, HasSource):
            inner = value.jit_source()
            self.add_function(inner)
            if inner.fn.__name__ != name:
                self.tail.append(f"{name} = {inner.fn.__name__}\n")
            return
        if isinstance(value, types.FunctionType):
            self.add_plain(name, value)
            return
        if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
            self.tail.append(named_tuple(value))
            if value.__name__ != name:
                self.tail.append(f"{name} = {value.__name__}\n")
            return
        statement = import_of(name, value)
        if statement:
            self.head.append(statement)
            return
        if isinstance(value, tl.Function):
            if value.path != f"tl.{name}":
                self.head.append(f"{name} = {value.path}")
            return
        written = literal(value)
        if written is None:
            if value is tl.constexpr or value is tl.dtype or value is tl.tensor:
                self.head.append(f"{name} = triton.language.{value.__name__}")
            return
        constant = isinstance(value, tl.constexpr) or isinstance(value, (tl.dtype, str))
        self.head.append(f"{name} = tl.constexpr({written})" if constant else f"{name} = {written}")

    def add_plain(self, name, fn):
        """A plain function of the host, which tilec evaluates where a kernel calls it."""
        try:
            text, _ = get_source(fn)
            text = textwrap.dedent(text)
            _, text = without_decorators(text)
            used = names_of(text)
        except (C.SourceError, SyntaxError, IndexError):
            return
        self.tail.append(text)
        if fn.__name__ != name:
            self.tail.append(f"{name} = {fn.__name__}\n")
        for n in used:
            self.add_name(fn, n)

    def text(self):
        lines = ["; ".join(self.head)]
        for line, text, indent in sorted(self.pieces):
            # A function inside of another one keeps its columns, too, if a line before it is free.
            if indent and len(lines) <= line - 2:
                lines.extend([""] * (line - 2 - len(lines)))
                lines.append("if True:")
                text = textwrap.indent(text, indent)
            lines.extend([""] * (line - 1 - len(lines)))
            lines.extend(text.rstrip("\n").split("\n"))
        for text in self.tail:
            lines.extend(text.rstrip("\n").split("\n"))
        return "\n".join(lines) + "\n"


def same_value(a, b):
    try:
        return type(a) is type(b) and bool(a == b)
    except Exception:
        return False


class Jit:
    """The text of one @jit function: `text` begins with its decorator, at `line` of `file`."""

    def __init__(self, fn, options="", replaced=None):
        self.fn = fn
        self.file = fn.__code__.co_filename
        full, line = get_source(fn)
        self.indent = ""
        if replaced is None:
            self.indent = full[: len(full) - len(full.lstrip())]
            replaced = textwrap.dedent(full)
        before, body = without_decorators(replaced)
        decorator = f"@triton.jit({options})" if options else "@triton.jit"
        # The decorator stands directly before `def`.
        self.line = line + max(before, 1) - 1
        self.text = decorator + "\n" + body

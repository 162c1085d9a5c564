#!/usr/bin/env python3
"""Writes the trees of Python files as CPython's parser makes them, in the form of
tests/support/py_tree.c: one line "FILE path", then one line for each statement of the file.

    python_trees.py [--bytes N] [FOLDER…]

Without a folder, the standard library is read. --bytes limits the size of all files together; the
files are then taken evenly from all. Files are left out that CPython refuses, that are not in
UTF-8, or in which a name changes when it is normalised. Places are written if this CPython knows
them exactly, in f-strings, too: from 3.12 on. The first line is "spans" or "no spans". Exits with
77 if this CPython is too old to have an `ast` of today's form.
"""

import ast
import os
import re
import struct
import sys
import warnings

BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.MatMult: "@", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&",
    ast.BitOr: "|", ast.BitXor: "^",
}
UNARY = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "inv", ast.Not: "not"}
COMPARE = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}
SPANS = sys.version_info >= (3, 12)


class Unlike(Exception):
    """The file has something that is known to be read in another form."""


def named(text):
    """The names of characters in \\N{…} need a table: they are hidden from both parsers."""
    return re.sub(rb"\\N\{([^}]*)\}", rb"\\n_\1_", text)


class Writer:
    def __init__(self, text):
        self.source = text
        self.ascii = text.isascii()
        self.starts = [0]
        for end in re.finditer(rb"\r\n|\r|\n", text):
            self.starts.append(end.end())
        self.bom = 3 if text.startswith(b"\xef\xbb\xbf") else 0

    def word(self, name):
        if not self.ascii and name.encode() not in self.source:
            raise Unlike()
        return name

    def offset(self, line, column):
        return self.starts[line - 1] + column + (self.bom if line == 1 else 0)

    def span(self, n):
        if not SPANS:
            return ""
        begin = self.offset(n.lineno, n.col_offset)
        return f"@{begin}-{self.offset(n.end_lineno, n.end_col_offset)}"

    def form(self, head, n, *parts):
        return "(" + " ".join([head + self.span(n), *parts]) + ")"

    def text(self, value):
        if isinstance(value, bytes):
            data, prefix = value, "b"
        else:
            data, prefix = value.encode("utf-8", "surrogatepass"), ""
        shown = "".join(
            chr(c) if 32 <= c < 127 and c not in b'"\\' else f"\\x{c:02x}" for c in data)
        return f'{prefix}"{shown}"'

    def real(self, value):
        return "0x%016x" % struct.unpack("<Q", struct.pack("<d", value))[0]

    def constant(self, n):
        v = n.value
        if v is Ellipsis:
            return "..."
        if v is None or isinstance(v, bool):
            return str(v)
        if isinstance(v, int):
            return str(v) if v < 1 << 127 else "huge"
        if isinstance(v, float):
            return self.real(v)
        if isinstance(v, complex):
            return "j" + self.real(v.imag)
        return self.text(v)

    def maybe(self, n):
        return "-" if n is None else self.node(n)

    def all(self, nodes):
        return [self.node(n) for n in nodes]

    def block(self, nodes):
        return "(" + " ".join(["do", *self.all(nodes)]) + ")"

    def maybe_block(self, nodes):
        return self.block(nodes) if nodes else "-"

    def group(self, word, nodes):
        return ["(" + " ".join([word, *self.all(nodes)]) + ")"] if nodes else []

    # ---- f-strings

    def fparts(self, n):
        out, text = [], ""
        for value in n.values:
            if isinstance(value, ast.Constant):
                text += value.value
                continue
            if text:
                out.append(self.text(text))
            text = ""
            out.append(self.node(value))
        if text:
            out.append(self.text(text))
        return out

    def format(self, n):
        parts = [self.node(n.value)]
        if n.conversion != -1:
            parts.append("!" + chr(n.conversion))
        if n.format_spec is not None:
            parts.append("(" + " ".join(["f", *self.fparts(n.format_spec)]) + ")")
        return self.form("format", n, *parts)

    # ---- functions

    def param(self, kind, a, default):
        out = kind + self.word(a.arg)
        if SPANS:
            begin = self.offset(a.lineno, a.col_offset)
            out += f"@{begin}"
        if a.annotation:
            out += ": " + self.node(a.annotation)
        if default is not None:
            out += "= " + self.node(default)
        return out

    def params(self, a):
        out = []
        plain = [("/", x) for x in a.posonlyargs] + [("", x) for x in a.args]
        defaults = [None] * (len(plain) - len(a.defaults)) + a.defaults
        for (kind, x), default in zip(plain, defaults):
            out.append(self.param(kind, x, default))
        if a.vararg:
            out.append(self.param("*", a.vararg, None))
        for x, default in zip(a.kwonlyargs, a.kw_defaults):
            out.append(self.param("=", x, default))
        if a.kwarg:
            out.append(self.param("**", a.kwarg, None))
        return "(" + " ".join(out) + ")"

    def function(self, head, n):
        parts = [self.word(n.name), *self.group("types", getattr(n, "type_params", []))]
        parts.append(self.params(n.args))
        if n.returns:
            parts += ["->", self.node(n.returns)]
        parts += [*self.group("decorators", n.decorator_list), self.block(n.body)]
        return self.form(head, n, *parts)

    # ---- patterns

    def pattern(self, n):
        if isinstance(n, ast.MatchValue):
            return self.node(n.value)
        if isinstance(n, ast.MatchSingleton):
            return str(n.value) + self.span(n)
        if isinstance(n, ast.MatchSequence):
            return self.form("seq", n, *map(self.pattern, n.patterns))
        if isinstance(n, ast.MatchStar):
            return self.form("star", n, n.name or "_")
        if isinstance(n, ast.MatchOr):
            return self.form("or", n, *map(self.pattern, n.patterns))
        if isinstance(n, ast.MatchAs):
            if n.pattern is None:
                return (n.name or "_") + self.span(n)
            return self.form("as", n, self.pattern(n.pattern), n.name)
        if isinstance(n, ast.MatchMapping):
            parts = [f"{self.node(k)}: {self.pattern(v)}" for k, v in zip(n.keys, n.patterns)]
            return self.form("map", n, *parts, *(["**" + n.rest] if n.rest else []))
        parts = [self.pattern(p) for p in n.patterns]
        parts += [f"{k}={self.pattern(v)}" for k, v in zip(n.kwd_attrs, n.kwd_patterns)]
        return self.form("class", n, self.node(n.cls), *parts)

    # ---- nodes

    def comprehension(self, head, n, *elements):
        return self.form(head, n, *elements, *self.all(n.generators))

    def arguments(self, args, keywords):
        """In the order of the source: a '*' argument may come after one with a name."""
        both = sorted([*args, *keywords], key=lambda n: (n.lineno, n.col_offset))
        return self.all(both)

    def node(self, n):
        name = type(n).__name__
        return getattr(self, "write_" + name)(n)

    def write_Constant(self, n): return self.constant(n) + self.span(n)
    def write_JoinedStr(self, n): return self.form("f", n, *self.fparts(n))
    def write_FormattedValue(self, n): return self.format(n)
    def write_Name(self, n): return self.word(n.id) + self.span(n)
    def write_UnaryOp(self, n): return self.form(UNARY[type(n.op)], n, self.node(n.operand))

    def write_BinOp(self, n):
        return self.form(BINARY[type(n.op)], n, self.node(n.left), self.node(n.right))

    def write_BoolOp(self, n):
        return self.form("and" if isinstance(n.op, ast.And) else "or", n, *self.all(n.values))

    def write_Compare(self, n):
        parts = [self.node(n.left)]
        for op, value in zip(n.ops, n.comparators):
            parts += [COMPARE[type(op)], self.node(value)]
        return self.form("cmp", n, *parts)

    def write_IfExp(self, n):
        return self.form("choose", n, self.node(n.test), self.node(n.body), self.node(n.orelse))

    def write_Call(self, n):
        return self.form("call", n, self.node(n.func), *self.arguments(n.args, n.keywords))

    def write_keyword(self, n):
        if n.arg is None:
            return self.form("**", n, self.node(n.value))
        return self.form("=", n, n.arg, self.node(n.value))

    def write_Starred(self, n): return self.form("star", n, self.node(n.value))
    def write_Attribute(self, n): return self.form(".", n, self.node(n.value), self.word(n.attr))
    def write_Subscript(self, n): return self.form("at", n, self.node(n.value), self.node(n.slice))

    def write_Slice(self, n):
        return self.form("slice", n, *map(self.maybe, (n.lower, n.upper, n.step)))

    def write_Tuple(self, n): return self.form("tuple", n, *self.all(n.elts))
    def write_List(self, n): return self.form("list", n, *self.all(n.elts))
    def write_Set(self, n): return self.form("set", n, *self.all(n.elts))

    def write_Dict(self, n):
        parts = []
        for key, value in zip(n.keys, n.values):
            parts.append(f"(: {self.node(key)} {self.node(value)})" if key
                         else f"(** {self.node(value)})")
        return self.form("dict", n, *parts)

    def write_Lambda(self, n):
        return self.form("lambda", n, self.params(n.args), self.node(n.body))

    def write_ListComp(self, n): return self.comprehension("list-comp", n, self.node(n.elt))
    def write_SetComp(self, n): return self.comprehension("set-comp", n, self.node(n.elt))
    def write_GeneratorExp(self, n): return self.comprehension("generator", n, self.node(n.elt))

    def write_DictComp(self, n):
        return self.comprehension("dict-comp", n, self.node(n.key), self.node(n.value))

    def write_comprehension(self, n):
        head = "async-for" if n.is_async else "for"
        return "(" + " ".join([head, self.node(n.target), self.node(n.iter),
                               *self.all(n.ifs)]) + ")"

    def write_NamedExpr(self, n): return self.form(":=", n, self.node(n.target), self.node(n.value))
    def write_Await(self, n): return self.form("await", n, self.node(n.value))
    def write_YieldFrom(self, n): return self.form("yield-from", n, self.node(n.value))

    def write_Yield(self, n):
        return self.form("yield", n, *([self.node(n.value)] if n.value else []))

    # ---- statements

    def write_Expr(self, n): return self.form("expr", n, self.node(n.value))

    def write_Assign(self, n):
        return self.form("assign", n, *self.all(n.targets), "=", self.node(n.value))

    def write_AnnAssign(self, n):
        value = [self.node(n.value)] if n.value else []
        return self.form("ann", n, self.node(n.target), self.node(n.annotation), *value)

    def write_AugAssign(self, n):
        return ("(" + self.span(n) + BINARY[type(n.op)] + "= " + self.node(n.target) + " " +
                self.node(n.value) + ")")

    def write_Return(self, n):
        return self.form("return", n, *([self.node(n.value)] if n.value else []))

    def write_Pass(self, n): return self.form("pass", n)
    def write_Break(self, n): return self.form("break", n)
    def write_Continue(self, n): return self.form("continue", n)

    def blocks(self, head, n, *parts):
        return ("(" + ("async-" if head[0] == "-" else "") + self.span(n) +
                " ".join([head.lstrip("-"), *parts]) + ")")

    def else_block(self, n): return [self.block(n.orelse)] if n.orelse else []

    def write_If(self, n):
        return self.blocks("if", n, self.node(n.test), self.block(n.body), *self.else_block(n))

    def write_While(self, n):
        return self.blocks("while", n, self.node(n.test), self.block(n.body), *self.else_block(n))

    def write_For(self, n, head="for"):
        return self.blocks(head, n, self.node(n.target), self.node(n.iter), self.block(n.body),
                           *self.else_block(n))

    def write_AsyncFor(self, n): return self.write_For(n, "-for")

    def write_With(self, n, head="with"):
        return self.blocks(head, n, *self.all(n.items), self.block(n.body))

    def write_AsyncWith(self, n): return self.write_With(n, "-with")

    def write_withitem(self, n):
        target = [self.node(n.optional_vars)] if n.optional_vars else []
        return "(" + " ".join(["item", self.node(n.context_expr), *target]) + ")"

    def write_Try(self, n, head="try"):
        return self.form(head, n, self.block(n.body), *self.all(n.handlers),
                         self.maybe_block(n.orelse), self.maybe_block(n.finalbody))

    def write_TryStar(self, n): return self.write_Try(n, "try*")

    def write_ExceptHandler(self, n):
        return self.form("except", n, self.maybe(n.type), n.name or "-", self.block(n.body))

    def write_Raise(self, n):
        return self.form("raise", n, *[self.node(x) for x in (n.exc, n.cause) if x])

    def write_Assert(self, n):
        return self.form("assert", n, *[self.node(x) for x in (n.test, n.msg) if x])

    def write_Delete(self, n): return self.form("del", n, *self.all(n.targets))

    def names(self, head, n):
        """CPython keeps no places of the names."""
        return self.form(head, n, *n.names)

    def write_Global(self, n): return self.names("global", n)
    def write_Nonlocal(self, n): return self.names("nonlocal", n)

    def write_alias(self, n):
        return "(" + n.name + self.span(n) + (" " + n.asname if n.asname else "") + ")"

    def write_Import(self, n): return self.form("import", n, *self.all(n.names))

    def write_ImportFrom(self, n):
        names = ["*"] if n.names[0].name == "*" else self.all(n.names)
        return self.form("from", n, f"{n.level}:{n.module or ''}", *names)

    def write_FunctionDef(self, n): return self.function("def", n)
    def write_AsyncFunctionDef(self, n): return self.function("async-def", n)

    def write_ClassDef(self, n):
        bases = self.arguments(n.bases, n.keywords)
        parts = [n.name, *self.group("types", getattr(n, "type_params", []))]
        parts += ["(" + " ".join(["bases", *bases]) + ")"] if bases else []
        parts += [*self.group("decorators", n.decorator_list), self.block(n.body)]
        return self.form("class", n, *parts)

    def write_Match(self, n):
        cases = [f"(case {self.pattern(c.pattern)} {self.maybe(c.guard)} {self.block(c.body)})"
                 for c in n.cases]
        return self.form("match", n, self.node(n.subject), *cases)

    def write_TypeAlias(self, n):
        return self.form("type", n, n.name.id, *self.group("types", n.type_params),
                         self.node(n.value))

    def type_param(self, head, n, bound=None):
        return self.form(head, n, n.name, self.maybe(bound),
                         self.maybe(getattr(n, "default_value", None)))

    def write_TypeVar(self, n): return self.type_param("T", n, n.bound)
    def write_TypeVarTuple(self, n): return self.type_param("*", n)
    def write_ParamSpec(self, n): return self.type_param("**", n)


def dump(path):
    with open(path, "rb") as file:
        text = named(file.read())
    writer = Writer(text)
    try:
        tree = ast.parse(text.decode("utf-8-sig"), path)
        lines = [writer.node(statement) for statement in tree.body]
    except (SyntaxError, ValueError, MemoryError, RecursionError, Unlike):
        return
    print("FILE", path)
    for line in lines:
        print(line)


def files_of(folders, limit):
    found = []
    for folder in folders:
        for root, _, names in os.walk(folder):
            found += [os.path.join(root, name) for name in names if name.endswith(".py")]
    found = [path for path in sorted(found) if os.path.isfile(path)]
    total = sum(map(os.path.getsize, found))
    return found[::total // limit + 1] if limit else found


def main():
    if sys.version_info < (3, 8):
        sys.exit(77)
    args, limit = sys.argv[1:], 0
    if args[:1] == ["--bytes"]:
        limit, args = int(args[1]), args[2:]
    sys.setrecursionlimit(20000)
    warnings.simplefilter("ignore")
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    print("spans" if SPANS else "no spans")
    for path in files_of(args or [os.path.dirname(os.__file__)], limit):
        dump(path)


main()

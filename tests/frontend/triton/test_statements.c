// The trees of statements, as texts.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/py_tree.h"

static const PyCase statements[] = {
    {"a", "(expr a)"},
    {"a = b", "(assign a = b)"},
    {"a = b = c", "(assign a b = c)"},
    {"a, b = c", "(assign (tuple a b) = c)"},
    {"*a, b = c", "(assign (tuple (star a) b) = c)"},
    {"[a, (b, c)] = d", "(assign (list a (tuple b c)) = d)"},
    {"a.b[c] = d", "(assign (at (. a b) c) = d)"},
    {"a = yield", "(assign a = (yield))"},
    {"a = yield b", "(assign a = (yield b))"},
    {"a = *b, c", "(assign a = (tuple (star b) c))"},
    {"a: int", "(ann a int)"},
    {"a: int = 3", "(ann a int 3)"},
    {"a.b: int", "(ann (. a b) int)"},
    {"(a): int = 1", "(ann a int 1)"},
    {"a[b]: c = yield", "(ann (at a b) c (yield))"},
    {"a += 1", "(+= a 1)"},
    {"a -= b, c", "(-= a (tuple b c))"},
    {"a *= 1", "(*= a 1)"},
    {"a /= 1", "(/= a 1)"},
    {"a //= 1", "(//= a 1)"},
    {"a %= 1", "(%= a 1)"},
    {"a **= 1", "(**= a 1)"},
    {"a @= 1", "(@= a 1)"},
    {"a &= 1", "(&= a 1)"},
    {"a |= 1", "(|= a 1)"},
    {"a ^= 1", "(^= a 1)"},
    {"a <<= 1", "(<<= a 1)"},
    {"a >>= 1", "(>>= a 1)"},
    {"a.b += yield", "(+= (. a b) (yield))"},
    {"pass", "(pass)"},
    {"break; continue",
     "(break)\n"
     "(continue)"},
    {"return", "(return)"},
    {"return a, *b", "(return (tuple a (star b)))"},
    {"raise", "(raise)"},
    {"raise a", "(raise a)"},
    {"raise a from b", "(raise a b)"},
    {"assert a", "(assert a)"},
    {"assert a, b", "(assert a b)"},
    {"del a", "(del a)"},
    {"del a, b.c, d[e]", "(del a (. b c) (at d e))"},
    {"del (a, [b])", "(del (tuple a (list b)))"},
    {"del (a), b,", "(del a b)"},
    {"global a, b", "(global a b)"},
    {"nonlocal a", "(nonlocal a)"},
    {"yield", "(expr (yield))"},
    {"await a", "(expr (await a))"},
    {"a; b;",
     "(expr a)\n"
     "(expr b)"},
    {"import a", "(import (a))"},
    {"import a.b.c as d, e", "(import (a.b.c d) (e))"},
    {"import a . b", "(import (a.b))"},
    {"from a import b", "(from 0:a (b))"},
    {"from a.b import c as d, e", "(from 0:a.b (c d) (e))"},
    {"from . import a", "(from 1: (a))"},
    {"from .a import *", "(from 1:a *)"},
    {"from ... import a", "(from 3: (a))"},
    {"from .... a import (b, c as d,)", "(from 4:a (b) (c d))"},
    {"type X = int", "(type X int)"},
    {"type X[T] = list[T]", "(type X (types (T T - -)) (at list T))"},
    {"type X[T: int, *Ts, **P] = a", "(type X (types (T T int -) (* Ts - -) (** P - -)) a)"},
    {"type X[T = int, *Ts = *a, **P = b] = c",
     "(type X (types (T T - int) (* Ts - (star a)) (** P - b)) c)"},
    {"type = 1", "(assign type = 1)"},
    {"type(x)", "(expr (call type x))"},
    {"type[x]", "(expr (at type x))"},
    {"match = 1", "(assign match = 1)"},
    {"match(x)", "(expr (call match x))"},
    {"match[x] = 1", "(assign (at match x) = 1)"},
    {"match.x = 1", "(assign (. match x) = 1)"},
    {"match in x", "(expr (cmp match in x))"},
    {"match not in x", "(expr (cmp match not in x))"},
    {"match * x", "(expr (* match x))"},
    {"match - x", "(expr (- match x))"},
    {"match, x", "(expr (tuple match x))"},
    {"match: int = 1", "(ann match int 1)"},
    {"case = _ = type", "(assign case _ = type)"},
    {"print(a)", "(expr (call print a))"},
};

static void test_statements(void **state) {
    (void)state;
    py_text_check_trees(statements, sizeof statements / sizeof *statements);
}

static const PyCase compound[] = {
    {"if a: b", "(if a (do (expr b)))"},
    {"if a: b; c", "(if a (do (expr b) (expr c)))"},
    {"if a:\n"
     "    b",
     "(if a (do (expr b)))"},
    {"if a:\n"
     "    b\n"
     "elif c:\n"
     "    d\n"
     "elif e:\n"
     "    f\n"
     "else:\n"
     "    g",
     "(if a (do (expr b)) (do (if c (do (expr d)) (do (if e (do (expr f)) (do (expr g)))))))"},
    {"if a := b: c", "(if (:= a b) (do (expr c)))"},
    {"while a:\n"
     "    b\n"
     "else:\n"
     "    c",
     "(while a (do (expr b)) (do (expr c)))"},
    {"for a in b: c", "(for a b (do (expr c)))"},
    {"for a, *b in c, d:\n"
     "    e\n"
     "else:\n"
     "    f",
     "(for (tuple a (star b)) (tuple c d) (do (expr e)) (do (expr f)))"},
    {"for a, in b: c", "(for (tuple a) b (do (expr c)))"},
    {"for a.b[c] in d: e", "(for (at (. a b) c) d (do (expr e)))"},
    {"for (a, b) in c: d", "(for (tuple a b) c (do (expr d)))"},
    {"async def f():\n"
     "    async for a in b: c\n"
     "    async with a as b: c",
     "(async-def f () (do (async-for a b (do (expr c))) (async-with (item a b) (do (expr c)))))"},
    {"with a: b", "(with (item a) (do (expr b)))"},
    {"with a, b as c: d", "(with (item a) (item b c) (do (expr d)))"},
    {"with a as (b, c): d", "(with (item a (tuple b c)) (do (expr d)))"},
    {"with (a): b", "(with (item a) (do (expr b)))"},
    {"with (a, b): c", "(with (item a) (item b) (do (expr c)))"},
    {"with (a as b): c", "(with (item a b) (do (expr c)))"},
    {"with (a as b, c,): d", "(with (item a b) (item c) (do (expr d)))"},
    {"with (a, b) as c: d", "(with (item (tuple a b) c) (do (expr d)))"},
    {"with (a).b: c", "(with (item (. a b)) (do (expr c)))"},
    {"with (a, b).c as d, e: f", "(with (item (. (tuple a b) c) d) (item e) (do (expr f)))"},
    {"with (yield): a", "(with (item (yield)) (do (expr a)))"},
    {"with (a := b): c", "(with (item (:= a b)) (do (expr c)))"},
    {"with (*a, b): c", "(with (item (tuple (star a) b)) (do (expr c)))"},
    {"with (a for a in b): c", "(with (item (generator a (for a b))) (do (expr c)))"},
    {"with (): a", "(with (item (tuple)) (do (expr a)))"},
    {"with (a) as b, c: d", "(with (item a b) (item c) (do (expr d)))"},
    {"with (\n"
     "  a as b,\n"
     "  c as d\n"
     "): e",
     "(with (item a b) (item c d) (do (expr e)))"},
    {"try:\n"
     "    a\n"
     "except:\n"
     "    b",
     "(try (do (expr a)) (except - - (do (expr b))) - -)"},
    {"try: a\n"
     "except b: c\n"
     "except d as e: f\n"
     "except (g, h): i\n"
     "else: j\n"
     "finally: k",
     "(try (do (expr a)) (except b - (do (expr c))) (except d e (do (expr f))) (except (tuple g h) "
     "- (do (expr i))) (do (expr j)) (do (expr k)))"},
    {"try: a\n"
     "finally: b",
     "(try (do (expr a)) - (do (expr b)))"},
    {"try: a\n"
     "except* b: c\n"
     "except* d as e: f",
     "(try* (do (expr a)) (except b - (do (expr c))) (except d e (do (expr f))) - -)"},
    {"if a:\n"
     "    if b:\n"
     "        c\n"
     "    d\n"
     "e",
     "(if a (do (if b (do (expr c))) (expr d)))\n"
     "(expr e)"},
    {"if a:\n"
     "  b\n"
     "\n"
     "  # note\n"
     "c",
     "(if a (do (expr b)))\n"
     "(expr c)"},
    {"if a:\n"
     "\tb\n"
     "\tc",
     "(if a (do (expr b) (expr c)))"},
    {"\\\n"
     "a",
     "(expr a)"},
    {"a = (b +\n"
     "# note\n"
     "  c)",
     "(assign a = (+ b c))"},
    {"a = b + \\\n"
     "  c",
     "(assign a = (+ b c))"},
    {"a \\\n"
     "  .b",
     "(expr (. a b))"},
    {"a # note", "(expr a)"},
    {"\n"
     "# note\n"
     "\n"
     "a\n",
     "(expr a)"},
    {"\fa", "(expr a)"},
    {"if a:\n"
     "    b\n"
     "\f\n"
     "    c",
     "(if a (do (expr b) (expr c)))"},
};

static void test_compound(void **state) {
    (void)state;
    py_text_check_trees(compound, sizeof compound / sizeof *compound);
}

static const PyCase functions[] = {
    {"def f(): pass", "(def f () (do (pass)))"},
    {"def f() -> a: b", "(def f () -> a (do (expr b)))"},
    {"def f() -> (a, b): c", "(def f () -> (tuple a b) (do (expr c)))"},
    {"def f(a, b: int = 1, *c: d, e, g=2, **h: i): j",
     "(def f (a b: int= 1 *c: d =e =g= 2 **h: i) (do (expr j)))"},
    {"def f(a, /, b): c", "(def f (/a b) (do (expr c)))"},
    {"def f(a=1, /, b=2, *, c, d=3): e", "(def f (/a= 1 b= 2 =c =d= 3) (do (expr e)))"},
    {"def f(a, /): b", "(def f (/a) (do (expr b)))"},
    {"def f(*, a): b", "(def f (=a) (do (expr b)))"},
    {"def f(*a, b=1): c", "(def f (*a =b= 1) (do (expr c)))"},
    {"def f(**a,): b", "(def f (**a) (do (expr b)))"},
    {"def f(*args: *Ts): a", "(def f (*args: (star Ts)) (do (expr a)))"},
    {"def f[T](a: T) -> T: b", "(def f (types (T T - -)) (a: T) -> T (do (expr b)))"},
    {"def f[T: int = a, *Ts = b, **P](): c",
     "(def f (types (T T int a) (* Ts - b) (** P - -)) () (do (expr c)))"},
    {"async def f(a): await a", "(async-def f (a) (do (expr (await a))))"},
    {"@a\n"
     "def f(): b",
     "(def f () (decorators a) (do (expr b)))"},
    {"@a.b(c)\n"
     "@(d := e)\n"
     "async def f(): g",
     "(async-def f () (decorators (call (. a b) c) (:= d e)) (do (expr g)))"},
    {"def f():\n"
     "    \"\"\"doc\"\"\"\n"
     "    return",
     "(def f () (do (expr \"doc\") (return)))"},
    {"def f():\n"
     "    def g(): pass",
     "(def f () (do (def g () (do (pass)))))"},
    {"class A: pass", "(class A (do (pass)))"},
    {"class A(): pass", "(class A (do (pass)))"},
    {"class A(B, c=D, *E, **F): pass", "(class A (bases B (= c D) (star E) (** F)) (do (pass)))"},
    {"class A[T](B[T]):\n"
     "    a: int\n"
     "    def f(self): pass",
     "(class A (types (T T - -)) (bases (at B T)) (do (ann a int) (def f (self) (do (pass)))))"},
    {"@a\n"
     "class A: b",
     "(class A (decorators a) (do (expr b)))"},
    {"@a\n"
     " \n"
     "# note\n"
     "def f(): b",
     "(def f () (decorators a) (do (expr b)))"},
};

static void test_functions(void **state) {
    (void)state;
    py_text_check_trees(functions, sizeof functions / sizeof *functions);
}

static const PyCase match[] = {
    {"match a:\n"
     "    case 1: b",
     "(match a (case 1 - (do (expr b))))"},
    {"match a:\n"
     "    case 1: b\n"
     "    case -1: c\n"
     "    case 1.5 + 2j: d\n"
     "    case -1 - 2j: e",
     "(match a (case 1 - (do (expr b))) (case (neg 1) - (do (expr c))) (case (+ 1.5 j2.0) - (do "
     "(expr d))) (case (- (neg 1) j2.0) - (do (expr e))))"},
    {"match a:\n"
     "    case 'a' 'b': b\n"
     "    case b'c': d\n"
     "    case None: e\n"
     "    case True: f",
     "(match a (case \"ab\" - (do (expr b))) (case b\"c\" - (do (expr d))) (case None - (do (expr "
     "e))) (case True - (do (expr f))))"},
    {"match a:\n"
     "    case x: b\n"
     "    case _: c\n"
     "    case x.y.z: d",
     "(match a (case x - (do (expr b))) (case _ - (do (expr c))) (case (. (. x y) z) - (do (expr "
     "d))))"},
    {"match a:\n"
     "    case (x): b\n"
     "    case (x,): c\n"
     "    case (): d\n"
     "    case []: e\n"
     "    case [x, *y, z]: f",
     "(match a (case x - (do (expr b))) (case (seq x) - (do (expr c))) (case (seq) - (do (expr "
     "d))) (case (seq) - (do (expr e))) (case (seq x (star y) z) - (do (expr f))))"},
    {"match a:\n"
     "    case x, y: b\n"
     "    case x,: c\n"
     "    case *x, y: d\n"
     "    case *_,: e",
     "(match a (case (seq x y) - (do (expr b))) (case (seq x) - (do (expr c))) (case (seq (star x) "
     "y) - (do (expr d))) (case (seq (star _)) - (do (expr e))))"},
    {"match a:\n"
     "    case {}: b\n"
     "    case {'k': v, **rest}: c\n"
     "    case {x.y: 1, -1: z,}: d",
     "(match a (case (map) - (do (expr b))) (case (map \"k\": v **rest) - (do (expr c))) (case "
     "(map (. x y): 1 (neg 1): z) - (do (expr d))))"},
    {"match a:\n"
     "    case A(): b\n"
     "    case a.B(x, y=1, z=(c, d),): e",
     "(match a (case (class A) - (do (expr b))) (case (class (. a B) x y=1 z=(seq c d)) - (do "
     "(expr e))))"},
    {"match a:\n"
     "    case A() | B() | c: d\n"
     "    case (1 | 2) as x: e\n"
     "    case [1 | 2 as y, _]: f",
     "(match a (case (or (class A) (class B) c) - (do (expr d))) (case (as (or 1 2) x) - (do (expr "
     "e))) (case (seq (as (or 1 2) y) _) - (do (expr f))))"},
    {"match a:\n"
     "    case x if x > 1: b\n"
     "    case y if (z := 1): c",
     "(match a (case x (cmp x > 1) (do (expr b))) (case y (:= z 1) (do (expr c))))"},
    {"match a, b:\n"
     "    case _: c",
     "(match (tuple a b) (case _ - (do (expr c))))"},
    {"match a,:\n"
     "    case _: b",
     "(match (tuple a) (case _ - (do (expr b))))"},
    {"match *a, b:\n"
     "    case _: c",
     "(match (tuple (star a) b) (case _ - (do (expr c))))"},
    {"match (a):\n"
     "    case _: b",
     "(match a (case _ - (do (expr b))))"},
    {"match (a, b):\n"
     "    case _: c",
     "(match (tuple a b) (case _ - (do (expr c))))"},
    {"match [a]:\n"
     "    case _: b",
     "(match (list a) (case _ - (do (expr b))))"},
    {"match {a: b}:\n"
     "    case _: c",
     "(match (dict (: a b)) (case _ - (do (expr c))))"},
    {"match -a:\n"
     "    case _: b",
     "(match (neg a) (case _ - (do (expr b))))"},
    {"match not a:\n"
     "    case _: b",
     "(match (not a) (case _ - (do (expr b))))"},
    {"match match:\n"
     "    case case: case",
     "(match match (case case - (do (expr case))))"},
    {"match lambda: a:\n"
     "    case _: b",
     "(match (lambda () a) (case _ - (do (expr b))))"},
    {"match a := b:\n"
     "    case _:\n"
     "        c\n"
     "        d",
     "(match (:= a b) (case _ - (do (expr c) (expr d))))"},
    {"match (\n"
     "  a):\n"
     "    case _: b",
     "(match a (case _ - (do (expr b))))"},
    {"match f'a':\n"
     "    case _: b",
     "(match (f \"a\") (case _ - (do (expr b))))"},
    {"match ...:\n"
     "    case f'a': b",
     "(match ... (case (f \"a\") - (do (expr b))))"},
};

static void test_match(void **state) {
    (void)state;
    py_text_check_trees(match, sizeof match / sizeof *match);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statements),
        cmocka_unit_test(test_compound),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_match),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

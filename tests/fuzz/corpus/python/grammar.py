# Every production of the grammar.
a + b * c
a * b + c
a - b - c
a / b // c % d @ e
a << b + c >> d
a & b << c
a ^ b & c | d
-a ** -b
2 ** 3 ** 4
~a + -b - +c
(a + b) * c
not a == b
not a and not b or c and d
a or b or c
a or (b or c)
a < b <= c != d
a is not b
a not in b
a in b is c
a > b >= c == d
not a in b
await a ** b
x if a else y if b else z
(a := 1) + b
(True, False, None, ...)
()
(a)
(a,)
(a, b,)
[]
[a, *b]
{}
{a}
{a, *b}
{a: b, **c}
{a: b for a, b in c}
a, b
a,
*a, b
(yield)
(yield a, b)
(yield from a)
(*a, b := 1)
f()
f(a, *b, c=1, **d, e=2, **g)
f(a=1, *b)
f(*a, b, c=2, **d)
f(a for a in b)
f((a for a in b), c)
f(a := 1, b=c)
a.b.c(d)[e].f
kernel[grid](a, B=2)
a[b]
a[b, c]
a[b,]
a[:]
a[b:c]
a[b:c:d, ::e, :f]
a[:, None]
a[*b]
a[b := 1]
a[(b, c)]
match.case(type)[_]
[a for a in b]
[a async for a in b]
[a for a in b if c if d for e, *f in a]
{a for a in b}
(a for a.b in c)
[*a, b]
[a for a in b or c]
[a if b else c for d in e]
lambda: a
lambda a: b
lambda a, b=1, *c, d, **e: f
lambda a, /, b, *, c: d
lambda *a: (yield)
lambda a: lambda b: a
0
1_000
0xFf_f
0o17
0b1_01
0_0
1.5
1.
.5e3
1e-3
10_0.0_1
1j
1.5e2J
00.5
09.5
1if a else 2
170141183460469231731687303715884105727
170141183460469231731687303715884105728
0xffffffffffffffffffffffffffffffff
1e400
'a'
"b"
''
""" a ""
 b """
'''x'''
r'\n'
R'\''
b'\xff\101'
rb'\x' Br'\y'
u'\u00e9\U0001F600\xe9'
'\a\b\f\n\r\t\v\\\'\"\0\18\777'
'\q\N{BULLET}'
'a\
b'
"a" 'b' """c"""
("a"
 "b")
'é'
f'a'
f''
f'{a}'
f'{a!r}'
f'{a:>10}'
f'{a!s:{b}.{c}x}'
f'{{a}}'
f'{a=}'
f'{ a + b = }'
f'{a=!s}'
f'{a=:.2f}'
f'{a!=b}'
f'{a:=5}'
f'{(a:=5)}'
f'{a["b"]}{f"{c}"}'
f"{x["a"]}"
f"{f"{f"{1}"}"}"
'a' f'{b}' 'c' f'd'
rf'\{a}\n'
f'\n{a}\x41'
f'{a, b}'
f'{*a, b}'
f'{lambda_}'
f'{yield_}'
f'{(lambda x: x)(1)}'
f'''{
a
}'''
f'{
a # note
}'
f'{d[1:2]}'
f'{ {1: 2}[1] }'
f'{a:}'
f'\N{BULLET}{a}'
f'{a}' 'b' rf'{c}\d'
f'{yield a}'
Rf'''{a:\d}'''
a
a = b
a = b = c
a, b = c
*a, b = c
[a, (b, c)] = d
a.b[c] = d
a = yield
a = yield b
a = *b, c
a: int
a: int = 3
a.b: int
(a): int = 1
a[b]: c = yield
a += 1
a -= b, c
a *= 1
a /= 1
a //= 1
a %= 1
a **= 1
a @= 1
a &= 1
a |= 1
a ^= 1
a <<= 1
a >>= 1
a.b += yield
pass
break; continue
return
return a, *b
raise
raise a
raise a from b
assert a
assert a, b
del a
del a, b.c, d[e]
del (a, [b])
del (a), b,
global a, b
nonlocal a
yield
await a
a; b;
import a
import a.b.c as d, e
import a . b
from a import b
from a.b import c as d, e
from . import a
from .a import *
from ... import a
from .... a import (b, c as d,)
type X = int
type X[T] = list[T]
type X[T: int, *Ts, **P] = a
type X[T = int, *Ts = *a, **P = b] = c
type = 1
type(x)
type[x]
match = 1
match(x)
match[x] = 1
match.x = 1
match in x
match not in x
match * x
match - x
match, x
match: int = 1
case = _ = type
print(a)
if a: b
if a: b; c
if a:
    b
if a:
    b
elif c:
    d
elif e:
    f
else:
    g
if a := b: c
while a:
    b
else:
    c
for a in b: c
for a, *b in c, d:
    e
else:
    f
for a, in b: c
for a.b[c] in d: e
for (a, b) in c: d
async def f():
    async for a in b: c
    async with a as b: c
with a: b
with a, b as c: d
with a as (b, c): d
with (a): b
with (a, b): c
with (a as b): c
with (a as b, c,): d
with (a, b) as c: d
with (a).b: c
with (a, b).c as d, e: f
with (yield): a
with (a := b): c
with (*a, b): c
with (a for a in b): c
with (): a
with (a) as b, c: d
with (
  a as b,
  c as d
): e
try:
    a
except:
    b
try: a
except b: c
except d as e: f
except (g, h): i
else: j
finally: k
try: a
finally: b
try: a
except* b: c
except* d as e: f
if a:
    if b:
        c
    d
e
if a:
  b

  # note
c
if a:
	b
	c
\
a
a = (b +
# note
  c)
a = b + \
  c
a \
  .b
a # note
# note

a
a
if a:
    b

    c
def f(): pass
def f() -> a: b
def f() -> (a, b): c
def f(a, b: int = 1, *c: d, e, g=2, **h: i): j
def f(a, /, b): c
def f(a=1, /, b=2, *, c, d=3): e
def f(a, /): b
def f(*, a): b
def f(*a, b=1): c
def f(**a,): b
def f(*args: *Ts): a
def f[T](a: T) -> T: b
def f[T: int = a, *Ts = b, **P](): c
async def f(a): await a
@a
def f(): b
@a.b(c)
@(d := e)
async def f(): g
def f():
    """doc"""
    return
def f():
    def g(): pass
class A: pass
class A(): pass
class A(B, c=D, *E, **F): pass
class A[T](B[T]):
    a: int
    def f(self): pass
@a
class A: b
@a

# note
def f(): b
match a:
    case 1: b
match a:
    case 1: b
    case -1: c
    case 1.5 + 2j: d
    case -1 - 2j: e
match a:
    case 'a' 'b': b
    case b'c': d
    case None: e
    case True: f
match a:
    case x: b
    case _: c
    case x.y.z: d
match a:
    case (x): b
    case (x,): c
    case (): d
    case []: e
    case [x, *y, z]: f
match a:
    case x, y: b
    case x,: c
    case *x, y: d
    case *_,: e
match a:
    case {}: b
    case {'k': v, **rest}: c
    case {x.y: 1, -1: z,}: d
match a:
    case A(): b
    case a.B(x, y=1, z=(c, d),): e
match a:
    case A() | B() | c: d
    case (1 | 2) as x: e
    case [1 | 2 as y, _]: f
match a:
    case x if x > 1: b
    case y if (z := 1): c
match a, b:
    case _: c
match a,:
    case _: b
match *a, b:
    case _: c
match (a):
    case _: b
match (a, b):
    case _: c
match [a]:
    case _: b
match {a: b}:
    case _: c
match -a:
    case _: b
match not a:
    case _: b
match match:
    case case: case
match lambda: a:
    case _: b
match a := b:
    case _:
        c
        d
match (
  a):
    case _: b
match f'a':
    case _: b
match ...:
    case f'a': b

def
def f
def f:
    a
def f(
def f(a
    return a
def f(a, b
g = 1
def f(a b): c
def f(1): a
def f(a.b): c
def f(a=): b
def f(a:): b
def f(a=1, b): c
def f(*): a
def f(*, **a): b
def f(*a, *b): c
def f(*, *a): b
def f(**a, b): c
def f(**a, **b): c
def f(*a=1): b
def f(**a=1): b
def f(/): a
def f(a, /, b, /): c
def f(*a, /): b
def f(*, /, a): b
def f(lambda): a
def f() ->: a
def f() -> a, b: c
def f() - > a: b
def class(): a
def f():
a
def f(): a b
def f(a, a b):
    c d
def f[(a): b
def f[](a): b
class
class a
class 1: b
class a(b: c
class a:
b
class a b: c
@a
@a
b = 1
@a b
def f(): c d
@
def f(): a
@a
async b
lambda a=1, b: c
lambda *: a
async def f(a b): c

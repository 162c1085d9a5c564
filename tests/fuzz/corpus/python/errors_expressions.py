a +
a ++
a--
a = 
a && b
a || b
!a
a == = b
f(=1)
a <> b
x = yield_(yield)
print(yield)
a if b
a if else b
a.1
a.
a.if
not
lambda
lambda x
lambda x: 
lambda (a): b
x = *
f(**)
a[
a[]
a[1:2
a[1:2:3:4]
a[b := 1:]
[a b]
(a b)
{a b}
{a: b c: d}
{a: b, c}
{a, b: c}
{*a: b}
{**a for b in c}
[*a for b in c]
{a:}
(*a)
(a, b
[a, b
c = 1
f(a
def g(): pass
(]
f(a b)
f(a for a in b, c)
f(c, a for a in b)
f(a=1, b)
f(**a, b)
f(**a, *b)
f(a.b=1)
f((a)=1)
f(1 = a)
f(a
[a for a b]
[a for in b]
[a for 1 in b]
[a for a in]
x = [a for a in b if]
import_ = class
x = else
await
*a = *
a := b := c
(1 := a)
((a) := b)
(a.b := c)
f(a := 1 := 2)

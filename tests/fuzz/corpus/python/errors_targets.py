1 = a
a + b = c
f() = a
a < b = c
a and b = c
-a = b
(a, 1) = b
[a, f()] = b
*f() = a
None = a
False = a
[a] += 1
f(a[0]=1)
True = a
... = a
'a' = b
f'{a}' = b
lambda: a = b
(a if b else c) = d
{a} = b
{a: b} = c
[a for a in b] = c
(a for a in b) = c
(a := b) = c
yield = a
(await a) = b
a = 1 = b
f() += 1
(a, b) += 1
a, b += 1
1 -= a
for f() in a: b
for 1 in a: b
with a as 1: b
with a as b + c: d
with a as f(): d
with (a as 1, b): c
del f()
del 1
del *a
del a + b
del (a, 1)
f(): int

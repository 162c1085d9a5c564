  a
a
  b
c
if a:
    b
  c
d e
if a:
        b
	c
if a:
	b
        c
if a:
 b
	c
if a:
	if b:
		c
        d
if a:
    if b:
        c
      d
    e f
a = \ b
a = b + \
a \
a = 'b
c d
a = f('b
c d
a = '''b
c
a = f'b
c d
a = f'''b
a = f'{b
c d
a = (b
c = d
a = (b,
     c d,
     e)
f g
f(a,
  b c
  d)
g h
x = [
  1 2,
  3
]
y z
x = {
  'a': 1
  'b': 2
}
y z
a = (
  b
  return c
d e
class A:
    def f(self):
        a b
    def g(self):
        c d
e f

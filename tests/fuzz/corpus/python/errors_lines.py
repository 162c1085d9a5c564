a := 1
a)
a + b]
}
f(a): b
a b; c
return return
raise E, 'a'
pass a
a = 1 2
x = y if z
1: int
a: = 3
a:
for x in y: pass z

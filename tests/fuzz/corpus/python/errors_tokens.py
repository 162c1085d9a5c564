a = $b
a = b?
a ? b : c
`a`
a = “b”
a = b
a − b
a × b
​
a = €
1__0
1_
0x
0o8
0b2
0b12
0o18
0xg
0_7
0777
1a
1.5a
12L
1_000_
1e5x
'\x1'
'\u12'
'\U0012'
'\U00110000'
'\N'
'\N{a'
b'\x1'
b'é'
'a' b'b'
b'a' 'b'
b'a' f'b'
f'b' b'a'
a ! b
a -> b

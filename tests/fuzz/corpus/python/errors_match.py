match a:
b
match a:
    b
match a:
    b c:
        d
match a:
match a: case b: c
match a
    case b: c
match a:
    case: b
match a:
    case 1
        b
match a:
    case 1:
    b
match a:
    case 1 b: c
    case 2 d: e
match a:
    case a + b: c
match a:
    case -x: c
match a:
    case 1 + 2: c
match a:
    case 1j + 2j: c
match a:
    case 'a' + 2j: c
match a:
    case (*a): c
match a:
    case *a: c
match *a:
    case b: c
match a:
    case *1, b: c
match a:
    case {a: b}: c
match a:
    case {**1}: c
match a:
    case {1 2}: c
match a:
    case A(b=1, c): d
match a:
    case A(b c): d
match a:
    case [a, b: c
match a:
    case a as 1: c
match a:
    case a.1: c
match a:
    case a if: c
match a:
    case not a: c
match a:
    case f(): c
    d = 1
e f
match a:
    case 1: b
        c
match (a b
c = 1

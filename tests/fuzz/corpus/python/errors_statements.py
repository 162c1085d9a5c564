del
global
global 1
nonlocal a.b
assert
import
import a.
import a as
import a as b.c
import 1
from
from a
from a import
from a import b,
from a import (b
from a import (b, c
d = 1
from a import b.c
from a import *, b
from . a b
from import a
type X
type X = 
type X[
type X[T
type X[1] = a
type X[T: ] = a
raise a from
async a
async for
await = 1
a b
c d
e = 1
f g
if a:
    b c
    d e

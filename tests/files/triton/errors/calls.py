import triton
import triton.language as tl


@triton.jit
def scale(x, by):
    return x * by + tl.arange(0, 32)


@triton.jit
def inner(x):
    y = scale(x, 2)
    return y.to(tl.float32)


@triton.jit
def maybe(x, n):
    if n > 0:
        return x


@triton.jit
def kernel(x_ptr, n):
    i = tl.arange(0, 16)
    x = tl.load(x_ptr + i)
    a = inner(x)
    b = scale(x, by=3)
    c = maybe(x, n)
    d = maybe(x)
    tl.store(x_ptr + i, a + b + c + d)


# RUN: tilec check %s
# OUT:
#| calls.py:7:12: error: shapes do not go together: fp32[16] and fp32[32] [shape]
#|         return x * by + tl.arange(0, 32)
#|                ^~~~~~~~~~~~~~~~~~~~~~~~~
#| calls.py:12:9: note: in the call of 'scale'
#|         y = scale(x, 2)
#|             ^~~~~~~~~~~
#| calls.py:26:9: note: in the call of 'inner'
#|         a = inner(x)
#|             ^~~~~~~~
#| note: checked with x_ptr=*fp32
#| help: each dimension is equal in both, or 1 in one of them; x[:, None] adds one
#| calls.py:28:9: error: 'maybe' does not return a value on every path [missing-return]
#|         c = maybe(x, n)
#|             ^~~~~~~~~~~
#| calls.py:28:9: note: in the call of 'maybe'
#| note: checked with n=int32, x_ptr=*fp32
#| calls.py:19:9: note: it returns one here
#|             return x
#|             ^~~~~~~~
#| calls.py:29:9: error: 'maybe': the argument 'n' is missing [arguments]
#|         d = maybe(x)
#|             ^~~~~~~~
#| calls.py:17:14: note: it is declared here
#|     def maybe(x, n):
#|                  ^
#| 3 errors
# EXIT: 1

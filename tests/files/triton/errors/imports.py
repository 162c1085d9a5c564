import triton
import triton.language as tl
from lib.helpers import WRONG, first, nothing, twice
from lib.grammar import helper
from lib.ring_a import LENGTH
from lib import helpers
from missing_file import other


@triton.jit
def kernel(x_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    a = twice(x)
    b = first(x)
    c = WRONG
    d = nothing(x)
    e = helper(x)
    f = LENGTH + 1
    g = helpers.add_on(x)
    h = other(x)


# RUN: tilec check %s
# OUT:
#| imports.py:15:9: error: 'WRONG' cannot be imported [import]
#|         c = WRONG
#|             ^~~~~
#| ./lib/helpers.py:4:22: note: a constant is divided by zero
#|     WRONG = tl.constexpr(1 // 0)
#|                          ^~~~~~
#| imports.py:16:9: error: 'nothing' cannot be imported [import]
#|         d = nothing(x)
#|             ^~~~~~~
#| imports.py:3:1: note: ./lib/helpers.py defines no 'nothing'
#|     from lib.helpers import WRONG, first, nothing, twice
#|     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| imports.py:17:9: error: 'helper' cannot be imported [import]
#|         e = helper(x)
#|             ^~~~~~
#| ./lib/grammar.py:8:15: note: expected an expression, found the end of the line
#|         return x +
#|                   ^
#| imports.py:18:9: error: 'LENGTH' cannot be imported [import]
#|         f = LENGTH + 1
#|             ^~~~~~
#| ./lib/ring_a.py:4:1: note: 'LENGTH' is defined by itself
#|     LENGTH = SIZE
#|     ^~~~~~~~~~~~~
#| imports.py:19:9: error: ./lib/helpers.py defines no 'add_on' [unknown-name]
#|         g = helpers.add_on(x)
#|             ^~~~~~~~~~~~~~
#| help: did you mean 'add_one'?
#| imports.py:20:9: error: a kernel cannot use 'missing_file.other' [unsupported]
#|         h = other(x)
#|             ^~~~~
#| help: it may use triton.language, math, and functions with @triton.jit in files next to this one; no Python is run
#| ./lib/helpers.py:9:16: error: unknown name 'onee' [unknown-name]
#|         return x + onee
#|                    ^~~~
#| ./lib/helpers.py:14:12: note: in the call of 'add_one'
#|         return add_one(x) * 2
#|                ^~~~~~~~~~
#| imports.py:13:9: note: in the call of 'twice'
#|         a = twice(x)
#|             ^~~~~~~~
#| note: checked with x_ptr=*fp32
#| ./lib/helpers.py:19:14: error: a tensor takes ':' and 'None' as subscripts [index]
#|         return x[0]
#|                  ^
#| imports.py:14:9: note: in the call of 'first'
#|         b = first(x)
#|             ^~~~~~~~
#| note: checked with x_ptr=*fp32
#| help: elements are chosen by tl.gather, or when they are loaded
#| 8 errors
# EXIT: 1

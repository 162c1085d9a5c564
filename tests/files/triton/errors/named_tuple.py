# RUN-ERRORS: tilec check --json %s
from typing import NamedTuple

import triton
import triton.language as tl


class Pair(NamedTuple):
    first: tl.tensor
    second: tl.tensor = 1


class Other:
    pass


@triton.jit
def kernel(x_ptr):
    #! error: the field 'first' of 'Pair' has no value [arguments] @9
    a = Pair()
    #! error: 'Pair' has 2 fields, found 3 values [arguments] @9
    b = Pair(1, 2, 3)
    #! error: 'Pair' has no field 'third' [arguments] @17
    c = Pair(1, third=2)
    #! error: a tuple of 2 values has no attribute 'third' [unknown-name] @17
    d = Pair(1).third
    #! error: a kernel cannot use 'Other' [unsupported] @9
    e = Other()

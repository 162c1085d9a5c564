# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl

import os

PLAIN = 16
GOOD = tl.constexpr(16)
ALSO: tl.constexpr = 16
NAMES = {"a": 1}
TABLE = [1, 2, 3]
TEXT = "abc"
HOST = os.cpu_count()
BROKEN = tl.constexpr(1 // 0)
LOOP = LOOP + 1


def plain(a):
    return a + 1


class Config:
    size = 3


@triton.jit
def kernel(x_ptr):
    #! warning: Triton refuses 'PLAIN': it must be a tl.constexpr [not-constant] @22
    a = tl.arange(0, PLAIN)
    b = tl.arange(0, GOOD) + tl.arange(0, ALSO)

    c = NAMES["a"]
    #! warning: Triton refuses 'TABLE': it must be a tl.constexpr [not-constant] @9
    d = TABLE[0]
    #! error: the value of 'HOST' is not known at compile time [not-constant] @9
    e = HOST + 1
    #! error: the value of 'BROKEN' is not known at compile time [not-constant] @9
    f = BROKEN
    #! error: the value of 'LOOP' is not known at compile time [not-constant] @9
    g = LOOP
    h = plain(1)
    i = Config.size
    #! error: a kernel cannot use 'Config' [unsupported] @9
    j = Config()
    tl.store(x_ptr + a, b + d)

# Named tuples: made in a kernel and in helpers, passed, returned, changed in branches and loops.
from typing import NamedTuple

import triton
import triton.language as tl


class Row(NamedTuple):
    ptr: tl.tensor
    stride: tl.tensor
    scale: tl.constexpr = 2


@triton.jit
def row(ptr, stride):
    return Row(stride=stride, ptr=ptr)


@triton.jit
def at(r, i):
    return r.ptr + i * r.stride


@triton.jit
def kernel(x_ptr, o_ptr, s, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x_ptr + i, i)
    x = row(x_ptr, s)
    o = Row(o_ptr, 1, scale=3)
    if s > 1:
        o = Row(o_ptr + 1, 1, scale=3)
    for k in range(2):
        x = Row(x.ptr + k, x.stride)
    tl.store(at(o, i), tl.load(at(x, i), mask=i < B // 2) * x.scale * o[2])


# RUN: tilec run %s --device interp --set x_ptr='*i32' --set x_ptr.size=16 --set o_ptr='*i32' --set o_ptr.size=17 --set s=2 --set B=16 --grid 1
# OUT:
#| x_ptr: i32[16] = 0 1 2 3 4 5 6 7 …
#| o_ptr: i32[17] = 28 6 18 30 42 54 66 78 …
# RUN: tilec run %s --device sim:sm_80 --set x_ptr='*i32' --set x_ptr.size=16 --set o_ptr='*i32' --set o_ptr.size=17 --set s=2 --set B=16 --grid 1
# OUT:
#| x_ptr: i32[16] = 0 1 2 3 4 5 6 7 …
#| o_ptr: i32[17] = 28 6 18 30 42 54 66 78 …

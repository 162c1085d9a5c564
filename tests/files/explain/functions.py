# Remarks in a function of a Python file name it, too.
import triton
import triton.language as tl

@triton.jit
def row(x, i, W: tl.constexpr):
    return tl.sum(tl.load(x + i * W + tl.arange(0, W)), axis=0)

@triton.jit
def k(x, y, W: tl.constexpr):
    i = tl.program_id(0)
    tl.store(y + i, row(x, i, W) + row(x, i + 1, W))

# RUN: tilec explain %s k --target sm_80 --set x='*fp16' --set y='*fp16' --set W=1024 | grep "(in"
# OUT:
#| functions.py:7:12: the reduction goes through shared memory: its elements are distributed over 4 warps (2 times) (in 'row') [reduce-shared]
# RUN: tilec explain %s k --target sm_80 --set x='*fp16' --set y='*fp16' --set W=1024 | grep "is called"
# OUT:
#| note: 'row' is called at functions.py:12:21 and 1 more place

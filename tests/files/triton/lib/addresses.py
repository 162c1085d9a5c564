# Helpers for imported.py.
import triton
import triton.language as tl


@triton.jit
def at(p, i):
    return tl.load(p + i)


# RUN: tilec check %s
# OUT:

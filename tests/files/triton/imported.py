# A parameter that only an imported helper uses as an address is a pointer.
import triton
import triton.language as tl

from lib.addresses import at as element


@triton.jit
def copy(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, element(x, i))


# RUN: tilec run %s copy --device cpu --check --quiet --set x='*fp32' --set y='*fp32' --set x.size=16 --set y.size=16 --set B=16 --grid 1
# OUT:

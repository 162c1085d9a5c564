# A permutation from one number on, for a tile whose numbers begin at 0.
import triton
import triton.language as tl


@triton.jit
def permute(x_ptr, order_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.gather(tl.load(x_ptr + i), tl.load(order_ptr + i) + 1, 0))


# RUN: tilec run %s --device interp --sanitize --set x_ptr='*fp32' --set order_ptr='*u8' --set out_ptr='*fp32' --set x_ptr.size=16 --set order_ptr.size=16 --set out_ptr.size=16 --set N=16 --grid 1
# OUT:
#| gather_beyond.py:9:27: error: program (0, 0, 0), lane 0: an index is outside of the tile [bounds]
#|         tl.store(out_ptr + i, tl.gather(tl.load(x_ptr + i), tl.load(order_ptr + i) + 1, 0))
#|                               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
# EXIT: 3

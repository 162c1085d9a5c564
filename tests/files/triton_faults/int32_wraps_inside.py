# A row's offset wraps in int32 and becomes the offset of another row, which is inside.
import triton
import triton.language as tl


@triton.jit
def read_row(x_ptr, out_ptr, row, stride, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    tl.store(out_ptr + cols, tl.load(x_ptr + (row * stride + cols)))


# RUN: tilec run %s --device interp --sanitize --set x_ptr='*fp32' --set out_ptr='*fp32' --set x_ptr.size=100 --set out_ptr.size=16 --set row=65536 --set stride=65537 --set BLOCK=16 --grid 1
# OUT:
#| int32_wraps_inside.py:9:30: error: program (0, 0, 0), lane 0: reads element 65536 of 'x_ptr', an index that was computed with a number that wrapped [wrapped]
#|         tl.store(out_ptr + cols, tl.load(x_ptr + (row * stride + cols)))
#|                                  ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| int32_wraps_inside.py:9:47: note: this is more than i32 can hold; compute it in i64
#| note: and 15 more like this here
# EXIT: 3

# Scatter-add of rows: several rows go to one place, and are added without atomics.
import triton
import triton.language as tl


@triton.jit
def scatter_add(x_ptr, to_ptr, out_ptr, width, places, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * width + cols, mask=cols < width)
    place = tl.load(to_ptr + row).to(tl.int32) % places
    at = out_ptr + place * width + cols
    tl.store(at, tl.load(at, mask=cols < width) + x, mask=cols < width)


# RUN: tilec run %s --device interp --sanitize --set x_ptr='*fp32' --set to_ptr='*u8' --set out_ptr='*fp32' --set x_ptr.size=240 --set to_ptr.size=8 --set out_ptr.size=120 --set width=30 --set places=4 --set BLOCK=32 --grid 8
# OUT:
#| duplicate_scatter.py:13:18: error: program (3, 0, 0), lane 0: reads element 0 of 'out_ptr', which program 0 touches too, without atomics [race]
#|         tl.store(at, tl.load(at, mask=cols < width) + x, mask=cols < width)
#|                      ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 119 more like this here
#| duplicate_scatter.py:13:5: error: program (3, 0, 0), lane 0: writes element 0 of 'out_ptr', which program 0 touches too, without atomics [race]
#|         tl.store(at, tl.load(at, mask=cols < width) + x, mask=cols < width)
#|         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 119 more like this here
# EXIT: 3
# RUN: tilec run %s --device sim:sm_80 --set x_ptr='*fp32' --set to_ptr='*u8' --set out_ptr='*fp32' --set x_ptr.size=240 --set to_ptr.size=8 --set out_ptr.size=120 --set width=30 --set places=4 --set BLOCK=32 --grid 8 >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| duplicate_scatter.py:13:18: error: race
# EXIT: 3
# RUN: tilec run %s --device sim:gfx942 --set x_ptr='*fp32' --set to_ptr='*u8' --set out_ptr='*fp32' --set x_ptr.size=240 --set to_ptr.size=8 --set out_ptr.size=120 --set width=30 --set places=4 --set BLOCK=32 --grid 8 >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| duplicate_scatter.py:13:18: error: race
# EXIT: 3

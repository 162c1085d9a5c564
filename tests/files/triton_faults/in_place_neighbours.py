# Heat in a rod: updated in place, while the neighbouring programs read the elements at the edges.
import triton
import triton.language as tl


@triton.jit
def heat(x_ptr, n, rate, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    left = tl.load(x_ptr + i - 1, mask=(i > 0) & (i < n), other=0.0)
    x = tl.load(x_ptr + i, mask=i < n)
    right = tl.load(x_ptr + i + 1, mask=i + 1 < n, other=0.0)
    tl.store(x_ptr + i, x + rate * (left - 2 * x + right), mask=i < n)


# RUN: tilec run %s --device interp --sanitize --set x_ptr='*fp32' --set x_ptr.size=100 --set n=100 --set rate=0.1 --set BLOCK=32 --grid 'triton.cdiv(n, BLOCK)'
# OUT:
#| in_place_neighbours.py:9:12: error: program (1, 0, 0), lane 0: reads element 31 of 'x_ptr', which program 0 touches too, without atomics [race]
#|         left = tl.load(x_ptr + i - 1, mask=(i > 0) & (i < n), other=0.0)
#|                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 2 more like this here
#| in_place_neighbours.py:12:5: error: program (1, 0, 0), lane 0: writes element 32 of 'x_ptr', which program 0 touches too, without atomics [race]
#|         tl.store(x_ptr + i, x + rate * (left - 2 * x + right), mask=i < n)
#|         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 2 more like this here
# EXIT: 3
# RUN: tilec run %s --device sim:sm_80 --set x_ptr='*fp32' --set x_ptr.size=100 --set n=100 --set rate=0.1 --set BLOCK=32 --grid 'triton.cdiv(n, BLOCK)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| in_place_neighbours.py:9:12: error: race
# EXIT: 3
# RUN: tilec run %s --device sim:gfx942 --set x_ptr='*fp32' --set x_ptr.size=100 --set n=100 --set rate=0.1 --set BLOCK=32 --grid 'triton.cdiv(n, BLOCK)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| in_place_neighbours.py:9:12: error: race
# EXIT: 3

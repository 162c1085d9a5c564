# Sum of all elements: each program adds its part with a load and a store, not with an atomic.
import triton
import triton.language as tl


@triton.jit
def total(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0), axis=0)
    tl.store(out_ptr, tl.load(out_ptr) + part)


# RUN: tilec run %s --device interp --sanitize --set x_ptr='*fp32' --set out_ptr='*fp32' --set x_ptr.size=500 --set out_ptr.size=1 --set n=500 --set BLOCK=128 --grid 'triton.cdiv(n, BLOCK)'
# OUT:
#| missing_atomic.py:10:23: error: program (1, 0, 0), lane 0: reads element 0 of 'out_ptr', which program 0 touches too, without atomics [race]
#|         tl.store(out_ptr, tl.load(out_ptr) + part)
#|                           ^~~~~~~~~~~~~~~~
#| note: and 2 more like this here
#| missing_atomic.py:10:5: error: program (1, 0, 0), lane 0: writes element 0 of 'out_ptr', which program 0 touches too, without atomics [race]
#|         tl.store(out_ptr, tl.load(out_ptr) + part)
#|         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 2 more like this here
# EXIT: 3
# RUN: tilec run %s --device sim:sm_80 --set x_ptr='*fp32' --set out_ptr='*fp32' --set x_ptr.size=500 --set out_ptr.size=1 --set n=500 --set BLOCK=128 --grid 'triton.cdiv(n, BLOCK)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| missing_atomic.py:10:23: error: race
# EXIT: 3
# RUN: tilec run %s --device sim:gfx942 --set x_ptr='*fp32' --set out_ptr='*fp32' --set x_ptr.size=500 --set out_ptr.size=1 --set n=500 --set BLOCK=128 --grid 'triton.cdiv(n, BLOCK)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| missing_atomic.py:10:23: error: race
# EXIT: 3

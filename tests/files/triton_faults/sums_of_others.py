# Running sum in one launch: a program reads the sums of the programs before it, unordered.
import triton
import triton.language as tl


@triton.jit
def cumsum(x_ptr, sums_ptr, out_ptr, n, BLOCK: tl.constexpr, PROGRAMS: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(sums_ptr + pid, tl.sum(x, axis=0))
    p = tl.arange(0, PROGRAMS)
    before = tl.sum(tl.load(sums_ptr + p, mask=p < pid, other=0.0), axis=0)
    tl.store(out_ptr + i, before + tl.cumsum(x, axis=0), mask=i < n)


# RUN: tilec run %s --device interp --sanitize --set x_ptr='*fp32' --set sums_ptr='*fp32' --set out_ptr='*fp32' --set x_ptr.size=200 --set sums_ptr.size=4 --set out_ptr.size=200 --set n=200 --set BLOCK=64 --set PROGRAMS=4 --grid 'triton.cdiv(n, BLOCK)'
# OUT:
#| sums_of_others.py:13:21: error: program (1, 0, 0), lane 0: reads element 0 of 'sums_ptr', which program 0 touches too, without atomics [race]
#|         before = tl.sum(tl.load(sums_ptr + p, mask=p < pid, other=0.0), axis=0)
#|                         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 5 more like this here
# EXIT: 3
# RUN: tilec run %s --device sim:sm_80 --set x_ptr='*fp32' --set sums_ptr='*fp32' --set out_ptr='*fp32' --set x_ptr.size=200 --set sums_ptr.size=4 --set out_ptr.size=200 --set n=200 --set BLOCK=64 --set PROGRAMS=4 --grid 'triton.cdiv(n, BLOCK)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| sums_of_others.py:13:21: error: race
# EXIT: 3
# RUN: tilec run %s --device sim:gfx942 --set x_ptr='*fp32' --set sums_ptr='*fp32' --set out_ptr='*fp32' --set x_ptr.size=200 --set sums_ptr.size=4 --set out_ptr.size=200 --set n=200 --set BLOCK=64 --set PROGRAMS=4 --grid 'triton.cdiv(n, BLOCK)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| sums_of_others.py:13:21: error: race
# EXIT: 3

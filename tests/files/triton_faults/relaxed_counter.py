# The last program adds up the parts: its counter is relaxed, so it orders none of them.
import triton
import triton.language as tl


@triton.jit
def total(x_ptr, parts_ptr, count_ptr, out_ptr, n, PROGRAMS: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    tl.store(parts_ptr + pid, tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0), axis=0))
    if tl.atomic_add(count_ptr, 1, sem="relaxed") % PROGRAMS == PROGRAMS - 1:
        tl.store(out_ptr, tl.sum(tl.load(parts_ptr + tl.arange(0, PROGRAMS)), axis=0))


# RUN: tilec run %s --device interp --sanitize --set x_ptr='*fp32' --set parts_ptr='*fp32' --set count_ptr='*u32' --set out_ptr='*fp32' --set x_ptr.size=500 --set parts_ptr.size=4 --set count_ptr.size=1 --set out_ptr.size=1 --set n=500 --set PROGRAMS=4 --set BLOCK=128 --grid 4
# OUT:
#| relaxed_counter.py:12:34: error: program (3, 0, 0), lane 0: reads element 0 of 'parts_ptr', which program 0 touches too, without atomics [race]
#|             tl.store(out_ptr, tl.sum(tl.load(parts_ptr + tl.arange(0, PROGRAMS)), axis=0))
#|                                      ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 2 more like this here
# EXIT: 3
# RUN: tilec run %s --device sim:sm_80 --set x_ptr='*fp32' --set parts_ptr='*fp32' --set count_ptr='*u32' --set out_ptr='*fp32' --set x_ptr.size=500 --set parts_ptr.size=4 --set count_ptr.size=1 --set out_ptr.size=1 --set n=500 --set PROGRAMS=4 --set BLOCK=128 --grid 4 >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| relaxed_counter.py:12:34: error: race
# EXIT: 3
# RUN: tilec run %s --device sim:gfx942 --set x_ptr='*fp32' --set parts_ptr='*fp32' --set count_ptr='*u32' --set out_ptr='*fp32' --set x_ptr.size=500 --set parts_ptr.size=4 --set count_ptr.size=1 --set out_ptr.size=1 --set n=500 --set PROGRAMS=4 --set BLOCK=128 --grid 4 >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| relaxed_counter.py:12:34: error: race
# EXIT: 3

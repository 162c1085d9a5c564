# Histogram: the programs add their counts to the bins with a load and a store.
import triton
import triton.language as tl


@triton.jit
def histogram(x_ptr, bins_ptr, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0).to(tl.int32)
    counts = tl.histogram(x // 8, BINS, mask=i < n)
    bins = bins_ptr + tl.arange(0, BINS)
    tl.store(bins, tl.load(bins) + counts)


# RUN: tilec run %s --device interp --sanitize --set x_ptr='*u8' --set bins_ptr='*i32' --set x_ptr.size=200 --set bins_ptr.size=16 --set n=200 --set BLOCK=64 --set BINS=16 --grid 'triton.cdiv(n, BLOCK)'
# OUT:
#| histogram_without_atomics.py:12:20: error: program (1, 0, 0), lane 0: reads element 0 of 'bins_ptr', which program 0 touches too, without atomics [race]
#|         tl.store(bins, tl.load(bins) + counts)
#|                        ^~~~~~~~~~~~~
#| note: and 47 more like this here
#| histogram_without_atomics.py:12:5: error: program (1, 0, 0), lane 0: writes element 0 of 'bins_ptr', which program 0 touches too, without atomics [race]
#|         tl.store(bins, tl.load(bins) + counts)
#|         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 47 more like this here
# EXIT: 3
# RUN: tilec run %s --device sim:sm_80 --set x_ptr='*u8' --set bins_ptr='*i32' --set x_ptr.size=200 --set bins_ptr.size=16 --set n=200 --set BLOCK=64 --set BINS=16 --grid 'triton.cdiv(n, BLOCK)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| histogram_without_atomics.py:12:20: error: race
# EXIT: 3
# RUN: tilec run %s --device sim:gfx942 --set x_ptr='*u8' --set bins_ptr='*i32' --set x_ptr.size=200 --set bins_ptr.size=16 --set n=200 --set BLOCK=64 --set BINS=16 --grid 'triton.cdiv(n, BLOCK)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| histogram_without_atomics.py:12:20: error: race
# EXIT: 3

# The counts of a histogram are stored by the lanes that found each bin: several lanes, one bin.
import triton
import triton.language as tl


@triton.jit
def last_seen(bins_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    bins = tl.load(bins_ptr + i).to(tl.int32) % 8
    tl.store(out_ptr + bins, i)


# RUN: tilec run %s --device interp --sanitize --set bins_ptr='*u8' --set out_ptr='*i32' --set bins_ptr.size=16 --set out_ptr.size=8 --set BLOCK=16 --grid 1
# OUT:
#| duplicate_lanes.py:10:5: error: program (0, 0, 0), lane 5: writes element 0 of 'out_ptr', to which lane 4 writes another value [race]
#|         tl.store(out_ptr + bins, i)
#|         ^~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 8 more like this here
# EXIT: 3

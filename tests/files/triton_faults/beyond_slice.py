# Sequences one after the other: the rows are masked by the end of all, not of the sequence.
import triton
import triton.language as tl


@triton.jit
def scale_sequences(x_ptr, out_ptr, length, total, factor, BLOCK: tl.constexpr):
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    at = tl.program_id(0) * length + i
    x = tl.load(x_ptr + at, mask=i < length)
    tl.store(out_ptr + at, x * factor, mask=at < total)


# RUN: tilec run %s --device interp --sanitize --set x_ptr='*fp32' --set out_ptr='*fp32' --set x_ptr.size=150 --set out_ptr.size=150 --set length=50 --set total=150 --set factor=0.5 --set BLOCK=32 --grid '3, cdiv(length, BLOCK)'
# OUT:
#| beyond_slice.py:11:5: error: program (0, 1, 0), lane 18: writes element 50 of 'out_ptr', which program 1 touches too, without atomics [race]
#|         tl.store(out_ptr + at, x * factor, mask=at < total)
#|         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 27 more like this here
# EXIT: 3
# RUN: tilec run %s --device sim:sm_80 --set x_ptr='*fp32' --set out_ptr='*fp32' --set x_ptr.size=150 --set out_ptr.size=150 --set length=50 --set total=150 --set factor=0.5 --set BLOCK=32 --grid '3, cdiv(length, BLOCK)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| beyond_slice.py:11:5: error: race
# EXIT: 3
# RUN: tilec run %s --device sim:gfx942 --set x_ptr='*fp32' --set out_ptr='*fp32' --set x_ptr.size=150 --set out_ptr.size=150 --set length=50 --set total=150 --set factor=0.5 --set BLOCK=32 --grid '3, cdiv(length, BLOCK)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| beyond_slice.py:11:5: error: race
# EXIT: 3

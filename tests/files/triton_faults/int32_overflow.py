# Nearest neighbour in fixed point: i * step wraps in int32, so the index becomes negative.
import triton
import triton.language as tl


@triton.jit
def enlarge(x_ptr, out_ptr, n, step, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    source = (i * step) >> 16  # step is 65536 times the ratio of the lengths
    tl.store(out_ptr + i, tl.load(x_ptr + source, mask=i < n), mask=i < n)


# RUN: tilec run %s --device interp --sanitize --set x_ptr='*fp16' --set out_ptr='*fp16' --set x_ptr.size=33000 --set out_ptr.size=66000 --set n=66000 --set step=32768 --set BLOCK=1024 --grid 'triton.cdiv(n, BLOCK)'
# OUT:
#| int32_overflow.py:10:27: error: program (64, 0, 0), lane 0: reads element -32768 of 'x_ptr', an index that was computed with a number that wrapped [wrapped]
#|         tl.store(out_ptr + i, tl.load(x_ptr + source, mask=i < n), mask=i < n)
#|                               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| int32_overflow.py:9:15: note: this is more than i32 can hold; compute it in i64
#|         source = (i * step) >> 16  # step is 65536 times the ratio of the lengths
#|                   ^~~~~~~~
#| note: and 463 more like this here
# EXIT: 3
# RUN: tilec run %s --device sim:sm_80 --set x_ptr='*fp16' --set out_ptr='*fp16' --set x_ptr.size=33000 --set out_ptr.size=66000 --set n=66000 --set step=32768 --set BLOCK=1024 --grid 'triton.cdiv(n, BLOCK)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| int32_overflow.py:10:27: error: out-of-bounds
# EXIT: 3
# RUN: tilec run %s --device sim:gfx942 --set x_ptr='*fp16' --set out_ptr='*fp16' --set x_ptr.size=33000 --set out_ptr.size=66000 --set n=66000 --set step=32768 --set BLOCK=1024 --grid 'triton.cdiv(n, BLOCK)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| int32_overflow.py:10:27: error: out-of-bounds
# EXIT: 3

# Transposition: the rows of the result have M elements, but are written N apart.
import triton
import triton.language as tl


@triton.jit
def transpose(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    x = tl.load(x_ptr + rows[:, None] * N + cols[None, :], mask=mask)
    tl.store(out_ptr + cols[:, None] * N + rows[None, :], tl.trans(x), mask=tl.trans(mask))


# RUN: tilec run %s --device interp --sanitize --set x_ptr='*fp32' --set out_ptr='*fp32' --set x_ptr.size=480 --set out_ptr.size=480 --set M=20 --set N=24 --set BLOCK=16 --grid 'cdiv(M, BLOCK), cdiv(N, BLOCK)'
# OUT:
#| wrong_stride.py:12:5: error: program (0, 1, 0), lane 64: writes element 480 of 'out_ptr', a buffer of 480 elements [bounds]
#|         tl.store(out_ptr + cols[:, None] * N + rows[None, :], tl.trans(x), mask=tl.trans(mask))
#|         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 79 more like this here
# EXIT: 3
# RUN: tilec run %s --device sim:sm_80 --set x_ptr='*fp32' --set out_ptr='*fp32' --set x_ptr.size=480 --set out_ptr.size=480 --set M=20 --set N=24 --set BLOCK=16 --grid 'cdiv(M, BLOCK), cdiv(N, BLOCK)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| wrong_stride.py:12:5: error: out-of-bounds
# EXIT: 3
# RUN: tilec run %s --device sim:gfx942 --set x_ptr='*fp32' --set out_ptr='*fp32' --set x_ptr.size=480 --set out_ptr.size=480 --set M=20 --set N=24 --set BLOCK=16 --grid 'cdiv(M, BLOCK), cdiv(N, BLOCK)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| wrong_stride.py:12:5: error: out-of-bounds
# EXIT: 3

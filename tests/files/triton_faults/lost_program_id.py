# Scaling by row: the store forgets the program's row, so all programs write the first one.
import triton
import triton.language as tl


@triton.jit
def scale_rows(x_ptr, scale_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols)
    tl.store(out_ptr + cols, x * tl.load(scale_ptr + row), mask=cols < n_cols)


# RUN: tilec run %s --device interp --sanitize --set x_ptr='*bf16' --set scale_ptr='*fp32' --set out_ptr='*bf16' --set x_ptr.size=120 --set scale_ptr.size=4 --set out_ptr.size=120 --set n_cols=30 --set BLOCK=32 --grid 4
# OUT:
#| lost_program_id.py:11:5: error: program (1, 0, 0), lane 0: writes element 0 of 'out_ptr', which program 0 touches too, without atomics [race]
#|         tl.store(out_ptr + cols, x * tl.load(scale_ptr + row), mask=cols < n_cols)
#|         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 89 more like this here
# EXIT: 3
# RUN: tilec run %s --device sim:sm_80 --set x_ptr='*bf16' --set scale_ptr='*fp32' --set out_ptr='*bf16' --set x_ptr.size=120 --set scale_ptr.size=4 --set out_ptr.size=120 --set n_cols=30 --set BLOCK=32 --grid 4 >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| lost_program_id.py:11:5: error: race
# EXIT: 3
# RUN: tilec run %s --device sim:gfx942 --set x_ptr='*bf16' --set scale_ptr='*fp32' --set out_ptr='*bf16' --set x_ptr.size=120 --set scale_ptr.size=4 --set out_ptr.size=120 --set n_cols=30 --set BLOCK=32 --grid 4 >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| lost_program_id.py:11:5: error: race
# EXIT: 3

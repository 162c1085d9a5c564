# Average of three neighbours: programs advance by BLOCK - 2 and store all of BLOCK elements.
import triton
import triton.language as tl


@triton.jit
def smooth(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * (BLOCK - 2) + tl.arange(0, BLOCK)
    left = tl.load(x_ptr + i - 1, mask=(i > 0) & (i < n), other=0.0)
    middle = tl.load(x_ptr + i, mask=i < n, other=0.0)
    right = tl.load(x_ptr + i + 1, mask=i < n - 1, other=0.0)
    tl.store(out_ptr + i, (left + middle + right) / 3, mask=i < n)


# RUN: tilec run %s --device interp --sanitize --set x_ptr='*fp32' --set out_ptr='*fp32' --set x_ptr.size=124 --set out_ptr.size=124 --set n=124 --set BLOCK=64 --grid 'triton.cdiv(n, BLOCK - 2)'
# OUT:
#| overlapping_blocks.py:12:5: error: program (1, 0, 0), lane 0: writes element 62 of 'out_ptr', which program 0 touches too, without atomics [race]
#|         tl.store(out_ptr + i, (left + middle + right) / 3, mask=i < n)
#|         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 1 more like this here
# EXIT: 3
# RUN: tilec run %s --device sim:sm_80 --set x_ptr='*fp32' --set out_ptr='*fp32' --set x_ptr.size=124 --set out_ptr.size=124 --set n=124 --set BLOCK=64 --grid 'triton.cdiv(n, BLOCK - 2)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| overlapping_blocks.py:12:5: error: race
# EXIT: 3
# RUN: tilec run %s --device sim:gfx942 --set x_ptr='*fp32' --set out_ptr='*fp32' --set x_ptr.size=124 --set out_ptr.size=124 --set n=124 --set BLOCK=64 --grid 'triton.cdiv(n, BLOCK - 2)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| overlapping_blocks.py:12:5: error: race
# EXIT: 3

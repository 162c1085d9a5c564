# Copy of a matrix by block pointers: the load has no boundary_check, the last block is beyond it.
import triton
import triton.language as tl


@triton.jit
def copy(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    at = (tl.program_id(0) * BM, tl.program_id(1) * BN)
    x = tl.make_block_ptr(x_ptr, (M, N), (N, 1), at, (BM, BN), (1, 0))
    out = tl.make_block_ptr(out_ptr, (M, N), (N, 1), at, (BM, BN), (1, 0))
    tl.store(out, tl.load(x), boundary_check=(0, 1))


# RUN: tilec run %s --device interp --sanitize --set x_ptr='*fp32' --set out_ptr='*fp32' --set x_ptr.size=560 --set out_ptr.size=560 --set M=20 --set N=28 --set BM=16 --set BN=16 --grid 'cdiv(M, BM), cdiv(N, BN)'
# OUT:
#| block_pointer.py:11:19: error: program (1, 0, 0), lane 64: reads element 560 of 'x_ptr', a buffer of 560 elements [bounds]
#|         tl.store(out, tl.load(x), boundary_check=(0, 1))
#|                       ^~~~~~~~~~
#| note: and 387 more like this here
# EXIT: 3
# RUN: tilec run %s --device sim:sm_80 --set x_ptr='*fp32' --set out_ptr='*fp32' --set x_ptr.size=560 --set out_ptr.size=560 --set M=20 --set N=28 --set BM=16 --set BN=16 --grid 'cdiv(M, BM), cdiv(N, BN)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| block_pointer.py:11:19: error: out-of-bounds
# EXIT: 3

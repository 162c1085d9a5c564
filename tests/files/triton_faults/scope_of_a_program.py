# A counter of all programs is counted up for the threads of one program only.
import triton
import triton.language as tl


@triton.jit
def count(x_ptr, count_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    tl.atomic_add(count_ptr, tl.sum((x > 0).to(tl.int32)), scope="cta")


# RUN: tilec run %s --device interp --sanitize --set x_ptr='*fp32' --set count_ptr='*i32' --set x_ptr.size=64 --set count_ptr.size=1 --set BLOCK=16 --grid 4
# OUT:
#| scope_of_a_program.py:9:5: error: program (1, 0, 0), lane 0: writes element 0 of 'count_ptr', which program 0 touches too, without atomics whose scope has both [race]
#|         tl.atomic_add(count_ptr, tl.sum((x > 0).to(tl.int32)), scope="cta")
#|         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 2 more like this here
# EXIT: 3

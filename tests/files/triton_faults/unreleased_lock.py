# The program that takes the lock returns without giving it back if it has nothing to add.
import triton
import triton.language as tl


@triton.jit
def add_up(x_ptr, sum_ptr, lock_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    while tl.atomic_xchg(lock_ptr, 1) == 1:
        pass
    if tl.program_id(0) == 1:
        return
    tl.store(sum_ptr, tl.load(sum_ptr) + tl.sum(x))
    tl.atomic_xchg(lock_ptr, 0)


# RUN: tilec run %s --device interp --sanitize --set x_ptr='*i32' --set sum_ptr='*i32' --set lock_ptr='*i32' --set x_ptr.size=64 --set sum_ptr.size=1 --set lock_ptr.size=1 --set BLOCK=16 --grid 4
# OUT:
#| unreleased_lock.py:9:5: error: program (2, 0, 0), lane 0: this loop never ends: no iteration changes what the next one reads [endless]
#|         while tl.atomic_xchg(lock_ptr, 1) == 1:
#|         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| help: a program can wait for what it wrote itself, or a program with a lower number: the interpreter runs them one after another
# EXIT: 3

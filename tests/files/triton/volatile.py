# A running sum in one pass: each program waits for the sum of the one before it.
import triton
import triton.language as tl

READY: tl.constexpr = 1 << 40


@triton.jit
def running_sum(x_ptr, state_ptr, out_ptr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i).to(tl.int64) + 200
    before = tl.zeros((), tl.int64)
    if pid > 0:
        state = tl.load(state_ptr + pid - 1, volatile=True)
        while state < READY:
            state = tl.load(state_ptr + pid - 1, volatile=True)
        before = state - READY
    tl.atomic_xchg(state_ptr + pid, before + tl.sum(x) + READY)
    tl.store(out_ptr + i, before + tl.cumsum(x))


@triton.jit
def waits_for_nothing(state_ptr, out_ptr):
    while tl.load(state_ptr, cache_modifier=".cv") < READY:
        pass
    tl.store(out_ptr, 1)


# RUN: tilec run %s running_sum --device interp --sanitize --set x_ptr='*i8' --set state_ptr='*i64' --set out_ptr='*i64' --set x_ptr.size=32 --set state_ptr.size=4 --set out_ptr.size=32 --set BLOCK=8 --grid 4
# OUT:
#| state_ptr: i64[4] = 1099511629708 1099511631335 1099511633056 1099511634682
#| out_ptr: i64[32] = 244 459 758 1029 1228 1488 1674 1932 …
# RUN: tilec run %s running_sum --device sim:sm_80 --check --set x_ptr='*i8' --set state_ptr='*i64' --set out_ptr='*i64' --set x_ptr.size=32 --set state_ptr.size=4 --set out_ptr.size=32 --set BLOCK=8 --grid 4
# OUT:
#| check x_ptr: 32 elements agree, worst at 0 of the bound
#| check state_ptr: 1 elements agree, 3 undecided, worst at 0 of the bound
#| check out_ptr: 8 elements agree, 24 undecided, worst at 0 of the bound
#| check with signed zeros, subnormals, infinities and NaN: left out, no floats are random
#| state_ptr: i64[4] = 1099511629708 1099511631335 1099511633056 1099511634682
#| out_ptr: i64[32] = 244 459 758 1029 1228 1488 1674 1932 …
# RUN: tilec run %s running_sum --device sim:gfx942 --check --set x_ptr='*i8' --set state_ptr='*i64' --set out_ptr='*i64' --set x_ptr.size=32 --set state_ptr.size=4 --set out_ptr.size=32 --set BLOCK=8 --grid 4
# OUT:
#| check x_ptr: 32 elements agree, worst at 0 of the bound
#| check state_ptr: 1 elements agree, 3 undecided, worst at 0 of the bound
#| check out_ptr: 8 elements agree, 24 undecided, worst at 0 of the bound
#| check with signed zeros, subnormals, infinities and NaN: left out, no floats are random
#| state_ptr: i64[4] = 1099511629708 1099511631335 1099511633056 1099511634682
#| out_ptr: i64[32] = 244 459 758 1029 1228 1488 1674 1932 …
# RUN: tilec run %s running_sum --device cpu:1 --check --set x_ptr='*i8' --set state_ptr='*i64' --set out_ptr='*i64' --set x_ptr.size=32 --set state_ptr.size=4 --set out_ptr.size=32 --set BLOCK=8 --grid 4
# OUT:
#| check x_ptr: 32 elements agree, worst at 0 of the bound
#| check state_ptr: 1 elements agree, 3 undecided, worst at 0 of the bound
#| check out_ptr: 8 elements agree, 24 undecided, worst at 0 of the bound
#| check with signed zeros, subnormals, infinities and NaN: left out, no floats are random
#| state_ptr: i64[4] = 1099511629708 1099511631335 1099511633056 1099511634682
#| out_ptr: i64[32] = 244 459 758 1029 1228 1488 1674 1932 …
# RUN: tilec run %s waits_for_nothing --device interp --sanitize --set state_ptr='*i64' --set out_ptr='*i64' --set state_ptr.size=1 --set out_ptr.size=1 --grid 1
# OUT:
#| volatile.py:25:5: error: program (0, 0, 0), lane 0: this loop never ends: no iteration changes what the next one reads [endless]
#|         while tl.load(state_ptr, cache_modifier=".cv") < READY:
#|         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| help: a program can wait for what it wrote itself, or a program with a lower number: the interpreter runs them one after another
# EXIT: 3

# A configuration may leave out options that others give: the compiler chooses them. One that does
# not compile is left out.
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"B": 32}, num_warps=2, num_stages=3),
        triton.Config({"B": 64}),
        triton.Config({"B": 24}, num_warps=1),
    ],
    key=["n"],
)
@triton.jit
def copy(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)


# RUN: tilec tune %s copy --device sim:sm_80 --all --table %t --seconds 60 --set x='*fp32' --set y='*fp32' --set x.size=64 --set y.size=64 --set n=64 --grid 'cdiv(n, B)'
# OUT:
#| B=32 warps=2 stages=3                     176  1.00  least
#| B=64 warps=0 stages=0                     176  1.00
#| B=24 warps=1 stages=0            cannot be used: tune.py:17:32: error: tl.arange needs a number of elements that is a power of two, found 24 [shape]
#| 1 of 3 candidates cannot be used here
#| ranked by counted cost, not by time: instructions + 4 sectors + wavefronts + 8 matrix operations
#| copy on sim:sm_80: B=32 warps=2 stages=3
#| kept in %t
#| simulated: counts of the simulator, not times of a GPU; the result is kept for this device only

# Causal convolution: no mask keeps the taps before the first element away.
import triton
import triton.language as tl


@triton.jit
def causal_conv(x_ptr, w_ptr, out_ptr, n, TAPS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for t in tl.static_range(TAPS):
        at = i - (TAPS - 1) + t
        acc += tl.load(w_ptr + t) * tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(out_ptr + i, acc, mask=i < n)


# RUN: tilec run %s --device interp --sanitize --set x_ptr='*fp32' --set w_ptr='*fp32' --set out_ptr='*fp32' --set x_ptr.size=100 --set w_ptr.size=4 --set out_ptr.size=100 --set n=100 --set TAPS=4 --set BLOCK=64 --grid 'triton.cdiv(n, BLOCK)'
# OUT:
#| negative_index.py:12:37: error: program (0, 0, 0), lane 0: reads element -3 of 'x_ptr', a buffer of 100 elements [bounds]
#|             acc += tl.load(w_ptr + t) * tl.load(x_ptr + at, mask=at < n, other=0.0)
#|                                         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 2 more like this here
# EXIT: 3
# RUN: tilec run %s --device sim:sm_80 --set x_ptr='*fp32' --set w_ptr='*fp32' --set out_ptr='*fp32' --set x_ptr.size=100 --set w_ptr.size=4 --set out_ptr.size=100 --set n=100 --set TAPS=4 --set BLOCK=64 --grid 'triton.cdiv(n, BLOCK)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| negative_index.py:12:37: error: out-of-bounds
# EXIT: 3
# RUN: tilec run %s --device sim:gfx942 --set x_ptr='*fp32' --set w_ptr='*fp32' --set out_ptr='*fp32' --set x_ptr.size=100 --set w_ptr.size=4 --set out_ptr.size=100 --set n=100 --set TAPS=4 --set BLOCK=64 --grid 'triton.cdiv(n, BLOCK)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| negative_index.py:12:37: error: out-of-bounds
# EXIT: 3

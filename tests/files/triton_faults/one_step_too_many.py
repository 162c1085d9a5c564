# Layer norm of long rows: the loop that writes makes one step more than the row has, unmasked.
import triton
import triton.language as tl


@triton.jit
def layernorm(x_ptr, w_ptr, out_ptr, n_cols, eps, BLOCK: tl.constexpr):
    x_ptr += tl.program_id(0) * n_cols
    out_ptr += tl.program_id(0) * n_cols
    cols = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    square = tl.zeros((BLOCK,), dtype=tl.float32)
    for k in range(n_cols // BLOCK):
        x = tl.load(x_ptr + k * BLOCK + cols).to(tl.float32)
        total += x
        square += x * x
    mean = tl.sum(total, axis=0) / n_cols
    rstd = tl.rsqrt(tl.sum(square, axis=0) / n_cols - mean * mean + eps)
    for k in range(n_cols // BLOCK + 1):
        x = tl.load(x_ptr + k * BLOCK + cols).to(tl.float32)
        w = tl.load(w_ptr + k * BLOCK + cols).to(tl.float32)
        tl.store(out_ptr + k * BLOCK + cols, (x - mean) * rstd * w)


# RUN: tilec run %s --device interp --sanitize --set x_ptr='*fp16' --set w_ptr='*fp16' --set out_ptr='*fp16' --set x_ptr.size=384 --set w_ptr.size=128 --set out_ptr.size=384 --set n_cols=128 --set eps=1e-5 --set BLOCK=64 --grid 3
# OUT:
#| one_step_too_many.py:21:13: error: program (0, 0, 0), lane 0: reads element 128 of 'w_ptr', a buffer of 128 elements [bounds]
#|             w = tl.load(w_ptr + k * BLOCK + cols).to(tl.float32)
#|                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 191 more like this here
#| one_step_too_many.py:22:9: error: program (1, 0, 0), lane 0: writes element 128 of 'out_ptr', which program 0 touches too, without atomics [race]
#|             tl.store(out_ptr + k * BLOCK + cols, (x - mean) * rstd * w)
#|             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 127 more like this here
#| one_step_too_many.py:20:13: error: program (2, 0, 0), lane 0: reads element 384 of 'x_ptr', a buffer of 384 elements [bounds]
#|             x = tl.load(x_ptr + k * BLOCK + cols).to(tl.float32)
#|                 ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 63 more like this here
#| one_step_too_many.py:22:9: error: program (2, 0, 0), lane 0: writes element 384 of 'out_ptr', a buffer of 384 elements [bounds]
#|             tl.store(out_ptr + k * BLOCK + cols, (x - mean) * rstd * w)
#|             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 63 more like this here
# EXIT: 3
# RUN: tilec run %s --device sim:sm_80 --set x_ptr='*fp16' --set w_ptr='*fp16' --set out_ptr='*fp16' --set x_ptr.size=384 --set w_ptr.size=128 --set out_ptr.size=384 --set n_cols=128 --set eps=1e-5 --set BLOCK=64 --grid 3 >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| one_step_too_many.py:21:13: error: out-of-bounds
# EXIT: 3

# Gradient of an embedding: atomic adds beyond the last row of the table.
import triton
import triton.language as tl


@triton.jit
def embedding_backward(ids_ptr, dout_ptr, dtable_ptr, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    token = tl.load(ids_ptr + row).to(tl.int32)
    cols = tl.arange(0, BLOCK)
    d = tl.load(dout_ptr + row * width + cols, mask=cols < width)
    tl.atomic_add(dtable_ptr + token * width + cols, d, mask=cols < width)


# RUN: tilec run %s --device interp --sanitize --set ids_ptr='*u8' --set dout_ptr='*fp32' --set dtable_ptr='*fp32' --set ids_ptr.size=12 --set dout_ptr.size=120 --set dtable_ptr.size=800 --set width=10 --set BLOCK=16 --grid 12
# OUT:
#| atomic_beyond.py:12:5: error: program (8, 0, 0), lane 0: writes element 1000 of 'dtable_ptr', a buffer of 800 elements [bounds]
#|         tl.atomic_add(dtable_ptr + token * width + cols, d, mask=cols < width)
#|         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 19 more like this here
# EXIT: 3
# RUN: tilec run %s --device sim:sm_80 --set ids_ptr='*u8' --set dout_ptr='*fp32' --set dtable_ptr='*fp32' --set ids_ptr.size=12 --set dout_ptr.size=120 --set dtable_ptr.size=800 --set width=10 --set BLOCK=16 --grid 12 >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| atomic_beyond.py:12:5: error: out-of-bounds
# EXIT: 3
# RUN: tilec run %s --device sim:gfx942 --set ids_ptr='*u8' --set dout_ptr='*fp32' --set dtable_ptr='*fp32' --set ids_ptr.size=12 --set dout_ptr.size=120 --set dtable_ptr.size=800 --set width=10 --set BLOCK=16 --grid 12 >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| atomic_beyond.py:12:5: error: out-of-bounds
# EXIT: 3

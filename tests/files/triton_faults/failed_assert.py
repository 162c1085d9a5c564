# Embedding: device_assert says that all ids are below the size of the table; some are not.
import triton
import triton.language as tl


@triton.jit
def embedding(ids_ptr, table_ptr, out_ptr, vocabulary, width, BLOCK: tl.constexpr):
    token = tl.load(ids_ptr + tl.program_id(0))
    tl.device_assert(token < vocabulary, "no such token")
    cols = tl.arange(0, BLOCK)
    row = tl.load(table_ptr + token * width + cols, mask=(token < vocabulary) & (cols < width))
    tl.store(out_ptr + tl.program_id(0) * width + cols, row, mask=cols < width)


# RUN: tilec run %s --device interp --sanitize --set ids_ptr='*u8' --set table_ptr='*fp32' --set out_ptr='*fp32' --set ids_ptr.size=12 --set table_ptr.size=800 --set out_ptr.size=120 --set vocabulary=80 --set width=10 --set BLOCK=16 --grid 12
# OUT:
#| failed_assert.py:9:5: error: assertion failed: "no such token" in program (8, 0, 0), lane 0 [assert]
#|         tl.device_assert(token < vocabulary, "no such token")
#|         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: assertions failed in 2 programs
# EXIT: 3
# RUN: tilec run %s --device sim:sm_80 --set ids_ptr='*u8' --set table_ptr='*fp32' --set out_ptr='*fp32' --set ids_ptr.size=12 --set table_ptr.size=800 --set out_ptr.size=120 --set vocabulary=80 --set width=10 --set BLOCK=16 --grid 12 >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| failed_assert.py:9:5: error: assertion
# EXIT: 3
# RUN: tilec run %s --device sim:gfx942 --set ids_ptr='*u8' --set table_ptr='*fp32' --set out_ptr='*fp32' --set ids_ptr.size=12 --set table_ptr.size=800 --set out_ptr.size=120 --set vocabulary=80 --set width=10 --set BLOCK=16 --grid 12 >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| failed_assert.py:9:5: error: assertion
# EXIT: 3

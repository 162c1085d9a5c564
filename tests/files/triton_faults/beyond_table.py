# Embedding: some ids are beyond the last row of the table.
import triton
import triton.language as tl


@triton.jit
def embedding(ids_ptr, table_ptr, out_ptr, n, width, BLOCK: tl.constexpr, WIDTH: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.arange(0, WIDTH)
    mask = (i < n)[:, None] & (cols < width)[None, :]
    ids = tl.load(ids_ptr + i, mask=i < n, other=0).to(tl.int32)
    rows = tl.load(table_ptr + ids[:, None] * width + cols[None, :], mask=mask)
    tl.store(out_ptr + i[:, None] * width + cols[None, :], rows, mask=mask)


# RUN: tilec run %s --device interp --sanitize --set ids_ptr='*u8' --set table_ptr='*fp32' --set out_ptr='*fp32' --set ids_ptr.size=20 --set table_ptr.size=960 --set out_ptr.size=240 --set n=20 --set width=12 --set BLOCK=16 --set WIDTH=16 --grid 'triton.cdiv(n, BLOCK)'
# OUT:
#| beyond_table.py:12:12: error: program (0, 0, 0), lane 128: reads element 1200 of 'table_ptr', a buffer of 960 elements [bounds]
#|         rows = tl.load(table_ptr + ids[:, None] * width + cols[None, :], mask=mask)
#|                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 35 more like this here
# EXIT: 3
# RUN: tilec run %s --device sim:sm_80 --set ids_ptr='*u8' --set table_ptr='*fp32' --set out_ptr='*fp32' --set ids_ptr.size=20 --set table_ptr.size=960 --set out_ptr.size=240 --set n=20 --set width=12 --set BLOCK=16 --set WIDTH=16 --grid 'triton.cdiv(n, BLOCK)' >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| beyond_table.py:12:12: error: out-of-bounds
# EXIT: 3

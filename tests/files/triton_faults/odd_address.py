# Bytes read four at a time: a row of 30 bytes does not begin at a multiple of 4.
import triton
import triton.language as tl


@triton.jit
def unpack(x_ptr, out_ptr, stride, WORDS: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, WORDS)
    words = (x_ptr + row * stride).to(tl.pointer_type(tl.int32), bitcast=True)
    tl.store(out_ptr + row * WORDS + i, tl.load(words + i, mask=i < stride // 4) & 255)


# RUN: tilec run %s --device interp --sanitize --set x_ptr='*u8' --set out_ptr='*i32' --set x_ptr.size=120 --set out_ptr.size=32 --set stride=30 --set WORDS=8 --grid 4
# OUT:
#| odd_address.py:11:41: error: program (1, 0, 0), lane 0: reads an address that is 2 bytes past a multiple of 4 [bounds]
#|         tl.store(out_ptr + row * WORDS + i, tl.load(words + i, mask=i < stride // 4) & 255)
#|                                             ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#| note: and 13 more like this here
# EXIT: 3
# RUN: tilec run %s --device sim:sm_80 --set x_ptr='*u8' --set out_ptr='*i32' --set x_ptr.size=120 --set out_ptr.size=32 --set stride=30 --set WORDS=8 --grid 4 >%t 2>&1; s=$?; head -n 1 %t | grep -o '^[^ ]* error: [a-z-]*'; exit $s
# OUT:
#| odd_address.py:11:41: error: misaligned
# EXIT: 3

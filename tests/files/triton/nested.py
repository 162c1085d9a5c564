# A kernel in a plain function sees the names of that function; those of the file come first.
SIZE = 16


def build(width):
    import triton
    import triton.language as tl

    SCALE = 3

    @triton.jit
    def helper(v):
        return v * SCALE

    @triton.jit
    def inner(o_ptr, B: tl.constexpr):
        i = tl.arange(0, SIZE)
        tl.store(o_ptr + i, helper(i) + B)

    return inner


# RUN: tilec run %s inner --device interp --set o_ptr='*i32' --set o_ptr.size=16 --set B=1 --grid 1
# OUT:
#| o_ptr: i32[16] = 1 4 7 10 13 16 19 22 …
# RUN: tilec run %s inner --device sim:sm_80 --set o_ptr='*i32' --set o_ptr.size=16 --set B=1 --grid 1
# OUT:
#| o_ptr: i32[16] = 1 4 7 10 13 16 19 22 …

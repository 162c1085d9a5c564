# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n_elements, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    #! error: unknown name 'BLOK' [unknown-name] @18
    offs = pid * BLOK + tl.arange(0, BLOCK)
    #! error: unknown name 'n_element' [unknown-name] @19
    mask = offs < n_element
    #! error: unknown name 'x_prt' [unknown-name] @17
    x = tl.load(x_prt + offs, mask=mask)
    #! error: unknown name 'undefined_function' [unknown-name] @9
    y = undefined_function(x)
    #! error: unknown name 'ofs' [unknown-name] @22
    tl.store(x_ptr + ofs, y, mask=mask)

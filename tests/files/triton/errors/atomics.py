# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, b_ptr, n):
    i = tl.arange(0, 16)
    f = (i * 8).to(tl.int64).to(tl.pointer_type(tl.float32))
    e = (i * 8).to(tl.int64).to(tl.pointer_type(tl.float8e4nv))
    #! error: tl.atomic_and does not take pointer<fp32>[16] [atomic] @9
    a = tl.atomic_and(f, 1)
    b = tl.atomic_add(e, 1)
    #! error: tl.atomic_add needs a pointer, found int32[16] [type] @23
    c = tl.atomic_add(i, 1)
    #! error: sem 'strong' is unknown [atomic] @29
    d = tl.atomic_add(f, 1, sem="strong")
    #! error: scope 'world' is unknown [atomic] @29
    g = tl.atomic_add(f, 1, scope="world")
    #! error: 'tl.atomic_cas': the argument 'val' is missing [arguments] @9
    h = tl.atomic_cas(f, 1)
    #! error: tl.atomic_xor does not take pointer<fp32>[16] [atomic] @9
    j = tl.atomic_xor(f, 1.0, mask=i < n)
    #! error: shapes do not go together: pointer<fp32>[16] and fp32[32] [shape] @9
    k = tl.atomic_add(f, tl.zeros([32], tl.float32))
    #! error: expected a tensor, found the string 'a' [type] @26
    l = tl.atomic_max(f, "a")
    #! error: triton.language has no 'atomic_swap' [unknown-name] @9
    m = tl.atomic_swap(f, 1)

# Triton's rules for types and values, each as an assertion of the compiler or of the program. The
# expected values are those of Triton 3.9.
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def three():
    return 3


@triton.jit
def factorial(n: tl.constexpr):
    if n <= 1:
        return 1
    else:
        return n * factorial(n - 1)


@triton.constexpr_function
def product(a, b):
    sum = 0
    for i in range(b):
        sum += a
    return sum


@triton.jit
def promotion(o):
    h = tl.full([4], 1.5, tl.float16)
    b = tl.full([4], 2.0, tl.bfloat16)
    big = tl.full([4], 2147483647, tl.int32)
    tl.static_assert((h + b).dtype == tl.float16)
    tl.device_assert(h + b == 3.5)
    q = big / tl.full([4], -3.0, tl.float16)
    tl.static_assert(q.dtype == tl.float32)
    tl.device_assert((q < -7.15e8) & (q > -7.16e8))
    r = tl.full([4], 1.0, tl.float16) / tl.full([4], 4611686018427387904, tl.int64)
    tl.static_assert(r.dtype == tl.float32)
    tl.device_assert((r > 2.1e-19) & (r < 2.2e-19))
    tl.static_assert((big / 1e40).dtype == tl.float64)
    e = tl.full([4], 4.0, tl.float8e5)
    tl.static_assert((e % 2).dtype == tl.float32 and (e / e).dtype == tl.float32)
    tl.device_assert(h + 70000 == float("inf"))
    s = tl.full([4], -125, tl.int8) >> tl.full([4], 3, tl.uint32)
    tl.static_assert(s.dtype == tl.uint32)
    tl.device_assert(s == 4294967280)
    tl.device_assert(tl.umulhi(tl.full([4], -2147483648, tl.int32), 64) == 32)
    tl.static_assert(tl.join(tl.full([4], 1, tl.int64), tl.full([4], 1, tl.uint64)).dtype == tl.int64)
    tl.static_assert(tl.fma(tl.full([4], 1, tl.int8), 2.5, h).dtype == tl.float16)
    tl.static_assert((tl.full([4], 1, tl.int8) + three()).dtype == tl.int8)
    one = 1.0
    tl.static_assert((h * 1.0).dtype == tl.float16 and (h * one).dtype == tl.float32)
    tl.static_assert((7 // 2 == 3) and (-7 // 2 == -4) and (-7 % 3 == 2))
    minus = tl.full([4], -7, tl.int32)
    tl.device_assert((minus // 2 == -3) & (minus % 3 == -1))
    tl.store(o, 1)


@triton.jit
def reductions(o):
    b = tl.full([4], 2.0, tl.bfloat16)
    h = tl.full([4], 1.5, tl.float16)
    i = tl.full([4], 100, tl.int8)
    tl.static_assert(tl.maximum(b, b).dtype == tl.bfloat16 and tl.clamp(b, 0, 5).dtype == tl.bfloat16)
    tl.static_assert(tl.sum(b).dtype == tl.bfloat16 and tl.cumsum(b).dtype == tl.bfloat16)
    tl.static_assert(tl.sum(h).dtype == tl.float16 and tl.sum(i).dtype == tl.int32)
    tl.static_assert(tl.sum(i > 0).dtype == tl.uint32)
    tl.device_assert(tl.sum(i) == 400)
    v, at = tl.max(h, 0, return_indices=True)
    tl.static_assert(v.dtype == tl.float16 and at.dtype == tl.int32)
    tl.static_assert(tl.max(h, 0).dtype == tl.float32 and tl.max(i, 0).dtype == tl.int32)
    tl.static_assert(tl.softmax(h).dtype == tl.float32)
    tl.static_assert(tl.cumprod(h, 0, dtype=tl.float32).dtype == tl.float32)
    n = tl.arange(0, 16)
    tl.device_assert(tl.topk(n, 4, descending=False) == tl.arange(0, 4))
    tl.device_assert(tl.squeeze(tl.unsqueeze(n, 0), 0) == n)
    total = tl.sum(n, 0, keep_dims=True)
    if total > 0:
        tl.store(o, 2)


@triton.jit
def constants(o, x: "i32"):
    w: tl.constexpr = three()
    q: tl.constexpr = product(4, 4)
    tl.static_assert(tl.arange(0, 1 << w).numel == 8 and tl.arange(0, q).numel == 16)
    tl.static_assert(factorial(5) == 120)
    held: tl.constexpr = x
    tl.device_assert(held == 7)
    tl.store(o, 2.7)
    tl.device_assert(tl.load(o) == 2)
    tl.store(o, -2.7)
    tl.device_assert(tl.load(o) == -2)
    tl.device_assert(tl.load(o, x < 0, other=3.7) == 3)
    j = 0
    while tl.condition(j < x, disable_licm=True):
        j += 1
    tl.device_assert(j == 7)
    half = tl.full([4], 2.5, tl.float32)
    tl.device_assert(libdevice.round(half) == 3)
    tl.device_assert(libdevice.float2int_rn(-half) == -2)
    tl.device_assert(libdevice.float2int_rd(-half) == -3)
    tl.store(o, 3)


# RUN: tilec check %s
# OUT:
# RUN: for k in promotion reductions constants; do for d in interp cpu sim:sm_80 sim:gfx942 sim:gfx1100; do x=; [ $k = constants ] && x='--set x=7'; tilec run %s $k --device $d --set o='*i32' --set o.size=1 $x --grid 1; done; done
# OUT:
#| o: i32[1] = 1
#| o: i32[1] = 1
#| o: i32[1] = 1
#| o: i32[1] = 1
#| o: i32[1] = 1
#| o: i32[1] = 2
#| o: i32[1] = 2
#| o: i32[1] = 2
#| o: i32[1] = 2
#| o: i32[1] = 2
#| o: i32[1] = 3
#| o: i32[1] = 3
#| o: i32[1] = 3
#| o: i32[1] = 3
#| o: i32[1] = 3

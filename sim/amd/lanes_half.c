// Lane functions: f16 and pairs of f16, computed in f32 or double and rounded once.
#include <math.h>

#include "sim/amd/function.h"
#include "sim/machine/number/approx.h"

#define U LaneU32
#define VALUE(h) sim_f16_value((h)&0xffff)
#define H1(name, ...) AMD_FUNCTION_1(name, U, U, __VA_ARGS__)
#define H2(name, ...) AMD_FUNCTION_2(name, U, U, U, __VA_ARGS__)
#define H3(name, ...) AMD_FUNCTION_3(name, U, U, U, U, __VA_ARGS__)

// Sums and products of two halves round to the same result through f32.
static inline uint32_t round16(float x) {
    uint32_t h = sim_f16_round(x);
    return (h & 0x7fff) > 0x7c00 ? 0x7e00 : h;
}
static inline uint32_t h_add(uint32_t a, uint32_t b) { return round16(VALUE(a) + VALUE(b)); }
static inline uint32_t h_sub(uint32_t a, uint32_t b) { return round16(VALUE(a) - VALUE(b)); }
static inline uint32_t h_mul(uint32_t a, uint32_t b) { return round16(VALUE(a) * VALUE(b)); }
static inline uint32_t h_fma(uint32_t a, uint32_t b, uint32_t c) {
    return amd_f16_of(sim_fma_odd((double)VALUE(a), (double)VALUE(b), (double)VALUE(c)));
}
static inline bool signals(uint32_t h) { return (h & 0x7fff) > 0x7c00 && !(h & 0x200); }
static inline uint32_t h_least(uint32_t a, uint32_t b) {
    float x = VALUE(a), y = VALUE(b);
    if (x != x) return y != y ? 0x7e00 : b & 0xffff;
    if (y != y) return a & 0xffff;
    if (x == y) return (a | b) & 0xffff;
    return (x < y ? a : b) & 0xffff;
}
static inline uint32_t h_most(uint32_t a, uint32_t b) {
    float x = VALUE(a), y = VALUE(b);
    if (x != x) return y != y ? 0x7e00 : b & 0xffff;
    if (y != y) return a & 0xffff;
    if (x == y) return a & b & 0xffff;
    return (x > y ? a : b) & 0xffff;
}
static inline bool any_nan(uint32_t a, uint32_t b) {
    return (a & 0x7fff) > 0x7c00 || (b & 0x7fff) > 0x7c00;
}
static inline uint32_t h_minimum(uint32_t a, uint32_t b) {
    return any_nan(a, b) ? 0x7e00 : h_least(a, b);
}
static inline uint32_t h_maximum(uint32_t a, uint32_t b) {
    return any_nan(a, b) ? 0x7e00 : h_most(a, b);
}

H2(add_f16, h_add(p, q))
H2(sub_f16, h_sub(p, q))
H2(subrev_f16, h_sub(q, p))
H2(mul_f16, h_mul(p, q))
H3(fma_f16, h_fma(p, q, r))
H3(fmamk_f16, h_fma(p, q, r))
#define STRICT(a, b) (x->wave->ieee && (signals(a) || signals(b)))
H2(min_f16, STRICT(p, q) ? 0x7e00 : h_least(p, q))
H2(max_f16, STRICT(p, q) ? 0x7e00 : h_most(p, q))
H2(minimum_f16, h_minimum(p, q))
H2(maximum_f16, h_maximum(p, q))
H1(floor_f16, round16(floorf(VALUE(p))))
H1(ceil_f16, round16(ceilf(VALUE(p))))
H1(trunc_f16, round16(truncf(VALUE(p))))
H1(rndne_f16, round16(rintf(VALUE(p))))
H1(exp_f16, round16(sim_approx_ex2(VALUE(p))))
H1(log_f16, round16(sim_approx_lg2(VALUE(p))))
H1(rcp_f16, round16(1 / VALUE(p)))
H1(rsq_f16, amd_f16_of(1 / sqrt((double)VALUE(p))))
H1(sqrt_f16, round16(sqrtf(VALUE(p))))
static inline uint32_t h_scaled(uint32_t h, uint32_t by) {
    int32_t e = (int16_t)by;
    e = e > 60 ? 60 : e < -60 ? -60 : e;
    return amd_f16_of((double)VALUE(h) * sim_f64_bits((uint64_t)(e + 1023) << 52));
}
H2(ldexp_f16, h_scaled(p, q))

static inline uint32_t h_fix(uint32_t q, uint32_t b, uint32_t c) {
    uint32_t sign = (b ^ c) & 0x8000, mb = b & 0x7fff, mc = c & 0x7fff;
    if (mb > 0x7c00 || mc > 0x7c00) return 0x7e00;
    if ((!mb && !mc) || (mb == 0x7c00 && mc == 0x7c00)) return 0x7e00;
    if (!mb || mc == 0x7c00) return sign | 0x7c00;
    if (mb == 0x7c00 || !mc) return sign;
    return sign | (q & 0x7fff);
}
H3(div_fixup_f16, h_fix(p, q, r))

#define PAIR_2(name, function) \
    H2(name, function(p & 0xffff, q & 0xffff) | function(p >> 16, q >> 16) << 16)
#define PAIR_3(name, function)                                                                  \
    H3(name, function(p & 0xffff, q & 0xffff, r & 0xffff) | function(p >> 16, q >> 16, r >> 16) \
                                                                << 16)
PAIR_2(pk_add_f16, h_add)
PAIR_2(pk_mul_f16, h_mul)
PAIR_3(pk_fma_f16, h_fma)
PAIR_2(pk_max_f16, h_most)
PAIR_2(pk_min_f16, h_least)
PAIR_2(pk_maximum_f16, h_maximum)
PAIR_2(pk_minimum_f16, h_minimum)
static inline uint32_t h_maximum3(uint32_t a, uint32_t b, uint32_t c) {
    return h_maximum(h_maximum(a, b), c);
}
static inline uint32_t h_minimum3(uint32_t a, uint32_t b, uint32_t c) {
    return h_minimum(h_minimum(a, b), c);
}
H3(max3_f16, h_most(h_most(p, q), r))
H3(min3_f16, h_least(h_least(p, q), r))
H3(med3_f16, any_nan(p, q) || any_nan(r, r) ? h_least(h_least(p, q), r)
                                            : h_most(h_least(p, q), h_least(h_most(p, q), r)))
H3(maxmin_f16, h_least(h_most(p, q), r))
H3(minmax_f16, h_most(h_least(p, q), r))
H3(maximumminimum_f16, h_minimum(h_maximum(p, q), r))
H3(minimummaximum_f16, h_maximum(h_minimum(p, q), r))
H3(maximum3_f16, h_maximum3(p, q, r))
H3(minimum3_f16, h_minimum3(p, q, r))
PAIR_3(pk_maximum3_f16, h_maximum3)
PAIR_3(pk_minimum3_f16, h_minimum3)

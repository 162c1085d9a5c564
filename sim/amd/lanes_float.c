// Lane functions: f32 and f64. Denormals, clamp and output modifiers are handled with operands and
// results (fetch.c, lanes.c). Approximations return the nearest number, flushed as in the hardware.
#include <math.h>

#include "sim/amd/function.h"
#include "sim/machine/number/approx.h"
#include "sim/machine/number/exact.h"

#define F LaneF32
#define D LaneF64
#define F1(name, ...) AMD_FUNCTION_1(name, F, F, __VA_ARGS__)
#define F2(name, ...) AMD_FUNCTION_2(name, F, F, F, __VA_ARGS__)
#define F3(name, ...) AMD_FUNCTION_3(name, F, F, F, F, __VA_ARGS__)
#define D1(name, ...) AMD_FUNCTION_1(name, D, D, __VA_ARGS__)
#define D2(name, ...) AMD_FUNCTION_2(name, D, D, D, __VA_ARGS__)
#define D3(name, ...) AMD_FUNCTION_3(name, D, D, D, D, __VA_ARGS__)

// ---- Sums and products ----

static inline float fused(float a, float b, float c) {
    return amd_quiet((float)sim_fma_odd((double)a, (double)b, (double)c));
}
F2(add_f32, amd_quiet(p + q))
F2(sub_f32, amd_quiet(p - q))
F2(subrev_f32, amd_quiet(q - p))
F2(mul_f32, amd_quiet(p *q))
F2(mul_legacy_f32, p == 0 || q == 0 ? 0 : amd_quiet(p * q))
F3(fma_f32, fused(p, q, r))
F3(fmamk_f32, fused(p, q, r))
// Rounds twice and flushes denormals.
static inline float unfused(float a, float b, float c) {
    float product = sim_flush(sim_flush(a) * sim_flush(b));
    return amd_quiet(sim_flush(product + sim_flush(c)));
}
F3(mad_f32, unfused(p, q, r))
F3(madmk_f32, unfused(p, q, r))
D2(add_f64, amd_quiet64(p + q))
D2(mul_f64, amd_quiet64(p *q))
D3(fma_f64, amd_quiet64(fma(p, q, r)))

#define PAIRS(name, ...)                                        \
    void amd_##name(const AmdLanes *x) {                        \
        F *d = x->d;                                            \
        const F *a = x->a, *b = x->b, *c = x->c ? x->c : x->a;  \
        SIM_IVDEP for (uint32_t l = 0; l < 2 * x->count; l++) { \
            const float p = a[l], q = b[l], r = c[l];           \
            (void)r;                                            \
            d[l] = (__VA_ARGS__);                               \
        }                                                       \
    }
PAIRS(pk_add_f32, amd_quiet(p + q))
PAIRS(pk_mul_f32, amd_quiet(p *q))
PAIRS(pk_fma_f32, fused(p, q, r))

// ---- Extremes ----

// Zeros are ordered by their signs. If one operand is NaN, the other one is the result, except for
// a signalling NaN in IEEE mode.
static inline bool signals(float x) { return x != x && !(sim_bits_f32(x) >> 22 & 1); }
static inline bool signals64(double x) { return x != x && !(sim_bits_f64(x) >> 51 & 1); }
static inline float float_min(bool ieee, float x, float y) {
    if (ieee && (signals(x) || signals(y))) return sim_f32_bits(0x7fc00000);
    if (x != x) return amd_quiet(y);
    if (y != y) return x;
    if (x == y) return sim_f32_bits(sim_bits_f32(x) | sim_bits_f32(y));
    return x < y ? x : y;
}
static inline float most(bool ieee, float x, float y) {
    if (ieee && (signals(x) || signals(y))) return sim_f32_bits(0x7fc00000);
    if (x != x) return amd_quiet(y);
    if (y != y) return x;
    if (x == y) return sim_f32_bits(sim_bits_f32(x) & sim_bits_f32(y));
    return x > y ? x : y;
}
static inline float strict_least(float x, float y) {
    return x != x || y != y ? sim_f32_bits(0x7fc00000) : float_min(false, x, y);
}
static inline float strict_most(float x, float y) {
    return x != x || y != y ? sim_f32_bits(0x7fc00000) : most(false, x, y);
}
#define IEEE x->wave->ieee
F2(min_f32, float_min(IEEE, p, q))
F2(max_f32, most(IEEE, p, q))
F2(minimum_f32, strict_least(p, q))
F2(maximum_f32, strict_most(p, q))
F3(min3_f32, float_min(IEEE, float_min(IEEE, p, q), r))
F3(max3_f32, most(IEEE, most(IEEE, p, q), r))
F3(minimum3_f32, strict_least(strict_least(p, q), r))
F3(maximum3_f32, strict_most(strict_most(p, q), r))
F3(maximumminimum_f32, strict_least(strict_most(p, q), r))
F3(minimummaximum_f32, strict_most(strict_least(p, q), r))
F3(maxmin_f32, float_min(IEEE, most(IEEE, p, q), r))
F3(minmax_f32, most(IEEE, float_min(IEEE, p, q), r))
static inline float median(bool ieee, float x, float y, float z) {
    if (x != x || y != y || z != z) return float_min(ieee, float_min(ieee, x, y), z);
    return most(false, float_min(false, x, y), float_min(false, most(false, x, y), z));
}
F3(med3_f32, median(IEEE, p, q, r))
static inline double least64(bool ieee, double x, double y) {
    if (ieee && (signals64(x) || signals64(y))) return sim_f64_bits(UINT64_C(0x7ff8) << 48);
    if (x != x) return amd_quiet64(y);
    if (y != y) return x;
    return x < y || (x == y && signbit(x)) ? x : y;
}
static inline double most64(bool ieee, double x, double y) {
    if (ieee && (signals64(x) || signals64(y))) return sim_f64_bits(UINT64_C(0x7ff8) << 48);
    if (x != x) return amd_quiet64(y);
    if (y != y) return x;
    return x > y || (x == y && !signbit(x)) ? x : y;
}
static inline double strict_least64(double x, double y) {
    return x != x || y != y ? sim_f64_bits(UINT64_C(0x7ff8) << 48) : least64(false, x, y);
}
static inline double strict_most64(double x, double y) {
    return x != x || y != y ? sim_f64_bits(UINT64_C(0x7ff8) << 48) : most64(false, x, y);
}
D2(min_f64, least64(IEEE, p, q))
D2(max_f64, most64(IEEE, p, q))
D2(minimum_f64, strict_least64(p, q))
D2(maximum_f64, strict_most64(p, q))

// ---- Roundings ----

F1(floor_f32, amd_quiet(floorf(p)))
F1(ceil_f32, amd_quiet(ceilf(p)))
F1(trunc_f32, amd_quiet(truncf(p)))
F1(rndne_f32, amd_quiet(rintf(p)))
D1(floor_f64, amd_quiet64(floor(p)))
D1(ceil_f64, amd_quiet64(ceil(p)))
D1(trunc_f64, amd_quiet64(trunc(p)))
D1(rndne_f64, amd_quiet64(rint(p)))
static inline float fraction(float x) {
    float r = x - floorf(x);
    return r < 1 ? r : r == 1 ? 0x1.fffffep-1f : amd_quiet(r);
}
static inline double fraction64(double x) {
    double r = x - floor(x);
    return r < 1 ? r : r == 1 ? 0x1.fffffffffffffp-1 : amd_quiet64(r);
}
F1(fract_f32, fraction(p))
D1(fract_f64, fraction64(p))

// ---- Approximations ----

static inline float flushed(float x) { return amd_quiet(sim_flush(x)); }
F1(exp_f32, flushed(sim_approx_ex2(sim_flush(p))))
F1(log_f32, flushed(sim_approx_lg2(sim_flush(p))))
F1(rcp_f32, flushed(1 / sim_flush(p)))
F1(rsq_f32, flushed((float)(1 / sqrt((double)sim_flush(p)))))
F1(sqrt_f32, amd_quiet(sqrtf(sim_flush(p))))
D1(rcp_f64, amd_quiet64(1 / p))
D1(rsq_f64, amd_quiet64(1 / sqrt(p)))
D1(sqrt_f64, amd_quiet64(sqrt(p)))
// The argument in full turns.
static inline float revolutions(float x) {
    return (float)(((double)x - floor((double)x)) * 6.28318530717958647693);
}
F1(sin_f32, p - p != 0 ? amd_quiet(p - p) : flushed(sim_approx_sin(revolutions(p))))
F1(cos_f32, p - p != 0 ? amd_quiet(p - p) : flushed(sim_approx_cos(revolutions(p))))

// ---- Exponents ----

static inline float scaled(float x, int32_t e) {
    e = e > 400 ? 400 : e < -400 ? -400 : e;
    return amd_quiet((float)((double)x * sim_f64_bits((uint64_t)(e + 1023) << 52)));
}
static inline double scaled64(double x, int32_t e) {
    e = e > 4000 ? 4000 : e < -4000 ? -4000 : e;
    return amd_quiet64(ldexp(x, e));
}
AMD_FUNCTION_2(ldexp_f32, F, F, LaneS32, scaled(p, q))
AMD_FUNCTION_2(ldexp_f64, D, D, LaneS32, scaled64(p, q))
static inline double mantissa(double x, int *e) {
    *e = 0;
    return x - x != 0 || x == 0 ? x : frexp(x, e);
}
static inline float mantissa32(float x) {
    int e;
    return amd_quiet((float)mantissa((double)x, &e));
}
static inline double mantissa64(double x) {
    int e;
    return amd_quiet64(mantissa(x, &e));
}
static inline int32_t exponent_of(double x) {
    int e;
    (void)mantissa(x, &e);
    return e;
}
F1(frexp_mant_f32, mantissa32(p))
AMD_FUNCTION_1(frexp_exp_f32, LaneS32, F, exponent_of((double)p))
D1(frexp_mant_f64, mantissa64(p))
AMD_FUNCTION_1(frexp_exp_f64, LaneS32, D, exponent_of(p))

// ---- Quotients in steps ----
// The three instructions differ between the formats in these numbers only.

typedef struct LaneFormat {
    int bias, scale, near, least;  // exponents; least: limits for denominators and numerators
    int vanish;                    // quotients this far below one become 0
} LaneFormat;
static const LaneFormat single = {127, 64, 96, 23, 150}, wide = {1023, 128, 768, 53, 1075};

static int biased(double x, const LaneFormat *f) {
    int e;
    if (x == 0) return 0;
    if (x - x != 0) return 2 * f->bias + 1;
    (void)frexp(x, &e);
    e += f->bias - 1;
    return e > 0 ? e : 0;
}

// Is the format's nearest number to x denormal or zero?
static bool is_small(double x, const LaneFormat *f) { return biased(x, f) <= 0; }

static double scale_operand(double a, double b, double c, const LaneFormat *f, uint32_t *flag) {
    int eb = biased(b, f), ec = biased(c, f);
    double up = ldexp(a, f->scale);
    *flag = 0;
    if (c == 0 || b == 0) return (double)NAN;
    if (ec - eb >= f->near) {
        *flag = 1;
        return a == b ? up : a;
    }
    if (eb == 0) return up;
    bool inverse = is_small(1 / b, f), quotient = ec - eb < -f->bias + 1;
    // AMD's documents scale the denominator up here, although it is too large for that, and the
    // last step down. To be right, both must scale down.
    if (inverse && quotient) {
        *flag = 1;
        return a == b ? ldexp(a, -f->scale) : a;
    }
    if (inverse) return ldexp(a, -f->scale);
    if (quotient) {
        *flag = 1;
        return a == c ? up : a;
    }
    return ec <= f->least ? up : a;
}

#define SCALE(name, T, format, quiet)                                                              \
    void amd_##name(const AmdLanes *x) {                                                           \
        T *d = x->d;                                                                               \
        const T *a = x->a, *b = x->b, *c = x->c;                                                   \
        LaneU32 *e = x->e;                                                                         \
        for (uint32_t l = 0; l < x->count; l++) {                                                  \
            uint32_t flag;                                                                         \
            d[l] =                                                                                 \
                quiet((T)scale_operand((double)a[l], (double)b[l], (double)c[l], &format, &flag)); \
            e[l] = flag;                                                                           \
        }                                                                                          \
    }
SCALE(div_scale_f32, F, single, amd_quiet)
SCALE(div_scale_f64, D, wide, amd_quiet64)

// Rounded once, after scaling.
static float scaled_sum(float a, float b, float c, int by) {
    return amd_quiet((float)ldexp(sim_fma_odd((double)a, (double)b, (double)c), by));
}

// The same for f64. A double with a sticky last bit has too few bits for this: a subnormal result
// may leave it only one extra bit, where two are needed.
static double scaled_sum64(double a, double b, double c, int by) {
    SimExact e;
    sim_exact_clear(&e);
    sim_exact_add(&e, a, b);
    sim_exact_add(&e, c, 1);
    e.scale = by;
    return sim_f64_bits(sim_exact_round(&e, &sim_f64, SIM_RN));
}

// The last step undoes the scaling if div_scale's flag says so.
void amd_div_fmas_f32(const AmdLanes *x) {
    F *d = x->d;
    const F *a = x->a, *b = x->b, *c = x->c;
    const LaneU32 *flag = x->c2;
    AMD_EACH(x, int e = fabsf(c[l]) >= 1 ? 64 : -64;
             d[l] = flag[l] ? scaled_sum(a[l], b[l], c[l], e) : fused(a[l], b[l], c[l]);)
}
void amd_div_fmas_f64(const AmdLanes *x) {
    D *d = x->d;
    const D *a = x->a, *b = x->b, *c = x->c;
    const LaneU32 *flag = x->c2;
    AMD_EACH(
        x, int e = fabs(c[l]) >= 1 ? 128 : -128;
        d[l] = amd_quiet64(flag[l] ? scaled_sum64(a[l], b[l], c[l], e) : fma(a[l], b[l], c[l]));)
}

static double fix_quotient(double q, double b, double c, const LaneFormat *f) {
    double sign = !signbit(b) != !signbit(c) ? -1.0 : 1.0;
    if (b != b || c != c) return (double)NAN;
    if ((b == 0 && c == 0) || (isinf(b) && isinf(c))) return (double)NAN;
    if (b == 0 || isinf(c)) return sign * (double)INFINITY;
    if (isinf(b) || c == 0) return sign * 0.0;
    if (biased(c, f) - biased(b, f) < -f->vanish) return sign * 0.0;
    return q != q ? sign * (double)INFINITY : sign * fabs(q);  // an intermediate result overflowed
}
F3(div_fixup_f32, amd_quiet((float)fix_quotient((double)p, (double)q, (double)r, &single)))
D3(div_fixup_f64, amd_quiet64(fix_quotient(p, q, r, &wide)))

// ---- Products of halves ----

static inline float dot2(float c, float a0, float b0, float a1, float b1) {
    double low = (double)a0 * (double)b0, high = (double)a1 * (double)b1;
    return amd_quiet((float)sim_add_odd(low + high, (double)c));
}
AMD_FUNCTION_3(dot2_f32_f16, F, LaneU32, LaneU32, F,
               dot2(r, sim_f16_value(p & 0xffff), sim_f16_value(q & 0xffff), sim_f16_value(p >> 16),
                    sim_f16_value(q >> 16)))
AMD_FUNCTION_3(dot2_f32_bf16, F, LaneU32, LaneU32, F,
               dot2(r, sim_bf16_value(p & 0xffff), sim_bf16_value(q & 0xffff),
                    sim_bf16_value(p >> 16), sim_bf16_value(q >> 16)))
// Rounded to f32, and then once more to f16.
AMD_FUNCTION_3(fma_mix_f16, LaneU32, F, F, F,
               amd_f16_of((double)(float)sim_fma_odd((double)p, (double)q, (double)r)))

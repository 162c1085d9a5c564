// erf as 1 - exp(-T), T = -ln(erfc |x|) a polynomial in |x| without selects: 1 - exp(-T) is
// computed as -expm1(-T), so that a small T keeps its relative precision; a large T needs little of
// it. The fit's weight accounts for that: it is the derivative of erf with respect to T.
//
// erfc of a = |x| is exp(-a²) g(a) / (1 + a), where g = (1 + a) exp(a²) erfc(a) falls from 1 to
// 0.56: a polynomial in k = (a - K) / (a + K) (as M. Shepherd, J. Laframboise, "Chebyshev
// approximation of (1 + 2x) exp(x²) erfc x in 0 <= x < infinity", Math. Comp. 1981; with 1 + x, g
// is nearly flat at 0, where k is least exact). g, the quotient, a² and the exponential are carried
// in two parts each, and rounded together.
#include "passes/math/math.h"

// T(a) / a - c on [0, 3.95] and [0, 5.95], where c is 2/sqrt(pi) rounded: 2^-30.8, 2^-55.5 of
// erf(a).
static const double rest_f32[] = {-0x1.f7ac50p-25, 0x1.45f308p-1,  0x1.a4f3d8p-4,   -0x1.39400cp-6,
                                  -0x1.05618cp-12, 0x1.d65bd2p-10, -0x1.82436cp-11, 0x1.5b8b48p-13,
                                  -0x1.5f4e30p-16, 0x1.3591d4p-20};
static const double rest_f64[] = {
    0x1.1ae3a916a773bp-56,  0x1.45f306dc9c87bp-1,   0x1.a4f4e2a1b668bp-4,   -0x1.39668595d0640p-6,
    -0x1.b6b67d84bfce9p-13, 0x1.bca66c102c4a2p-10,  -0x1.35649a08a22ccp-11, 0x1.b1cfe2a27329ep-16,
    0x1.0ec3df573d60dp-14,  -0x1.f5170964a0e20p-16, 0x1.eaf20bf031202p-19,  0x1.4e079b59f913ep-19,
    -0x1.6c799624f0fc3p-20, -0x1.0c9d9cb5062b4p-27, 0x1.a1adb10c115b3p-22,  -0x1.3a78aa4f47ff9p-22,
    0x1.2d773c72c07bep-23,  -0x1.b950c51f9ccc1p-25, 0x1.0585928915646p-26,  -0x1.01311fc5ad76fp-28,
    0x1.a8217a9a1f28ep-31,  -0x1.25fd6721d0059p-33, 0x1.55bff37091190p-36,  -0x1.4acf24a4bb5dap-39,
    0x1.07968093a2e6ap-42,  -0x1.53dac493506a0p-46, 0x1.59a6a5d31a45fp-50,  -0x1.0adbab974fb81p-54,
    0x1.25dd19ee3cc25p-59,  -0x1.9b109aa1fbc30p-65, 0x1.126253627ae78p-71};

// g, its first coefficient in two parts: K = 2.5 on [0, 10.25], 2^-27.1; K = 3 on [0, 27.5],
// 2^-55.9.
static const double g_f32[] = {-0x1.f9f3a2p-3, 0x1.38b506p-4,   0x1.0b0518p-6,   -0x1.02420ap-5,
                               0x1.d78aaep-7,  -0x1.b4457ep-11, -0x1.cfb14ep-10, 0x1.30fc14p-12,
                               0x1.ffec8ap-13, 0x1.15aa82p-16};
static const double g_first_f32[] = {0x1.79c3d8p-1, -0x1.77df20p-26};
static const double g_f64[] = {
    -0x1.d8f06dfac798ap-3,  0x1.9596c92adafd0p-4,   -0x1.4f64aa4aa39f4p-7, -0x1.8600d9145fed2p-6,
    0x1.67c189950e268p-6,   -0x1.3f82b5d0cb468p-7,  0x1.a84c55c7e3aaap-10, 0x1.5297b79944b09p-11,
    -0x1.81213ce86ff3dp-12, -0x1.58ccf3d6ddcd7p-16, 0x1.d6c2da2d7af0dp-15, -0x1.9664a0635ee9fp-20,
    -0x1.2d9effaca5b70p-17, 0x1.16a90eea3d140p-22,  0x1.a9bca738d88efp-20, 0x1.0c3adde35ec50p-24,
    -0x1.35f7c3abbf218p-22, -0x1.9d53c5f6b418ap-25, 0x1.898bd0443d7cep-25, 0x1.127e91352d188p-26,
    -0x1.09b45ee55e73dp-28, -0x1.6a8ce3f882d47p-29, -0x1.4eb9b2e29e144p-32};
static const double g_first_f64[] = {0x1.6e9827d229d2dp-1, -0x1.7b67697fb2912p-56};

IrValue *math_erf(Math *m, IrValue *x) {
    // From here on erf is 1.
    IrValue *a = math_at_most(m, math_abs(m, x), m->wide ? 5.9375 : 3.9375);
    IrValue *rest = m->wide ? MATH_POLY(m, a, rest_f64) : MATH_POLY(m, a, rest_f32);
    IrValue *c = math_const(m, m->wide ? 0x1.20dd750429b6dp+0 : 0x1.20dd760p+0);
    IrValue *t = math_fma(m, a, c, math_mul(m, a, rest));
    MathExpm1 by = math_expm1_parts(m, math_neg(m, t));
    IrValue *short_of_one = math_sub(m, math_const(m, 1), by.scale);
    IrValue *r = math_fma(m, math_neg(m, by.scale), by.part, short_of_one);
    return math_with_sign(m, math_abs(m, r), x);  // at 0 the sum of two zeros may have any sign
}

typedef struct ErfPair {
    IrValue *high, *low;
} ErfPair;

// g(a) / (1 + a).
static ErfPair scaled_erfc(Math *m, IrValue *a) {
    IrValue *place = math_const(m, m->wide ? 3 : 2.5), *one = math_const(m, 1);
    const double *first = m->wide ? g_first_f64 : g_first_f32;
    IrValue *k = math_div(m, math_sub(m, a, place), math_add(m, a, place));
    IrValue *rest = m->wide ? MATH_POLY(m, k, g_f64) : MATH_POLY(m, k, g_f32);
    IrValue *start = math_const(m, first[0]), *beyond = math_mul(m, k, rest);
    IrValue *g = math_add(m, start, beyond);
    IrValue *g_low = math_sub(m, beyond, math_sub(m, g, start));
    g_low = math_add(m, g_low, math_const(m, first[1]));
    IrValue *d = math_add(m, a, one), *part = math_sub(m, d, a);
    IrValue *d_low = math_add(m, math_sub(m, a, math_sub(m, d, part)), math_sub(m, one, part));
    IrValue *inverse = math_div(m, one, d), *q = math_mul(m, g, inverse), *minus = math_neg(m, q);
    IrValue *left = math_add(m, math_fma(m, minus, d, g), g_low);
    return (ErfPair){q, math_mul(m, math_fma(m, minus, d_low, left), inverse)};
}

IrValue *math_erfc(Math *m, IrValue *x) {
    IrValue *a = math_at_most(m, math_abs(m, x), m->wide ? 27.5 : 10.25);  // 0 from there on
    ErfPair q = scaled_erfc(m, a);
    IrValue *square = math_mul(m, a, a), *minus = math_neg(m, square);
    MathExp by = math_exp_parts(m, minus, math_neg(m, math_fma(m, a, a, minus)));
    IrValue *low = math_fma(m, q.high, by.lost, q.low);
    low = math_fma(m, low, by.part, low);
    IrValue *sum = math_add(m, q.high, math_fma(m, q.high, by.part, low));
    IrValue *r = math_exp_scale(m, sum, &by);
    IrValue *negative = math_compare(m, IR_LT, x, math_const(m, 0));
    return math_select(m, negative, math_sub(m, math_const(m, 2), r), r);
}

// exp, exp2, expm1, sigmoid, sinh, cosh, tanh, rsqrt.
//
// All but the last reduce to 2^n times a polynomial. n is found by adding `magic`: the sum's low
// bits are the rounded integer. If the exponent's bias is added with it, one shift gives 2^n. exp
// uses an even n, 2h: multiplying by 2^h twice covers every exponent, and a subnormal result is
// rounded only in the second. Coefficients are minimax fits of the relative error (Remez exchange
// in 220 bits, the low ones rounded first and the others fitted again); each table's comment has
// the error of its fit.
#include "passes/math/math.h"

// (exp(r) - 1 - r) / r² on |r| <= ln 2: 2^-26.0, 2^-55.3 of exp(r).
static const double exp_f32[] = {0x1.00000cp-1, 0x1.555512p-3,  0x1.5549dep-5,
                                 0x1.112734p-7, 0x1.71c410p-10, 0x1.9ba840p-13};
static const double exp_f64[] = {
    0x1.0000000000000p-1,  0x1.5555555555550p-3,  0x1.55555555555acp-5,  0x1.1111111111b43p-7,
    0x1.6c16c16c0d397p-10, 0x1.a01a019e33434p-13, 0x1.a01a01af0c97bp-16, 0x1.71de3d09dc51bp-19,
    0x1.27e4f00263c99p-22, 0x1.ae605cc830148p-26, 0x1.1ef5a61f8739cp-29, 0x1.640e3412b634fp-33,
    0x1.905599fc085e5p-37};
// (exp(r) - 1 - r) / r² on |r| <= ln(2) / 2: 2^-26.1, 2^-59.7 of exp(r) - 1.
static const double expm1_f32[] = {0x1.fffffep-2, 0x1.5554b4p-3, 0x1.5556f8p-5, 0x1.1225e2p-7,
                                   0x1.6b95f8p-10};
static const double expm1_f64[] = {
    0x1.0000000000000p-1,  0x1.5555555555559p-3,  0x1.555555555553ep-5,  0x1.111111110f6aap-7,
    0x1.6c16c16c1f158p-10, 0x1.a01a01afe9792p-13, 0x1.a01a017b9a63fp-16, 0x1.71ddf8426b265p-19,
    0x1.27e5365684e78p-22, 0x1.af5ee7a1e9d6fp-26, 0x1.1ee89563bb511p-29};
// (2^r - 1) / r on |r| <= 1/2: 2^-28.3, 2^-55.6 of 2^r.
static const double exp2_f32[] = {0x1.62e430p-1, 0x1.ebfbdcp-3,  0x1.c6af7ap-5,
                                  0x1.3b2dd4p-7, 0x1.5f0952p-10, 0x1.41796cp-13};
static const double exp2_f64[] = {
    0x1.62e42fefa39efp-1,  0x1.ebfbdff82c58fp-3,  0x1.c6b08d704a0cfp-5,  0x1.3b2ab6fba4e22p-7,
    0x1.5d87fe78a26b0p-10, 0x1.430912f883d86p-13, 0x1.ffcbfc74de414p-17, 0x1.62c021e256b4fp-20,
    0x1.b524dd42b8db6p-24, 0x1.e4d06ca03ee89p-28, 0x1.ea016d02e658cp-32, 0x1.c2ce96423fa26p-36};

// (sinh(r) - r) / r³ by powers of r² on |r| <= ln(2) / 2: 2^-34.3, 2^-65.2 of sinh(r).
static const double sinh_f32[] = {0x1.555556p-3, 0x1.110fbep-7, 0x1.a2e312p-13};
static const double sinh_f64[] = {0x1.5555555555555p-3,  0x1.1111111111388p-7,
                                  0x1.a01a019e9f631p-13, 0x1.71de408871a51p-19,
                                  0x1.ae4cb58eecdaep-26, 0x1.82e3db0d4e949p-33};
// (cosh(r) - 1) / r² likewise: 2^-33.3, 2^-70.0 of cosh(r).
static const double cosh_f32[] = {0x1.000000p-1, 0x1.5554e6p-5, 0x1.6d4f3cp-10};
static const double cosh_f64[] = {0x1.0000000000000p-1,  0x1.5555555555558p-5,
                                  0x1.6c16c16c14ff1p-10, 0x1.a01a01ad86bcbp-16,
                                  0x1.27e4cbf6eca32p-22, 0x1.1f8c136787740p-29};

// ln 2 in two parts; the first uses all bits of the type: the fma computes its products exactly.
static double ln2_high(const Math *m) { return m->wide ? 0x1.62e42fefa39efp-1 : 0x1.62e430p-1; }
static double ln2_low(const Math *m) { return m->wide ? 0x1.abc9e3b39803fp-56 : -0x1.05c610p-29; }
static double log2_e(const Math *m) { return m->wide ? 0x1.71547652b82fep+0 : 0x1.715476p+0; }

typedef struct Reduced {
    IrValue *rounded;  // magic + n
    IrValue *rest;     // x - n * step * ln 2
} Reduced;

// x = n * step * ln 2 + rest, step a power of two; the magic's low bits are zero or the bias.
// Without `exact`, the rest lacks n times the low part of ln 2.
static Reduced reduce(Math *m, IrValue *x, double step, int low, bool exact) {
    IrValue *magic = math_const(m, m->magic + low);
    IrValue *rounded = math_fma(m, x, math_const(m, log2_e(m) / step), magic);
    IrValue *n = math_sub(m, rounded, magic);
    IrValue *rest = math_fma(m, n, math_const(m, -step * ln2_high(m)), x);
    if (exact) rest = math_fma(m, n, math_const(m, -step * ln2_low(m)), rest);
    return (Reduced){rounded, rest};
}

// exp of an x that is clamped, so that the result ends at 0 and at infinity without special cases.
static IrValue *exp_of_clamped(Math *m, IrValue *x) {
    Reduced by = reduce(m, x, 2, m->bias, true);
    IrValue *r = by.rest, *one = math_const(m, 1);
    IrValue *q = m->wide ? MATH_POLY(m, r, exp_f64) : MATH_POLY(m, r, exp_f32);
    IrValue *p = math_fma(m, math_fma(m, q, r, one), r, one);
    IrValue *root = math_power_of_two(m, by.rounded);
    return math_mul(m, math_mul(m, p, root), root);
}

static double exp_least(const Math *m) { return m->wide ? -746 : -104; }

// The rounding of the product is an error of up to |x| * 2^-24 in the result, which math(approx)
// allows. Restoring it would take four times the instructions.
static IrValue *exp_by_exp2(Math *m, IrValue *x) {
    return ir_unary(m->b, IR_EXP2, math_mul(m, x, math_const(m, 0x1.715476p+0)));
}

IrValue *math_exp(Math *m, IrValue *x) {
    if (m->hardware) return exp_by_exp2(m, x);
    x = math_at_least(m, x, exp_least(m));
    return exp_of_clamped(m, math_at_most(m, x, m->wide ? 710 : 89));
}

// 2^n as the product of two halves, as results may be subnormal and n may exceed the greatest
// exponent by one.
static IrValue *scale(Math *m, IrValue *p, IrValue *rounded) {
    IrValue *n = math_as_int(m, rounded);
    IrValue *half = math_shr(m, n, 1), *other = math_sub(m, n, half);
    IrValue *bias = math_int(m, (uint64_t)m->bias << m->fraction);
    IrValue *a = math_add(m, math_shl(m, half, m->fraction), bias);
    IrValue *b = math_add(m, math_shl(m, other, m->fraction), bias);
    return math_mul(m, math_mul(m, p, math_as_real(m, a)), math_as_real(m, b));
}

IrValue *math_exp2_sum(Math *m, IrValue *high, IrValue *low) {
    IrValue *magic = math_const(m, m->magic);
    IrValue *rounded = math_add(m, high, magic);
    IrValue *r = math_sub(m, high, math_sub(m, rounded, magic));
    if (low) r = math_add(m, r, low);
    IrValue *q = m->wide ? MATH_POLY(m, r, exp2_f64) : MATH_POLY(m, r, exp2_f32);
    return scale(m, math_fma(m, q, r, math_const(m, 1)), rounded);
}

IrValue *math_exp2(Math *m, IrValue *x) {
    if (m->hardware) return ir_unary(m->b, IR_EXP2, x);
    x = math_at_least(m, x, m->wide ? -1080 : -152);
    return math_exp2_sum(m, math_at_most(m, x, m->wide ? 1025 : 129), NULL);
}

// exp(r) - 1 for |r| <= ln(2) / 2.
static IrValue *expm1_rest(Math *m, IrValue *r) {
    IrValue *q = m->wide ? MATH_POLY(m, r, expm1_f64) : MATH_POLY(m, r, expm1_f32);
    return math_fma(m, q, math_mul(m, r, r), r);
}

// e / (1 + e) or 1 / (1 + e) with e = exp(-|x|): exp(|x|) would overflow where the result is still
// a small number. Two roundings fewer than exp and a division would have.
IrValue *math_sigmoid(Math *m, IrValue *x) {
    IrValue *one = math_const(m, 1);
    if (m->hardware) return math_div(m, one, math_add(m, one, exp_by_exp2(m, math_neg(m, x))));
    IrValue *below = math_neg(m, math_abs(m, x));
    Reduced by = reduce(m, math_at_least(m, below, exp_least(m)), 1, 0, true);
    IrValue *e = scale(m, math_add(m, expm1_rest(m, by.rest), one), by.rounded);
    IrValue *negative = math_compare(m, IR_LT, x, math_const(m, 0));
    IrValue *d = math_add(m, one, e), *lost = math_sub(m, e, math_sub(m, d, one));
    return math_quotient(m, math_select(m, negative, e, one), NULL, d, lost);
}

MathExp math_exp_parts(Math *m, IrValue *x, IrValue *low) {
    Reduced by = reduce(m, x, 1, 0, false);
    IrValue *n = math_sub(m, by.rounded, math_const(m, m->magic));
    IrValue *tail = math_fma(m, n, math_const(m, -ln2_low(m)), low);
    IrValue *rest = math_add(m, by.rest, tail);
    return (MathExp){.rounded = by.rounded,
                     .part = expm1_rest(m, rest),
                     .lost = math_sub(m, tail, math_sub(m, rest, by.rest))};
}

IrValue *math_exp_scale(Math *m, IrValue *p, const MathExp *by) { return scale(m, p, by->rounded); }

// In f32, the error of an inexact rest, |n| 2^-29 of 2^n, is negligible compared with 1 - 2^n. In
// f64 there is no test of all values that would show it.
MathExpm1 math_expm1_parts(Math *m, IrValue *x) {
    Reduced by = reduce(m, x, 1, m->bias, m->wide);
    return (MathExpm1){math_power_of_two(m, by.rounded), expm1_rest(m, by.rest)};
}

// With e = exp(2|x|) - 1: e / (e + 2); from 20 on the result is 1.
static IrValue *tanh_wide(Math *m, IrValue *x) {
    IrValue *a = math_at_most(m, math_abs(m, x), 20);
    MathExpm1 by = math_expm1_parts(m, math_add(m, a, a));
    IrValue *e = math_fma(m, by.scale, by.part, math_sub(m, by.scale, math_const(m, 1)));
    IrValue *two = math_const(m, 2), *d = math_add(m, e, two);
    return math_quotient(m, e, NULL, d, math_sub(m, e, math_sub(m, d, two)));
}

// With e = exp(-2|x|): (1 - e) / (1 + e); from 10 on the result is 1. Dividend and divisor come
// from the same two parts by one rounding each. If the result is small, the divisor is just below 2
// (with exp(2|x|) it would be just above), so its rounding error is small: every f32 from 2^-23 on
// has at most 1.954 ulp, without a correction of the quotient. f64, whose values cannot all be
// tried, might have 2.2.
static IrValue *tanh_narrow(Math *m, IrValue *x) {
    IrValue *below = math_at_least(m, math_neg(m, math_abs(m, x)), -10);
    MathExpm1 by = math_expm1_parts(m, math_add(m, below, below));
    IrValue *one = math_const(m, 1);
    IrValue *less = math_sub(m, by.scale, one), *more = math_add(m, by.scale, one);
    IrValue *dividend = math_fma(m, by.scale, by.part, less);
    return math_abs(m, math_div(m, dividend, math_fma(m, by.scale, by.part, more)));
}

IrValue *math_tanh(Math *m, IrValue *x) {
    return math_with_sign(m, m->wide ? tanh_wide(m, x) : tanh_narrow(m, x), x);
}

// The greatest n, 1024 or 128, is beyond the exponents of 2^n: then 2^(n-1) is doubled last.
IrValue *math_expm1(Math *m, IrValue *x) {
    IrValue *least = math_at_least(m, x, m->wide ? -40 : -20);  // from there on the result is -1
    IrValue *a = math_at_most(m, least, m->wide ? 710 : 89), *one = math_const(m, 1);
    IrValue *large = math_compare(m, IR_GT, a, math_const(m, m->wide ? 700 : 80));
    Reduced by = reduce(m, a, 1, m->bias, true);
    IrValue *unit = math_int(m, UINT64_C(1) << m->fraction), *none = math_int(m, 0);
    IrValue *power = math_as_int(m, math_power_of_two(m, by.rounded));
    power = math_as_real(m, math_sub(m, power, math_select(m, large, unit, none)));
    IrValue *e = math_fma(m, power, expm1_rest(m, by.rest), math_sub(m, power, one));
    e = math_mul(m, e, math_select(m, large, math_const(m, 2), one));
    return math_with_sign(m, math_abs(m, e), x);  // at -0 the sum of two zeros is +0
}

// With |x| = n ln 2 + r, s = sinh(r), c = cosh(r) - 1 and the sum and difference of 2^n and 2^-n,
// halved: sinh |x| = difference + (difference c + sum s), cosh x = sum + (sum c + difference s).
// Only n = 0 has small results, and its difference is 0. The rounding errors of sum and difference
// are added with the rest.
typedef struct Waves {
    IrValue *sum, *difference, *s, *c;
    IrValue *up, *down;  // 2^n and 2^-n, halved
    IrValue *scale;      // of the result: a power of two
} Waves;

static Waves waves(Math *m, IrValue *x) {
    IrValue *a = math_at_most(m, math_abs(m, x), m->wide ? 711 : 90);
    Reduced by = reduce(m, a, 1, m->bias - 1, true);
    // Large powers are taken 2^512 or 2^64 times smaller, which leaves 2^-n negligible.
    IrValue *large = math_compare(m, IR_GT, a, math_const(m, m->wide ? 512 : 64));
    IrValue *less = math_int(m, (uint64_t)(m->wide ? 512 : 64) << m->fraction);
    IrValue *power = math_as_int(m, math_power_of_two(m, by.rounded));
    power = math_sub(m, power, math_select(m, large, less, math_int(m, 0)));
    IrValue *both = math_int(m, (uint64_t)(2 * (m->bias - 1)) << m->fraction);
    IrValue *up = math_as_real(m, power), *down = math_as_real(m, math_sub(m, both, power));
    IrValue *z = math_mul(m, by.rest, by.rest);
    IrValue *s = m->wide ? MATH_POLY(m, z, sinh_f64) : MATH_POLY(m, z, sinh_f32);
    IrValue *c = m->wide ? MATH_POLY(m, z, cosh_f64) : MATH_POLY(m, z, cosh_f32);
    IrValue *more = math_const(m, m->wide ? 0x1p512 : 0x1p64);
    return (Waves){.sum = math_add(m, up, down),
                   .difference = math_sub(m, up, down),
                   .up = up,
                   .down = down,
                   .s = math_fma(m, math_mul(m, z, by.rest), s, by.rest),
                   .c = math_mul(m, z, c),
                   .scale = math_select(m, large, more, math_const(m, 1))};
}

IrValue *math_sinh(Math *m, IrValue *x) {
    Waves w = waves(m, x);
    IrValue *lost = math_sub(m, math_sub(m, w.up, w.difference), w.down);
    IrValue *rest = math_fma(m, w.sum, w.s, math_fma(m, w.difference, w.c, lost));
    IrValue *r = math_mul(m, math_add(m, w.difference, rest), w.scale);
    return math_with_sign(m, math_abs(m, r), x);
}

IrValue *math_cosh(Math *m, IrValue *x) {
    Waves w = waves(m, x);
    IrValue *lost = math_add(m, math_sub(m, w.up, w.sum), w.down);
    IrValue *rest = math_fma(m, w.difference, w.s, math_fma(m, w.sum, w.c, lost));
    return math_mul(m, math_add(m, w.sum, rest), w.scale);
}

IrValue *math_rsqrt(Math *m, IrValue *x) {
    if (m->hardware) return ir_unary(m->b, IR_RSQRT, x);
    return math_div(m, math_const(m, 1), ir_unary(m->b, IR_SQRT, x));
}

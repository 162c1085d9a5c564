// log, log1p, log2, log10, and the parts of a float that pow uses as well.
#include <math.h>

#include "passes/math/math.h"

// (log(1 + f) - f + f²/2) / f³ on the mantissas: 2^-27.2 of the logarithm.
static const double log_f32[] = {0x1.555554p-2, -0x1.00022ap-2, 0x1.99a02cp-3, -0x1.54718ap-3,
                                 0x1.22d6f6p-3, -0x1.0d897ap-3, 0x1.057224p-3, -0x1.38d526p-4};
// With s = f / (2 + f): (log(1 + f) / s - 2) / s² by powers of s²: 2^-61.5.
static const double log_f64[] = {0x1.5555555555555p-1, 0x1.9999999999e0ep-2, 0x1.249249242a0d4p-2,
                                 0x1.c71c725a6d86cp-3, 0x1.745cddc1678bep-3, 0x1.3b20bf924b853p-3,
                                 0x1.0f5b02e320c39p-3, 0x1.0f7349e61b081p-3};

MathParts math_split(Math *m, IrValue *x) {
    // Subnormals are made normal first.
    IrValue *least = math_const(m, m->wide ? 0x1p-1022 : 0x1p-126);
    IrValue *small = math_compare(m, IR_LT, x, least);
    IrValue *raised = math_mul(m, x, math_const(m, m->wide ? 0x1p54 : 0x1p24));
    IrValue *bits = math_as_int(m, math_select(m, small, raised, x));
    IrValue *zero = math_const(m, 0);
    IrValue *taken = math_select(m, small, math_const(m, m->wide ? -54 : -24), zero);
    // The bits of sqrt(1/2), from which the exponents are counted.
    uint64_t root = m->wide ? UINT64_C(0x3fe6a09e667f3bcd) : UINT64_C(0x3f3504f3);
    IrValue *n = math_shr(m, math_sub(m, bits, math_int(m, root)), m->fraction);
    IrValue *mantissa = math_as_real(m, math_sub(m, bits, math_shl(m, n, m->fraction)));
    return (MathParts){.rest = math_sub(m, mantissa, math_const(m, 1)),
                       .exponent = math_add(m, math_float_of(m, n), taken)};
}

// log(1 + f) = f + the result.
static IrValue *beyond_first(Math *m, IrValue *f, IrValue *more) {
    IrValue *square = math_mul(m, f, f);
    if (!m->wide) {
        IrValue *q = MATH_POLY(m, f, log_f32);
        IrValue *cubic = math_mul(m, math_mul(m, square, f), q);
        if (more) cubic = math_add(m, cubic, more);
        return math_fma(m, square, math_const(m, -0.5), cubic);
    }
    IrValue *s = math_div(m, f, math_add(m, f, math_const(m, 2)));
    IrValue *z = math_mul(m, s, s);
    IrValue *halved = math_mul(m, square, math_const(m, 0.5));
    IrValue *r = math_mul(m, z, MATH_POLY(m, z, log_f64));
    // log(1 + f) = 2s + s r = f - s f + s r, and s f = f²/2 - s f²/2.
    IrValue *last = math_mul(m, s, math_add(m, halved, r));
    if (more) last = math_add(m, last, more);
    return math_sub(m, last, halved);
}

// `y` if x is positive and finite; else the special value.
static IrValue *special_cases(Math *m, IrValue *x, IrValue *y) {
    IrValue *zero = math_const(m, 0), *infinite = math_const(m, (double)INFINITY);
    IrValue *is_zero = math_compare(m, IR_EQ, x, zero);
    IrValue *other = math_select(m, math_compare(m, IR_LT, x, zero), math_nan(m), x);
    other = math_select(m, is_zero, math_const(m, -(double)INFINITY), other);
    IrValue *fine =
        math_and(m, math_compare(m, IR_GT, x, zero), math_compare(m, IR_LT, x, infinite));
    return math_select(m, fine, y, other);
}

IrValue *math_log(Math *m, IrValue *x) {
    MathParts parts = math_split(m, x);
    IrValue *high = math_const(m, m->wide ? 0x1.62e42fefa39efp-1 : 0x1.62e430p-1);
    IrValue *low = math_const(m, m->wide ? 0x1.abc9e3b39803fp-56 : -0x1.05c610p-29);
    IrValue *rest = beyond_first(m, parts.rest, math_mul(m, parts.exponent, low));
    IrValue *sum = math_add(m, parts.rest, rest);
    return special_cases(m, x, math_fma(m, parts.exponent, high, sum));
}

// log(u (1 + c / u)) for u = 1 + x rounded and its error c: log(u) + c / u. Where x is small,
// log(u) is as small, so that its error is, too.
IrValue *math_log1p(Math *m, IrValue *x) {
    IrValue *one = math_const(m, 1), *u = math_add(m, x, one), *part = math_sub(m, u, x);
    IrValue *error = math_add(m, math_sub(m, x, math_sub(m, u, part)), math_sub(m, one, part));
    MathParts parts = math_split(m, u);
    IrValue *high = math_const(m, m->wide ? 0x1.62e42fefa39efp-1 : 0x1.62e430p-1);
    IrValue *low = math_const(m, m->wide ? 0x1.abc9e3b39803fp-56 : -0x1.05c610p-29);
    IrValue *more = math_fma(m, parts.exponent, low, math_div(m, error, u));
    IrValue *sum = math_add(m, parts.rest, beyond_first(m, parts.rest, more));
    IrValue *y = special_cases(m, u, math_fma(m, parts.exponent, high, sum));
    return math_with_sign(m, math_abs(m, y), x);  // -0 stays
}

// n scale + log(1 + f) log10(e), each constant in two parts.
IrValue *math_log10(Math *m, IrValue *x) {
    MathParts parts = math_split(m, x);
    IrValue *e_high = math_const(m, m->wide ? 0x1.bcb7b1526e50ep-2 : 0x1.bcb7b20p-2);
    IrValue *e_low = math_const(m, m->wide ? 0x1.95355baaafad3p-57 : -0x1.5b235e0p-27);
    IrValue *two_high = math_const(m, m->wide ? 0x1.34413509f79ffp-2 : 0x1.3441360p-2);
    IrValue *two_low = math_const(m, m->wide ? -0x1.9dc1da994fd21p-59 : -0x1.ec10c00p-27);
    IrValue *f = parts.rest, *g = beyond_first(m, f, NULL);
    IrValue *low = math_fma(m, parts.exponent, two_low, math_mul(m, f, e_low));
    IrValue *y = math_fma(m, f, e_high, math_fma(m, g, e_high, low));
    return special_cases(m, x, math_fma(m, parts.exponent, two_high, y));
}

IrValue *math_log2(Math *m, IrValue *x) {
    MathParts parts = math_split(m, x);
    IrValue *high = math_const(m, m->wide ? 0x1.71547652b82fep+0 : 0x1.715476p+0);
    IrValue *low = math_const(m, m->wide ? 0x1.777d0ffda0d24p-56 : 0x1.4ae0c0p-26);
    IrValue *f = parts.rest, *g = beyond_first(m, f, NULL);
    IrValue *y = math_fma(m, f, high, math_fma(m, g, high, math_mul(m, f, low)));
    return special_cases(m, x, math_add(m, parts.exponent, y));
}

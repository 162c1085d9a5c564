// pow(x, y) = 2^(y log2 |x|), with the logarithm and the product in two parts each, then the
// special cases of C (C17 F.10.4.4).
//
// log2 is 2 log2(e) s (1 + z/3 + z² P(z)) with s = f / (2 + f), z = s²; only P is computed in one
// part: it contributes less than 2^-12 of the logarithm. Sums and products of two parts follow T.
// Dekker, "A floating-point technique for extending the available precision", Numer. Math. 1971,
// with fma for the errors of products.
#include <math.h>

#include "passes/math/math.h"

// P: 2^-36.7, 2^-65.7 of the logarithm.
static const double rest_f32[] = {0x1.999a00p-3, 0x1.245274p-3, 0x1.dfa4fcp-4};
static const double rest_f64[] = {0x1.9999999999995p-3, 0x1.249249249305ep-3, 0x1.c71c71c57b7c4p-4,
                                  0x1.745d1834afa6dp-4, 0x1.3b136214a68f5p-4, 0x1.1120cde89a14cp-4,
                                  0x1.de2f9632489b3p-5, 0x1.eb313fc837062p-5};

typedef struct PowerTwo {
    IrValue *high, *low;
} PowerTwo;

static PowerTwo two_of(Math *m, double high, double low) {
    return (PowerTwo){math_const(m, high), math_const(m, low)};
}

// |a| >= |b|, or a = 0.
static PowerTwo sum_of_ordered(Math *m, IrValue *a, IrValue *b) {
    IrValue *sum = math_add(m, a, b);
    return (PowerTwo){sum, math_sub(m, b, math_sub(m, sum, a))};
}

static PowerTwo product(Math *m, PowerTwo a, PowerTwo b) {
    IrValue *p = math_mul(m, a.high, b.high);
    IrValue *error = math_fma(m, a.high, b.high, math_neg(m, p));
    error = math_fma(m, a.high, b.low, error);
    return sum_of_ordered(m, p, math_fma(m, a.low, b.high, error));
}

// f / (2 + f).
static PowerTwo ratio(Math *m, IrValue *f) {
    PowerTwo below = sum_of_ordered(m, math_const(m, 2), f);
    IrValue *inverse = math_div(m, math_const(m, 1), below.high);
    IrValue *s = math_mul(m, f, inverse), *negative = math_neg(m, s);
    IrValue *left = math_fma(m, negative, below.low, math_fma(m, negative, below.high, f));
    return (PowerTwo){s, math_mul(m, left, inverse)};
}

// log2 of a positive finite x.
static PowerTwo logarithm(Math *m, IrValue *x) {
    MathParts parts = math_split(m, x);
    PowerTwo s = ratio(m, parts.rest), z = product(m, s, s);
    IrValue *rest = m->wide ? MATH_POLY(m, z.high, rest_f64) : MATH_POLY(m, z.high, rest_f32);
    PowerTwo third = m->wide ? two_of(m, 0x1.5555555555555p-2, 0x1.5555555555555p-56)
                             : two_of(m, 0x1.555556p-2, -0x1.555556p-27);
    PowerTwo factor = product(m, z, third);
    factor.low = math_fma(m, math_mul(m, z.high, z.high), rest, factor.low);
    PowerTwo one = sum_of_ordered(m, math_const(m, 1), factor.high);
    one.low = math_add(m, one.low, factor.low);
    PowerTwo scale = m->wide ? two_of(m, 0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55)
                             : two_of(m, 0x1.715476p+1, 0x1.4ae0c0p-25);
    PowerTwo r = product(m, product(m, s, scale), one);
    PowerTwo sum = sum_of_ordered(m, parts.exponent, r.high);
    return sum_of_ordered(m, sum.high, math_add(m, sum.low, r.low));
}

// 2^(y * l), also for an infinite y, as l is not 0; the product is clamped to the range in which 2^
// is defined.
static IrValue *raise(Math *m, PowerTwo l, IrValue *y) {
    IrValue *p = math_mul(m, y, l.high);
    IrValue *low = math_fma(m, y, l.low, math_fma(m, y, l.high, math_neg(m, p)));
    double limit = m->wide ? 1100 : 160;
    IrValue *inside = math_compare(m, IR_LT, math_abs(m, p), math_const(m, limit));
    p = math_at_least(m, math_at_most(m, p, limit), -limit);
    return math_exp2_sum(m, p, math_select(m, inside, low, math_const(m, 0)));
}

static IrValue *is_whole(Math *m, IrValue *y) {
    return math_compare(m, IR_EQ, ir_unary(m->b, IR_FLOOR, y), y);
}

static IrValue *either(Math *m, IrValue *a, IrValue *b) { return math_or(m, a, b); }
static IrValue *opposite(Math *m, IrValue *c) { return ir_unary(m->b, IR_NOT, c); }

// r = |x|^y for ordinary operands, corrected for all others, without the sign.
static IrValue *magnitudes(Math *m, IrValue *a, IrValue *y, IrValue *r) {
    IrValue *zero = math_const(m, 0), *infinite = math_const(m, (double)INFINITY);
    IrValue *down = math_compare(m, IR_LT, y, zero);
    IrValue *a_zero = math_compare(m, IR_EQ, a, zero);
    IrValue *a_infinite = math_compare(m, IR_EQ, a, infinite);
    IrValue *grows = math_xor(m, down, a_infinite);
    IrValue *end = math_select(m, grows, infinite, zero);
    r = math_select(m, either(m, a_zero, a_infinite), end, r);
    // 1 to any power; an infinite power of it, too.
    r = math_select(m, math_compare(m, IR_EQ, a, math_const(m, 1)), math_const(m, 1), r);
    IrValue *a_nan = math_compare(m, IR_NE, a, a), *y_nan = math_compare(m, IR_NE, y, y);
    return math_select(m, either(m, a_nan, y_nan), math_nan(m), r);
}

IrValue *math_pow(Math *m, IrValue *x, IrValue *y) {
    IrValue *zero = math_const(m, 0), *one = math_const(m, 1);
    IrValue *a = math_abs(m, x);
    IrValue *r = magnitudes(m, a, y, raise(m, logarithm(m, a), y));
    // The sign bit of x, also of -0.
    IrValue *bits = math_as_int(m, x);
    IrValue *negative = math_compare(m, IR_LT, bits, math_int(m, 0));
    IrValue *whole = is_whole(m, y);
    IrValue *half_whole = is_whole(m, math_mul(m, y, math_const(m, 0.5)));
    IrValue *odd = math_and(m, whole, opposite(m, half_whole));
    IrValue *minus = math_and(m, negative, odd);
    r = math_select(m, minus, math_neg(m, r), r);
    IrValue *infinite = math_const(m, -(double)INFINITY);
    IrValue *below =
        math_and(m, math_compare(m, IR_LT, x, zero), math_compare(m, IR_GT, x, infinite));
    r = math_select(m, math_and(m, below, opposite(m, whole)), math_nan(m), r);
    IrValue *settled = either(m, math_compare(m, IR_EQ, y, zero), math_compare(m, IR_EQ, x, one));
    return math_select(m, settled, one, r);
}

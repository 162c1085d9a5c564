// cbrt: r, the inverse cube root, from a third of the bits; two steps that take its relative error
// e to e^4 (both series and bits suffice for f64), then one correction of a r². No division.
#include <math.h>

#include "passes/math/math.h"

// (1 - h)^(-1/3) = 1 + h/3 + 2 h²/9 + 14 h³/81 + …
static const double series_f32[] = {0x1.555556p-2, 0x1.c71c72p-3, 0x1.61f9aep-3};
static const double series_f64[] = {0x1.5555555555555p-2, 0x1.c71c71c71c71cp-3,
                                    0x1.61f9add3c0ca4p-3};

// The bits of a third of `bits`: 1/4 (1 + 1/4) (1 + 1/16) (1 + 1/256) …
static IrValue *third_of(Math *m, IrValue *bits) {
    IrValue *sum = math_add(m, bits, math_shr(m, bits, 2));
    for (int by = 4; by < (m->wide ? 64 : 32); by *= 2)
        sum = math_add(m, sum, math_shr(m, sum, by));
    return math_shr(m, sum, 2);
}

// Within 3.5 %: the constant makes the errors of both signs equal.
static IrValue *rough_inverse(Math *m, IrValue *a) {
    IrValue *start = math_word(m, m->wide ? UINT64_C(0x553ee9adeaaaac00) : 0x54a1f81a);
    return math_as_real(m, math_sub(m, start, third_of(m, math_as_word(m, a))));
}

static IrValue *closer(Math *m, IrValue *a, IrValue *r) {
    // The products stay near 1 times a power that has room; r³ may be subnormal.
    IrValue *minus = math_neg(m, math_mul(m, a, r));
    IrValue *h = math_fma(m, minus, math_mul(m, r, r), math_const(m, 1));
    IrValue *p = m->wide ? MATH_POLY(m, h, series_f64) : MATH_POLY(m, h, series_f32);
    return math_fma(m, math_mul(m, r, h), p, r);
}

IrValue *math_cbrt(Math *m, IrValue *x) {
    IrValue *one = math_const(m, 1), *a = math_abs(m, x);
    // The error of a square of small numbers would be subnormal.
    IrValue *small = math_compare(m, IR_LT, a, math_const(m, m->wide ? 0x1p-600 : 0x1p-60));
    IrValue *up = math_const(m, m->wide ? 0x1p900 : 0x1p96);
    IrValue *down = math_const(m, m->wide ? 0x1p-300 : 0x1p-32);
    IrValue *b = math_mul(m, a, math_select(m, small, up, one));
    IrValue *r = closer(m, b, closer(m, b, rough_inverse(m, b)));
    IrValue *y = math_mul(m, math_mul(m, b, r), r), *square = math_mul(m, y, y);
    IrValue *minus = math_neg(m, y), *lost = math_fma(m, y, y, math_neg(m, square));
    IrValue *left = math_fma(m, minus, lost, math_fma(m, minus, square, b));
    IrValue *third = math_const(m, m->wide ? series_f64[0] : series_f32[0]);
    IrValue *slope = math_mul(m, math_mul(m, r, r), third);
    y = math_mul(m, math_fma(m, left, slope, y), math_select(m, small, down, one));
    IrValue *finite = math_compare(m, IR_LT, a, math_const(m, (double)INFINITY));
    return math_with_sign(m, math_select(m, finite, y, a), x);
}

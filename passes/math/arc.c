// atan, atan2, asin, acos: base + factor * (q + rest), where q is an argument at which the
// polynomial serves and q + rest the function there. base is a multiple of pi/2 in two parts. It is
// 0 where the result may be small, and the sum is then rounded once.
#include <math.h>

#include "passes/math/math.h"

// (atan(q) - q) / q³ by powers of q² on [0, 1]: 2^-28.4, 2^-57.6 of atan(q).
static const double atan_f32[] = {-0x1.55553ep-2, 0x1.9991e4p-3,  -0x1.242088p-3,
                                  0x1.c08c80p-4,  -0x1.5809e8p-4, 0x1.da2c3ep-5,
                                  -0x1.fd7dd0p-6, 0x1.641b94p-7,  -0x1.d332dep-10};
static const double atan_f64[] = {
    -0x1.5555555555526p-2, 0x1.99999999955b2p-3,  -0x1.249249237f4fap-3,  0x1.c71c717fcdc65p-4,
    -0x1.745d11ae5c0b2p-4, 0x1.3b136699440a8p-4,  -0x1.110e512147dbfp-4,  0x1.e1bba6386c1e5p-5,
    -0x1.ae5e7216bb849p-5, 0x1.82dad60587853p-5,  -0x1.59a3fc7a925bap-5,  0x1.2c2e59f8d6a0dp-5,
    -0x1.e9fa0c1ccc433p-6, 0x1.683cd00467144p-6,  -0x1.c78fe855824c9p-7,  0x1.d7b961da9098ep-8,
    -0x1.7a39ea6835b22p-9, 0x1.b3fb576883bf0p-11, -0x1.3f36dd670d9bbp-13, 0x1.bbeeab0b6f0abp-17};
// (asin(q) - q) / q³ by powers of q² on [0, 1/2]: 2^-27.6, 2^-59.4 of asin(q).
static const double asin_f32[] = {0x1.5555c8p-3, 0x1.330204p-4, 0x1.747bb8p-5, 0x1.8c3e52p-6,
                                  0x1.595c5cp-5};
static const double asin_f64[] = {0x1.5555555555577p-3, 0x1.333333332e133p-4, 0x1.6db6db72124afp-5,
                                  0x1.f1c71a94fd76ep-6, 0x1.6e8bdedf2d54ap-6, 0x1.1c49f06eb4fd4p-6,
                                  0x1.ca1f8bdd9bbd0p-7, 0x1.758595fdaca32p-7, 0x1.613c487fc8c4fp-7,
                                  0x1.e5f9abcc21159p-9, 0x1.639b0748af399p-6, -0x1.57faf6968e7acp-6,
                                  0x1.0b45a780fddb4p-5};

typedef struct Arc {
    IrValue *q, *rest;  // the angle, below pi/2
    IrValue *factor;    // 1 or 2, of either sign
    IrValue *quarters;  // multiples of pi/2: 0, 1 or 2, as a float
} Arc;

static IrValue *place(Math *m, const Arc *a) {
    IrValue *high = math_const(m, m->wide ? 0x1.921fb54442d18p+0 : 0x1.921fb6p+0);
    IrValue *low = math_const(m, m->wide ? 0x1.1a62633145c07p-54 : -0x1.777a5cp-25);
    IrValue *rest = math_fma(m, a->quarters, low, math_mul(m, a->factor, a->rest));
    IrValue *sum = math_add(m, math_mul(m, a->factor, a->q), rest);
    return math_add(m, math_mul(m, a->quarters, high), sum);
}

static IrValue *negative(Math *m, IrValue *x) {  // by its sign bit
    return math_compare(m, IR_LT, math_as_int(m, x), math_int(m, 0));
}

// ---- atan, atan2

static IrValue *atan_rest(Math *m, IrValue *q) {
    IrValue *z = math_mul(m, q, q);
    IrValue *p = m->wide ? MATH_POLY(m, z, atan_f64) : MATH_POLY(m, z, atan_f32);
    return math_mul(m, math_mul(m, q, z), p);
}

IrValue *math_atan(Math *m, IrValue *x) {
    IrValue *one = math_const(m, 1), *zero = math_const(m, 0), *a = math_abs(m, x);
    IrValue *steep = math_compare(m, IR_GT, a, one);
    IrValue *q = math_div(m, math_select(m, steep, one, a), math_select(m, steep, a, one));
    Arc arc = {.q = q,
               .rest = atan_rest(m, q),
               .factor = math_select(m, steep, math_const(m, -1), one),
               .quarters = math_select(m, steep, one, zero)};
    return math_with_sign(m, math_abs(m, place(m, &arc)), x);
}

// The lesser of a and b by the greater; 1 for two infinities, 0 for two zeros.
static IrValue *slope(Math *m, IrValue *a, IrValue *b, IrValue *steep) {
    IrValue *one = math_const(m, 1), *zero = math_const(m, 0);
    IrValue *q = math_div(m, math_select(m, steep, b, a), math_select(m, steep, a, b));
    IrValue *same = math_select(m, math_compare(m, IR_EQ, a, zero), zero, one);
    return math_select(m, math_compare(m, IR_EQ, a, b), same, q);
}

IrValue *math_atan2(Math *m, IrValue *y, IrValue *x) {
    IrValue *one = math_const(m, 1), *zero = math_const(m, 0);
    IrValue *a = math_abs(m, y), *b = math_abs(m, x);
    IrValue *steep = math_compare(m, IR_GT, a, b), *left = negative(m, x);
    IrValue *q = slope(m, a, b, steep), *turned = math_xor(m, steep, left);
    Arc arc = {
        .q = q, .rest = atan_rest(m, q), .factor = math_select(m, turned, math_const(m, -1), one)};
    IrValue *flat = math_select(m, left, math_const(m, 2), zero);
    arc.quarters = math_select(m, steep, one, flat);
    return math_with_sign(m, math_abs(m, place(m, &arc)), y);
}

// ---- asin, acos

// asin of a magnitude: of a itself up to 1/2; beyond, of sqrt((1 - a) / 2), from which
// asin(a) = pi/2 - 2 asin(q). Beyond 1 the root is a NaN.
static Arc asin_of(Math *m, IrValue *a, IrValue **beyond) {
    *beyond = math_compare(m, IR_GT, a, math_const(m, 0.5));
    IrValue *half = math_const(m, 0.5), *one = math_const(m, 1);
    IrValue *left = math_mul(m, math_sub(m, one, a), half);
    IrValue *q = math_select(m, *beyond, ir_unary(m->b, IR_SQRT, left), a);
    IrValue *z = math_select(m, *beyond, left, math_mul(m, a, a));
    IrValue *p = m->wide ? MATH_POLY(m, z, asin_f64) : MATH_POLY(m, z, asin_f32);
    return (Arc){.q = q, .rest = math_mul(m, math_mul(m, q, z), p)};
}

IrValue *math_asin(Math *m, IrValue *x) {
    IrValue *one = math_const(m, 1), *beyond;
    Arc arc = asin_of(m, math_abs(m, x), &beyond);
    arc.factor = math_select(m, beyond, math_const(m, -2), one);
    arc.quarters = math_select(m, beyond, one, math_const(m, 0));
    return math_with_sign(m, math_abs(m, place(m, &arc)), x);
}

IrValue *math_acos(Math *m, IrValue *x) {
    IrValue *one = math_const(m, 1), *two = math_const(m, 2), *zero = math_const(m, 0), *beyond;
    Arc arc = asin_of(m, math_abs(m, x), &beyond);
    IrValue *left = negative(m, x);
    IrValue *outer = math_select(m, left, math_const(m, -2), two);
    IrValue *inner = math_select(m, left, one, math_const(m, -1));
    arc.factor = math_select(m, beyond, outer, inner);
    arc.quarters = math_select(m, beyond, math_select(m, left, two, zero), one);
    return place(m, &arc);
}

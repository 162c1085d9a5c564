// sin, cos, tan: a reduction to [-pi/4, pi/4] that is right for every argument, then polynomials.
//
// The reduction multiplies the significand, an integer, by those bits of 2/pi that matter at the
// argument's exponent (M. Payne, R. Hanek, "Radian reduction for trigonometric functions", SIGNUM
// 1983): bits of weight 4 and more only add multiples of 4 quarter turns, and 64 (f32) or 128 (f64)
// bits below are more than the distance of any float from a multiple of pi/2 requires. The window
// into 2/pi is found by halving, with selects: no table in memory, no branch. Arguments below 1/2
// need no reduction.
#include <math.h>

#include "passes/math/math.h"

// sin(r) = r + r³ S(r²): 2^-27.9, 2^-57.1; cos(r) = 1 - r²/2 + r⁴ C(r²): 2^-33.0, 2^-59.4.
static const double sin_f32[] = {-0x1.555546p-3, 0x1.110776p-7, -0x1.995302p-13};
static const double cos_f32[] = {0x1.55554ap-5, -0x1.6c0c2ap-10, 0x1.99e8ecp-16};
static const double sin_f64[] = {
    -0x1.5555555555555p-3,  0x1.111111111110bp-7,  -0x1.a01a01a018a4fp-13, 0x1.71de3a532e06cp-19,
    -0x1.ae64528a21d9ap-26, 0x1.61208a193808bp-33, -0x1.aaa12de080708p-41};
static const double cos_f64[] = {0x1.555555555554bp-5,  -0x1.6c16c16c14f6dp-10,
                                 0x1.a01a019c80a25p-16, -0x1.27e4f7e80b793p-22,
                                 0x1.1ee9d5cf7504ap-29, -0x1.8fa398ecff004p-37};

// 2/pi, with 26 (55) zero bits before it, so that the window of the least argument begins at 0.
static const uint64_t turns_f32[] = {0x00000028, 0xbe60db93, 0x91054a7f, 0x09d5f47d,
                                     0x4d377036, 0xd8a5664f, 0x10e4107f};
static const uint64_t turns_f64[] = {
    0x0000000000000145, 0xf306dc9c882a53f8, 0x4eafa3ea69bb81b6, 0xc52b3278872083fc,
    0xa2c757bd778ac36e, 0x48dc74849ba5c00c, 0x925dd413a32439fc, 0x3bd63962534e7dd1,
    0x046bea5d768909d3, 0x38e04d68befc8273, 0x23ac7306a673e939, 0x08bf177bf250763f,
    0xf12fffbc0b301fde, 0x5e2316b414da3eda, 0x6cfd9e4f96136e9e, 0x8c7ecd3cbfd45aea,
    0x4f758fd7cbe2f67a, 0x0e73ef14a525d4d7, 0xf6bf623f1aba10ac};

typedef struct ReducedAngle {
    IrValue *quadrant;  // m->word, 0 to 3
    IrValue *rest;      // |rest + tail| <= pi/4; tail is less than about an ulp of rest
    IrValue *tail;
    IrValue *negative;  // m->word: the sign bit of rest, whose magnitude rest and tail hold
} ReducedAngle;

// ---- the window: `count` words of the table from bit `place` on

static void window(Math *m, const uint64_t *table, int size, IrValue *place, int count,
                   IrValue **words) {
    int bits = m->wide ? 64 : 32, log = m->wide ? 6 : 5, step = m->wide ? 8 : 2;
    // The very last position is reached by a shift of a whole word.
    IrValue *last = math_word(m, (uint64_t)(2 * step - 1));
    IrValue *index = math_shr(m, place, log);
    index = math_select(m, math_compare(m, IR_LT, last, index), last, index);
    IrValue *shift = math_sub(m, place, math_shl(m, index, log));
    IrValue *rest = math_sub(m, math_word(m, (uint64_t)bits), shift);
    IrValue *kept[24];
    for (int i = 0; i < size; i++) kept[i] = math_word(m, table[i]);
    IrValue *zero = math_word(m, 0);
    for (; step; step /= 2) {
        IrValue *far =
            math_compare(m, IR_NE, math_and(m, index, math_word(m, (uint64_t)step)), zero);
        size = count + step;  // the part that the smaller steps can still reach
        for (int i = 0; i < size; i++) kept[i] = math_select(m, far, kept[i + step], kept[i]);
    }
    for (int i = 0; i < count; i++)
        words[i] = math_or(m, ir_binary(m->b, IR_SHL, kept[i], shift),
                           ir_binary(m->b, IR_SHR, kept[i + 1], rest));
}

// ---- f32 ----------------------------------------------------------------------------------------

static IrValue *u64_of(Math *m, IrValue *word) { return ir_cast(m->b, word, DTYPE_U64, false); }

static IrValue *float_of_bits(Math *m, IrValue *x) {  // of a 64-bit integer below 2^31
    return ir_cast(m->b, ir_cast(m->b, x, DTYPE_I32, false), DTYPE_F32, false);
}

// `high` 2^24 + `low` + `more` 2^-14, in units of 2^-48 quarter turns, converted to radians.
static void radians(Math *m, IrValue *high, IrValue *low, IrValue *more, ReducedAngle *t) {
    IrValue *up = math_const(m, m->wide ? 0x1p52 : 0x1p24);
    IrValue *down = math_const(m, m->wide ? -0x1p52 : -0x1p24);
    IrValue *sum = math_fma(m, high, up, low);
    IrValue *tail = math_sub(m, low, math_fma(m, high, down, sum));
    tail = math_fma(m, more, math_const(m, m->wide ? 0x1p-21 : 0x1p-14), tail);
    // pi/2 in two parts.
    double unit = m->wide ? 0x1p-105 : 0x1p-48;
    IrValue *turn = math_const(m, unit * (m->wide ? 0x1.921fb54442d18p+0 : 0x1.921fb6p+0));
    IrValue *less = math_const(m, unit * (m->wide ? 0x1.1a62633145c07p-54 : -0x1.777a5cp-25));
    t->rest = math_mul(m, sum, turn);
    IrValue *error = math_fma(m, sum, turn, math_neg(m, t->rest));
    t->tail = math_add(m, error, math_fma(m, sum, less, math_mul(m, tail, turn)));
}

static ReducedAngle reduce_f32(Math *m, IrValue *x) {
    IrValue *bits = math_as_word(m, x);
    IrValue *place = math_sub(m, math_shr(m, bits, 23), math_word(m, 126));
    IrValue *whole = math_and(m, bits, math_word(m, 0x7fffff));
    whole = u64_of(m, math_or(m, whole, math_word(m, 0x800000)));
    IrValue *w[3];
    window(m, turns_f32, 7, place, 3, w);
    Math wide = *m;  // for integers of 64 bits
    wide.word = ir_with_elem(m->b->module, m->real, DTYPE_U64);
    IrValue *high = math_shl(m, math_mul(m, whole, u64_of(m, w[0])), 32);
    IrValue *low = math_shr(m, math_mul(m, whole, u64_of(m, w[2])), 32);
    IrValue *p = math_add(m, math_add(m, high, math_mul(m, whole, u64_of(m, w[1]))), low);
    // Two bits of quarter turns, 62 after the point: to the nearest quarter.
    IrValue *quarter = math_shr(m, math_add(m, p, math_word(&wide, UINT64_C(1) << 61)), 62);
    IrValue *rest = math_sub(m, p, math_shl(m, quarter, 62));
    IrValue *sign = math_shr(m, rest, 63);
    IrValue *flip = math_sub(m, math_word(&wide, 0), sign);
    rest = math_sub(m, math_xor(m, rest, flip), flip);
    ReducedAngle t = {.quadrant = ir_cast(m->b, quarter, DTYPE_U32, false)};
    t.negative = math_shl(m, ir_cast(m->b, sign, DTYPE_U32, false), 31);
    IrValue *middle = math_and(m, math_shr(m, rest, 14), math_word(&wide, 0xffffff));
    radians(m, float_of_bits(m, math_shr(m, rest, 38)), float_of_bits(m, middle),
            float_of_bits(m, math_and(m, rest, math_word(&wide, 0x3fff))), &t);
    return t;
}

// ---- f64 ----------------------------------------------------------------------------------------

// The 128 bits of a * b, a below 2^53.
static IrValue *multiply(Math *m, IrValue *a, IrValue *b, IrValue **low) {
    IrValue *mask = math_word(m, 0xffffffff);
    IrValue *a0 = math_and(m, a, mask), *a1 = math_shr(m, a, 32);
    IrValue *b0 = math_and(m, b, mask), *b1 = math_shr(m, b, 32);
    IrValue *p00 = math_mul(m, a0, b0);
    IrValue *p01 = math_add(m, math_mul(m, a0, b1), math_shr(m, p00, 32));
    IrValue *p10 = math_add(m, math_mul(m, a1, b0), math_and(m, p01, mask));
    IrValue *high = math_add(m, math_mul(m, a1, b1), math_shr(m, p01, 32));
    if (low) *low = math_or(m, math_shl(m, p10, 32), math_and(m, p00, mask));
    return math_add(m, high, math_shr(m, p10, 32));
}

static IrValue *double_of_bits(Math *m, IrValue *x) {  // of an integer below 2^52
    IrValue *bits = math_or(m, x, math_word(m, UINT64_C(0x4330000000000000)));
    return math_sub(m, math_as_real(m, bits), math_const(m, 0x1p52));
}

static ReducedAngle reduce_f64(Math *m, IrValue *x) {
    IrValue *bits = math_as_word(m, x);
    IrValue *place = math_sub(m, math_shr(m, bits, 52), math_word(m, 1022));
    IrValue *whole = math_and(m, bits, math_word(m, (UINT64_C(1) << 52) - 1));
    whole = math_or(m, whole, math_word(m, UINT64_C(1) << 52));
    IrValue *w[3], *low;
    window(m, turns_f64, 19, place, 3, w);
    IrValue *high = math_add(m, multiply(m, whole, w[1], &low), math_mul(m, whole, w[0]));
    IrValue *sum = math_add(m, low, multiply(m, whole, w[2], NULL));
    IrValue *carry = math_compare(m, IR_LT, sum, low);
    high = math_add(m, high, math_select(m, carry, math_word(m, 1), math_word(m, 0)));
    // Two bits of quarter turns, 126 after the point: to the nearest quarter.
    IrValue *quarter = math_shr(m, math_add(m, high, math_word(m, UINT64_C(1) << 61)), 62);
    high = math_sub(m, high, math_shl(m, quarter, 62));
    IrValue *sign = math_shr(m, high, 63);
    IrValue *flip = math_sub(m, math_word(m, 0), sign);
    high = math_xor(m, high, flip);  // off by the last bit from the negative, which is negligible
    sum = math_xor(m, sum, flip);
    ReducedAngle t = {.quadrant = quarter, .negative = math_shl(m, sign, 63)};
    IrValue *middle = math_shl(m, math_and(m, high, math_word(m, 0x1ff)), 43);
    middle = math_or(m, middle, math_shr(m, sum, 21));
    radians(m, double_of_bits(m, math_shr(m, high, 9)), double_of_bits(m, middle),
            double_of_bits(m, math_and(m, sum, math_word(m, 0x1fffff))), &t);
    return t;
}

// ---- both ---------------------------------------------------------------------------------------

// For math(approx): accurate to 2^-20 for arguments of a few turns.
static ReducedAngle reduce_roughly(Math *m, IrValue *x) {
    IrValue *magic = math_const(m, m->magic);
    IrValue *two_by_pi = math_const(m, m->wide ? 0x1.45f306dc9c883p-1 : 0x1.45f306p-1);
    IrValue *rounded = math_fma(m, x, two_by_pi, magic);
    IrValue *n = math_sub(m, rounded, magic);
    IrValue *r = math_fma(m, n, math_const(m, m->wide ? -0x1.921fb54442d18p+0 : -0x1.921fb6p+0), x);
    IrValue *low = math_const(m, m->wide ? -0x1.1a62633145c07p-54 : 0x1.777a5cp-25);
    r = math_fma(m, n, low, r);
    ReducedAngle t = {.quadrant = math_and(m, math_as_word(m, rounded), math_word(m, 3))};
    t.negative = math_and(m, math_as_word(m, r), math_word(m, UINT64_C(1) << (m->wide ? 63 : 31)));
    t.rest = math_abs(m, r);
    t.tail = math_const(m, 0);
    return t;
}

// For x >= 0; for a NaN or infinity the result is arbitrary.
static ReducedAngle reduce(Math *m, IrValue *x) {
    if (m->approx) return reduce_roughly(m, x);
    ReducedAngle t = m->wide ? reduce_f64(m, x) : reduce_f32(m, x);
    IrValue *small = math_compare(m, IR_LT, x, math_const(m, 0.5));
    t.quadrant = math_select(m, small, math_word(m, 0), t.quadrant);
    t.negative = math_select(m, small, math_word(m, 0), t.negative);
    t.rest = math_select(m, small, x, t.rest);
    t.tail = math_select(m, small, math_const(m, 0), t.tail);
    return t;
}

// sin(rest + tail) - rest.
static IrValue *sine_tail(Math *m, const ReducedAngle *t) {
    IrValue *z = math_mul(m, t->rest, t->rest);
    IrValue *s = m->wide ? MATH_POLY(m, z, sin_f64) : MATH_POLY(m, z, sin_f32);
    IrValue *tail = math_fma(m, math_mul(m, z, math_const(m, -0.5)), t->tail, t->tail);
    return math_fma(m, math_mul(m, z, t->rest), s, tail);
}

// cos(rest + tail) = `*high` + the result; *high = 1 - rest²/2, rounded.
static IrValue *cosine_tail(Math *m, const ReducedAngle *t, IrValue **high) {
    IrValue *one = math_const(m, 1);
    IrValue *z = math_mul(m, t->rest, t->rest), *half = math_mul(m, z, math_const(m, 0.5));
    *high = math_sub(m, one, half);
    IrValue *lost = math_sub(m, math_sub(m, one, *high), half);
    IrValue *c = m->wide ? MATH_POLY(m, z, cos_f64) : MATH_POLY(m, z, cos_f32);
    IrValue *cross = math_fma(m, math_neg(m, t->rest), t->tail, lost);
    return math_fma(m, math_mul(m, z, z), c, cross);
}

static IrValue *bit_set(Math *m, IrValue *word, uint64_t bit) {
    return math_compare(m, IR_NE, math_and(m, word, math_word(m, bit)), math_word(m, 0));
}

static IrValue *flip_sign(Math *m, IrValue *x, IrValue *sign) {
    return math_as_real(m, math_xor(m, math_as_word(m, x), sign));
}

static IrValue *sign_of(Math *m, IrValue *x) {
    return math_and(m, math_as_word(m, x), math_word(m, UINT64_C(1) << (m->wide ? 63 : 31)));
}

static IrValue *finite_only(Math *m, IrValue *x, IrValue *y) {
    IrValue *finite = math_compare(m, IR_LT, x, math_const(m, (double)INFINITY));
    return math_select(m, finite, y, math_nan(m));
}

// The sine of the quadrant `t->quadrant` (+ 1 for a cosine) before the argument's own sign.
static IrValue *wave(Math *m, const ReducedAngle *t, IrValue *quadrant) {
    IrValue *high;
    IrValue *cosine = cosine_tail(m, t, &high);
    cosine = math_add(m, high, cosine);
    IrValue *sine = flip_sign(m, math_add(m, t->rest, sine_tail(m, t)), t->negative);
    IrValue *r = math_select(m, bit_set(m, quadrant, 1), cosine, sine);
    IrValue *half = math_shl(m, math_and(m, quadrant, math_word(m, 2)), m->wide ? 62 : 30);
    return flip_sign(m, r, half);
}

IrValue *math_sin(Math *m, IrValue *x) {
    if (m->hardware) return ir_unary(m->b, IR_SIN, x);
    IrValue *a = math_abs(m, x);
    ReducedAngle t = reduce(m, a);
    return finite_only(m, a, flip_sign(m, wave(m, &t, t.quadrant), sign_of(m, x)));
}

IrValue *math_cos(Math *m, IrValue *x) {
    if (m->hardware) return ir_unary(m->b, IR_COS, x);
    IrValue *a = math_abs(m, x);
    ReducedAngle t = reduce(m, a);
    return finite_only(m, a, wave(m, &t, math_add(m, t.quadrant, math_word(m, 1))));
}

IrValue *math_tan(Math *m, IrValue *x) {
    IrValue *a = math_abs(m, x);
    ReducedAngle t = reduce(m, a);
    IrValue *high, *tail = sine_tail(m, &t), *low = cosine_tail(m, &t, &high);
    IrValue *s = math_add(m, t.rest, tail), *c = math_add(m, high, low);
    IrValue *ds = math_sub(m, tail, math_sub(m, s, t.rest));
    IrValue *dc = math_sub(m, low, math_sub(m, c, high));
    IrValue *odd = bit_set(m, t.quadrant, 1);  // the result there is -1 / tan
    IrValue *r = math_quotient(m, math_select(m, odd, c, s), math_select(m, odd, dc, ds),
                               math_select(m, odd, s, c), math_select(m, odd, ds, dc));
    IrValue *turned = math_shl(m, math_and(m, t.quadrant, math_word(m, 1)), m->wide ? 63 : 31);
    IrValue *sign = math_xor(m, math_xor(m, turned, t.negative), sign_of(m, x));
    return finite_only(m, a, flip_sign(m, r, sign));
}

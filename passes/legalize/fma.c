// Rounding to odd, and operations built on it: sums and products that are rounded once at the end.
//
// A value rounded to odd records in its last bit whether anything was cut off. Rounded again, to at
// least two bits fewer, it gives the same result as the exact value would (S. Boldo, G. Melquiond,
// "Emulation of FMA and correctly rounded sums", IEEE Trans. Comput. 2008).
#include "passes/legalize/legal.h"

static IrValue *add(Legal *l, IrValue *x, IrValue *y) { return legal_binary(l, IR_ADD, x, y); }
static IrValue *sub(Legal *l, IrValue *x, IrValue *y) { return legal_binary(l, IR_SUB, x, y); }
static IrValue *mul(Legal *l, IrValue *x, IrValue *y) { return legal_binary(l, IR_MUL, x, y); }
static IrValue *magnitude(Legal *l, IrValue *x) { return ir_unary(&l->b, IR_ABS, x); }

// `r`, moved to its odd neighbour where `inexact`; `away`: the exact value is farther from zero.
static IrValue *to_odd(Legal *l, IrValue *r, IrValue *inexact, IrValue *away) {
    Dtype word = r->type->elem == DTYPE_F64 ? DTYPE_U64 : DTYPE_U32;
    IrValue *bits = legal_as(l, r, word);
    IrValue *one = legal_const(l, r, word, 1), *zero = legal_const(l, r, word, 0);
    IrValue *even = legal_binary(l, IR_EQ, legal_binary(l, IR_AND, bits, one), zero);
    IrValue *step = legal_select(l, away, one, legal_const(l, r, word, UINT64_MAX));
    IrValue *moves = legal_binary(l, IR_AND, inexact, even);
    return legal_as(l, add(l, bits, legal_select(l, moves, step, zero)), r->type->elem);
}

typedef struct FmaTwo {
    IrValue *high, *low;
} FmaTwo;

// The exact sum (D. Knuth); the error of a sum that is not finite is a NaN.
static FmaTwo two_sum(Legal *l, IrValue *x, IrValue *y) {
    IrValue *sum = add(l, x, y), *part = sub(l, sum, x);
    IrValue *error = add(l, sub(l, x, sub(l, sum, part)), sub(l, y, part));
    return (FmaTwo){sum, error};
}

IrValue *legal_odd_sum(Legal *l, IrValue *x, IrValue *y) {
    FmaTwo sum = two_sum(l, x, y);
    IrValue *zero = legal_real(l, x, 0);
    // False for a NaN.
    IrValue *inexact = legal_binary(l, IR_GT, magnitude(l, sum.low), zero);
    IrValue *away = legal_binary(l, IR_EQ, legal_binary(l, IR_GT, sum.low, zero),
                                 legal_binary(l, IR_GT, sum.high, zero));
    return to_odd(l, sum.high, inexact, away);
}

IrValue *legal_odd_f32(Legal *l, IrValue *x) {
    IrValue *r = ir_cast(&l->b, x, DTYPE_F32, false);
    IrValue *a = magnitude(l, x), *back = magnitude(l, ir_cast(&l->b, r, DTYPE_F64, false));
    IrValue *away = legal_binary(l, IR_LT, back, a);
    IrValue *inexact = legal_binary(l, IR_OR, away, legal_binary(l, IR_GT, back, a));
    return to_odd(l, r, inexact, away);
}

// ---- f64 ----------------------------------------------------------------------------------------
// The operands are scaled to [1, 2) by their exponents, so that nothing overflows or is lost; the
// product is computed exactly, in two parts (T. Dekker); the exact sum of three is rounded once, at
// the position of the result's last bit once its exponent is restored.

typedef struct Scaled {
    IrValue *value;     // in [1, 2), signed; for 0 and values that are not finite, any finite value
    IrValue *exponent;  // i64
} Scaled;

static IrValue *integer(Legal *l, const IrValue *x, int64_t value) {
    return legal_const(l, x, DTYPE_I64, (uint64_t)value);
}

static IrValue *power_of_two(Legal *l, IrValue *exponent) {  // of a normal number
    IrValue *biased = add(l, exponent, integer(l, exponent, 1023));
    return legal_as(l, legal_shift(l, IR_SHL, biased, 52), DTYPE_F64);
}

static Scaled scaled(Legal *l, IrValue *x) {
    IrValue *small = legal_binary(l, IR_LT, magnitude(l, x), legal_real(l, x, 0x1p-1022));
    IrValue *raised = legal_select(l, small, mul(l, x, legal_real(l, x, 0x1p54)), x);
    IrValue *bits = legal_as(l, raised, DTYPE_I64);
    IrValue *field =
        legal_binary(l, IR_AND, legal_shift(l, IR_SHR, bits, 52), integer(l, x, 0x7ff));
    IrValue *bias = legal_select(l, small, integer(l, x, 1023 + 54), integer(l, x, 1023));
    IrValue *rest = legal_binary(l, IR_AND, bits, integer(l, x, (int64_t)0x800fffffffffffff));
    IrValue *value = legal_binary(l, IR_OR, rest, integer(l, x, INT64_C(1023) << 52));
    return (Scaled){legal_as(l, value, DTYPE_F64), sub(l, field, bias)};
}

static FmaTwo halves(Legal *l, IrValue *x) {
    IrValue *big = mul(l, x, legal_real(l, x, 0x1.0000002p27));
    IrValue *high = sub(l, big, sub(l, big, x));
    return (FmaTwo){high, sub(l, x, high)};
}

static FmaTwo two_product(Legal *l, IrValue *x, IrValue *y) {
    IrValue *p = mul(l, x, y);
    FmaTwo a = halves(l, x), b = halves(l, y);
    IrValue *error = sub(l, mul(l, a.high, b.high), p);
    error = add(l, error, mul(l, a.high, b.low));
    error = add(l, error, mul(l, a.low, b.high));
    return (FmaTwo){p, add(l, error, mul(l, a.low, b.low))};
}

// (high + low) * 2^exponent, rounded once. low is rounded to odd and below half an ulp of high; if
// high is 0, low is exact and is all there is.
static IrValue *put_back(Legal *l, IrValue *high, IrValue *low, IrValue *exponent) {
    IrValue *zero = legal_real(l, high, 0), *gone = legal_binary(l, IR_EQ, high, zero);
    high = legal_select(l, gone, low, high);
    low = legal_select(l, gone, zero, low);
    // Below 2^least the result is subnormal; far from there nothing is.
    IrValue *far = integer(l, high, -800);
    IrValue *least = sub(l, integer(l, high, -1022), legal_binary(l, IR_MIN, exponent, far));
    IrValue *limit = power_of_two(l, least);
    IrValue *subnormal = legal_binary(l, IR_LT, magnitude(l, high), limit);
    // Has the result's sign, so that the sum stays between the limit and twice the limit.
    IrValue *sign =
        legal_binary(l, IR_AND, legal_as(l, high, DTYPE_I64), integer(l, high, INT64_MIN));
    IrValue *magic = legal_binary(l, IR_OR, legal_as(l, limit, DTYPE_I64), sign);
    magic = legal_select(l, subnormal, legal_as(l, magic, DTYPE_F64), zero);
    FmaTwo sum = two_sum(l, magic, high);
    IrValue *r = add(l, sum.high, legal_odd_sum(l, sum.low, low));
    r = sub(l, r, magic);
    // A tiny number that becomes zero keeps its sign.
    r = legal_binary(l, IR_OR, legal_as(l, magnitude(l, r), DTYPE_I64), sign);
    r = legal_as(l, r, DTYPE_F64);
    IrValue *half = legal_shift(l, IR_SHR, exponent, 1);
    r = mul(l, r, power_of_two(l, half));
    return mul(l, r, power_of_two(l, sub(l, exponent, half)));
}

static IrValue *is_finite(Legal *l, IrValue *x) {
    return legal_binary(l, IR_LE, magnitude(l, x), legal_real(l, x, 0x1.fffffffffffffp1023));
}

IrValue *legal_fma_f64(Legal *l, IrValue *a, IrValue *b, IrValue *c) {
    enum { APART = 200, LEAST = -1400 };
    Scaled x = scaled(l, a), y = scaled(l, b), z = scaled(l, c);
    IrValue *zero = legal_real(l, a, 0);
    // The difference of c's exponent and the product's; beyond APART the smaller one only affects
    // the last bit.
    IrValue *product_exponent = add(l, x.exponent, y.exponent);
    IrValue *above = sub(l, z.exponent, product_exponent);
    IrValue *held = legal_binary(l, IR_MIN, above, integer(l, a, APART));
    held = legal_binary(l, IR_MAX, held, integer(l, a, -APART));
    IrValue *c_is_zero = legal_binary(l, IR_EQ, c, zero);
    IrValue *added = mul(l, z.value, power_of_two(l, held));
    added = legal_select(l, c_is_zero, zero, added);
    IrValue *exponent = legal_binary(l, IR_GT, above, integer(l, a, APART));
    exponent = legal_binary(l, IR_AND, exponent, ir_unary(&l->b, IR_NOT, c_is_zero));
    exponent =
        legal_select(l, exponent, sub(l, z.exponent, integer(l, a, APART)), product_exponent);
    exponent = legal_binary(l, IR_MAX, exponent, integer(l, a, LEAST));
    FmaTwo p = two_product(l, x.value, y.value), t = two_sum(l, added, p.low);
    FmaTwo v = two_sum(l, p.high, t.high);
    IrValue *r = put_back(l, v.high, legal_odd_sum(l, t.low, v.low), exponent);
    // If a or b is 0 or not finite, the plain operations are exact; the same holds if only c is not
    // finite.
    IrValue *ab = legal_binary(l, IR_AND, is_finite(l, a), is_finite(l, b));
    ab = legal_binary(l, IR_AND, ab, legal_binary(l, IR_NE, a, zero));
    ab = legal_binary(l, IR_AND, ab, legal_binary(l, IR_NE, b, zero));
    IrValue *plain = legal_select(l, ab, c, add(l, mul(l, a, b), c));
    return legal_select(l, legal_binary(l, IR_AND, ab, is_finite(l, c)), r, plain);
}

// ir_eval against references of its own: integers in 128 bits, floats in long double with a
// rounding written here. 8-bit types exhaustively (all pairs), f16 exhaustively for one operand.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ir/interp/interp.h"

__extension__ typedef __int128 Wide;

static const Dtype integers[] = {DTYPE_I8, DTYPE_I16, DTYPE_I32, DTYPE_I64,
                                 DTYPE_U8, DTYPE_U16, DTYPE_U32, DTYPE_U64};
static const Dtype floats[] = {DTYPE_F16,    DTYPE_BF16,   DTYPE_F32,        DTYPE_F64,
                               DTYPE_F8E4M3, DTYPE_F8E5M2, DTYPE_F8E4M3FNUZ, DTYPE_F8E5M2FNUZ};
enum { INTEGERS = 8, FLOATS = 8 };

static uint64_t random_state = 88172645463325252U;
static uint64_t random_bits(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static uint64_t mask_of(Dtype t) {
    return dtype_bits(t) == 64 ? UINT64_MAX : (UINT64_C(1) << dtype_bits(t)) - 1;
}

// ---- integers -----------------------------------------------------------------------------------

static Wide wide_of(Dtype t, uint64_t bits) {
    Wide v = (Wide)bits;
    if (dtype_signed(t) && (bits >> (dtype_bits(t) - 1)) & 1) v -= (Wide)1 << dtype_bits(t);
    return v;
}

static Wide floor_shift(Wide x, unsigned n) {
    Wide q = x, two = 2;
    for (unsigned i = 0; i < n; i++) q = (q - (q % two != 0 && q < 0)) / two;
    return q;
}

static Wide reference_shift(IrOpcode code, Dtype t, Wide x, uint64_t n) {
    bool over = n >= dtype_bits(t);
    if (code == IR_SHL) {
        if (over) return 0;
        for (uint64_t i = 0; i < n; i++) x = (Wide)(((uint64_t)x << 1) & mask_of(t));
        return x;
    }
    return over ? (x < 0 ? -1 : 0) : floor_shift(x, (unsigned)n);
}

static Wide reference_bits(IrOpcode code, Dtype t, uint64_t a) {
    Wide above = 0, below = 0, ones = 0, turned = 0;
    for (unsigned i = 0; i < dtype_bits(t); i++) {
        bool bit = (a >> i & 1) != 0;
        above = bit ? 0 : above + 1;
        below += !bit && ones == 0;
        ones += bit;
        turned = turned * 2 + bit;
    }
    return code == IR_POPCOUNT ? ones : code == IR_CLZ ? above : code == IR_CTZ ? below : turned;
}

// Multiplies by halves, as the exact product may have more bits than Wide.
static Wide reference_upper(Dtype t, Wide x, Wide y) {
    unsigned half = dtype_bits(t) / 2;
    Wide base = (Wide)1 << half, x1 = floor_shift(x, half), y1 = floor_shift(y, half);
    Wide x0 = x - x1 * base, y0 = y - y1 * base;
    Wide middle = floor_shift(x0 * y0, half) + x1 * y0;
    Wide rest = middle - floor_shift(middle, half) * base + x0 * y1;
    return x1 * y1 + floor_shift(middle, half) + floor_shift(rest, half);
}

static Wide reference_integer(IrOpcode code, Dtype t, Wide x, Wide y, uint64_t n) {
    switch (code) {
    case IR_NEG: return -x;
    case IR_NOT: return -1 - x;
    case IR_ABS: return x < 0 ? -x : x;
    case IR_ADD: return x + y;
    case IR_SUB: return x - y;
    case IR_MUL: return (Wide)((uint64_t)x * (uint64_t)y);
    case IR_DIV: return y == 0 ? 0 : x / y;
    case IR_REM: return y == 0 ? x : x % y;
    case IR_MIN: return x < y ? x : y;
    case IR_MAX: return x > y ? x : y;
    case IR_AND: return (Wide)((uint64_t)x & (uint64_t)y);
    case IR_OR: return (Wide)((uint64_t)x | (uint64_t)y);
    case IR_XOR: return (Wide)((uint64_t)x ^ (uint64_t)y);
    case IR_SHL:
    case IR_SHR: return reference_shift(code, t, x, n);
    case IR_POPCOUNT:
    case IR_CLZ:
    case IR_CTZ:
    case IR_BREV: return reference_bits(code, t, (uint64_t)x & mask_of(t));
    case IR_MULHI: return reference_upper(t, x, y);
    case IR_EQ: return x == y;
    case IR_NE: return x != y;
    case IR_LT: return x < y;
    case IR_LE: return x <= y;
    case IR_GT: return x > y;
    case IR_GE: return x >= y;
    default: fail_msg("no reference"); return 0;
    }
}

static const IrOpcode integer_ops[] = {
    IR_NEG, IR_NOT, IR_ABS, IR_ADD,      IR_SUB, IR_MUL, IR_DIV,  IR_REM,  IR_MIN,
    IR_MAX, IR_AND, IR_OR,  IR_XOR,      IR_SHL, IR_SHR, IR_EQ,   IR_NE,   IR_LT,
    IR_LE,  IR_GT,  IR_GE,  IR_POPCOUNT, IR_CLZ, IR_CTZ, IR_BREV, IR_MULHI};

static void check_integer(IrOpcode code, Dtype t, uint64_t a, uint64_t b) {
    uint64_t in[2] = {a, b}, got = 77;
    assert_true(ir_eval(code, t, in, &got));
    uint64_t want = (uint64_t)reference_integer(code, t, wide_of(t, a), wide_of(t, b), b);
    want &= mask_of(t);
    if (got != want)
        fail_msg("%s %s(%llx, %llx): %llx, expected %llx", dtype_name(t), ir_op_info(code)->text,
                 (unsigned long long)a, (unsigned long long)b, (unsigned long long)got,
                 (unsigned long long)want);
}

static void integers_of_8_bits_exhaustively(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof integer_ops / sizeof *integer_ops; k++)
        for (uint64_t a = 0; a < 256; a++)
            for (uint64_t b = 0; b < 256; b++) {
                check_integer(integer_ops[k], DTYPE_I8, a, b);
                check_integer(integer_ops[k], DTYPE_U8, a, b);
            }
}

static void integers_at_their_edges(void **state) {
    (void)state;
    for (size_t d = 0; d < INTEGERS; d++) {
        Dtype t = integers[d];
        uint64_t top = UINT64_C(1) << (dtype_bits(t) - 1), all = mask_of(t);
        uint64_t values[40] = {0,       1,   2,   3,       7,   dtype_bits(t), dtype_bits(t) - 1,
                               top - 1, top, all, all - 1, 100, top + 1,       dtype_bits(t) + 1};
        for (size_t i = 14; i < 40; i++) values[i] = random_bits() & all;
        for (size_t k = 0; k < sizeof integer_ops / sizeof *integer_ops; k++)
            for (size_t i = 0; i < 40; i++)
                for (size_t j = 0; j < 40; j++)
                    check_integer(integer_ops[k], t, values[i], values[j]);
    }
}

static void bools_are_logic(void **state) {
    (void)state;
    for (uint64_t a = 0; a < 2; a++)
        for (uint64_t b = 0; b < 2; b++) {
            uint64_t in[2] = {a, b}, r;
            assert_true(ir_eval(IR_AND, DTYPE_BOOL, in, &r) && r == (a && b));
            assert_true(ir_eval(IR_OR, DTYPE_BOOL, in, &r) && r == (a || b));
            assert_true(ir_eval(IR_XOR, DTYPE_BOOL, in, &r) && r == (a != b));
            assert_true(ir_eval(IR_EQ, DTYPE_BOOL, in, &r) && r == (a == b));
            assert_true(ir_eval(IR_NE, DTYPE_BOOL, in, &r) && r == (a != b));
            assert_true(ir_eval(IR_NOT, DTYPE_BOOL, in, &r) && r == !a);
            assert_false(ir_eval(IR_ADD, DTYPE_BOOL, in, &r));
        }
}

static void what_is_not_elementwise_is_refused(void **state) {
    (void)state;
    uint64_t in[3] = {0, 0, 0}, r;
    assert_false(ir_eval(IR_LOAD, DTYPE_F32, in, &r));
    assert_false(ir_eval(IR_DOT, DTYPE_F32, in, &r));
    assert_false(ir_eval(IR_SQRT, DTYPE_I32, in, &r));
    assert_false(ir_eval(IR_AND, DTYPE_F32, in, &r));
}

// ---- floats: a rounding of the test's own -------------------------------------------------------

// v + an error of the given sign, far below v's last bit, to p bits, ties to even.
static long double rounded(Dtype t, long double v, int error) {
    const DtypeFloat *f = dtype_float(t);
    if (v == 0 || isinf(v) || isnan(v)) return v;
    int exponent;
    frexpl(v, &exponent);  // |v| < 2^exponent
    if (exponent - 1 < f->min_exponent) exponent = f->min_exponent + 1;
    long double q = ldexpl(v, f->precision - exponent), low = floorl(q), part = q - low;
    long double r = low;
    if (part > 0.5L || (part == 0.5L && error > 0)) r = low + 1;
    if (part == 0.5L && error == 0) r = fmodl(low, 2) == 0 ? low : low + 1;
    if (part == 0 && error < 0) r = low;
    r = ldexpl(r, exponent - f->precision);
    if (r == 0) r = copysignl(0, v);
    long double limit = (long double)f->greatest;
    if (fabsl(r) > limit) r = copysignl(dtype_is(t, DTYPE_CLASS_FP8) ? limit : INFINITY, v);
    return r;
}

static long double value_of(Dtype t, uint64_t bits) {
    return (long double)dtype_to_double(t, bits);
}

// A correctly rounded result: the same value, the same sign of zero; any fp8 infinity saturates.
static void check_value(Dtype t, const char *name, const uint64_t *in, uint64_t got,
                        long double want) {
    const DtypeFloat *f = dtype_float(t);
    long double value = value_of(t, got);
    if (isinf(want) && dtype_is(t, DTYPE_CLASS_FP8)) want = copysignl(f->greatest, want);
    bool same = isnan(want) ? isnan(value) : value == want;
    if (want == 0 && f->has_negative_zero && !isnan(value))
        same = same && !signbit(value) == !signbit(want);
    if (!same)
        fail_msg("%s %s(%llx, %llx, %llx): %llx = %Lg, expected %Lg", dtype_name(t), name,
                 (unsigned long long)in[0], (unsigned long long)in[1], (unsigned long long)in[2],
                 (unsigned long long)got, value, want);
    if (isnan(want)) {
        uint64_t quiet = dtype_from_double(t, (double)NAN, false);
        assert_int_equal(got, quiet);
    }
}

static uint64_t evaluate(IrOpcode code, Dtype t, const uint64_t *in) {
    uint64_t r = 0;
    if (!ir_eval(code, t, in, &r)) fail_msg("%s of %s", ir_op_info(code)->text, dtype_name(t));
    return r;
}

static void check_arithmetic(Dtype t, uint64_t a, uint64_t b) {
    uint64_t in[3] = {a, b, 0};
    long double x = value_of(t, a), y = value_of(t, b);
    check_value(t, "add", in, evaluate(IR_ADD, t, in), rounded(t, x + y, 0));
    check_value(t, "sub", in, evaluate(IR_SUB, t, in), rounded(t, x - y, 0));
    check_value(t, "mul", in, evaluate(IR_MUL, t, in), rounded(t, x * y, 0));
    check_value(t, "div", in, evaluate(IR_DIV, t, in), rounded(t, x / y, 0));
    check_value(t, "rem", in, evaluate(IR_REM, t, in), fmodl(x, y));
    check_value(t, "sqrt", in, evaluate(IR_SQRT, t, in), rounded(t, sqrtl(x), 0));
}

static void check_numbers_win(Dtype t, const uint64_t in[2]) {
    bool nan_a = isnan(value_of(t, in[0])), nan_b = isnan(value_of(t, in[1]));
    uint64_t least = evaluate(IR_MINNUM, t, in), greatest = evaluate(IR_MAXNUM, t, in);
    if (nan_a == nan_b) {
        assert_int_equal(least, evaluate(IR_MIN, t, in));
        assert_int_equal(greatest, evaluate(IR_MAX, t, in));
        return;
    }
    assert_int_equal(least, in[nan_a]);
    assert_int_equal(greatest, in[nan_a]);
}

// min and max: NaN wins, -0 is below +0, otherwise the operand's very bits.
static void check_extremes(Dtype t, uint64_t a, uint64_t b) {
    uint64_t in[2] = {a, b};
    long double x = value_of(t, a), y = value_of(t, b);
    uint64_t least = evaluate(IR_MIN, t, in), greatest = evaluate(IR_MAX, t, in);
    check_numbers_win(t, in);
    if (isnan(x) || isnan(y)) {
        assert_int_equal(least, dtype_from_double(t, (double)NAN, false));
        assert_int_equal(greatest, least);
        return;
    }
    bool first = x < y || (x == y && signbit(x) && !signbit(y));
    bool equal = x == y && !signbit(x) == !signbit(y);
    assert_int_equal(least, first || equal ? a : b);
    assert_int_equal(greatest, first && !equal ? b : equal ? b : a);
}

static void check_comparisons(Dtype t, uint64_t a, uint64_t b) {
    uint64_t in[2] = {a, b};
    long double x = value_of(t, a), y = value_of(t, b);
    assert_int_equal(evaluate(IR_EQ, t, in), x == y);
    assert_int_equal(evaluate(IR_NE, t, in), !(x == y));
    assert_int_equal(evaluate(IR_LT, t, in), x < y);
    assert_int_equal(evaluate(IR_LE, t, in), x <= y);
    assert_int_equal(evaluate(IR_GT, t, in), x > y);
    assert_int_equal(evaluate(IR_GE, t, in), x >= y);
}

static void check_signs_and_steps(Dtype t, uint64_t a) {
    uint64_t in[3] = {a, 0, 0};
    long double x = value_of(t, a);
    bool zero_only = !dtype_float(t)->has_negative_zero && (a & (mask_of(t) >> 1)) == 0;
    uint64_t sign = (mask_of(t) >> 1) + 1;
    assert_int_equal(evaluate(IR_NEG, t, in), zero_only ? a : a ^ sign);
    assert_int_equal(evaluate(IR_ABS, t, in), zero_only ? a : a & ~sign);
    if (isinf(x)) {
        assert_int_equal(evaluate(IR_FLOOR, t, in), a);
        assert_int_equal(evaluate(IR_CEIL, t, in), a);
        assert_int_equal(evaluate(IR_ROUND, t, in), a);
        return;
    }
    long double near = floorl(x + 0.5L);
    if (x + 0.5L == near && fmodl(near, 2) != 0) near -= 1;
    if (fabsl(x) >= 0x1p60L) near = x;
    if (near == 0) near = copysignl(0, x);
    check_value(t, "floor", in, evaluate(IR_FLOOR, t, in), floorl(x));
    check_value(t, "ceil", in, evaluate(IR_CEIL, t, in), ceill(x));
    check_value(t, "round", in, evaluate(IR_ROUND, t, in), near);
}

static void fp8_exhaustively(void **state) {
    (void)state;
    for (size_t d = 4; d < FLOATS; d++)
        for (uint64_t a = 0; a < 256; a++) {
            check_signs_and_steps(floats[d], a);
            for (uint64_t b = 0; b < 256; b++) {
                check_arithmetic(floats[d], a, b);
                check_extremes(floats[d], a, b);
                check_comparisons(floats[d], a, b);
            }
        }
}

static const double specials[] = {
    0.0,     -0.0,    1.0,      -1.0,   0.5,     1.5,      2.5,      -2.5,    3.0,     10.0,
    1e-45,   -1e-45,  5.9e-8,   6.1e-5, 1.2e-38, 1e-310,   65504.0,  65536.0, 3.4e38,  -3.4e38,
    1.7e308, 0x1p-24, 0x1p-133, 0x1p24, 0x1p53,  0x1p-126, 0x1p-149, 448.0,   57344.0, 0x1p-1074};
enum { SPECIALS = sizeof specials / sizeof *specials, VALUES = SPECIALS + 43 };

static void fill_values(Dtype t, uint64_t *values) {
    for (size_t i = 0; i < SPECIALS; i++) values[i] = dtype_from_double(t, specials[i], false);
    values[SPECIALS] = dtype_from_double(t, (double)INFINITY, false);
    values[SPECIALS + 1] = dtype_from_double(t, -(double)INFINITY, false);
    values[SPECIALS + 2] = dtype_from_double(t, (double)NAN, false);
    for (size_t i = SPECIALS + 3; i < VALUES; i++) values[i] = random_bits() & mask_of(t);
}

static void wide_floats_at_their_edges(void **state) {
    (void)state;
    for (size_t d = 0; d < 3; d++) {  // long double holds twice their bits
        uint64_t values[VALUES];
        fill_values(floats[d], values);
        for (size_t i = 0; i < VALUES; i++) {
            check_signs_and_steps(floats[d], values[i]);
            for (size_t j = 0; j < VALUES; j++) {
                check_arithmetic(floats[d], values[i], values[j]);
                check_extremes(floats[d], values[i], values[j]);
                check_comparisons(floats[d], values[i], values[j]);
            }
        }
    }
}

// f64's own arithmetic is the machine's; what is ours is NaN, min and max, signs.
static void f64_at_its_edges(void **state) {
    (void)state;
    uint64_t values[VALUES];
    fill_values(DTYPE_F64, values);
    for (size_t i = 0; i < VALUES; i++) {
        check_signs_and_steps(DTYPE_F64, values[i]);
        for (size_t j = 0; j < VALUES; j++) {
            uint64_t in[3] = {values[i], values[j], 0};
            double x = dtype_to_double(DTYPE_F64, in[0]), y = dtype_to_double(DTYPE_F64, in[1]);
            check_value(DTYPE_F64, "add", in, evaluate(IR_ADD, DTYPE_F64, in), x + y);
            check_value(DTYPE_F64, "mul", in, evaluate(IR_MUL, DTYPE_F64, in), x * y);
            check_value(DTYPE_F64, "div", in, evaluate(IR_DIV, DTYPE_F64, in), x / y);
            check_value(DTYPE_F64, "rem", in, evaluate(IR_REM, DTYPE_F64, in), fmod(x, y));
            check_extremes(DTYPE_F64, values[i], values[j]);
            check_comparisons(DTYPE_F64, values[i], values[j]);
        }
    }
}

static void f16_exhaustively_for_one_operand(void **state) {
    (void)state;
    for (uint64_t a = 0; a < 65536; a++) {
        uint64_t in[3] = {a, 0, 0};
        check_signs_and_steps(DTYPE_F16, a);
        check_value(DTYPE_F16, "sqrt", in, evaluate(IR_SQRT, DTYPE_F16, in),
                    rounded(DTYPE_F16, sqrtl(value_of(DTYPE_F16, a)), 0));
    }
}

// ---- fma ----------------------------------------------------------------------------------------

static void check_fma(Dtype t, uint64_t a, uint64_t b, uint64_t c) {
    uint64_t in[3] = {a, b, c};
    long double x = value_of(t, a) * value_of(t, b);  // exact: 48 of 64 bits
    long double y = value_of(t, c), sum = x + y;
    int error = 0;
    if (!isinf(sum) && !isnan(sum)) {
        long double large = fabsl(x) > fabsl(y) ? x : y, small = fabsl(x) > fabsl(y) ? y : x;
        long double lost = small - (sum - large);  // exact, Dekker
        error = lost > 0 ? 1 : lost < 0 ? -1 : 0;
    }
    long double want = rounded(t, sum, error);
    // An error below an exact number of p bits pulls towards it: handled by the neighbours'
    // distance.
    check_value(t, "fma", in, evaluate(IR_FMA, t, in), want);
}

static void fma_rounds_once(void **state) {
    (void)state;
    for (size_t d = 0; d < FLOATS; d++) {
        Dtype t = floats[d];
        if (t == DTYPE_F64) continue;
        uint64_t values[VALUES];
        fill_values(t, values);
        for (size_t i = 0; i < VALUES; i++)
            for (size_t j = 0; j < VALUES; j++)
                for (size_t k = 0; k < VALUES; k += 3)
                    check_fma(t, values[i], values[j], values[k]);
    }
    // 1 + 2^-11 in f16 is a tie; 2^-21 more decides it.
    uint64_t one = 0x3c00, just_over = 0x3c01;
    uint64_t tie[3] = {dtype_from_double(DTYPE_F16, 0x1p-6, false),
                       dtype_from_double(DTYPE_F16, 0x1.004p-5, false), one};
    assert_int_equal(evaluate(IR_FMA, DTYPE_F16, tie), just_over);
    uint64_t f64[3] = {dtype_from_double(DTYPE_F64, 0x1.0000001p0, false),
                       dtype_from_double(DTYPE_F64, 0x1.0000001p0, false),
                       dtype_from_double(DTYPE_F64, -1.0, false)};
    assert_int_equal(evaluate(IR_FMA, DTYPE_F64, f64),
                     dtype_from_double(DTYPE_F64, 0x1.00000008p-27, false));
}

// ---- math functions -----------------------------------------------------------------------------

static long double reference_function(IrOpcode code, long double x) {
    switch (code) {
    case IR_RSQRT: return 1 / sqrtl(x);
    case IR_EXP: return expl(x);
    case IR_EXP2: return exp2l(x);
    case IR_LOG: return logl(x);
    case IR_LOG2: return log2l(x);
    case IR_SIN: return sinl(x);
    case IR_COS: return cosl(x);
    case IR_TAN: return tanl(x);
    case IR_TANH: return tanhl(x);
    case IR_ERF: return erfl(x);
    case IR_LOG1P: return log1pl(x);
    case IR_EXPM1: return expm1l(x);
    case IR_LOG10: return log10l(x);
    case IR_SINH: return sinhl(x);
    case IR_COSH: return coshl(x);
    case IR_ATAN: return atanl(x);
    case IR_ASIN: return asinl(x);
    case IR_ACOS: return acosl(x);
    case IR_CBRT: return cbrtl(x);
    case IR_ERFC: return erfcl(x);
    case IR_SIGMOID: return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x));
    default: return NAN;
    }
}

static const IrOpcode functions[] = {IR_RSQRT, IR_EXP,   IR_EXP2, IR_LOG,  IR_LOG2,    IR_SIN,
                                     IR_COS,   IR_TAN,   IR_TANH, IR_ERF,  IR_SIGMOID, IR_LOG1P,
                                     IR_EXPM1, IR_LOG10, IR_SINH, IR_COSH, IR_ATAN,    IR_ASIN,
                                     IR_ACOS,  IR_CBRT,  IR_ERFC};

static long double ulp_of(Dtype t, long double w) {
    const DtypeFloat *f = dtype_float(t);
    int exponent = f->min_exponent;
    if (w != 0 && ilogbl(w) > exponent) exponent = ilogbl(w);
    return ldexpl(1, exponent - f->precision + 1);
}

// Within 2 ulp of f32 (then rounded once), or of f64.
static void check_near(Dtype t, IrOpcode code, uint64_t a, uint64_t got, long double want) {
    const DtypeFloat *f = dtype_float(t);
    long double value = value_of(t, got);
    if (isnan(want)) {
        assert_true(isnan(value));
        return;
    }
    long double limit = f->greatest;
    bool saturates = dtype_is(t, DTYPE_CLASS_FP8);
    long double slack = t == DTYPE_F64 || t == DTYPE_F32
                            ? 2 * ulp_of(t, want)
                            : ulp_of(t, want) / 2 + 2 * ulp_of(DTYPE_F32, want);
    if (fabsl(want) >= limit - ulp_of(t, limit)) {
        long double clamped = copysignl(saturates ? limit : INFINITY, want);
        if (value == clamped) return;
    }
    if (!(fabsl(value - want) <= slack))
        fail_msg("%s %s(%llx = %Lg): %Lg, expected %.21Lg", dtype_name(t), ir_op_info(code)->text,
                 (unsigned long long)a, value_of(t, a), value, want);
}

static void check_functions(Dtype t, uint64_t a) {
    uint64_t in[3] = {a, 0, 0};
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
        check_near(t, functions[k], a, evaluate(functions[k], t, in),
                   reference_function(functions[k], value_of(t, a)));
}

static void functions_within_two_ulp(void **state) {
    (void)state;
    for (uint64_t a = 0; a < 65536; a++) check_functions(DTYPE_F16, a);
    for (uint64_t a = 0; a < 65536; a += 7) check_functions(DTYPE_BF16, a);
    for (size_t d = 4; d < FLOATS; d++)
        for (uint64_t a = 0; a < 256; a++) check_functions(floats[d], a);
    for (int i = 0; i < 20000; i++) {
        check_functions(DTYPE_F32, random_bits() & UINT32_MAX);
        check_functions(DTYPE_F64, random_bits());
        double x = ((double)(int64_t)random_bits()) * 0x1p-59;  // -16 … 16
        check_functions(DTYPE_F32, dtype_from_double(DTYPE_F32, x, false));
        check_functions(DTYPE_F64, dtype_from_double(DTYPE_F64, x, false));
    }
}

static void functions_exact_where_they_can_be(void **state) {
    (void)state;
    static const struct {
        IrOpcode code;
        double x, want;
    } cases[] = {
        {IR_EXP, 0, 1},      {IR_EXP2, 10, 1024},   {IR_EXP2, -3, 0.125}, {IR_LOG, 1, 0},
        {IR_LOG2, 1024, 10}, {IR_SIN, 0, 0},        {IR_COS, 0, 1},       {IR_TANH, 0, 0},
        {IR_ERF, 0, 0},      {IR_SIGMOID, 0, 0.5},  {IR_RSQRT, 4, 0.5},   {IR_RSQRT, 0.25, 2},
        {IR_LOG1P, 0, 0},    {IR_EXPM1, 0, 0},      {IR_EXPM1, -1e4, -1}, {IR_LOG10, 1000, 3},
        {IR_SINH, 0, 0},     {IR_COSH, 0, 1},       {IR_ATAN, 0, 0},      {IR_ASIN, 0, 0},
        {IR_ACOS, 1, 0},     {IR_CBRT, -27, -3},    {IR_ERFC, 0, 1},      {IR_ERFC, -100, 2},
        {IR_TANH, 1e4, 1},   {IR_SIGMOID, -1e4, 0}, {IR_EXP, -1e5, 0}};
    for (size_t d = 0; d < 4; d++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            uint64_t in[3] = {dtype_from_double(floats[d], cases[i].x, false), 0, 0};
            check_value(floats[d], ir_op_info(cases[i].code)->text, in,
                        evaluate(cases[i].code, floats[d], in), cases[i].want);
        }
    uint64_t squares[2] = {dtype_from_double(DTYPE_F64, 3, false),
                           dtype_from_double(DTYPE_F64, 2, false)};
    assert_int_equal(evaluate(IR_POW, DTYPE_F64, squares), dtype_from_double(DTYPE_F64, 9, false));
}

static void pow_and_atan2_within_two_ulp(void **state) {
    (void)state;
    for (size_t d = 0; d < FLOATS; d++) {
        uint64_t values[VALUES];
        fill_values(floats[d], values);
        for (size_t i = 0; i < VALUES; i++)
            for (size_t j = 0; j < VALUES; j++) {
                uint64_t in[2] = {values[i], values[j]};
                long double a = value_of(floats[d], in[0]), b = value_of(floats[d], in[1]);
                check_near(floats[d], IR_POW, in[0], evaluate(IR_POW, floats[d], in), powl(a, b));
                check_near(floats[d], IR_ATAN2, in[0], evaluate(IR_ATAN2, floats[d], in),
                           atan2l(a, b));
            }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_of_8_bits_exhaustively),
        cmocka_unit_test(integers_at_their_edges),
        cmocka_unit_test(bools_are_logic),
        cmocka_unit_test(what_is_not_elementwise_is_refused),
        cmocka_unit_test(fp8_exhaustively),
        cmocka_unit_test(wide_floats_at_their_edges),
        cmocka_unit_test(f64_at_its_edges),
        cmocka_unit_test(f16_exhaustively_for_one_operand),
        cmocka_unit_test(fma_rounds_once),
        cmocka_unit_test(functions_within_two_ulp),
        cmocka_unit_test(functions_exact_where_they_can_be),
        cmocka_unit_test(pow_and_atan2_within_two_ulp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

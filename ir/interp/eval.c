// One elementwise op on raw bits. Everything narrower than f64 is computed in double and rounded
// once: for + - * / sqrt that is correct because 53 >= 2*24 + 2 (S. Figueroa, "When is double
// rounding innocuous?", SIGNUM 1995; products of two are even exact, and a quotient cannot come
// nearer than 2^-(2p+1), relatively, to a midpoint it does not hit, also where the result is
// subnormal); fma goes through round-to-odd (S. Boldo, G. Melquiond, "Emulation of FMA and
// correctly rounded sums", IEEE Trans. Comput. 2008: 53 >= p + 2 suffices).
#include <math.h>
#include <string.h>

#include "ir/interp/interp.h"

static uint64_t f64_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t canonical_nan(Dtype t) { return dtype_from_double(t, (double)NAN, false); }

// An arithmetic result: rounded once, fp8 saturates, every NaN is the one quiet NaN.
static uint64_t arithmetic(Dtype t, double value) {
    return isnan(value) ? canonical_nan(t) : dtype_from_double(t, value, true);
}

// A result that the type holds exactly; infinities stay infinities.
static uint64_t exact(Dtype t, double value) {
    return isnan(value) ? canonical_nan(t) : dtype_from_double(t, value, false);
}

// ---- floats -------------------------------------------------------------------------------------

// x + y rounded to odd: the last bit is set when the sum was not exact (two-sum gives the error).
static double add_to_odd(double x, double y) {
    double sum = x + y;
    if (!isfinite(sum)) return sum;
    double part = sum - x;
    double error = (x - (sum - part)) + (y - part);
    uint64_t bits = f64_bits(sum);
    if (error == 0 || (bits & 1)) return sum;
    bool away = (error > 0) == (sum > 0);  // the exact sum is farther from zero
    bits = away ? bits + 1 : bits - 1;
    double odd;
    memcpy(&odd, &bits, sizeof odd);
    return odd;
}

static uint64_t fma_bits(Dtype t, double a, double b, double c) {
    if (t == DTYPE_F64) return arithmetic(t, fma(a, b, c));
    double product = a * b;  // exact: at most 48 bits, and far from double's limits
    return arithmetic(t, add_to_odd(product, c));
}

// Functions of one operand in long double for f64, in double for the rest.
static bool math_f64(IrOpcode code, long double x, long double *r) {
    switch (code) {
    case IR_RSQRT: *r = 1.0L / sqrtl(x); return true;
    case IR_EXP: *r = expl(x); return true;
    case IR_EXP2: *r = exp2l(x); return true;
    case IR_LOG: *r = logl(x); return true;
    case IR_LOG2: *r = log2l(x); return true;
    case IR_SIN: *r = sinl(x); return true;
    case IR_COS: *r = cosl(x); return true;
    case IR_TAN: *r = tanl(x); return true;
    case IR_TANH: *r = tanhl(x); return true;
    case IR_ERF: *r = erfl(x); return true;
    case IR_LOG1P: *r = log1pl(x); return true;
    case IR_EXPM1: *r = expm1l(x); return true;
    case IR_LOG10: *r = log10l(x); return true;
    case IR_SINH: *r = sinhl(x); return true;
    case IR_COSH: *r = coshl(x); return true;
    case IR_ATAN: *r = atanl(x); return true;
    case IR_ASIN: *r = asinl(x); return true;
    case IR_ACOS: *r = acosl(x); return true;
    case IR_CBRT: *r = cbrtl(x); return true;
    case IR_ERFC: *r = erfcl(x); return true;
    case IR_SIGMOID: *r = 1.0L / (1.0L + expl(-x)); return true;
    default: return false;  // not a math function
    }
}

static bool math_narrow(IrOpcode code, double x, double *r) {
    switch (code) {
    case IR_RSQRT: *r = 1.0 / sqrt(x); return true;
    case IR_EXP: *r = exp(x); return true;
    case IR_EXP2: *r = exp2(x); return true;
    case IR_LOG: *r = log(x); return true;
    case IR_LOG2: *r = log2(x); return true;
    case IR_SIN: *r = sin(x); return true;
    case IR_COS: *r = cos(x); return true;
    case IR_TAN: *r = tan(x); return true;
    case IR_TANH: *r = tanh(x); return true;
    case IR_ERF: *r = erf(x); return true;
    case IR_LOG1P: *r = log1p(x); return true;
    case IR_EXPM1: *r = expm1(x); return true;
    case IR_LOG10: *r = log10(x); return true;
    case IR_SINH: *r = sinh(x); return true;
    case IR_COSH: *r = cosh(x); return true;
    case IR_ATAN: *r = atan(x); return true;
    case IR_ASIN: *r = asin(x); return true;
    case IR_ACOS: *r = acos(x); return true;
    case IR_CBRT: *r = cbrt(x); return true;
    case IR_ERFC: *r = erfc(x); return true;
    case IR_SIGMOID: *r = 1.0 / (1.0 + exp(-x)); return true;
    default: return false;  // not a math function
    }
}

// The result of a math function: through f32 for the types narrower than that.
static uint64_t math_result(Dtype t, double value) {
    if (isnan(value)) return canonical_nan(t);
    if (t == DTYPE_F64 || t == DTYPE_F32) return dtype_from_double(t, value, true);
    uint64_t single = dtype_from_double(DTYPE_F32, value, true);
    return dtype_from_float(t, dtype_to_float(DTYPE_F32, single), true);
}

static double double_of_long(long double x) {
    if (isnan(x)) return (double)NAN;
    return (double)x;  // Annex F: rounds once, overflow gives an infinity
}

static bool eval_math(IrOpcode code, Dtype t, uint64_t a, uint64_t *result) {
    double x = dtype_to_double(t, a);
    double r;
    if (t == DTYPE_F64) {
        long double wide;
        if (!math_f64(code, (long double)x, &wide)) return false;
        r = double_of_long(wide);
    } else if (!math_narrow(code, x, &r)) {
        return false;
    }
    *result = math_result(t, r);
    return true;
}

static uint64_t eval_pow(Dtype t, double a, double b) {
    if (t == DTYPE_F64) return math_result(t, double_of_long(powl((long double)a, (long double)b)));
    return math_result(t, pow(a, b));
}

static uint64_t eval_atan2(Dtype t, double y, double x) {
    if (t != DTYPE_F64) return math_result(t, atan2(y, x));
    return math_result(t, double_of_long(atan2l((long double)y, (long double)x)));
}

static uint64_t sign_bit(Dtype t) { return UINT64_C(1) << (dtype_bits(t) - 1); }

// The formats without a negative zero use its bits for their one NaN: it has no sign to change.
static uint64_t change_sign(Dtype t, uint64_t a, bool clear) {
    uint64_t sign = sign_bit(t);
    if (!dtype_float(t)->has_negative_zero && (a & ~sign) == 0) return a;
    return clear ? a & ~sign : a ^ sign;
}

// A format without a negative zero has one NaN, which has no sign to give.
static uint64_t copy_sign(Dtype t, uint64_t a, uint64_t b) {
    bool one_nan = !dtype_float(t)->has_negative_zero;
    bool negative = (b & sign_bit(t)) != 0 && !(one_nan && b == sign_bit(t));
    uint64_t magnitude = change_sign(t, a, true);
    return negative ? change_sign(t, magnitude, false) : magnitude;
}

static uint64_t float_extreme(Dtype t, uint64_t a, uint64_t b, bool greatest) {
    double x = dtype_to_double(t, a);
    double y = dtype_to_double(t, b);
    if (isnan(x) || isnan(y)) return canonical_nan(t);
    if (x == y) return (signbit(x) != 0) == greatest ? b : a;
    return (x > y) == greatest ? a : b;
}

static uint64_t number_extreme(Dtype t, uint64_t a, uint64_t b, bool greatest) {
    if (isnan(dtype_to_double(t, a))) return float_extreme(t, b, b, greatest);
    return float_extreme(t, a, isnan(dtype_to_double(t, b)) ? a : b, greatest);
}

static bool compare_doubles(IrOpcode code, double x, double y, uint64_t *result) {
    switch (code) {
    case IR_EQ: *result = x == y; return true;
    case IR_NE: *result = x != y; return true;
    case IR_LT: *result = x < y; return true;
    case IR_LE: *result = x <= y; return true;
    case IR_GT: *result = x > y; return true;
    case IR_GE: *result = x >= y; return true;
    default: return false;  // not a comparison
    }
}

static bool eval_float(IrOpcode code, Dtype t, const uint64_t *in, uint64_t *result) {
    double x = dtype_to_double(t, in[0]);
    switch (code) {
    case IR_NEG: *result = change_sign(t, in[0], false); return true;
    case IR_ABS: *result = change_sign(t, in[0], true); return true;
    case IR_FLOOR: *result = exact(t, floor(x)); return true;
    case IR_CEIL: *result = exact(t, ceil(x)); return true;
    case IR_ROUND: *result = exact(t, rint(x)); return true;
    case IR_SQRT: *result = arithmetic(t, sqrt(x)); return true;
    case IR_ADD: *result = arithmetic(t, x + dtype_to_double(t, in[1])); return true;
    case IR_SUB: *result = arithmetic(t, x - dtype_to_double(t, in[1])); return true;
    case IR_MUL: *result = arithmetic(t, x * dtype_to_double(t, in[1])); return true;
    case IR_DIV: *result = arithmetic(t, x / dtype_to_double(t, in[1])); return true;
    case IR_REM: *result = exact(t, fmod(x, dtype_to_double(t, in[1]))); return true;
    case IR_MIN: *result = float_extreme(t, in[0], in[1], false); return true;
    case IR_MAX: *result = float_extreme(t, in[0], in[1], true); return true;
    case IR_MINNUM: *result = number_extreme(t, in[0], in[1], false); return true;
    case IR_MAXNUM: *result = number_extreme(t, in[0], in[1], true); return true;
    case IR_ATAN2: *result = eval_atan2(t, x, dtype_to_double(t, in[1])); return true;
    case IR_COPYSIGN: *result = copy_sign(t, in[0], in[1]); return true;
    case IR_POW: *result = eval_pow(t, x, dtype_to_double(t, in[1])); return true;
    case IR_FMA:
        *result = fma_bits(t, x, dtype_to_double(t, in[1]), dtype_to_double(t, in[2]));
        return true;
    case IR_EQ:
    case IR_NE:
    case IR_LT:
    case IR_LE:
    case IR_GT:
    case IR_GE: return compare_doubles(code, x, dtype_to_double(t, in[1]), result);
    default: return eval_math(code, t, in[0], result);
    }
}

// ---- integers -----------------------------------------------------------------------------------

static uint64_t divide(Dtype t, uint64_t a, uint64_t b) {
    if (b == 0) return 0;
    if (!dtype_signed(t)) return a / b;
    int64_t y = dtype_to_i64(t, b);
    if (y == -1) return dtype_wrap(t, 0 - a);
    return dtype_wrap(t, (uint64_t)(dtype_to_i64(t, a) / y));
}

static uint64_t remainder_of(Dtype t, uint64_t a, uint64_t b) {
    if (b == 0) return a;
    if (!dtype_signed(t)) return a % b;
    int64_t y = dtype_to_i64(t, b);
    if (y == -1) return 0;
    return dtype_wrap(t, (uint64_t)(dtype_to_i64(t, a) % y));
}

static bool less(Dtype t, uint64_t a, uint64_t b) {
    return dtype_signed(t) ? dtype_to_i64(t, a) < dtype_to_i64(t, b) : a < b;
}

// A negative shift count of any type has bits of 128 or more.
static uint64_t shift_left(Dtype t, uint64_t a, uint64_t n) {
    return n >= dtype_bits(t) ? 0 : dtype_wrap(t, a << n);
}

static uint64_t shift_right(Dtype t, uint64_t a, uint64_t n) {
    if (!dtype_signed(t)) return n >= dtype_bits(t) ? 0 : a >> n;
    int64_t x = dtype_to_i64(t, a);
    uint64_t flip = x < 0 ? ~UINT64_C(0) : 0;
    uint64_t moved = n >= 64 ? 0 : ((uint64_t)x ^ flip) >> n;
    return dtype_wrap(t, moved ^ flip);
}

static uint64_t count_above(Dtype t, uint64_t a) {
    unsigned unused = 64 - dtype_bits(t);
    return a == 0 ? dtype_bits(t) : (uint64_t)__builtin_clzll(a) - unused;
}

static uint64_t reversed(Dtype t, uint64_t a) {
    uint64_t r = 0;
    for (unsigned i = 0; i < dtype_bits(t); i++) r |= (a >> i & 1) << (dtype_bits(t) - 1 - i);
    return r;
}

static uint64_t upper_half(Dtype t, uint64_t a, uint64_t b) {
    bool is_signed = dtype_signed(t);
    // Sign extension makes the wrapped product of 128 bits that of the signed numbers.
    Uint128 x = is_signed ? (Uint128)(Int128)dtype_to_i64(t, a) : a;
    Uint128 y = is_signed ? (Uint128)(Int128)dtype_to_i64(t, b) : b;
    return dtype_wrap(t, (uint64_t)(x * y >> dtype_bits(t)));
}

static bool eval_bits(IrOpcode code, Dtype t, const uint64_t *in, uint64_t *result) {
    uint64_t a = in[0];
    switch (code) {
    case IR_POPCOUNT: *result = (uint64_t)__builtin_popcountll(a); return true;
    case IR_CLZ: *result = count_above(t, a); return true;
    case IR_CTZ: *result = a == 0 ? dtype_bits(t) : (uint64_t)__builtin_ctzll(a); return true;
    case IR_BREV: *result = reversed(t, a); return true;
    case IR_MULHI: *result = upper_half(t, a, in[1]); return true;
    default: return false;  // not for integers
    }
}

static bool eval_integer(IrOpcode code, Dtype t, const uint64_t *in, uint64_t *result) {
    uint64_t a = in[0];
    switch (code) {
    case IR_NEG: *result = dtype_wrap(t, 0 - a); return true;
    case IR_NOT: *result = dtype_wrap(t, ~a); return true;
    case IR_ABS: *result = less(t, a, 0) ? dtype_wrap(t, 0 - a) : a; return true;
    case IR_ADD: *result = dtype_wrap(t, a + in[1]); return true;
    case IR_SUB: *result = dtype_wrap(t, a - in[1]); return true;
    case IR_MUL: *result = dtype_wrap(t, a * in[1]); return true;
    case IR_DIV: *result = divide(t, a, in[1]); return true;
    case IR_REM: *result = remainder_of(t, a, in[1]); return true;
    case IR_MIN: *result = less(t, in[1], a) ? in[1] : a; return true;
    case IR_MAX: *result = less(t, a, in[1]) ? in[1] : a; return true;
    case IR_AND: *result = a & in[1]; return true;
    case IR_OR: *result = a | in[1]; return true;
    case IR_XOR: *result = a ^ in[1]; return true;
    case IR_SHL: *result = shift_left(t, a, in[1]); return true;
    case IR_SHR: *result = shift_right(t, a, in[1]); return true;
    case IR_EQ: *result = a == in[1]; return true;
    case IR_NE: *result = a != in[1]; return true;
    case IR_LT: *result = less(t, a, in[1]); return true;
    case IR_LE: *result = !less(t, in[1], a); return true;
    case IR_GT: *result = less(t, in[1], a); return true;
    case IR_GE: *result = !less(t, a, in[1]); return true;
    default: return eval_bits(code, t, in, result);
    }
}

static bool eval_bool(IrOpcode code, const uint64_t *in, uint64_t *result) {
    bool a = in[0] != 0;
    switch (code) {
    case IR_NOT: *result = !a; return true;
    case IR_AND: *result = a && in[1] != 0; return true;
    case IR_OR: *result = a || in[1] != 0; return true;
    case IR_XOR:
    case IR_NE: *result = a != (in[1] != 0); return true;
    case IR_EQ: *result = a == (in[1] != 0); return true;
    case IR_SELECT: *result = a ? in[1] : in[2]; return true;
    default: return false;  // not for bools
    }
}

bool ir_eval(IrOpcode code, Dtype elem, const uint64_t *operands, uint64_t *result) {
    if (elem == DTYPE_BOOL) return eval_bool(code, operands, result);
    if (dtype_is(elem, DTYPE_CLASS_INT)) return eval_integer(code, elem, operands, result);
    if (dtype_is(elem, DTYPE_CLASS_ANYFLOAT)) return eval_float(code, elem, operands, result);
    return false;
}

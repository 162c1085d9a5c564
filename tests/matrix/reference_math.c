// References of the math functions: the C library's in long double, with the bounds of
// docs/numerics.md: 2 ulp of f32 or f64; narrower types 2 ulp of f32 and one rounding.
#include <math.h>

#include "tests/matrix/matrix.h"

typedef long double (*Function)(long double);

static long double rsqrt_(long double x) { return 1 / sqrtl(x); }
static long double sigmoid(long double x) { return 1 / (1 + expl(-x)); }

static const Function functions[IR_OPCODES] = {
    [IR_RSQRT] = rsqrt_, [IR_EXP] = expl,     [IR_EXP2] = exp2l,      [IR_LOG] = logl,
    [IR_LOG2] = log2l,   [IR_SIN] = sinl,     [IR_COS] = cosl,        [IR_TAN] = tanl,
    [IR_TANH] = tanhl,   [IR_ERF] = erfl,     [IR_SIGMOID] = sigmoid, [IR_LOG1P] = log1pl,
    [IR_EXPM1] = expm1l, [IR_LOG10] = log10l, [IR_SINH] = sinhl,      [IR_COSH] = coshl,
    [IR_ATAN] = atanl,   [IR_ASIN] = asinl,   [IR_ACOS] = acosl,      [IR_CBRT] = cbrtl,
    [IR_ERFC] = erfcl,
};

static Answer math_answer(Dtype t, long double exact) {
    Dtype computed = t == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
    bool saturates = type_width(t) == 8;
    if (isnan(exact)) return answer_value(nan_bits(t));
    if (isinf(exact))
        return answer_value(number_round(t, (Number){NUMBER_INFINITE, exact < 0, 0, 0}, saturates));
    if (exact == 0)  // certain, its sign too
        return answer_value(
            number_round(t, (Number){NUMBER_FINITE, signbit(exact) != 0, 0, 0}, true));
    long double size = fabsl(exact);
    long double bound = 4 * format_half(computed, size);
    if (t != computed) bound += format_half(t, size + bound);
    Answer a = answer_bound(exact, bound);
    // Past the greatest: fp8 stays there; others may be an infinity (answer_fits).
    if (saturates && size > format_greatest(t)) a.value = copysignl(format_greatest(t), exact);
    return a;
}

static bool math_one(Case *c) {
    Dtype t = c->in[0].elem;
    if (!type_is_float(t)) return false;
    for (uint32_t i = 0; i < c->out[0].count; i++)
        c->want[0][i] = math_answer(t, functions[c->code](element_value(t, c->in[0].bits[i])));
    return true;
}

static bool math_two(Case *c) {
    Dtype t = c->in[0].elem;
    if (!type_is_float(t)) return false;
    for (uint32_t i = 0; i < c->out[0].count; i++) {
        long double a = element_value(t, c->in[0].bits[i]), b = element_value(t, c->in[1].bits[i]);
        c->want[0][i] = math_answer(t, c->code == IR_POW ? powl(a, b) : atan2l(a, b));
    }
    return true;
}

Reference reference_math_of(IrOpcode code) {
    if (functions[code]) return math_one;
    return code == IR_POW || code == IR_ATAN2 ? math_two : NULL;
}

#include "passes/math/math.h"

#include <math.h>

Math math_begin(IrBuilder *b, const IrType *real, unsigned options, bool gpu) {
    bool wide = real->elem == DTYPE_F64;
    Math m = {.b = b, .real = real, .wide = wide, .approx = (options & IR_MATH_APPROX) != 0};
    m.sint = ir_with_elem(b->module, real, wide ? DTYPE_I64 : DTYPE_I32);
    m.word = ir_with_elem(b->module, real, wide ? DTYPE_U64 : DTYPE_U32);
    m.hardware = gpu && m.approx && !wide;
    m.fraction = wide ? 52 : 23;
    m.bias = wide ? 1023 : 127;
    m.magic = wide ? 0x1.8p52 : 0x1.8p23;
    return m;
}

IrValue *math_const(Math *m, double value) {
    return ir_const_bits(m->b, m->real, dtype_from_double(m->real->elem, value, false));
}

IrValue *math_nan(Math *m) { return math_const(m, (double)NAN); }

IrValue *math_int(Math *m, uint64_t value) {
    return ir_const_bits(m->b, m->sint, dtype_wrap(m->sint->elem, value));
}

IrValue *math_word(Math *m, uint64_t value) {
    return ir_const_bits(m->b, m->word, dtype_wrap(m->word->elem, value));
}

static IrValue *shift(Math *m, IrOpcode code, IrValue *x, int by) {
    return ir_binary(m->b, code, x, ir_const_bits(m->b, x->type, (uint64_t)by));
}

IrValue *math_shl(Math *m, IrValue *x, int by) { return shift(m, IR_SHL, x, by); }
IrValue *math_shr(Math *m, IrValue *x, int by) { return shift(m, IR_SHR, x, by); }

IrValue *math_poly(Math *m, IrValue *x, const double *coefficients, int count) {
    IrValue *sum = math_const(m, coefficients[count - 1]);
    for (int i = count - 2; i >= 0; i--) sum = math_fma(m, sum, x, math_const(m, coefficients[i]));
    return sum;
}

IrValue *math_at_most(Math *m, IrValue *x, double limit) {
    IrValue *bound = math_const(m, limit);
    return math_select(m, math_compare(m, IR_LT, bound, x), bound, x);
}

IrValue *math_at_least(Math *m, IrValue *x, double limit) {
    IrValue *bound = math_const(m, limit);
    return math_select(m, math_compare(m, IR_GT, bound, x), bound, x);
}

IrValue *math_with_sign(Math *m, IrValue *magnitude, IrValue *sign) {
    IrValue *top = math_word(m, UINT64_C(1) << (m->wide ? 63 : 31));
    IrValue *bit = math_and(m, math_as_word(m, sign), top);
    return math_as_real(m, math_or(m, math_as_word(m, magnitude), bit));
}

IrValue *math_power_of_two(Math *m, IrValue *rounded) {
    // The bits of magic above them are shifted out of the word.
    return math_as_real(m, math_shl(m, math_as_int(m, rounded), m->fraction));
}

IrValue *math_float_of(Math *m, IrValue *x) {
    if (!m->wide) return ir_cast(m->b, x, DTYPE_F32, false);
    // Few CPUs convert 64-bit integers in vectors: put the integer into the low bits of magic.
    IrValue *bits = math_add(m, x, math_int(m, UINT64_C(0x4338000000000000)));
    return math_sub(m, math_as_real(m, bits), math_const(m, m->magic));
}

IrValue *math_quotient(Math *m, IrValue *s, IrValue *ds, IrValue *c, IrValue *dc) {
    IrValue *inverse = math_div(m, math_const(m, 1), c);
    IrValue *q = math_mul(m, s, inverse), *negative = math_neg(m, q);
    IrValue *left = math_fma(m, negative, c, s);
    if (ds) left = math_add(m, left, ds);
    return math_fma(m, math_fma(m, negative, dc, left), inverse, q);
}

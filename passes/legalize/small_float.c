// Conversions of narrow floats on their bits.
//
// A format's magnitudes are ordered as its bits are, so rounding, overflow and the step into the
// subnormals are integer arithmetic. Subnormals are rounded by adding a power of two whose last
// place is theirs; the format's own subnormals are converted exactly, by a product with a power of
// two that brings them to f32.
#include <math.h>

#include "base/os/os.h"
#include "passes/legalize/legal.h"

typedef struct FloatShape {
    int width;      // bits
    int shift;      // bits that the significand of f32 has in addition
    int bias;       // of the exponent
    uint64_t sign;  // the sign bit
    uint64_t greatest, infinite, nan;
} FloatShape;

static FloatShape shape_of(Dtype t) {
    const DtypeFloat *f = dtype_float(t);
    FloatShape s = {
        .width = (int)dtype_bits(t), .shift = 24 - f->precision, .bias = 1 - f->min_exponent};
    s.sign = UINT64_C(1) << (s.width - 1);
    s.greatest = dtype_from_double(t, f->greatest, false);
    s.infinite = dtype_from_double(t, (double)INFINITY, false);  // a NaN if there is no infinity
    s.nan = dtype_from_double(t, (double)NAN, false);
    return s;
}

// ---- in short -----------------------------------------------------------------------------------

IrValue *legal_const(Legal *l, const IrValue *x, Dtype elem, uint64_t bits) {
    return ir_const_bits(&l->b, ir_with_elem(l->b.module, x->type, elem), dtype_wrap(elem, bits));
}

IrValue *legal_real(Legal *l, const IrValue *x, double value) {
    Dtype t = x->type->elem;
    return legal_const(l, x, t, dtype_from_double(t, value, false));
}

IrValue *legal_as(Legal *l, IrValue *x, Dtype elem) {
    return ir_bitcast(&l->b, x, ir_with_elem(l->b.module, x->type, elem));
}

IrValue *legal_shift(Legal *l, IrOpcode code, IrValue *x, int by) {
    return legal_binary(l, code, x, legal_const(l, x, x->type->elem, (uint64_t)by));
}

static IrValue *const_like(Legal *l, const IrValue *x, uint64_t bits) {
    return legal_const(l, x, DTYPE_U32, bits);
}

static IrValue *with(Legal *l, IrOpcode code, IrValue *x, uint64_t bits) {
    return legal_binary(l, code, x, const_like(l, x, bits));
}

static Dtype word_of(int width) { return width == 8 ? DTYPE_U8 : DTYPE_U16; }

static bool converts(const Legal *l, Dtype t) {
    return t == DTYPE_F16 && (l->machine->f16_convert || l->machine->f16);
}

// ---- to f32 -------------------------------------------------------------------------------------

IrValue *legal_widen(Legal *l, IrValue *x) {
    Dtype t = x->type->elem;
    if (converts(l, t)) return ir_cast(&l->b, x, DTYPE_F32, false);
    FloatShape s = shape_of(t);
    IrValue *bits = ir_cast(&l->b, legal_as(l, x, word_of(s.width)), DTYPE_U32, false);
    if (t == DTYPE_BF16) return legal_as(l, legal_shift(l, IR_SHL, bits, 16), DTYPE_F32);
    IrValue *magnitude = with(l, IR_AND, bits, s.sign - 1);
    IrValue *value = legal_as(l, legal_shift(l, IR_SHL, magnitude, s.shift), DTYPE_F32);
    value = legal_binary(l, IR_MUL, value, legal_real(l, value, ldexp(1, 127 - s.bias)));
    IrValue *r = legal_as(l, value, DTYPE_U32);
    bool signed_zero = dtype_float(t)->has_negative_zero;
    IrValue *strange =
        signed_zero ? with(l, IR_GT, magnitude, s.greatest) : with(l, IR_EQ, bits, s.nan);
    IrValue *nan = const_like(l, bits, 0x7fc00000), *other = nan;
    if (dtype_float(t)->has_inf)
        other = legal_select(l, with(l, IR_EQ, magnitude, s.infinite),
                             const_like(l, bits, 0x7f800000), nan);
    r = legal_select(l, strange, other, r);
    IrValue *sign = with(l, IR_AND, bits, s.sign);
    sign = legal_shift(l, IR_SHL, sign, 32 - s.width);
    return legal_as(l, legal_binary(l, IR_OR, r, sign), DTYPE_F32);
}

// ---- from f32 -----------------------------------------------------------------------------------

// To the nearest multiple of 2^shift, ties to even, as the quotient.
static IrValue *rounded_shift(Legal *l, IrValue *x, int shift) {
    IrValue *odd = with(l, IR_AND, legal_shift(l, IR_SHR, x, shift), 1);
    IrValue *up = with(l, IR_ADD, x, (UINT64_C(1) << (shift - 1)) - 1);
    return legal_shift(l, IR_SHR, legal_binary(l, IR_ADD, up, odd), shift);
}

static IrValue *finish(Legal *l, IrValue *bits, Dtype to) {
    return legal_as(l, ir_cast(&l->b, bits, word_of((int)dtype_bits(to)), false), to);
}

// The same exponents as f32: subnormals and infinities need no special treatment.
static IrValue *narrow_bf16(Legal *l, IrValue *x) {
    IrValue *bits = legal_as(l, x, DTYPE_U32);
    IrValue *quiet = with(l, IR_OR, legal_shift(l, IR_SHR, bits, 16), 0x40);
    IrValue *r = legal_select(l, legal_binary(l, IR_NE, x, x), quiet, rounded_shift(l, bits, 16));
    return finish(l, r, DTYPE_BF16);
}

// The bits of |x| rounded; beyond the greatest value they continue upwards.
static IrValue *magnitude_of(Legal *l, IrValue *a, const FloatShape *s) {
    IrValue *bits = legal_as(l, a, DTYPE_U32);
    IrValue *rebased = with(l, IR_SUB, bits, (uint64_t)(127 - s->bias) << 23);
    IrValue *normal = rounded_shift(l, rebased, s->shift);
    // The last place of 2^(23 + least exponent - significand) is the format's least number.
    double magic = ldexp(1, s->shift + 1 - s->bias);
    IrValue *raised = legal_binary(l, IR_ADD, a, legal_real(l, a, magic));
    IrValue *start = legal_as(l, legal_real(l, a, magic), DTYPE_U32);
    IrValue *subnormal = legal_binary(l, IR_SUB, legal_as(l, raised, DTYPE_U32), start);
    IrValue *small = legal_binary(l, IR_LT, a, legal_real(l, a, ldexp(1, 1 - s->bias)));
    return legal_select(l, small, subnormal, normal);
}

IrValue *legal_narrow(Legal *l, IrValue *x, Dtype to, bool saturate) {
    CHECK(x->type->elem == DTYPE_F32, "narrowing starts from f32");
    if (converts(l, to)) return ir_cast(&l->b, x, to, false);
    if (to == DTYPE_BF16) return narrow_bf16(l, x);
    FloatShape s = shape_of(to);
    bool fp8 = dtype_is(to, DTYPE_CLASS_FP8), signed_zero = dtype_float(to)->has_negative_zero;
    IrValue *a = ir_unary(&l->b, IR_ABS, x), *magnitude = magnitude_of(l, a, &s);
    IrValue *sign = legal_shift(l, IR_SHR, legal_as(l, x, DTYPE_U32), 32 - s.width);
    sign = with(l, IR_AND, sign, s.sign);
    IrValue *over = with(l, IR_GT, magnitude, s.greatest);
    uint64_t most = fp8 && saturate ? s.greatest : s.infinite;
    IrValue *r = legal_select(l, over, const_like(l, x, most), magnitude);
    r = legal_binary(l, IR_OR, r, sign);
    if (!signed_zero) {
        if (most == s.nan) r = legal_select(l, over, const_like(l, x, s.nan), r);
        r = legal_select(l, with(l, IR_EQ, magnitude, 0), const_like(l, x, 0), r);
    }
    IrValue *nan = const_like(l, x, s.nan);
    if (signed_zero) nan = legal_binary(l, IR_OR, nan, sign);
    r = legal_select(l, legal_binary(l, IR_NE, x, x), nan, r);
    return finish(l, r, to);
}

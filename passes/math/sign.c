// copysign, on the bits: of every element type, NaNs included.
#include "passes/math/math.h"

static Dtype word_of(Dtype t) {
    switch (dtype_bits(t)) {
    case 8: return DTYPE_U8;
    case 16: return DTYPE_U16;
    case 32: return DTYPE_U32;
    default: return DTYPE_U64;
    }
}

static IrValue *masked(IrBuilder *b, IrValue *x, uint64_t mask) {
    return ir_binary(b, IR_AND, x, ir_const_bits(b, x->type, mask));
}

IrValue *math_copysign(IrBuilder *b, IrValue *x, IrValue *y) {
    const IrType *type = x->type, *word = ir_with_elem(b->module, type, word_of(type->elem));
    uint64_t top = UINT64_C(1) << (dtype_bits(type->elem) - 1);
    IrValue *bits = ir_bitcast(b, x, word), *other = ir_bitcast(b, y, word);
    IrValue *size = masked(b, bits, top - 1), *sign = masked(b, other, top);
    IrValue *r = ir_binary(b, IR_OR, size, sign);
    if (!dtype_float(type->elem)->has_negative_zero) {
        // The bits of -0 are the one NaN: it gives no sign, and neither it nor 0 gets one.
        IrValue *zero = ir_const_bits(b, word, 0), *nan = ir_const_bits(b, word, top);
        r = ir_ternary(b, IR_SELECT, ir_binary(b, IR_EQ, other, nan), size, r);
        r = ir_ternary(b, IR_SELECT, ir_binary(b, IR_EQ, size, zero), bits, r);
    }
    return ir_bitcast(b, r, type);
}

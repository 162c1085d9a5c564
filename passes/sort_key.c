#include "passes/sort_key.h"

#include "base/os/os.h"

static IrValue *const_like(IrBuilder *b, const IrValue *like, uint64_t bits) {
    return ir_const_bits(b, like->type, bits);
}

Dtype unsigned_of(uint32_t bytes) {
    switch (bytes) {
    case 1: return DTYPE_U8;
    case 2: return DTYPE_U16;
    case 4: return DTYPE_U32;
    case 8: return DTYPE_U64;
    default: UNREACHABLE("an element of %u bytes", bytes);
    }
}

static Dtype signed_of(uint32_t bytes) {
    switch (bytes) {
    case 1: return DTYPE_I8;
    case 2: return DTYPE_I16;
    case 4: return DTYPE_I32;
    case 8: return DTYPE_I64;
    default: UNREACHABLE("an element of %u bytes", bytes);
    }
}

static IrValue *bits_as(IrBuilder *b, IrValue *x, Dtype elem) {
    return x->type->elem == elem ? x : ir_bitcast(b, x, ir_with_elem(b->module, x->type, elem));
}

// Negative floats descend with their bits, positive ones ascend above them.
static IrValue *float_rank(IrBuilder *b, IrValue *x, bool descending) {
    if (dtype_is(x->type->elem, DTYPE_CLASS_FP8)) x = ir_cast(b, x, DTYPE_F32, true);
    uint32_t bytes = (uint32_t)dtype_size(x->type->elem);
    Dtype plain = unsigned_of(bytes);
    IrValue *u = bits_as(b, x, plain);
    u = ir_ternary(b, IR_SELECT, ir_binary(b, IR_EQ, x, const_like(b, x, 0)), const_like(b, u, 0),
                   u);
    IrValue *s = bits_as(b, u, signed_of(bytes));
    IrValue *sign = bits_as(b, ir_binary(b, IR_SHR, s, const_like(b, s, bytes * 8 - 1)), plain);
    uint64_t top = UINT64_C(1) << (bytes * 8 - 1);
    u = ir_binary(b, IR_XOR, u, ir_binary(b, IR_OR, sign, const_like(b, u, top)));
    if (descending) u = ir_unary(b, IR_NOT, u);
    IrValue *last = const_like(b, u, dtype_wrap(plain, UINT64_MAX));
    return ir_ternary(b, IR_SELECT, ir_binary(b, IR_NE, x, x), last, u);
}

IrValue *rank_of(IrBuilder *b, IrValue *x, bool descending) {
    Dtype elem = x->type->elem;
    if (dtype_is(elem, DTYPE_CLASS_ANYFLOAT)) return float_rank(b, x, descending);
    if (elem == DTYPE_BOOL) x = ir_cast(b, x, DTYPE_U8, true);
    uint32_t bytes = (uint32_t)dtype_size(x->type->elem);
    IrValue *u = bits_as(b, x, unsigned_of(bytes));
    if (dtype_signed(elem))
        u = ir_binary(b, IR_XOR, u, const_like(b, u, UINT64_C(1) << (bytes * 8 - 1)));
    return descending ? ir_unary(b, IR_NOT, u) : u;
}

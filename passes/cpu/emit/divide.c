// Many numbers divided by one: x / c in f32, bit for bit, without a division for each x.
//
//     z = 1 / c, w = (1 - c z) z               once: z + w is 1 / c to 46 bits
//     q = x z + (x w)                          one of the two neighbours of x / c
//     q + (x - c q) z                          its rounding
//
// P. Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", 1990.
// This takes four instructions; a division of 512 bits takes ten to sixteen cycles. Invariants: all
// steps are exact or far from underflow and overflow for c of 2^-24 to 2^24 and x of 2^-100 to
// 2^100. If a lane's x is outside of that range (or 0, because of its sign), the whole vector is
// divided.
#include "passes/cpu/emit/lower.h"
#include "passes/cpu/tuning.h"

bool quotient_pays(const Lower *l, const Nest *nest, NestValue x, NestValue c) {
    if (l->machine->vector_bytes < TUNE_DIVIDE_BYTES || !l->machine->fma) return false;
    if (x.value->type->rank == 0 || c.value->type->rank > 0 || c.depth >= x.depth) return false;
    if (nest->lane < 0 || nest->shape[nest->lane] / nest->lanes < TUNE_DIVIDE_VECTORS) return false;
    return x.value->type->elem == DTYPE_F32 && nest->lanes * sizeof(float) >= TUNE_DIVIDE_BYTES;
}

typedef struct Divisor {
    IrValue *c, *negative;  // vectors, as are those below
    IrValue *inverse, *rest;
    IrValue *fits;  // bool
} Divisor;

static IrValue *real(IrBuilder *b, double value) {
    return ir_const_bits(b, ir_scalar(b->module, DTYPE_F32),
                         dtype_from_double(DTYPE_F32, value, true));
}

static Divisor divisor_of(Nest *nest, NestValue c) {
    IrBuilder *b = nest_builder(nest, c.depth);
    IrValue *size = ir_unary(b, IR_ABS, c.value), *one = real(b, 1);
    IrValue *negative = ir_unary(b, IR_NEG, c.value), *inverse = ir_binary(b, IR_DIV, one, c.value);
    IrValue *error = ir_ternary(b, IR_FMA, negative, inverse, one);
    IrValue *rest = ir_binary(b, IR_MUL, error, inverse);
    IrValue *low = ir_binary(b, IR_GE, size, real(b, 0x1p-24));
    IrValue *high = ir_binary(b, IR_LE, size, real(b, 0x1p24));
    Divisor d = {.fits = ir_binary(b, IR_AND, low, high)};
    d.c = value_splat(nest, c).value;
    d.negative = value_splat(nest, (NestValue){negative, c.depth}).value;
    d.inverse = value_splat(nest, (NestValue){inverse, c.depth}).value;
    d.rest = value_splat(nest, (NestValue){rest, c.depth}).value;
    return d;
}

// Are all lanes in the range that needs no division? From 2^-63 up to 2^65 the two highest bits of
// the exponent differ: the addition turns them into a single bit, which must be set in all lanes.
static IrValue *all_fit(Lower *l, IrBuilder *b, IrValue *x) {
    enum { LOWER_BIT = 1 << 29, UPPER_BIT = 1 << 30 };
    IrValue *bits = ir_bitcast(b, x, ir_with_elem(l->module, x->type, DTYPE_U32));
    IrValue *common = ir_binary(b, IR_ADD, bits, ir_const_bits(b, bits->type, LOWER_BIT));
    while (common->type->count * sizeof(float) > l->machine->vector_bytes) {
        IrValue *low = reduce_half(l, b, common, false), *high = reduce_half(l, b, common, true);
        common = ir_binary(b, IR_AND, low, high);
    }
    IrValue *bit = ir_const_bits(b, common->type, UPPER_BIT);
    IrValue *fits = ir_binary(b, IR_EQ, ir_binary(b, IR_AND, common, bit), bit);
    const IrType *t = ir_scalar(l->module, DTYPE_BOOL);
    IrOp *op = ir_op(b, IR_VEC_REDUCE, 1, &fits, 1, &t, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_REDUCE, IR_REDUCE_ALL);
    return ir_result(op, 0);
}

static void by_steps(IrBuilder *b, const Divisor *d, IrValue *x) {
    IrValue *q = ir_ternary(b, IR_FMA, x, d->inverse, ir_binary(b, IR_MUL, x, d->rest));
    IrValue *left = ir_ternary(b, IR_FMA, q, d->negative, x);
    IrValue *rounded = ir_ternary(b, IR_FMA, left, d->inverse, q);
    ir_yield(b, 1, &rounded);
}

IrValue *quotient_of(Lower *l, Nest *nest, NestValue x, NestValue c) {
    Divisor d = divisor_of(nest, c);
    IrBuilder *b = nest_builder(nest, x.depth);
    IrValue *fits = ir_binary(b, IR_AND, all_fit(l, b, x.value), d.fits);
    IrBlock *regions[2] = {ir_block_create(l->func), ir_block_create(l->func)};
    IrOp *op = ir_op(b, IR_IF, 1, &fits, 1, &x.value->type, 2, regions);
    IrBuilder quick = ir_builder_at_end(regions[0]), slow = ir_builder_at_end(regions[1]);
    quick.span = slow.span = b->span;
    by_steps(&quick, &d, x.value);
    IrValue *divided = ir_binary(&slow, IR_DIV, x.value, d.c);
    ir_yield(&slow, 1, &divided);
    return ir_result(op, 0);
}

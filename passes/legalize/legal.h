// The building blocks of legalize: conversions of narrow floats on their bits, and fused
// multiply-add without the instruction.
//
// Invariants: elementwise, for values of any shape; the ops built need nothing that the machine
// lacks; results equal those of base/dtype.h and ir_eval to the bit, except for NaNs' payloads.
// Ownership: built ops belong to the module; a Legal is a value.
//
//     Legal l = {ir_builder_before(op), context->machine};
//     IrValue *root = ir_unary(&l.b, IR_SQRT, legal_widen(&l, x));
//     root = legal_narrow(&l, root, DTYPE_BF16, true);
#ifndef TILEC_PASSES_LEGALIZE_LEGAL_H
#define TILEC_PASSES_LEGALIZE_LEGAL_H

#include "ir/build.h"
#include "target/machine.h"

typedef struct Legal {
    IrBuilder b;
    const Machine *machine;
} Legal;

// A constant of x's shape.
IrValue *legal_const(Legal *l, const IrValue *x, Dtype elem, uint64_t bits);
IrValue *legal_real(Legal *l, const IrValue *x, double value);  // of x's element type
IrValue *legal_as(Legal *l, IrValue *x, Dtype elem);            // the same bits

// f16, bf16, fp8 to f32: exact.
IrValue *legal_widen(Legal *l, IrValue *x);
// f32 to f16, bf16, fp8, rounded once; `saturate` as in dtype_from_double.
IrValue *legal_narrow(Legal *l, IrValue *x, Dtype to, bool saturate);
// f64 to f32 rounded to odd: rounding that again to fewer bits gives the result of a single
// rounding.
IrValue *legal_odd_f32(Legal *l, IrValue *x);
// The sum of two f32 or f64, rounded to odd.
IrValue *legal_odd_sum(Legal *l, IrValue *x, IrValue *y);
// a * b + c of f64, rounded once, by additions and multiplications.
IrValue *legal_fma_f64(Legal *l, IrValue *a, IrValue *b, IrValue *c);

static inline IrValue *legal_binary(Legal *l, IrOpcode code, IrValue *x, IrValue *y) {
    return ir_binary(&l->b, code, x, y);
}
static inline IrValue *legal_select(Legal *l, IrValue *c, IrValue *x, IrValue *y) {
    return ir_ternary(&l->b, IR_SELECT, c, x, y);
}
IrValue *legal_shift(Legal *l, IrOpcode code, IrValue *x, int by);

#endif

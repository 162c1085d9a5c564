// What ops do to layouts: how the results of an op are spread over threads when its operands are.
//
// Purpose: one place for the rules of the gpu level, which the verifier demands and the passes of
// passes/gpu obey. Invariants: of tiles of rank 1 and more; scalars have no layout, every thread
// holds them. Registers that only replicate are dropped after a reduction. Ownership: values.
//
//     Layout result;
//     if (spread_forward(op, 0, &operand_layout, &result)) …   // a reshape of it, a slice of it …
#ifndef TILEC_IR_ANALYSIS_SPREAD_H
#define TILEC_IR_ANALYSIS_SPREAD_H

#include "ir/ir.h"
#include "ir/layout/build.h"

typedef enum SpreadRule {
    SPREAD_NONE,    // no tiles, or each as it likes: sorts, gathers; loads and stores of views
    SPREAD_SAME,    // all tiles of the op in one layout: elementwise ops, pointers, atomics
    SPREAD_SHAPE,   // the result's follows from operand 0's: reshape, permute, broadcast, …
    SPREAD_REDUCE,  // results are slices of operands 1…, all of which have one layout
    SPREAD_DOT,     // result as operand 2; the factors as spread over what multiplies them
    SPREAD_CONTROL  // carried values keep theirs
} SpreadRule;
SpreadRule spread_rule(const IrOp *op);

// Of rules SHAPE and REDUCE: the layout of result `result` when operand 0 (of reduce: 1) has this
// one. False when that cannot be: a split that no single register makes, a scalar.
bool spread_forward(const IrOp *op, uint32_t result, const Layout *operand, Layout *out);
// Of rule SHAPE: a layout of operand 0 with which result 0 has this one. False: none is.
bool spread_backward(const IrOp *op, const Layout *result, Layout *operand);
// Of rules SHAPE and REDUCE: may the result be spread so when the operand is? Where forward says
// so, and, of a broadcast, where every register of the result has its element in the operand's of
// the same thread: many layouts of the result go with one of the operand.
bool spread_follows(const IrOp *op, uint32_t result, const Layout *operand, const Layout *to);
// An index tile of a view op (operand i) whose value is spread so.
bool spread_index(const IrOp *op, uint32_t operand, const Layout *value, Layout *index);

// The instruction of a thread.mma: `select` is m, n, k and the unit, which is NVIDIA's where it is
// not given.
MatrixShape spread_product(const IrOp *op);

// Where a tile lies in memory shared by the program's threads, not who holds it.
static inline bool spread_is_memory(const IrValue *v) {
    return v && v->type->kind == IR_PTR && v->type->layout &&
           v->type->layout->dim_bits[LAYOUT_OFFSET] > 0;
}

static inline bool spread_is_tile(const IrValue *v) {
    return v && v->type->kind != IR_VIEW && v->type->rank > 0;
}

#endif

// How ops transform layouts: the distribution of an op's results over threads, given that of its
// operands.
//
// Purpose: one place for the rules of the gpu level, which the verifier demands and the passes of
// passes/gpu obey.
// Invariants: tiles of rank 1 and more have a layout; scalars have none, every thread holds them.
// Registers that only replicate are dropped after a reduction.
// Ownership: values.
//
//     Layout result;
//     if (spread_forward(op, 0, &operand_layout, &result)) …   // a reshape of it, a slice of it …
#ifndef TILEC_IR_ANALYSIS_SPREAD_H
#define TILEC_IR_ANALYSIS_SPREAD_H

#include "ir/ir.h"
#include "ir/layout/build.h"

typedef enum SpreadRule {
    SPREAD_NONE,    // no tiles, or any layout for each: sorts, gathers; loads and stores of views
    SPREAD_SAME,    // all tiles of the op in one layout: elementwise ops, pointers, atomics
    SPREAD_SHAPE,   // the result's follows from operand 0's: reshape, permute, broadcast, …
    SPREAD_REDUCE,  // results are slices of operands 1…, all of which have one layout
    SPREAD_DOT,     // the result as operand 2; the factors as the instruction wants them
    SPREAD_CONTROL  // carried values keep their layouts
} SpreadRule;
SpreadRule spread_rule(const IrOp *op);

// For the rules SHAPE and REDUCE: the layout of result `result` when operand 0 (of reduce: 1) has
// this one. False if there is none: a split that no single register makes, a scalar.
bool spread_forward(const IrOp *op, uint32_t result, const Layout *operand, Layout *out);
// For the rule SHAPE: a layout of operand 0 for which result 0 gets this one. False if there is
// none.
bool spread_backward(const IrOp *op, const Layout *result, Layout *operand);
// For the rules SHAPE and REDUCE: may the result have this layout when the operand has that one?
// Yes if forward gives it, and, for a broadcast, if every register of the result finds its element
// in the same thread's registers of the operand: many layouts of the result go with one of the
// operand.
bool spread_follows(const IrOp *op, uint32_t result, const Layout *operand, const Layout *to);
// The layout of an index tile of a view op (operand i) whose value has this layout.
bool spread_index(const IrOp *op, uint32_t operand, const Layout *value, Layout *index);

// The instruction of a thread.mma. `select` is m, n, k and the unit; the unit is NVIDIA's if it is
// absent.
MatrixShape spread_product(const IrOp *op);

// Does the layout say where a tile is in shared memory, rather than which thread holds it?
static inline bool spread_is_memory(const IrValue *v) {
    return v && v->type->kind == IR_PTR && v->type->layout &&
           v->type->layout->dim_bits[LAYOUT_OFFSET] > 0;
}

static inline bool spread_is_tile(const IrValue *v) {
    return v && v->type->kind != IR_VIEW && v->type->rank > 0;
}

#endif

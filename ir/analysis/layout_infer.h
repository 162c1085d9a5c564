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
//     if (layout_infer_result(op, 0, &operand, &result)) …   // a reshape of it, a slice of it …
#ifndef TILEC_IR_ANALYSIS_LAYOUT_INFER_H
#define TILEC_IR_ANALYSIS_LAYOUT_INFER_H

#include "ir/ir.h"
#include "ir/layout/build.h"

typedef enum LayoutRule {
    LAYOUT_RULE_NONE,    // no tiles, or any layout for each: sorts, gathers; loads and stores of
                         // views
    LAYOUT_RULE_SAME,    // all tiles of the op in one layout: elementwise ops, pointers, atomics
    LAYOUT_RULE_SHAPE,   // the result's follows from operand 0's: reshape, permute, broadcast, …
    LAYOUT_RULE_REDUCE,  // results are slices of operands 1…, all of which have one layout
    LAYOUT_RULE_DOT,     // the result as operand 2; the factors as the instruction wants them
    LAYOUT_RULE_CONTROL  // carried values keep their layouts
} LayoutRule;
LayoutRule layout_rule(const IrOp *op);

// For the rules SHAPE and REDUCE: the layout of result `result` when operand 0 (of reduce: 1) has
// this one. False if there is none: a split that no single register makes, a scalar.
bool layout_infer_result(const IrOp *op, uint32_t result, const Layout *operand, Layout *out);
// For the rule SHAPE: a layout of operand 0 for which result 0 gets this one. False if there is
// none.
bool layout_infer_operand(const IrOp *op, const Layout *result, Layout *operand);
// For the rules SHAPE and REDUCE: may the result have this layout when the operand has that one?
// Yes if forward gives it, and, for a broadcast, if every register of the result finds its element
// in the same thread's registers of the operand: many layouts of the result go with one of the
// operand.
bool layout_infer_allows(const IrOp *op, uint32_t result, const Layout *operand, const Layout *to);
// The layout of an index tile of a view op (operand i) whose value has this layout.
bool layout_infer_index(const IrOp *op, uint32_t operand, const Layout *value, Layout *index);

// The instruction of a thread.mma. `select` is m, n, k and the unit; the unit is NVIDIA's if it is
// absent.
MatrixShape ir_mma_shape(const IrOp *op);

// Does the layout say where a tile is in shared memory, rather than which thread holds it?
static inline bool ir_is_shared_pointer(const IrValue *v) {
    return v && v->type->kind == IR_PTR && v->type->layout &&
           v->type->layout->dim_bits[LAYOUT_OFFSET] > 0;
}

static inline bool ir_value_is_tile(const IrValue *v) {
    return v && v->type->kind != IR_VIEW && v->type->rank > 0;
}

#endif

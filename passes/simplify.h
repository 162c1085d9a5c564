// Simplification: the interface between the driver and the rules.
//
// A rule is a small function over one op, and a row in rules.def that says what it requires. A RULE
// examines an op of one result and returns the value that replaces it, or NULL; it may build ops
// with s->b, which is before the op. An EDIT changes the op itself or replaces it by others, and
// returns whether it did. Each rule makes the program smaller or moves it in one direction of a
// fixed order (constants to the right, broadcasts outward, longer chains to shorter), so that
// rewriting ends.
// Invariants: every value keeps its bits on every run (NaNs that arithmetic makes have no fixed
// payload or sign, language rule 23; moves keep theirs); effects keep their number and order.
// Ownership: one Simplify exists during one call of the pass, in its scratch arena.
#ifndef TILEC_PASSES_SIMPLIFY_H
#define TILEC_PASSES_SIMPLIFY_H

#include "passes/rewrite.h"

typedef struct Simplify {
    IrModule *module;
    Arena *scratch;
    IrBuilder b;
    VEC(IrOp *) work;
    VEC(bool) queued;  // by op id
    bool changed;
} Simplify;

// Simplifies one section; `specialize` decides requires with it as well.
bool simplify_block(IrBlock *block, Arena *scratch);
// For an EDIT that moves or erases ops: visit this op, or the users of this value, again.
void simplify_requeue(Simplify *s, IrOp *op);
void simplify_requeue_users(Simplify *s, const IrValue *value);

// A constant of the op's first result's type.
IrValue *simplify_constant(Simplify *s, const IrOp *op, uint64_t bits);

// An op whose operands are all constants, as one; NULL if it must not be folded. Math functions are
// left to the targets' one expansion, so that their bits come from one place; sqrt, fma and the
// four operations are correctly rounded everywhere.
IrValue *fold_constants(Simplify *s, IrOp *op);
// An elementwise op over values that are all stretched from one shape: computed in that shape, then
// stretched.
IrValue *sink_broadcast(Simplify *s, IrOp *op);

#define RULE(code, function, requires) IrValue *rule_##function(Simplify *s, IrOp *op);
#define EDIT(code, function, requires) bool edit_##function(Simplify *s, IrOp *op);
#include "passes/rules.def"
#undef RULE
#undef EDIT

// Queries of several rules.
static inline Dtype simplify_elem(const IrOp *op) { return op->operands[0].value->type->elem; }
static inline bool simplify_is_int(const IrOp *op) {
    return op->operands[0].value->type->kind == IR_TILE &&
           dtype_is(simplify_elem(op), DTYPE_CLASS_INT);
}
static inline bool simplify_is_bool(const IrOp *op) {
    return op->operands[0].value->type->kind == IR_TILE && simplify_elem(op) == DTYPE_BOOL;
}
// The op that defines operand `i`, if it is one of `code`; else NULL.
static inline IrOp *simplify_operand_op(const IrOp *op, uint32_t i, IrOpcode code) {
    const IrValue *value = ir_operand(op, i);
    return value && value->def && value->def->code == code ? value->def : NULL;
}

#endif

// Simplification: the rules' common ground.
//
// A rule is a small function over one op, a row in rules.def with what it requires. A RULE looks at
// an op of one result and gives the value that takes its place, or NULL; it may build ops with
// s->b, which stands before the op. An EDIT changes the op itself or puts others in its place, and
// says whether it did. Each rule makes the program smaller or moves it one way in a fixed order
// (constants to the right, broadcasts outward, longer chains to shorter), so that rewriting ends.
// Invariants: every value keeps its bits on every run (NaNs that arithmetic makes have no fixed
// payload or sign, language rule 23; moves keep theirs); effects keep their number and order.
// Ownership: one Simplify lives during one call of the pass, in its scratch arena.
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

// Simplifies one section; also what `specialize` decides requires with.
bool simplify_block(IrBlock *block, Arena *scratch);
// For an EDIT that moves or frees ops: look at this op, at the users of this value (again).
void simplify_again(Simplify *s, IrOp *op);
void simplify_users_again(Simplify *s, const IrValue *value);

// A constant of the op's first result's type.
IrValue *simplify_constant(Simplify *s, const IrOp *op, uint64_t bits);

// An op whose operands are all constants, as one; NULL when it is not to be folded. Math functions
// are left to the targets' one expansion, so that their bits come from one place; sqrt, fma and the
// four operations are correctly rounded everywhere.
IrValue *fold_constants(Simplify *s, IrOp *op);
// An elementwise op over values that are all stretched from one shape: done there, then stretched.
IrValue *sink_broadcast(Simplify *s, IrOp *op);

#define RULE(code, function, requires) IrValue *rule_##function(Simplify *s, IrOp *op);
#define EDIT(code, function, requires) bool edit_##function(Simplify *s, IrOp *op);
#include "passes/rules.def"
#undef RULE
#undef EDIT

// What several rules ask.
static inline Dtype simplify_elem(const IrOp *op) { return op->operands[0].value->type->elem; }
static inline bool simplify_is_int(const IrOp *op) {
    return op->operands[0].value->type->kind == IR_TILE &&
           dtype_is(simplify_elem(op), DTYPE_CLASS_INT);
}
static inline bool simplify_is_bool(const IrOp *op) {
    return op->operands[0].value->type->kind == IR_TILE && simplify_elem(op) == DTYPE_BOOL;
}
// The op that defines operand `i`, if it is one of `code`; else NULL.
static inline IrOp *simplify_from(const IrOp *op, uint32_t i, IrOpcode code) {
    const IrValue *value = ir_operand(op, i);
    return value && value->def && value->def->code == code ? value->def : NULL;
}

#endif

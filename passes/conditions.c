// Simplifies `if`s: the condition is constant within its branches, and results may not depend on
// it.
#include "passes/loops.h"
#include "passes/rewrite.h"

enum { CHEAP_OPS = 8 };  // of a branch that is computed in any case

// Replaces uses of the condition inside a branch by constants.
static bool know_condition(IrOp *op) {
    IrValue *condition = ir_operand(op, 0);
    bool changed = false;
    for (uint32_t r = 0; r < 2; r++) {
        IrValue *known = NULL;
        for (IrUse *use = condition->uses, *next; use; use = next) {
            next = use->next;
            IrOp *user = use->user;
            if (user == op || !ir_block_within(user->block, op->regions[r])) continue;
            if (!known) {
                IrBuilder b = ir_builder_before(op->regions[r]->first);
                known = ir_const_bool(&b, r == 0);
            }
            ir_set_operand(user, (uint32_t)(use - user->operands), known);
            changed = true;
        }
    }
    return changed;
}

// `if (!c)` becomes `if (c)` with its branches swapped.
static bool remove_not(IrOp *op) {
    IrOp *inverted = ir_operand(op, 0)->def;
    if (!inverted || inverted->code != IR_NOT) return false;
    ir_set_operand(op, 0, ir_operand(inverted, 0));
    IrBlock *first = op->regions[0];
    op->regions[0] = op->regions[1];
    op->regions[1] = first;
    return true;
}

// Replaces a result by its value if both branches yield the same value from outside of the if.
static bool pass_through(IrOp *op) {
    bool changed = false;
    for (uint32_t i = 0; i < op->result_count; i++) {
        IrValue *a = ir_operand(rewrite_terminator(op->regions[0]), i);
        IrValue *b = ir_operand(rewrite_terminator(op->regions[1]), i);
        if (a != b || !ir_result(op, i)->uses || !rewrite_defined_outside(a, op)) continue;
        ir_replace_all(ir_result(op, i), a);
        changed = true;
    }
    return changed;
}

// May the branch be computed in any case? Yes if it is a few pure ops on scalars.
static bool is_cheap(const IrBlock *block) {
    int count = 0;
    for (const IrOp *op = block->first; op != block->last; op = op->next) {
        if (ir_op_info(op->code)->effect != IR_EFFECT_PURE || ++count > CHEAP_OPS) return false;
        for (uint32_t i = 0; i < op->result_count; i++) {
            if (!ir_is_scalar(op->results[i].type)) return false;
        }
        for (uint32_t i = 0; i < op->operand_count; i++) {
            const IrValue *value = ir_operand(op, i);
            if (value && !ir_is_scalar(value->type)) return false;
        }
    }
    return true;
}

// `a && b` of scalars is an if in the IR; as a select it folds, and guards show both conditions.
static bool flatten(IrOp *op, Arena *scratch) {
    if (op->result_count == 0 || !is_cheap(op->regions[0]) || !is_cheap(op->regions[1]))
        return false;
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (!ir_is_scalar(ir_result(op, i)->type)) return false;
    }
    IrValue **values[2];
    for (uint32_t r = 0; r < 2; r++) {
        values[r] = arena_new(scratch, IrValue *, op->result_count);
        rewrite_splice(op, op->regions[r], NULL, values[r]);
    }
    IrBuilder b = ir_builder_before(op);
    for (uint32_t i = 0; i < op->result_count; i++) {
        values[0][i] = ir_ternary(&b, IR_SELECT, ir_operand(op, 0), values[0][i], values[1][i]);
    }
    rewrite_replace_op(op, values[0]);
    return true;
}

bool conditions_simplify(IrOp *op, Arena *scratch) {
    bool changed = remove_not(op);
    changed |= know_condition(op);
    changed |= pass_through(op);
    return flatten(op, scratch) || changed;
}

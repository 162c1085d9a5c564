// Rules of control with a constant condition; rules.def says what each requires.
#include "passes/simplify.h"

static void users_again(Simplify *s, const IrOp *op) {
    for (uint32_t i = 0; i < op->result_count; i++) simplify_requeue_users(s, ir_result(op, i));
}

bool edit_if_constant(Simplify *s, IrOp *op) {
    uint64_t bits;
    if (!rewrite_constant(ir_operand(op, 0), &bits)) return false;
    IrValue **values = arena_new(s->scratch, IrValue *, op->result_count);
    users_again(s, op);
    rewrite_splice(op, op->regions[bits ? 0 : 1], NULL, values);
    rewrite_replace_op(op, values);
    return true;
}

bool edit_for_never(Simplify *s, IrOp *op) {
    uint64_t trips;
    bool stopped = ir_attr_int(op, IR_ATTR_EXIT) != 0 && rewrite_is_bool(ir_operand(op, 3), false);
    if (!stopped && !(rewrite_trip_count(op, &trips) && trips == 0)) return false;
    users_again(s, op);
    IrValue **values = arena_new(s->scratch, IrValue *, op->result_count);
    for (uint32_t i = 0; i < op->result_count; i++) values[i] = ir_operand(op, 3 + i);
    rewrite_replace_op(op, values);
    return true;
}

bool edit_while_never(Simplify *s, IrOp *op) {
    if (!rewrite_is_bool(ir_operand(rewrite_terminator(op->regions[0]), 0), false)) return false;
    users_again(s, op);
    IrValue **values = arena_new(s->scratch, IrValue *, op->result_count);
    for (uint32_t i = 0; i < op->result_count; i++) values[i] = ir_operand(op, i);
    for (uint32_t i = 0; i < op->regions[0]->arg_count; i++) {
        simplify_requeue_users(s, op->regions[0]->args[i]);
    }
    IrValue *condition;
    rewrite_splice(op, op->regions[0], values, &condition);
    rewrite_replace_op(op, values);
    return true;
}

// Rules of pointers, masks and pads; rules.def says what each requires.
#include "passes/simplify.h"

IrValue *rule_ptr_add_zero(Simplify *s, IrOp *op) {
    (void)s;
    return rewrite_is_zero(ir_operand(op, 1)) ? ir_operand(op, 0) : NULL;
}

IrValue *rule_ptr_add_add(Simplify *s, IrOp *op) {
    IrOp *inner = simplify_operand_op(op, 0, IR_PTR_ADD);
    uint64_t bits;
    if (!inner || !rewrite_constant(ir_operand(op, 1), &bits) ||
        !rewrite_constant(ir_operand(inner, 1), &bits)) {
        return NULL;
    }
    IrValue *both = ir_binary(&s->b, IR_ADD, ir_operand(inner, 1), ir_operand(op, 1));
    return ir_ptr_add(&s->b, ir_operand(inner, 0), both);
}

static bool drop_if(IrOp *op, uint32_t place, bool condition) {
    if (condition) ir_set_operand(op, place, NULL);
    return condition;
}

bool edit_load_mask(Simplify *s, IrOp *op) {
    (void)s;
    bool edited = drop_if(op, 1, rewrite_is_bool(ir_operand(op, 1), true));
    return drop_if(op, 2, rewrite_is_zero(ir_operand(op, 2))) || edited;
}

IrValue *rule_load_never(Simplify *s, IrOp *op) {
    if (!rewrite_is_bool(ir_operand(op, 1), false)) return NULL;
    IrValue *other = ir_operand(op, 2);
    const IrType *type = op->results[0].type;
    if (!other) return type->kind == IR_TILE ? simplify_constant(s, op, 0) : NULL;
    if (other->type == type) return other;
    return other->type->rank == 0 ? ir_broadcast(&s->b, other, type->rank, type->shape) : NULL;
}

bool edit_pad_zero(Simplify *s, IrOp *op) {
    (void)s;
    return drop_if(op, 1, rewrite_is_zero(ir_operand(op, 1)));
}

bool edit_store_mask(Simplify *s, IrOp *op) {
    (void)s;
    IrValue *mask = ir_operand(op, 2);
    if (rewrite_is_bool(mask, false)) {
        ir_erase(op);
        return true;
    }
    return drop_if(op, 2, rewrite_is_bool(mask, true));
}

// A mask of all false stays: removing the op would remove the fence of a stronger order, which is
// an effect.
bool edit_atomic_mask(Simplify *s, IrOp *op) {
    (void)s;
    bool cas = op->code == IR_ATOMIC_CAS || op->code == IR_VIEW_CAS;
    uint32_t place = cas ? 3 : 2;
    return drop_if(op, place, rewrite_is_bool(ir_operand(op, place), true));
}

bool edit_assert_true(Simplify *s, IrOp *op) {
    (void)s;
    if (!rewrite_is_bool(ir_operand(op, 0), true)) return false;
    ir_erase(op);
    return true;
}

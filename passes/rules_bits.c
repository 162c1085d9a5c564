// Rules of bits, comparisons and selects; rules.def says what each requires.
#include "passes/simplify.h"

static bool is_all_ones(const IrOp *op, uint64_t bits) {
    Dtype t = simplify_elem(op);
    return t == DTYPE_BOOL ? bits == 1 : bits == dtype_wrap(t, UINT64_MAX);
}

IrValue *rule_not_not(Simplify *s, IrOp *op) {
    (void)s;
    IrOp *inner = simplify_operand_op(op, 0, IR_NOT);
    return inner ? ir_operand(inner, 0) : NULL;
}

// The comparison that is true exactly when this one is false (NaN aside); IR_OPCODES: not a
// comparison.
static IrOpcode inverse(IrOpcode code) {
    switch (code) {
    case IR_EQ: return IR_NE;
    case IR_NE: return IR_EQ;
    case IR_LT: return IR_GE;
    case IR_LE: return IR_GT;
    case IR_GT: return IR_LE;
    case IR_GE: return IR_LT;
    default: break;
    }
    return IR_OPCODES;
}

IrValue *rule_not_compare(Simplify *s, IrOp *op) {
    IrOp *compare = ir_operand(op, 0)->def;
    if (!compare || inverse(compare->code) == IR_OPCODES) return NULL;
    bool equality = compare->code == IR_EQ || compare->code == IR_NE;  // exact for NaN as well
    if (!equality && !simplify_is_int(compare)) return NULL;
    return ir_binary(&s->b, inverse(compare->code), ir_operand(compare, 0), ir_operand(compare, 1));
}

IrValue *rule_and_constant(Simplify *s, IrOp *op) {
    uint64_t bits;
    if (!rewrite_constant(ir_operand(op, 1), &bits)) return NULL;
    if (bits == 0) return simplify_constant(s, op, 0);
    return is_all_ones(op, bits) ? ir_operand(op, 0) : NULL;
}

IrValue *rule_or_constant(Simplify *s, IrOp *op) {
    (void)s;
    uint64_t bits;
    if (!rewrite_constant(ir_operand(op, 1), &bits)) return NULL;
    if (bits == 0) return ir_operand(op, 0);
    return is_all_ones(op, bits) ? ir_operand(op, 1) : NULL;
}

IrValue *rule_xor_constant(Simplify *s, IrOp *op) {
    uint64_t bits;
    if (!rewrite_constant(ir_operand(op, 1), &bits)) return NULL;
    if (bits == 0) return ir_operand(op, 0);
    return is_all_ones(op, bits) ? ir_unary(&s->b, IR_NOT, ir_operand(op, 0)) : NULL;
}

IrValue *rule_xor_self(Simplify *s, IrOp *op) {
    return ir_operand(op, 0) == ir_operand(op, 1) ? simplify_constant(s, op, 0) : NULL;
}

IrValue *rule_shift_none(Simplify *s, IrOp *op) {
    (void)s;
    bool none = rewrite_is_zero(ir_operand(op, 1)) || rewrite_is_zero(ir_operand(op, 0));
    return none ? ir_operand(op, 0) : NULL;
}

IrValue *rule_shift_all(Simplify *s, IrOp *op) {
    int64_t count;
    Dtype t = simplify_elem(op);
    if (!rewrite_constant_int(ir_operand(op, 1), &count)) return NULL;
    if (count >= 0 && count < (int64_t)dtype_bits(t)) return NULL;
    if (op->code == IR_SHR && dtype_signed(t)) return NULL;  // all sign bits: not a constant
    return simplify_constant(s, op, 0);
}

// ---- comparisons --------------------------------------------------------------------------------

static IrOpcode mirrored(IrOpcode code) {
    switch (code) {
    case IR_LT: return IR_GT;
    case IR_LE: return IR_GE;
    case IR_GT: return IR_LT;
    case IR_GE: return IR_LE;
    default: break;
    }
    return code;
}

IrValue *rule_mirror(Simplify *s, IrOp *op) {
    uint64_t bits;
    IrValue *a = ir_operand(op, 0), *b = ir_operand(op, 1);
    if (!rewrite_constant(a, &bits) || rewrite_constant(b, &bits)) return NULL;
    return ir_binary(&s->b, mirrored(op->code), b, a);
}

IrValue *rule_compare_same(Simplify *s, IrOp *op) {
    const IrType *type = ir_operand(op, 0)->type;
    bool floats = type->kind == IR_TILE && dtype_is(type->elem, DTYPE_CLASS_ANYFLOAT);
    if (floats || ir_operand(op, 0) != ir_operand(op, 1)) return NULL;
    return simplify_constant(s, op, op->code == IR_EQ || op->code == IR_LE || op->code == IR_GE);
}

IrValue *rule_compare_limit(Simplify *s, IrOp *op) {
    uint64_t bits;
    Dtype t = simplify_elem(op);
    if (!simplify_is_int(op) || !rewrite_constant(ir_operand(op, 1), &bits)) return NULL;
    bool low = op->code == IR_LT || op->code == IR_GE;
    uint64_t edge = low ? dtype_wrap(t, (uint64_t)dtype_int_min(t)) : dtype_int_max(t);
    if (bits != edge) return NULL;
    return simplify_constant(s, op, op->code == IR_GE || op->code == IR_LE);
}

IrValue *rule_compare_bool(Simplify *s, IrOp *op) {
    uint64_t bits;
    if (!simplify_is_bool(op) || !rewrite_constant(ir_operand(op, 1), &bits)) return NULL;
    bool same = (bits != 0) == (op->code == IR_EQ);
    return same ? ir_operand(op, 0) : ir_unary(&s->b, IR_NOT, ir_operand(op, 0));
}

// ---- selects ------------------------------------------------------------------------------------

IrValue *rule_select_constant(Simplify *s, IrOp *op) {
    (void)s;
    uint64_t bits;
    if (!rewrite_constant(ir_operand(op, 0), &bits)) return NULL;
    return ir_operand(op, bits ? 1 : 2);
}

IrValue *rule_select_same(Simplify *s, IrOp *op) {
    (void)s;
    uint64_t a, b;
    bool same = ir_operand(op, 1) == ir_operand(op, 2) ||
                (rewrite_constant(ir_operand(op, 1), &a) &&
                 rewrite_constant(ir_operand(op, 2), &b) && a == b);
    return same ? ir_operand(op, 1) : NULL;
}

IrValue *rule_select_not(Simplify *s, IrOp *op) {
    IrOp *inner = simplify_operand_op(op, 0, IR_NOT);
    if (!inner) return NULL;
    return ir_ternary(&s->b, IR_SELECT, ir_operand(inner, 0), ir_operand(op, 2), ir_operand(op, 1));
}

IrValue *rule_select_broadcast(Simplify *s, IrOp *op) {
    IrOp *stretched = simplify_operand_op(op, 0, IR_BROADCAST);
    if (!stretched || ir_operand(stretched, 0)->type->rank != 0) return NULL;
    return ir_ternary(&s->b, IR_SELECT, ir_operand(stretched, 0), ir_operand(op, 1),
                      ir_operand(op, 2));
}

IrValue *rule_select_bool(Simplify *s, IrOp *op) {
    const IrType *type = op->results[0].type;
    IrValue *c = ir_operand(op, 0), *a = ir_operand(op, 1), *b = ir_operand(op, 2);
    if (type->kind != IR_TILE || type->elem != DTYPE_BOOL) return NULL;
    bool yes = rewrite_is_bool(a, true), no = rewrite_is_bool(b, false);
    bool inverted = rewrite_is_bool(a, false) && rewrite_is_bool(b, true);
    if (!yes && !no && !inverted) return NULL;
    if (!ir_same_shape(c->type, type)) c = ir_broadcast(&s->b, c, type->rank, type->shape);
    if (inverted) return ir_unary(&s->b, IR_NOT, c);
    if (yes && no) return c;
    return yes ? ir_binary(&s->b, IR_OR, c, b) : ir_binary(&s->b, IR_AND, c, a);
}

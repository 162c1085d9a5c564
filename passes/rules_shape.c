// Rules of shapes and of reductions over one element; rules.def says what each requires.
#include "passes/simplify.h"

static IrValue *none(const IrOp *op) {
    return ir_operand(op, 0)->type == op->results[0].type ? ir_operand(op, 0) : NULL;
}

static IrValue *stretch(Simplify *s, const IrOp *op, IrValue *x) {
    const IrType *type = op->results[0].type;
    return ir_broadcast(&s->b, x, type->rank, type->shape);
}

// The scalar that the operand was stretched from; NULL if none.
static IrValue *stretched_scalar(const IrOp *op) {
    IrOp *inner = simplify_operand_op(op, 0, IR_BROADCAST);
    return inner && ir_operand(inner, 0)->type->rank == 0 ? ir_operand(inner, 0) : NULL;
}

IrValue *rule_broadcast_none(Simplify *s, IrOp *op) {
    (void)s;
    return none(op);
}

IrValue *rule_broadcast_broadcast(Simplify *s, IrOp *op) {
    IrOp *inner = simplify_operand_op(op, 0, IR_BROADCAST);
    return inner ? stretch(s, op, ir_operand(inner, 0)) : NULL;
}

IrValue *rule_broadcast_reshape(Simplify *s, IrOp *op) {
    IrOp *inner = simplify_operand_op(op, 0, IR_RESHAPE);
    if (!inner || ir_operand(inner, 0)->type->rank != 0) return NULL;
    return stretch(s, op, ir_operand(inner, 0));
}

IrValue *rule_reshape_none(Simplify *s, IrOp *op) {
    (void)s;
    return none(op);
}

IrValue *rule_reshape_reshape(Simplify *s, IrOp *op) {
    IrOp *inner = simplify_operand_op(op, 0, IR_RESHAPE);
    const IrType *type = op->results[0].type;
    return inner ? ir_reshape(&s->b, ir_operand(inner, 0), type->rank, type->shape) : NULL;
}

IrValue *rule_move_scalar(Simplify *s, IrOp *op) {
    IrValue *scalar = stretched_scalar(op);
    if (!scalar) return NULL;
    // Back to a scalar: nothing to stretch.
    return op->results[0].type->rank == 0 ? scalar : stretch(s, op, scalar);
}

IrValue *rule_permute_none(Simplify *s, IrOp *op) {
    (void)s;
    const IrAttr *perm = ir_attr(op, IR_ATTR_PERM);
    for (uint32_t i = 0; i < perm->u.ints.count; i++) {
        if (perm->u.ints.items[i] != i) return NULL;
    }
    return ir_operand(op, 0);
}

IrValue *rule_permute_permute(Simplify *s, IrOp *op) {
    IrOp *inner = simplify_operand_op(op, 0, IR_PERMUTE);
    if (!inner) return NULL;
    const IrAttr *outer_perm = ir_attr(op, IR_ATTR_PERM),
                 *inner_perm = ir_attr(inner, IR_ATTR_PERM);
    int64_t perm[IR_MAX_RANK];
    for (uint32_t i = 0; i < outer_perm->u.ints.count; i++) {
        perm[i] = inner_perm->u.ints.items[outer_perm->u.ints.items[i]];
    }
    return ir_permute(&s->b, ir_operand(inner, 0), perm);
}

IrValue *rule_join_split(Simplify *s, IrOp *op) {
    (void)s;
    IrOp *a = simplify_operand_op(op, 0, IR_SPLIT), *b = simplify_operand_op(op, 1, IR_SPLIT);
    if (!a || a != b || ir_operand(op, 0)->index != 0 || ir_operand(op, 1)->index != 1) return NULL;
    return ir_operand(a, 0);
}

bool edit_split_join(Simplify *s, IrOp *op) {
    IrOp *joined = simplify_operand_op(op, 0, IR_JOIN);
    if (!joined) return false;
    IrValue *halves[2] = {ir_operand(joined, 0), ir_operand(joined, 1)};
    for (uint32_t i = 0; i < 2; i++) simplify_requeue_users(s, ir_result(op, i));
    rewrite_replace_op(op, halves);
    return true;
}

bool edit_split_constant(Simplify *s, IrOp *op) {
    uint64_t bits;
    IrValue *half, *scalar = stretched_scalar(op);
    const IrType *type = op->results[0].type;
    if (rewrite_constant(ir_operand(op, 0), &bits)) {
        half = ir_const_bits(&s->b, type, bits);
    } else if (scalar) {
        half = type->rank == 0 ? scalar : ir_broadcast(&s->b, scalar, type->rank, type->shape);
    } else {
        return false;
    }
    for (uint32_t i = 0; i < 2; i++) simplify_requeue_users(s, ir_result(op, i));
    rewrite_replace_op(op, (IrValue *[]){half, half});
    return true;
}

IrValue *rule_iota_one(Simplify *s, IrOp *op) {
    return op->results[0].type->count == 1 ? simplify_constant(s, op, 0) : NULL;
}

// Both give 0 outside.
IrValue *rule_gather_table(Simplify *s, IrOp *op) {
    IrOp *table = simplify_operand_op(op, 0, IR_LOOKUP);
    IrOp *iota = table ? simplify_operand_op(table, 0, IR_IOTA) : NULL;
    if (!iota) return NULL;
    const IrAttr *values = ir_attr(table, IR_ATTR_VALUES);
    const IrType *result = op->results[0].type;
    IrValue *index = ir_operand(op, 1);
    if (values->u.consts.count > iota->results[0].type->count) return NULL;
    if (ir_with_elem(s->module, index->type, result->elem) != result) return NULL;
    return ir_lookup(&s->b, index, result->elem, values->u.consts.count, values->u.consts.items);
}

IrValue *rule_lookup_equal(Simplify *s, IrOp *op) {
    IrOp *iota = simplify_operand_op(op, 0, IR_IOTA);
    const IrAttr *values = ir_attr(op, IR_ATTR_VALUES);
    const uint64_t *items = values->u.consts.items;
    if (!iota || iota->results[0].type->count > values->u.consts.count) return NULL;
    for (uint32_t i = 1; i < iota->results[0].type->count; i++)
        if (items[i] != items[0]) return NULL;
    return simplify_constant(s, op, items[0]);
}

// ---- reductions ---------------------------------------------------------------------------------

bool edit_mask_true(Simplify *s, IrOp *op) {
    (void)s;
    if (!rewrite_is_bool(ir_operand(op, 0), true)) return false;
    ir_set_operand(op, 0, NULL);
    return true;
}

// Is the result over the one element x (the interpreter begins with the identity) x itself? 0 + -0
// is +0, so it is not for float sums; f8e5m2 products and sums round infinities to finite numbers.
static bool keeps_one(IrReduce kind, const IrType *type) {
    bool is_int = dtype_is(type->elem, DTYPE_CLASS_INT);
    bool float_fine = dtype_is(type->elem, DTYPE_CLASS_FLOAT);
    switch (kind) {
    case IR_REDUCE_SUM: return is_int;
    case IR_REDUCE_PROD: return is_int || float_fine;
    case IR_REDUCE_MIN:
    case IR_REDUCE_MAX:
    case IR_REDUCE_MINNUM:
    case IR_REDUCE_MAXNUM: return is_int || float_fine;
    case IR_REDUCE_ANY:
    case IR_REDUCE_ALL: return true;
    case IR_REDUCE_ARGMIN:
    case IR_REDUCE_ARGMAX:
    case IR_REDUCE_CUSTOM: return false;
    }
    return false;
}

IrValue *rule_reduce_one(Simplify *s, IrOp *op) {
    IrReduce kind = (IrReduce)ir_attr_int(op, IR_ATTR_REDUCE);
    const IrType *result = op->results[0].type;
    if (ir_operand(op, 0) || op->operand_count != 2) return NULL;
    const IrType *type = ir_operand(op, 1)->type;
    if (type->shape[ir_attr_int(op, IR_ATTR_AXIS)] != 1) return NULL;
    if (kind == IR_REDUCE_ARGMIN || kind == IR_REDUCE_ARGMAX) return simplify_constant(s, op, 0);
    if (!keeps_one(kind, type)) return NULL;
    return ir_reshape(&s->b, ir_operand(op, 1), result->rank, result->shape);
}

IrValue *rule_reduce_constant(Simplify *s, IrOp *op) {
    uint64_t bits;
    if (ir_operand(op, 0) || op->operand_count != 2) return NULL;
    const IrType *type = ir_operand(op, 1)->type;
    if (!rewrite_constant(ir_operand(op, 1), &bits)) return NULL;
    if (!dtype_is(type->elem, DTYPE_CLASS_INT | DTYPE_CLASS_BOOL)) return NULL;
    uint64_t extent = type->shape[ir_attr_int(op, IR_ATTR_AXIS)];
    switch ((IrReduce)ir_attr_int(op, IR_ATTR_REDUCE)) {
    case IR_REDUCE_SUM:
        if (!dtype_is(type->elem, DTYPE_CLASS_INT)) return NULL;
        return simplify_constant(s, op, dtype_wrap(type->elem, bits * extent));
    case IR_REDUCE_MIN:
    case IR_REDUCE_MAX:
    case IR_REDUCE_ANY:
    case IR_REDUCE_ALL: return simplify_constant(s, op, bits);
    case IR_REDUCE_ARGMIN:
    case IR_REDUCE_ARGMAX: return simplify_constant(s, op, 0);
    case IR_REDUCE_MINNUM:
    case IR_REDUCE_MAXNUM:
    case IR_REDUCE_PROD:
    case IR_REDUCE_CUSTOM: return NULL;
    }
    return NULL;
}

IrValue *rule_scan_one(Simplify *s, IrOp *op) {
    (void)s;
    if (op->operand_count != 1 || ir_attr_int(op, IR_ATTR_EXCLUSIVE)) return NULL;
    const IrType *type = ir_operand(op, 0)->type;
    if (type->shape[ir_attr_int(op, IR_ATTR_AXIS)] != 1) return NULL;
    if (!keeps_one((IrReduce)ir_attr_int(op, IR_ATTR_REDUCE), type)) return NULL;
    return ir_operand(op, 0);
}

IrValue *rule_shuffle_constant(Simplify *s, IrOp *op) {
    (void)s;
    return simplify_operand_op(op, 0, IR_CONST) ? none(op) : NULL;
}

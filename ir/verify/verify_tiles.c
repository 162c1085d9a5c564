// Typing rules of products, reductions, orders.
#include "ir/verify/verifier.h"

// ---- dot ----------------------------------------------------------------------------------------

static bool dot_pair(Dtype a, Dtype b) {
    bool bytes = (a == DTYPE_I8 || a == DTYPE_U8) && (b == DTYPE_I8 || b == DTYPE_U8);
    bool ocp = (a == DTYPE_F8E4M3 || a == DTYPE_F8E5M2) && (b == DTYPE_F8E4M3 || b == DTYPE_F8E5M2);
    return a == b || bytes || ocp;
}

// 8-bit integers add up in i32; wider ones in their own type; narrow floats in f32, or in acc's
// type.
static bool dot_sum(Dtype a, Dtype sum) {
    if (a == DTYPE_I8 || a == DTYPE_U8) return sum == DTYPE_I32;
    if (dtype_is(a, DTYPE_CLASS_INT) || a == DTYPE_F32 || a == DTYPE_F64) return sum == a;
    return sum == DTYPE_F32 || sum == DTYPE_F64 || sum == DTYPE_F16;
}

// [B,]M,K times [B,]K,N; `sum` gets the shape [B,]M,N.
static bool dot_shapes(Verifier *v, const IrOp *op, IrType *sum) {
    const IrType *a = ir_operand(op, 0)->type, *b = ir_operand(op, 1)->type;
    uint32_t r = a->rank;
    bool fits = (r == 2 || r == 3) && b->rank == r && a->shape[r - 1] == b->shape[r - 2] &&
                (r == 2 || a->shape[0] == b->shape[0]);
    if (!fits) {
        return verifier_fail(v, op,
                             "expected [M,K] and [K,N], or both with one batch, found %s and %s",
                             verifier_type(v, a), verifier_type(v, b));
    }
    verifier_set_shape(sum, r, a->shape);
    sum->shape[r - 1] = b->shape[r - 1];
    return true;
}

static bool rule_dot(Verifier *v, const IrOp *op) {
    TRY(verifier_class(v, op, 0, ir_op_info(op->code)->classes));
    TRY(verifier_class(v, op, 1, ir_op_info(op->code)->classes));
    const IrType *a = ir_operand(op, 0)->type, *b = ir_operand(op, 1)->type;
    if (!dot_pair(a->elem, b->elem)) {
        return verifier_fail(v, op, "expected elements that multiply, found %s and %s",
                             dtype_name(a->elem), dtype_name(b->elem));
    }
    IrType sum = verifier_scalar(op->results[0].type->elem);
    TRY(dot_shapes(v, op, &sum));
    if (!dot_sum(a->elem, sum.elem)) {
        return verifier_fail(v, op, "expected the accumulator of %s, found %s", dtype_name(a->elem),
                             dtype_name(sum.elem));
    }
    int64_t precision = ir_attr_int(op, IR_ATTR_PRECISION);
    if (precision == IR_PRECISION_UNIT && !dtype_is(a->elem, DTYPE_CLASS_FP8))
        return verifier_fail(v, op, "expected factors of fp8 with precision unit, found %s",
                             dtype_name(a->elem));
    bool any = precision == IR_PRECISION_IEEE || precision == IR_PRECISION_UNIT;
    if (!any && a->elem != DTYPE_F32) {
        return verifier_fail(v, op, "expected precision ieee for %s, found %s", dtype_name(a->elem),
                             ir_enum_text(IR_KIND_PRECISION, ir_attr_int(op, IR_ATTR_PRECISION)));
    }
    if (op->operand_count == 3 && ir_operand(op, 2)) TRY(verifier_operand(v, op, 2, &sum));
    return verifier_result(v, op, 0, &sum);
}

// ---- reduce and scan ----------------------------------------------------------------------------

// The combiner of n values: 2n scalar arguments of the operands' elements, the same n types twice.
static bool combiner_args(Verifier *v, const IrOp *op, uint32_t first) {
    const IrBlock *block = op->regions[0];
    uint32_t n = op->operand_count - first;
    if (block->arg_count != 2 * n) {
        return verifier_fail(v, op, "expected a combiner of %u arguments, found %u", 2 * n,
                             block->arg_count);
    }
    for (uint32_t i = 0; i < 2 * n; i++) {
        IrType scalar = verifier_scalar(ir_operand(op, first + i % n)->type->elem);
        TRY(verifier_same(v, op, arena_printf(v->scratch, "argument %u of the combiner", i),
                          block->args[i]->type, &scalar));
    }
    return true;
}

static bool outside(const IrValue *value, const IrBlock *block) {
    const IrBlock *home = value->def ? value->def->block : value->block;
    return !home || !ir_block_within(home, block);
}

static bool combiner_scalar(Verifier *v, const IrOp *op, const IrType *t) {
    if (t->kind == IR_TILE && t->rank == 0) return true;
    return verifier_fail(v, op, "expected scalars only in a combiner, found %s",
                         verifier_type(v, t));
}

// V9. The ops have no effects; their results, and values used from outside, must be scalars.
static bool combiner_ops(Verifier *v, const IrBlock *block, const IrBlock *combiner) {
    for (const IrOp *op = block->first; op; op = op->next) {
        IrEffect effect = ir_op_info(op->code)->effect;
        if (effect != IR_EFFECT_PURE && effect != IR_EFFECT_NEST && effect != IR_EFFECT_END) {
            return verifier_fail(v, op, "expected an op without effects in a combiner");
        }
        for (uint32_t i = 0; i < op->operand_count; i++) {
            const IrValue *value = ir_operand(op, i);
            if (value && outside(value, combiner)) TRY(combiner_scalar(v, op, value->type));
        }
        for (uint32_t i = 0; i < op->result_count; i++) {
            TRY(combiner_scalar(v, op, op->results[i].type));
        }
        for (uint32_t i = 0; i < op->region_count; i++) {
            TRY(combiner_ops(v, op->regions[i], combiner));
        }
    }
    return true;
}

bool verifier_combiner_ops(Verifier *v, const IrBlock *block) {
    return combiner_ops(v, block, block);
}

static bool combiner(Verifier *v, const IrOp *op, uint32_t first, bool custom) {
    if (op->region_count != (custom ? 1u : 0u)) {
        return verifier_fail(v, op, "expected %s, found %u regions",
                             custom ? "a combiner" : "no region for a built-in kind",
                             op->region_count);
    }
    if (!custom && op->operand_count - first != 1) {
        return verifier_fail(v, op, "expected 1 tile for a built-in kind, found %u",
                             op->operand_count - first);
    }
    return !custom || (combiner_args(v, op, first) && verifier_combiner_ops(v, op->regions[0]));
}

// The tiles from `first` on have one shape, and there are as many results.
static bool tiles(Verifier *v, const IrOp *op, uint32_t first, unsigned classes, uint32_t *axis) {
    const IrType *x = ir_operand(op, first)->type;
    for (uint32_t i = first; i < op->operand_count; i++) {
        const IrType *t = ir_operand(op, i)->type;
        TRY(verifier_class(v, op, i, i == first ? classes : DTYPE_CLASS_ANY));
        IrType expected = verifier_tile_like(x, t->elem);
        TRY(verifier_operand(v, op, i, &expected));
    }
    if (op->result_count != op->operand_count - first) {
        return verifier_fail(v, op, "expected %u results, found %u", op->operand_count - first,
                             op->result_count);
    }
    return verifier_axis(v, op, x, axis);
}

static bool rule_reduce(Verifier *v, const IrOp *op) {
    IrReduce kind = (IrReduce)ir_attr_int(op, IR_ATTR_REDUCE);
    bool places = kind == IR_REDUCE_ARGMIN || kind == IR_REDUCE_ARGMAX;
    uint32_t axis;
    TRY(tiles(v, op, 1, ir_reduce_classes(kind), &axis));
    TRY(verifier_mask(v, op, 0, ir_operand(op, 1)->type));
    TRY(combiner(v, op, 1, kind == IR_REDUCE_CUSTOM));
    for (uint32_t i = 0; i < op->result_count; i++) {
        IrType to = *ir_operand(op, i + 1)->type;
        if (places) to.elem = DTYPE_I32;
        for (uint32_t d = axis; d + 1 < to.rank; d++) to.shape[d] = to.shape[d + 1];
        to.rank--;
        TRY(verifier_result(v, op, i, &to));
    }
    return true;
}

static bool rule_scan(Verifier *v, const IrOp *op) {
    IrReduce kind = (IrReduce)ir_attr_int(op, IR_ATTR_REDUCE);
    if (kind > IR_REDUCE_MAXNUM && kind != IR_REDUCE_CUSTOM) {
        return verifier_fail(v, op,
                             "expected kind sum, prod, min, max, minnum, maxnum or custom, "
                             "found %s",
                             ir_enum_text(IR_KIND_REDUCE, kind));
    }
    uint32_t axis;
    TRY(tiles(v, op, 0, ir_reduce_classes(kind), &axis));
    TRY(combiner(v, op, 0, kind == IR_REDUCE_CUSTOM));
    for (uint32_t i = 0; i < op->result_count; i++) {
        TRY(verifier_result(v, op, i, ir_operand(op, i)->type));
    }
    return true;
}

// ---- orders -------------------------------------------------------------------------------------

static bool rule_sort(Verifier *v, const IrOp *op) {
    uint32_t axis;
    TRY(tiles(v, op, 0, ir_op_info(op->code)->classes, &axis));
    for (uint32_t i = 0; i < op->result_count; i++) {
        TRY(verifier_result(v, op, i, ir_operand(op, i)->type));
    }
    return true;
}

static bool rule_topk(Verifier *v, const IrOp *op) {
    TRY(verifier_class(v, op, 0, ir_op_info(op->code)->classes));
    IrType to = *ir_operand(op, 0)->type;
    int64_t count = ir_attr_int(op, IR_ATTR_COUNT);
    uint32_t axis;
    TRY(verifier_axis(v, op, &to, &axis));
    if (count < 1 || count > to.shape[axis] || (count & (count - 1)) != 0) {
        return verifier_fail(v, op, "expected a count that is a power of two up to %u, found %lld",
                             to.shape[axis], (long long)count);
    }
    to.shape[axis] = (uint32_t)count;
    TRY(verifier_result(v, op, 0, &to));
    to.elem = DTYPE_I32;
    return verifier_result(v, op, 1, &to);
}

static bool rule_histogram(Verifier *v, const IrOp *op) {
    TRY(verifier_class(v, op, 1, DTYPE_CLASS_INT));
    const IrType *x = ir_operand(op, 1)->type, *bins = op->results[0].type;
    TRY(verifier_mask(v, op, 0, x));
    if (x->rank != 1) {
        return verifier_fail(v, op, "expected a tile of rank 1, found %s", verifier_type(v, x));
    }
    if (ir_is_tile(bins, DTYPE_I32) && bins->rank == 1) return true;
    return verifier_fail(v, op, "expected an i32 tile of rank 1 as result, found %s",
                         verifier_type(v, bins));
}

static bool rule_random(Verifier *v, const IrOp *op) {
    TRY(verifier_class(v, op, 0, DTYPE_CLASS_INT));
    TRY(verifier_class(v, op, 1, DTYPE_CLASS_INT));
    if (ir_operand(op, 0)->type->rank != 0) {
        return verifier_fail(v, op, "expected a scalar seed, found %s",
                             verifier_type(v, ir_operand(op, 0)->type));
    }
    IrType to = verifier_tile_like(ir_operand(op, 1)->type, DTYPE_U32);
    for (uint32_t i = 0; i < op->result_count; i++) TRY(verifier_result(v, op, i, &to));
    return true;
}

bool verifier_tile_rule(Verifier *v, const IrOp *op) {
    IrRule rule = ir_op_info(op->code)->rule;
    if (rule == IR_RULE_DOT) return rule_dot(v, op);
    if (rule == IR_RULE_REDUCE) return rule_reduce(v, op);
    if (rule == IR_RULE_SCAN) return rule_scan(v, op);
    if (rule == IR_RULE_SORT) return rule_sort(v, op);
    if (rule == IR_RULE_TOPK) return rule_topk(v, op);
    if (rule == IR_RULE_HISTOGRAM) return rule_histogram(v, op);
    return rule_random(v, op);
}

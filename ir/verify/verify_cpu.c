// Typing rules of cpu.*: vectors are tiles of rank 1.
#include "ir/verify/verifier.h"

static bool vector(Verifier *v, const IrOp *op, const char *what, const IrType *t) {
    if (t->rank == 1 && t->kind != IR_VIEW) return true;
    return verifier_fail(v, op, "expected %s that is a vector, found %s", what,
                         verifier_type(v, t));
}

static IrType vector_of(Dtype elem, uint32_t count) {
    IrType t = verifier_scalar(elem);
    verifier_set_shape(&t, 1, &count);
    return t;
}

static bool view_operand(Verifier *v, const IrOp *op) {
    const IrType *t = ir_operand(op, 0)->type;
    if (t->kind == IR_VIEW) return true;
    return verifier_fail(v, op, "expected a view, found %s", verifier_type(v, t));
}

static bool rule_data(Verifier *v, const IrOp *op) {
    TRY(view_operand(v, op));
    Dtype elem = ir_operand(op, 0)->type->elem;
    IrType p = verifier_scalar(dtype_is(elem, DTYPE_CLASS_PACKED) ? DTYPE_U8 : elem);
    p.kind = IR_PTR;
    return verifier_result(v, op, 0, &p);
}

static bool rule_dim(Verifier *v, const IrOp *op) {
    TRY(view_operand(v, op));
    int64_t dim = ir_attr_int(op, IR_ATTR_DIM);
    uint32_t rank = ir_operand(op, 0)->type->rank;
    if (dim < 0 || dim >= (int64_t)rank) {
        return verifier_fail(v, op, "expected a dimension from 0 to %u, found %lld", rank - 1,
                             (long long)dim);
    }
    IrType t = verifier_scalar(DTYPE_I64);
    return verifier_result(v, op, 0, &t);
}

static bool rule_span(Verifier *v, const IrOp *op) {
    int64_t dim = ir_attr_int(op, IR_ATTR_DIM), count = ir_attr_int(op, IR_ATTR_COUNT);
    if (dim < 0 || dim > 1) {
        return verifier_fail(v, op, "expected dimension 0 or 1, found %lld", (long long)dim);
    }
    if (count < 1) {
        return verifier_fail(v, op, "expected a count from 1 on, found %lld", (long long)count);
    }
    IrType t = verifier_scalar(DTYPE_I64);
    return verifier_result(v, op, 0, &t);
}

static bool scalar_pointer(Verifier *v, const IrOp *op) {
    const IrType *p = ir_operand(op, 0)->type;
    if (p->kind == IR_PTR && p->rank == 0 && !dtype_is(p->elem, DTYPE_CLASS_PACKED)) return true;
    return verifier_fail(v, op, "expected a scalar pointer to whole bytes, found %s",
                         verifier_type(v, p));
}

static bool rule_prefetch(Verifier *v, const IrOp *op) {
    int64_t count = ir_attr_int(op, IR_ATTR_COUNT);
    if (count < 1) {
        return verifier_fail(v, op, "expected a count from 1 on, found %lld", (long long)count);
    }
    return scalar_pointer(v, op);
}

// A scalar pointer to whole bytes, and a vector of the type it points at.
static bool neighbours(Verifier *v, const IrOp *op, const IrType *x) {
    TRY(scalar_pointer(v, op));
    TRY(vector(v, op, "a value", x));
    IrType expected = verifier_tile_like(x, ir_operand(op, 0)->type->elem);
    return verifier_same(v, op, "a value", x, &expected);
}

static bool rule_load(Verifier *v, const IrOp *op) {
    const IrType *x = op->results[0].type;
    TRY(neighbours(v, op, x));
    TRY(verifier_mask(v, op, 1, x));
    return !ir_operand(op, 2) || verifier_operand(v, op, 2, x);
}

static bool rule_store(Verifier *v, const IrOp *op) {
    const IrType *x = ir_operand(op, 1)->type;
    TRY(neighbours(v, op, x));
    return verifier_mask(v, op, 2, x);
}

static bool reduces(IrReduce kind, Dtype elem) {
    switch (kind) {
    case IR_REDUCE_SUM:
    case IR_REDUCE_PROD:
    case IR_REDUCE_MIN:
    case IR_REDUCE_MAX: return dtype_is(elem, DTYPE_CLASS_NUMBER);
    case IR_REDUCE_MINNUM:
    case IR_REDUCE_MAXNUM: return dtype_is(elem, DTYPE_CLASS_ANYFLOAT);
    case IR_REDUCE_ANY:
    case IR_REDUCE_ALL: return elem == DTYPE_BOOL;
    case IR_REDUCE_ARGMIN:
    case IR_REDUCE_ARGMAX:
    case IR_REDUCE_CUSTOM: break;
    }
    return false;
}

static bool rule_reduce(Verifier *v, const IrOp *op) {
    const IrType *x = ir_operand(op, 0)->type;
    TRY(vector(v, op, "operand 0", x));
    TRY(verifier_class(v, op, 0, DTYPE_CLASS_ANY));
    int64_t kind = ir_attr_int(op, IR_ATTR_REDUCE);
    if (!reduces((IrReduce)kind, x->elem)) {
        return verifier_fail(v, op, "vec.reduce does not do %s of %s",
                             ir_enum_text(IR_KIND_REDUCE, kind), dtype_name(x->elem));
    }
    IrType t = verifier_scalar(x->elem);
    return verifier_result(v, op, 0, &t);
}

static bool rule_shuffle(Verifier *v, const IrOp *op) {
    const IrType *a = ir_operand(op, 0)->type, *r = op->results[0].type;
    TRY(vector(v, op, "operand 0", a));
    if (ir_operand(op, 1)) TRY(verifier_operand(v, op, 1, a));
    const IrAttr *lanes = ir_attr(op, IR_ATTR_LANES);
    int64_t limit = ir_operand(op, 1) ? 2 * (int64_t)a->count : (int64_t)a->count;
    for (uint32_t i = 0; i < lanes->u.ints.count; i++) {
        if (lanes->u.ints.items[i] >= 0 && lanes->u.ints.items[i] < limit) continue;
        return verifier_fail(v, op, "expected lanes from 0 to %lld, found %lld",
                             (long long)limit - 1, (long long)lanes->u.ints.items[i]);
    }
    TRY(vector(v, op, "a result", r));
    if (r->count != lanes->u.ints.count) {
        return verifier_fail(v, op, "expected %u lanes, found %u", r->count, lanes->u.ints.count);
    }
    IrType expected = *a;
    verifier_set_shape(&expected, 1, r->shape);
    return verifier_result(v, op, 0, &expected);
}

static bool rule_lane(Verifier *v, const IrOp *op) {
    const IrType *x = ir_operand(op, 0)->type;
    TRY(vector(v, op, "operand 0", x));
    int64_t lane = ir_attr_int(op, IR_ATTR_LANE);
    if (lane < 0 || lane >= (int64_t)x->count) {
        return verifier_fail(v, op, "expected a lane from 0 to %u, found %lld", x->count - 1,
                             (long long)lane);
    }
    IrType t = *x;
    verifier_set_shape(&t, 0, NULL);
    return verifier_result(v, op, 0, &t);
}

static bool rule_dot(Verifier *v, const IrOp *op) {
    bool fours = op->code == IR_CPU_DOT4;
    const IrType *acc = ir_operand(op, 0)->type;
    TRY(vector(v, op, "operand 0", acc));
    Dtype given = ir_operand(op, 1)->type->elem;
    bool whole = fours || given == DTYPE_I16;
    IrType sums = vector_of(whole ? DTYPE_I32 : DTYPE_F32, acc->count);
    Dtype halves = given == DTYPE_F16 || given == DTYPE_I16 ? given : DTYPE_BF16;
    IrType a = vector_of(fours ? DTYPE_U8 : halves, acc->count * (fours ? 4 : 2));
    IrType b = vector_of(fours ? DTYPE_I8 : halves, acc->count * (fours ? 4 : 2));
    TRY(verifier_operand(v, op, 0, &sums));
    TRY(verifier_operand(v, op, 1, &a));
    TRY(verifier_operand(v, op, 2, &b));
    return verifier_result(v, op, 0, &sums);
}

static bool tiles_step(Verifier *v, const IrOp *op, uint32_t i) {
    IrType t = verifier_scalar(DTYPE_I64);
    return verifier_operand(v, op, i, &t);
}

static bool tiles_extent(Verifier *v, const IrOp *op, IrAttrName name, const char *what) {
    int64_t n = ir_attr_int(op, name);
    if (n == 16 || n == 32) return true;
    return verifier_fail(v, op, "expected 16 or 32 %s, found %lld", what, (long long)n);
}

static bool tiles_factor(Verifier *v, const IrOp *op, uint32_t i, bool floats) {
    const IrType *p = ir_operand(op, i)->type;
    bool fits = floats ? p->elem == DTYPE_BF16 : p->elem == DTYPE_I8 || p->elem == DTYPE_U8;
    if (p->kind == IR_PTR && p->rank == 0 && fits) return true;
    return verifier_fail(v, op, "expected operand %u to be a scalar pointer to %s, found %s", i,
                         floats ? "bf16" : "i8 or u8", verifier_type(v, p));
}

static bool rule_tiles(Verifier *v, const IrOp *op) {
    const IrType *to = ir_operand(op, 0)->type;
    bool floats = to->elem == DTYPE_F32;
    if (to->kind != IR_PTR || to->rank != 0 || (!floats && to->elem != DTYPE_I32))
        return verifier_fail(v, op, "expected a scalar pointer to f32 or i32, found %s",
                             verifier_type(v, to));
    TRY(tiles_extent(v, op, IR_ATTR_ROWS, "rows"));
    TRY(tiles_extent(v, op, IR_ATTR_COLUMNS, "columns"));
    if (!ir_operand(op, 2) != !ir_operand(op, 3))
        return verifier_fail(v, op, "expected acc and its step, or neither");
    if (ir_operand(op, 2)) TRY(verifier_operand(v, op, 2, to) && tiles_step(v, op, 3));
    TRY(tiles_factor(v, op, 4, floats) && tiles_factor(v, op, 6, floats));
    return tiles_step(v, op, 1) && tiles_step(v, op, 5) && tiles_step(v, op, 7) &&
           tiles_step(v, op, 8);
}

static bool rule_assert(Verifier *v, const IrOp *op) {
    IrType t = verifier_scalar(DTYPE_I64);
    return verifier_operand(v, op, 0, &t);
}

// `select`: for each operand its rank, then as many extents.
static bool rule_print(Verifier *v, const IrOp *op) {
    const IrAttr *shapes = ir_attr(op, IR_ATTR_SELECT), *texts = ir_attr(op, IR_ATTR_TEXTS);
    if (texts->u.texts.count != op->operand_count + 1) {
        return verifier_fail(v, op, "expected %u texts, found %u", op->operand_count + 1,
                             texts->u.texts.count);
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const IrType *p = ir_operand(op, i)->type;
        if (p->kind != IR_PTR || p->rank != 0 || dtype_is(p->elem, DTYPE_CLASS_PACKED)) {
            return verifier_fail(v, op, "expected a scalar pointer to whole bytes, found %s",
                                 verifier_type(v, p));
        }
        uint32_t left = at < shapes->u.ints.count ? shapes->u.ints.count - at : 0;
        int64_t rank = left ? shapes->u.ints.items[at] : -1;
        if (rank < 0 || rank > IR_MAX_RANK || (uint32_t)rank >= left)
            return verifier_fail(v, op, "expected select to hold the shape of operand %u", i);
        uint64_t extents[IR_MAX_RANK];
        for (uint32_t d = 0; d < (uint32_t)rank; d++)
            extents[d] = (uint64_t)shapes->u.ints.items[at + 1 + d];
        const char *problem = ir_shape_problem((uint32_t)rank, extents);
        if (problem) return verifier_fail(v, op, "the shape of operand %u %s", i, problem);
        at += (uint32_t)rank + 1;
    }
    if (at == shapes->u.ints.count) return true;
    return verifier_fail(v, op, "expected shapes of %u numbers, found %u", at,
                         shapes->u.ints.count);
}

bool verifier_cpu_rule(Verifier *v, const IrOp *op) {
    IrRule rule = ir_op_info(op->code)->rule;
    if (rule == IR_RULE_VEC_DATA) return rule_data(v, op);
    if (rule == IR_RULE_CPU_DIM) return rule_dim(v, op);
    if (rule == IR_RULE_CPU_SPAN) return rule_span(v, op);
    if (rule == IR_RULE_CPU_LOAD) return rule_load(v, op);
    if (rule == IR_RULE_CPU_STORE) return rule_store(v, op);
    if (rule == IR_RULE_CPU_PREFETCH) return rule_prefetch(v, op);
    if (rule == IR_RULE_VEC_REDUCE) return rule_reduce(v, op);
    if (rule == IR_RULE_VEC_SHUFFLE) return rule_shuffle(v, op);
    if (rule == IR_RULE_VEC_LANE) return rule_lane(v, op);
    if (rule == IR_RULE_CPU_DOT) return rule_dot(v, op);
    if (rule == IR_RULE_CPU_TILES) return rule_tiles(v, op);
    if (rule == IR_RULE_VEC_ASSERT) return rule_assert(v, op);
    return rule_print(v, op);
}

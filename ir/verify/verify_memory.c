// Typing rules of memory: pointers, views, scratch.
#include "ir/verify/verifier.h"

enum { MAX_SCRATCH = 1 << 28 };  // elements of one allocation of scratch memory

// ---- pointers -----------------------------------------------------------------------------------

static bool pointer(Verifier *v, const IrOp *op) {
    TRY(verifier_class(v, op, 0, IR_CLASS_POINTER));
    const IrType *p = ir_operand(op, 0)->type;
    if (!dtype_is(p->elem, DTYPE_CLASS_PACKED)) return true;
    return verifier_fail(v, op,
                         "expected a pointer to whole bytes, found %s: packed elements are "
                         "read and written through views",
                         verifier_type(v, p));
}

static bool rule_ptr_add(Verifier *v, const IrOp *op) {
    TRY(pointer(v, op));
    const IrType *p = ir_operand(op, 0)->type;
    IrType offset = verifier_tile_like(p, DTYPE_I64);
    TRY(verifier_operand(v, op, 1, &offset));
    return verifier_result(v, op, 0, p);
}

static bool rule_load(Verifier *v, const IrOp *op) {
    TRY(pointer(v, op));
    const IrType *p = ir_operand(op, 0)->type;
    IrType x = verifier_tile_like(p, p->elem);
    TRY(verifier_mask(v, op, 1, p));
    if (ir_operand(op, 2)) TRY(verifier_operand(v, op, 2, &x));
    return verifier_result(v, op, 0, &x);
}

static bool rule_store(Verifier *v, const IrOp *op) {
    TRY(pointer(v, op));
    const IrType *p = ir_operand(op, 0)->type;
    IrType x = verifier_tile_like(p, p->elem);
    TRY(verifier_operand(v, op, 1, &x));
    return verifier_mask(v, op, 2, p);
}

// ---- atomics ------------------------------------------------------------------------------------

static bool rmw_elem(Verifier *v, const IrOp *op, Dtype elem) {
    int64_t rmw = ir_attr_int(op, IR_ATTR_RMW);
    if (dtype_is(elem, ir_rmw_classes((IrRmw)rmw))) return true;
    return verifier_fail(v, op, "atomic %s does not work on %s", ir_enum_text(IR_KIND_RMW, rmw),
                         dtype_name(elem));
}

static bool rule_atomic(Verifier *v, const IrOp *op) {
    TRY(rule_store(v, op));
    const IrType *p = ir_operand(op, 0)->type;
    TRY(rmw_elem(v, op, p->elem));
    IrType old = verifier_tile_like(p, p->elem);
    return verifier_result(v, op, 0, &old);
}

static bool rule_atomic_cas(Verifier *v, const IrOp *op) {
    TRY(pointer(v, op));
    const IrType *p = ir_operand(op, 0)->type;
    IrType x = verifier_tile_like(p, p->elem);
    TRY(verifier_operand(v, op, 1, &x));
    TRY(verifier_operand(v, op, 2, &x));
    TRY(verifier_mask(v, op, 3, p));
    return verifier_result(v, op, 0, &x);
}

// ---- views --------------------------------------------------------------------------------------

static bool select_widths(Verifier *v, const IrOp *op, uint32_t rank) {
    const IrAttr *select = ir_attr(op, IR_ATTR_SELECT);
    if (select->u.ints.count != rank) {
        return verifier_fail(v, op, "expected select for %u dimensions, found %u", rank,
                             select->u.ints.count);
    }
    for (uint32_t i = 0; i < rank; i++) {
        int64_t width = select->u.ints.items[i];
        if (width >= 0 && width <= IR_MAX_COUNT && (width & (width - 1)) == 0) continue;
        return verifier_fail(v, op, "expected a width that is 0 or a power of two, found %lld",
                             (long long)width);
    }
    return true;
}

static bool inside_flags(Verifier *v, const IrOp *op, uint32_t rank) {
    if (op->code == IR_VIEW_INSIDE) return true;
    const IrAttr *inside = ir_attr(op, IR_ATTR_INSIDE);
    bool fits = inside->u.ints.count == rank;
    for (uint32_t i = 0; fits && i < rank; i++) {
        fits = inside->u.ints.items[i] == 0 || inside->u.ints.items[i] == 1;
    }
    return fits || verifier_fail(v, op, "expected inside of %u numbers 0 or 1", rank);
}

// Either empty, or one number for each dimension: 0, or a divisor of the width.
static bool spans(Verifier *v, const IrOp *op, uint32_t rank) {
    const IrAttr *spans = ir_attr(op, IR_ATTR_SPANS), *select = ir_attr(op, IR_ATTR_SELECT);
    if (spans->u.ints.count == 0) return true;
    if (v->func->level != IR_LEVEL_CPU_TILE && v->func->level != IR_LEVEL_CPU_NEST)
        return verifier_fail(v, op, "expected spans at levels cpu_tile and cpu_nest only");
    bool fits = spans->u.ints.count == rank;
    for (uint32_t i = 0; fits && i < rank; i++) {
        int64_t span = spans->u.ints.items[i];
        fits = span == 0 || (span > 0 && select->u.ints.items[i] % span == 0);
    }
    return fits ||
           verifier_fail(v, op, "expected spans of %u numbers that divide the widths", rank);
}

static bool indices(Verifier *v, const IrOp *op, uint32_t rank) {
    uint32_t start = ir_view_index_start(op->code);
    const IrAttr *select = ir_attr(op, IR_ATTR_SELECT);
    if (op->operand_count - start != rank) {
        return verifier_fail(v, op, "expected %u indices, found %u", rank,
                             op->operand_count - start);
    }
    for (uint32_t i = 0; i < rank; i++) {
        TRY(verifier_class(v, op, start + i, DTYPE_CLASS_INT));
        if (select->u.ints.items[i] == 0 || ir_operand(op, start + i)->type->rank == 0) continue;
        return verifier_fail(v, op, "expected a scalar where %lld elements begin, found %s",
                             (long long)select->u.ints.items[i],
                             verifier_type(v, ir_operand(op, start + i)->type));
    }
    return true;
}

// View, select, inside and indices; `x` becomes the type of the value read or written.
static bool selection(Verifier *v, const IrOp *op, IrType *x) {
    const IrType *view = ir_operand(op, 0)->type;
    if (view->kind != IR_VIEW) {
        return verifier_fail(v, op, "expected a view, found %s", verifier_type(v, view));
    }
    TRY(select_widths(v, op, view->rank));
    TRY(inside_flags(v, op, view->rank));
    TRY(indices(v, op, view->rank));
    uint32_t rank, shape[IR_MAX_RANK];
    if (!ir_selection_shape(op, &rank, shape)) {
        return verifier_fail(v, op,
                             "expected tile indices that go together, and at most %d "
                             "dimensions",
                             IR_MAX_RANK);
    }
    uint64_t wide[IR_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) wide[i] = shape[i];
    const char *problem = ir_shape_problem(rank, wide);
    if (problem) return verifier_fail(v, op, "the selection %s", problem);
    Dtype elem = view->elem;
    if (elem == DTYPE_I4) elem = DTYPE_I8;
    if (elem == DTYPE_U4) elem = DTYPE_U8;
    *x = verifier_scalar(elem);
    verifier_set_shape(x, rank, shape);
    return true;
}

// Language rule 19: writes of packed elements are whole bytes.
static bool packed_write(Verifier *v, const IrOp *op, uint32_t mask) {
    const IrType *view = ir_operand(op, 0)->type;
    if (!dtype_is(view->elem, DTYPE_CLASS_PACKED)) return true;
    const IrAttr *select = ir_attr(op, IR_ATTR_SELECT);
    uint32_t start = ir_view_index_start(op->code);
    for (uint32_t i = 0; i < view->rank; i++) {
        if (ir_operand(op, start + i)->type->rank == 0) continue;
        return verifier_fail(v, op, "expected no scatter to %s, found a tile index",
                             dtype_name(view->elem));
    }
    if (select->u.ints.items[view->rank - 1] < 2) {
        return verifier_fail(v, op, "expected an even number of %s elements to write, found 1",
                             dtype_name(view->elem));
    }
    return !ir_operand(op, mask) ||
           verifier_fail(v, op, "expected no mask on a write of %s", dtype_name(view->elem));
}

static bool rule_view_load(Verifier *v, const IrOp *op) {
    IrType x;
    TRY(selection(v, op, &x));
    IrType pad = verifier_scalar(x.elem);
    if (ir_operand(op, 1)) TRY(verifier_operand(v, op, 1, &pad));
    return verifier_result(v, op, 0, &x);
}

static bool rule_view_store(Verifier *v, const IrOp *op) {
    IrType x;
    TRY(selection(v, op, &x));
    TRY(spans(v, op, ir_operand(op, 0)->type->rank));
    TRY(verifier_operand(v, op, 1, &x));
    TRY(verifier_mask(v, op, 2, &x));
    return packed_write(v, op, 2);
}

static bool no_packed_atomic(Verifier *v, const IrOp *op) {
    Dtype elem = ir_operand(op, 0)->type->elem;
    return !dtype_is(elem, DTYPE_CLASS_PACKED) ||
           verifier_fail(v, op, "atomics do not work on %s", dtype_name(elem));
}

static bool rule_view_atomic(Verifier *v, const IrOp *op) {
    IrType x;
    TRY(selection(v, op, &x));
    TRY(no_packed_atomic(v, op));
    TRY(rmw_elem(v, op, x.elem));
    TRY(verifier_operand(v, op, 1, &x));
    TRY(verifier_mask(v, op, 2, &x));
    return verifier_result(v, op, 0, &x);
}

static bool rule_view_cas(Verifier *v, const IrOp *op) {
    IrType x;
    TRY(selection(v, op, &x));
    TRY(no_packed_atomic(v, op));
    TRY(verifier_operand(v, op, 1, &x));
    TRY(verifier_operand(v, op, 2, &x));
    TRY(verifier_mask(v, op, 3, &x));
    return verifier_result(v, op, 0, &x);
}

static bool rule_view_inside(Verifier *v, const IrOp *op) {
    IrType x;
    TRY(selection(v, op, &x));
    x.elem = DTYPE_BOOL;
    return verifier_result(v, op, 0, &x);
}

// ---- scratch ------------------------------------------------------------------------------------

static bool rule_scratch(Verifier *v, const IrOp *op) {
    IrType p = verifier_scalar((Dtype)ir_attr_int(op, IR_ATTR_ELEM));
    int64_t count = ir_attr_int(op, IR_ATTR_COUNT);
    p.kind = IR_PTR;
    if (dtype_is(p.elem, DTYPE_CLASS_PACKED)) {
        return verifier_fail(v, op, "expected elements of whole bytes, found %s",
                             dtype_name(p.elem));
    }
    if (count < 1 || count > MAX_SCRATCH) {
        return verifier_fail(v, op, "expected a count from 1 to %d, found %lld", MAX_SCRATCH,
                             (long long)count);
    }
    return verifier_result(v, op, 0, &p);
}

bool verifier_memory_rule(Verifier *v, const IrOp *op) {
    IrRule rule = ir_op_info(op->code)->rule;
    if (rule == IR_RULE_PTR_ADD) return rule_ptr_add(v, op);
    if (rule == IR_RULE_LOAD) return rule_load(v, op);
    if (rule == IR_RULE_STORE) return rule_store(v, op);
    if (rule == IR_RULE_ATOMIC) return rule_atomic(v, op);
    if (rule == IR_RULE_ATOMIC_CAS) return rule_atomic_cas(v, op);
    if (rule == IR_RULE_VIEW_LOAD) return rule_view_load(v, op);
    if (rule == IR_RULE_VIEW_STORE) return rule_view_store(v, op);
    if (rule == IR_RULE_VIEW_ATOMIC) return rule_view_atomic(v, op);
    if (rule == IR_RULE_VIEW_CAS) return rule_view_cas(v, op);
    if (rule == IR_RULE_VIEW_INSIDE) return rule_view_inside(v, op);
    return rule_scratch(v, op);
}

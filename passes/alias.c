#include "passes/alias.h"

// The parameter that a pointer is made from; NULL: unknown.
static const IrValue *root_of(const IrValue *p) {
    while (p->def) {
        IrOpcode code = p->def->code;
        bool through = code == IR_PTR_ADD || code == IR_BROADCAST || code == IR_RESHAPE ||
                       code == IR_PERMUTE || code == IR_GPU_CONVERT;
        if (!through) return NULL;
        p = ir_operand(p->def, 0);
    }
    return p->block ? NULL : p;
}

static bool same_selection(const IrOp *a, const IrOp *b) {
    const IrAttr *x = ir_attr(a, IR_ATTR_SELECT), *y = ir_attr(b, IR_ATTR_SELECT);
    if (x->u.ints.count != y->u.ints.count) return false;
    uint32_t i = ir_view_index_start(a->code), k = ir_view_index_start(b->code);
    for (uint32_t d = 0; d < x->u.ints.count; d++) {
        if (x->u.ints.items[d] != y->u.ints.items[d]) return false;
        if (ir_operand(a, i + d) != ir_operand(b, k + d)) return false;
    }
    return true;
}

bool alias_is_view_access(const IrOp *op) {
    return op->operand_count > 0 && ir_operand(op, 0) && ir_operand(op, 0)->type->kind == IR_VIEW;
}

// Do both name the same elements in the same order, of whatever array?
static bool same_elements(const IrOp *a, const IrOp *b) {
    if (alias_is_view_access(a) != alias_is_view_access(b)) return false;
    if (!alias_is_view_access(a)) return ir_operand(a, 0) == ir_operand(b, 0);
    return same_selection(a, b);
}

// Under FACT_DISJOINT two arrays may still be one, in place: all that the fact's guard lets pass
// (compile/launch_guard.c, `may_be_same`), of whatever types and strides.
static bool may_be_in_place(const IrValue *a, const IrValue *b) {
    return a->type->rank == b->type->rank && dtype_bits(a->type->elem) == dtype_bits(b->type->elem);
}

// The kernel's own `requires noalias(a, b)`.
static bool requires_disjoint(const IrFunc *f, const IrValue *a, const IrValue *b) {
    for (size_t i = 0; i < f->sections.count; i++) {
        const IrSection *s = &f->sections.data[i];
        if (s->kind != IR_REQUIRES || !s->block->last) continue;
        const IrValue *c = ir_operand(s->block->last, 0);
        const IrOp *op = c ? c->def : NULL;
        if (!op || op->code != IR_NOALIAS) continue;
        if (ir_operand(op, 0) == a && ir_operand(op, 1) == b) return true;
        if (ir_operand(op, 0) == b && ir_operand(op, 1) == a) return true;
    }
    return false;
}

bool alias_conflict(const IrFunc *f, unsigned facts, const IrOp *a, const IrOp *b) {
    if (a->operand_count == 0 || b->operand_count == 0) return true;
    const IrValue *x = root_of(ir_operand(a, 0)), *y = root_of(ir_operand(b, 0));
    if (!x || !y || x == y) return true;
    if (requires_disjoint(f, x, y)) return false;
    if (!(facts & FACT_DISJOINT)) return true;
    bool views = x->type->kind == IR_VIEW && y->type->kind == IR_VIEW;
    return views && may_be_in_place(x, y);
}

bool alias_same_elements(unsigned facts, const IrOp *a, const IrOp *b) {
    if (!same_elements(a, b)) return false;
    const IrValue *x = root_of(ir_operand(a, 0)), *y = root_of(ir_operand(b, 0));
    return x == y || (x && y && x->type->kind == IR_VIEW && (facts & FACT_DISJOINT));
}

#include "passes/alias.h"

#include <stdlib.h>

#include "passes/rewrite.h"

// The parameter from which a pointer is computed; NULL: unknown.
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

// Do both select the same elements in the same order, in any arrays?
static bool same_elements(const IrOp *a, const IrOp *b) {
    if (alias_is_view_access(a) != alias_is_view_access(b)) return false;
    if (!alias_is_view_access(a)) return ir_operand(a, 0) == ir_operand(b, 0);
    return same_selection(a, b);
}

// Under FACT_DISJOINT two arrays may still be the same array, in place, with any types and strides
// that the fact's guard admits (compile/pipeline/launch_guard.c, `may_be_same`).
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

// ---- lanes that access different elements -------------------------------------------------------

enum { DEPTH = 24 };

// The steps of a tile of integers or pointers whose lanes' distances are known: the difference per
// step along each axis, modulo 2^bits, and never INT64_MIN. (Values that wrap or are widened keep
// their low bits.)
typedef struct AliasSteps {
    int64_t of[IR_MAX_RANK];
    uint32_t bits;
} AliasSteps;

static bool find_steps(const IrValue *v, int depth, AliasSteps *s);

// The steps multiplied by a number; false if one overflows.
static bool scale(AliasSteps *s, int64_t number) {
    for (uint32_t d = 0; d < IR_MAX_RANK; d++)
        if (__builtin_mul_overflow(s->of[d], number, &s->of[d]) || s->of[d] == INT64_MIN)
            return false;
    return true;
}

static bool add_steps(AliasSteps *s, const AliasSteps *more, int sign) {
    for (uint32_t d = 0; d < IR_MAX_RANK; d++)
        if (__builtin_add_overflow(s->of[d], sign * more->of[d], &s->of[d]) ||
            s->of[d] == INT64_MIN)
            return false;
    if (more->bits < s->bits) s->bits = more->bits;
    return true;
}

// A reshape that only adds or removes extents of 1.
static bool reshape(const IrOp *op, const AliasSteps *from, AliasSteps *to) {
    const IrType *x = ir_operand(op, 0)->type, *y = op->results[0].type;
    uint32_t k = 0;
    for (uint32_t d = 0; d < y->rank; d++) {
        if (y->shape[d] == 1) continue;
        while (k < x->rank && x->shape[k] == 1) k++;
        if (k == x->rank || x->shape[k] != y->shape[d]) return false;
        to->of[d] = from->of[k++];
    }
    return true;
}

static bool move_steps(const IrOp *op, int depth, AliasSteps *s) {
    const IrType *from = ir_operand(op, 0)->type;
    AliasSteps x;
    if (!find_steps(ir_operand(op, 0), depth, &x)) return false;
    if (x.bits < s->bits) s->bits = x.bits;
    if (op->code == IR_RESHAPE) return reshape(op, &x, s);
    for (uint32_t d = 0; d < from->rank; d++) {
        uint32_t k = d;
        if (op->code == IR_PERMUTE) k = (uint32_t)ir_attr(op, IR_ATTR_PERM)->u.ints.items[d];
        s->of[d] = from->shape[k] == 1 ? 0 : x.of[k];
    }
    return true;
}

static bool multiply_steps(const IrOp *op, int depth, AliasSteps *s) {
    int64_t number;
    for (uint32_t i = 0; i < 2; i++) {
        const IrValue *x = ir_operand(op, i), *y = ir_operand(op, 1 - i);
        if (!rewrite_constant_int(y, &number)) continue;
        return find_steps(x, depth, s) && scale(s, number);
    }
    return false;
}

static bool find_steps(const IrValue *v, int depth, AliasSteps *s) {
    const IrOp *op = v->def;
    bool whole = dtype_is(v->type->elem, DTYPE_CLASS_INT) && v->type->kind == IR_TILE;
    AliasSteps more;
    int64_t number;
    *s = (AliasSteps){.bits = whole ? (uint32_t)dtype_bits(v->type->elem) : 62};
    if (s->bits > 62) s->bits = 62;
    if (!v->type->rank || rewrite_constant_int(v, &number)) return true;
    if (!op || depth == DEPTH) return false;
    switch (op->code) {
    case IR_IOTA: s->of[0] = 1; return true;
    case IR_BROADCAST:
    case IR_RESHAPE:
    case IR_PERMUTE:
    case IR_GPU_CONVERT: return move_steps(op, depth + 1, s);
    case IR_CAST:
        if (!whole || !dtype_is(ir_operand(op, 0)->type->elem, DTYPE_CLASS_INT)) return false;
        if (!find_steps(ir_operand(op, 0), depth + 1, &more)) return false;
        return add_steps(s, &more, 1);
    case IR_ADD:
    case IR_SUB:
    case IR_PTR_ADD:
        for (uint32_t i = 0; i < 2; i++)
            if (!find_steps(ir_operand(op, i), depth + 1, &more) ||
                !add_steps(s, &more, i && op->code == IR_SUB ? -1 : 1))
                return false;
        return true;
    case IR_MUL: return multiply_steps(op, depth + 1, s);
    default: break;
    }
    return false;
}

// Does the value differ between lanes that differ on the axes along which it has steps? These axes
// are added to `axes`. It does if each step is longer than the sum of all moves along axes with
// shorter steps.
static void add_distinct_axes(const IrType *t, const AliasSteps *s, uint32_t *axes) {
    uint32_t known = 0;
    uint64_t reach = 0;
    for (uint32_t left = t->rank; left-- > 0;) {
        uint32_t next = IR_MAX_RANK;
        for (uint32_t d = 0; d < t->rank; d++) {
            if (t->shape[d] == 1 || s->of[d] == 0 || known >> d & 1) continue;
            if (next == IR_MAX_RANK || llabs(s->of[d]) < llabs(s->of[next])) next = d;
        }
        if (next == IR_MAX_RANK) break;
        uint64_t step = (uint64_t)llabs(s->of[next]), way;
        if (step <= reach) return;
        if (__builtin_mul_overflow(step, t->shape[next] - 1, &way)) return;
        if (__builtin_add_overflow(reach, way, &reach)) return;
        known |= UINT32_C(1) << next;
    }
    if (reach >> s->bits == 0) *axes |= known;
}

static void add_index(const IrValue *v, uint32_t *axes, uint32_t *wanted) {
    AliasSteps s;
    for (uint32_t d = 0; d < v->type->rank; d++)
        if (v->type->shape[d] > 1) *wanted |= UINT32_C(1) << d;
    if (find_steps(v, 0, &s)) add_distinct_axes(v->type, &s, axes);
}

// Does every lane of the access touch a different element?
static bool lanes_disjoint(const IrOp *op) {
    uint32_t axes = 0, wanted = 0;
    if (!alias_is_view_access(op)) {
        add_index(ir_operand(op, 0), &axes, &wanted);
        return axes == wanted;
    }
    const IrAttr *select = ir_attr(op, IR_ATTR_SELECT);
    uint32_t start = ir_view_index_start(op->code);
    for (uint32_t d = 0; d < select->u.ints.count; d++)
        if (select->u.ints.items[d] == 0) add_index(ir_operand(op, start + d), &axes, &wanted);
    return axes == wanted;
}

bool alias_same_elements(unsigned facts, const IrOp *a, const IrOp *b) {
    if (!same_elements(a, b) || !lanes_disjoint(a)) return false;
    const IrValue *x = root_of(ir_operand(a, 0)), *y = root_of(ir_operand(b, 0));
    return x == y || (x && y && x->type->kind == IR_VIEW && (facts & FACT_DISJOINT));
}

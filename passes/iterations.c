#include "passes/iterations.h"

#include "passes/alias.h"
#include "passes/rewrite.h"

// How an index changes between iterations of a loop.
typedef enum IterationWalk {
    STAYS,   // the same
    STEPS,   // the same, or at least a width away
    AWAY,    // at least a width away
    UNKNOWN  // anything
} IterationWalk;

// A product by a constant, or a shift; *v becomes the other operand.
static bool strip_factor(const IrValue **v, uint64_t *factor) {
    const IrOp *op = (*v)->def;
    int64_t n;
    if (!op || (op->code != IR_MUL && op->code != IR_SHL)) return false;
    int constant = rewrite_constant_int(ir_operand(op, 1), &n)                         ? 1
                   : op->code == IR_MUL && rewrite_constant_int(ir_operand(op, 0), &n) ? 0
                                                                                       : -1;
    if (constant < 0 || n <= 0 || n > INT32_MAX || (op->code == IR_SHL && n > 31)) return false;
    *factor = op->code == IR_MUL ? (uint64_t)n : UINT64_C(1) << n;
    *v = ir_operand(op, (uint32_t)(1 - constant));
    return true;
}

static const IrValue *without_summands(const IrValue *v, const IrOp *loop) {
    while (v->def && v->def->code == IR_ADD) {
        const IrValue *a = ir_operand(v->def, 0), *b = ir_operand(v->def, 1);
        if (rewrite_defined_outside(b, loop))
            v = a;
        else if (rewrite_defined_outside(a, loop))
            v = b;
        else
            break;
    }
    return v;
}

// Differences of numbers within these bounds do not wrap, whatever is added to both.
static bool is_bounded(const Iterations *t, const IrValue *v) {
    IrRange r = ir_range_of(t->ranges, v);
    return r.known && r.min >= -(INT64_C(1) << 62) && r.max <= INT64_C(1) << 62;
}

// The loop's own counter, or that of a nested loop that begins with the same number each time.
static IterationWalk walk_of(const Iterations *t, const IrOp *loop, const IrValue *v,
                             uint64_t width) {
    if (rewrite_defined_outside(v, loop)) return STAYS;
    const IrValue *whole = v, *scaled = v = without_summands(v, loop);
    uint64_t factor = 1;
    int64_t step;
    strip_factor(&v, &factor);
    if (!v->block || v->index != 0 || v->def) return UNKNOWN;
    const IrOp *counted = v->block->parent;
    if (!counted || counted->code != IR_FOR || ir_attr_int(counted, IR_ATTR_DOWN)) return UNKNOWN;
    if (!rewrite_constant_int(ir_operand(counted, 2), &step) || step <= 0) return UNKNOWN;
    if (step < INT32_MAX && factor * (uint64_t)step < width) return UNKNOWN;
    if (v != whole && !is_bounded(t, scaled)) return UNKNOWN;
    if (counted == loop) return AWAY;
    return rewrite_defined_outside(ir_operand(counted, 0), loop) ? STEPS : UNKNOWN;
}

static bool is_strided(const IrFunc *f, const IrValue *view) {
    return view->index >= f->params.count || f->params.data[view->index].strided;
}

bool iterations_disjoint(const Iterations *t, const IrOp *loop, const IrOp *access) {
    if (!alias_is_view_access(access) || is_strided(t->func, ir_operand(access, 0))) return false;
    const IrAttr *select = ir_attr(access, IR_ATTR_SELECT);
    for (uint32_t d = 0; d < select->u.ints.count; d++) {
        const IrValue *index = ir_operand(access, ir_view_index_start(access->code) + d);
        uint64_t width = select->u.ints.items[d] > 0 ? (uint64_t)select->u.ints.items[d] : 1;
        if (!index->type->rank && walk_of(t, loop, index, width) == AWAY) return true;
    }
    return false;
}

bool iterations_agree(const Iterations *t, const IrOp *loop, const IrOp *access) {
    if (!alias_is_view_access(access)) return rewrite_defined_outside(ir_operand(access, 0), loop);
    if (iterations_disjoint(t, loop, access)) return true;
    bool strided = is_strided(t->func, ir_operand(access, 0));
    const IrAttr *select = ir_attr(access, IR_ATTR_SELECT);
    for (uint32_t d = 0; d < select->u.ints.count; d++) {
        const IrValue *index = ir_operand(access, ir_view_index_start(access->code) + d);
        uint64_t width = select->u.ints.items[d] > 0 ? (uint64_t)select->u.ints.items[d] : 1;
        if (rewrite_defined_outside(index, loop)) continue;
        if (strided || index->type->rank || walk_of(t, loop, index, width) == UNKNOWN) return false;
    }
    return true;
}

// Gives each class a layout to begin with: layouts follow through shapes and reductions from the
// classes that have one, and the next class that none reaches takes the plain layout of its shape.
//
// How: the order is that of sweeps over all ops, one after the other while any layout follows. A
// sweep that visited all ops would make the time grow with the square of their number: bodies are
// unrolled to tens of thousands of them. So a queue has the ops whose classes have changed, with
// the sweep that would meet them next, and gives them in the order of these sweeps.
#include "passes/gpu/layout/solver.h"

LayoutClass *layouts_class(LayoutSolver *s, const IrValue *v) {
    while (v->id >= s->known) v = ir_operand(v->def, 0);
    uint32_t id = v->id;
    while (s->classes[id].parent != id) id = s->classes[id].parent;
    s->classes[v->id].parent = id;
    return &s->classes[id];
}

// ---- the queue ----------------------------------------------------------------------------------

// A sweep and an op, by its index in LayoutSolver.ops: sweep << 32 | op.
typedef uint64_t PropagateStep;

typedef struct Propagation {
    LayoutSolver *s;
    VEC(PropagateStep) queue;  // a heap: no step is before that at (i - 1) / 2
} Propagation;

static void push(Propagation *q, uint64_t sweep, uint32_t op) {
    vec_push(q->s->scratch, &q->queue, sweep << 32 | op);
    PropagateStep *steps = q->queue.data, added = sweep << 32 | op;
    size_t at = q->queue.count - 1;
    for (; at && steps[(at - 1) / 2] > added; at = (at - 1) / 2) steps[at] = steps[(at - 1) / 2];
    steps[at] = added;
}

static PropagateStep pop(Propagation *q) {
    PropagateStep *steps = q->queue.data, first = steps[0], last = vec_pop(&q->queue);
    size_t count = q->queue.count, at = 0;
    for (size_t next; (next = 2 * at + 1) < count; at = next) {
        if (next + 1 < count && steps[next + 1] < steps[next]) next++;
        if (steps[next] >= last) break;
        steps[at] = steps[next];
    }
    if (count) steps[at] = last;
    return first;
}

// ---- following ----------------------------------------------------------------------------------

// The two tiles between which a layout may follow; false: there are none.
static bool ends_of(const IrOp *op, const IrValue **x, const IrValue **r) {
    bool reduces = layout_rule(op) == LAYOUT_RULE_REDUCE;
    if (!reduces && layout_rule(op) != LAYOUT_RULE_SHAPE) return false;
    *x = ir_operand(op, reduces ? 1 : 0);
    *r = ir_result(op, 0);
    return ir_value_is_tile(*x) && ir_value_is_tile(*r);
}

// Through one op, if one side is known and the other is not: the class that is known now, or NULL.
static LayoutClass *follow(LayoutSolver *s, const IrOp *op) {
    const IrValue *x, *r;
    if (!ends_of(op, &x, &r)) return NULL;
    LayoutClass *from = layouts_class(s, x), *to = layouts_class(s, r);
    if (from->known && !to->known) {
        to->known = layout_infer_result(op, 0, &from->layout, &to->layout);
        return to->known ? to : NULL;
    }
    if (to->known && !from->known) {
        from->known = layout_infer_operand(op, &to->layout, &from->layout);
        return from->known ? from : NULL;
    }
    return NULL;
}

// The class is known since `sweep` was at op `at`.
static void enqueue_uses(Propagation *q, const LayoutClass *c, uint64_t sweep, uint32_t at) {
    for (size_t i = 0; i < c->follow.count; i++) {
        uint32_t op = c->follow.data[i];
        push(q, op > at ? sweep : sweep + 1, op);
    }
}

static void begin(Propagation *q) {
    LayoutSolver *s = q->s;
    const IrValue *x, *r;
    for (uint32_t i = 0; i < s->ops.count; i++) {
        if (!ends_of(s->ops.data[i], &x, &r)) continue;
        vec_push(s->scratch, &layouts_class(s, x)->follow, i);
        vec_push(s->scratch, &layouts_class(s, r)->follow, i);
        push(q, 0, i);
    }
}

void layouts_propagate(LayoutSolver *s) {
    Propagation q = {.s = s};
    uint64_t sweep = 0;
    begin(&q);
    for (size_t i = 0; i <= s->values.count; i++) {
        while (q.queue.count) {
            PropagateStep step = pop(&q);
            sweep = step >> 32;
            uint32_t op = (uint32_t)step;
            const LayoutClass *c = follow(s, s->ops.data[op]);
            if (c) enqueue_uses(&q, c, sweep, op);
        }
        if (i == s->values.count) return;
        const IrValue *v = s->values.data[i];
        LayoutClass *c = layouts_class(s, v);
        if (c->known) continue;
        c->known = true;
        c->layout = gpu_blocked(v->type, s->threads, ir_elem_size(v->type));
        enqueue_uses(&q, c, sweep, UINT32_MAX);
    }
}

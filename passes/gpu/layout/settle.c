// Gives each class a layout to begin with: layouts follow through shapes and reductions from the
// classes that have one, and the next class that none reaches takes the plain layout of its shape.
//
// How: the order is that of sweeps over all ops, one after the other while any layout follows. A
// sweep that visited all ops would make the time grow with the square of their number: bodies are
// unrolled to tens of thousands of them. So a queue has the ops whose classes have changed, with
// the sweep that would meet them next, and gives them in the order of these sweeps.
#include "passes/gpu/layout/spreading.h"

SpreadClass *spreading_class(Spreading *s, const IrValue *v) {
    while (v->id >= s->known) v = ir_operand(v->def, 0);
    uint32_t id = v->id;
    while (s->classes[id].parent != id) id = s->classes[id].parent;
    s->classes[v->id].parent = id;
    return &s->classes[id];
}

// ---- the queue ----------------------------------------------------------------------------------

// A sweep and an op, by its index in Spreading.ops: sweep << 32 | op.
typedef uint64_t SettleStep;

typedef struct Settling {
    Spreading *s;
    VEC(SettleStep) queue;  // a heap: no step is before that at (i - 1) / 2
} Settling;

static void push(Settling *q, uint64_t sweep, uint32_t op) {
    vec_push(q->s->scratch, &q->queue, sweep << 32 | op);
    SettleStep *steps = q->queue.data, added = sweep << 32 | op;
    size_t at = q->queue.count - 1;
    for (; at && steps[(at - 1) / 2] > added; at = (at - 1) / 2) steps[at] = steps[(at - 1) / 2];
    steps[at] = added;
}

static SettleStep pop(Settling *q) {
    SettleStep *steps = q->queue.data, first = steps[0], last = vec_pop(&q->queue);
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
    bool reduces = spread_rule(op) == SPREAD_REDUCE;
    if (!reduces && spread_rule(op) != SPREAD_SHAPE) return false;
    *x = ir_operand(op, reduces ? 1 : 0);
    *r = ir_result(op, 0);
    return spread_is_tile(*x) && spread_is_tile(*r);
}

// Through one op, if one side is known and the other is not: the class that is known now, or NULL.
static SpreadClass *follow(Spreading *s, const IrOp *op) {
    const IrValue *x, *r;
    if (!ends_of(op, &x, &r)) return NULL;
    SpreadClass *from = spreading_class(s, x), *to = spreading_class(s, r);
    if (from->known && !to->known) {
        to->known = spread_forward(op, 0, &from->layout, &to->layout);
        return to->known ? to : NULL;
    }
    if (to->known && !from->known) {
        from->known = spread_backward(op, &to->layout, &from->layout);
        return from->known ? from : NULL;
    }
    return NULL;
}

// The class is known since `sweep` was at op `at`.
static void tell(Settling *q, const SpreadClass *c, uint64_t sweep, uint32_t at) {
    for (size_t i = 0; i < c->follow.count; i++) {
        uint32_t op = c->follow.data[i];
        push(q, op > at ? sweep : sweep + 1, op);
    }
}

static void begin(Settling *q) {
    Spreading *s = q->s;
    const IrValue *x, *r;
    for (uint32_t i = 0; i < s->ops.count; i++) {
        if (!ends_of(s->ops.data[i], &x, &r)) continue;
        vec_push(s->scratch, &spreading_class(s, x)->follow, i);
        vec_push(s->scratch, &spreading_class(s, r)->follow, i);
        push(q, 0, i);
    }
}

void spreading_settle(Spreading *s) {
    Settling q = {.s = s};
    uint64_t sweep = 0;
    begin(&q);
    for (size_t i = 0; i <= s->values.count; i++) {
        while (q.queue.count) {
            SettleStep step = pop(&q);
            sweep = step >> 32;
            uint32_t op = (uint32_t)step;
            const SpreadClass *c = follow(s, s->ops.data[op]);
            if (c) tell(&q, c, sweep, op);
        }
        if (i == s->values.count) return;
        const IrValue *v = s->values.data[i];
        SpreadClass *c = spreading_class(s, v);
        if (c->known) continue;
        c->known = true;
        c->layout = gpu_blocked(v->type, s->threads, ir_elem_size(v->type));
        tell(&q, c, sweep, UINT32_MAX);
    }
}

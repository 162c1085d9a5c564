// The interface of rules to the driver: ops to visit again, and constants that replace an op.
#include "passes/simplify.h"

void simplify_requeue(Simplify *s, IrOp *op) {
    while (s->queued.count <= op->id) vec_push(s->scratch, &s->queued, false);
    if (s->queued.data[op->id]) return;
    s->queued.data[op->id] = true;
    vec_push(s->scratch, &s->work, op);
}

void simplify_requeue_users(Simplify *s, const IrValue *value) {
    for (const IrUse *use = value->uses; use; use = use->next) simplify_requeue(s, use->user);
}

IrValue *simplify_constant(Simplify *s, const IrOp *op, uint64_t bits) {
    return ir_const_bits(&s->b, op->results[0].type, bits);
}

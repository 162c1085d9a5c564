// Atomics on views and through pointers.
#include "frontend/common/build.h"

IrValue *el_atomic(Elab *e, const AtomicOp *a, uint32_t count, IrValue *const *values,
                   IrValue *mask) {
    IrValue *operands[4] = {NULL};
    uint32_t n = 0;
    if (!a->access) operands[n++] = a->pointer;
    for (uint32_t i = 0; i < count; i++) operands[n++] = values[i];
    operands[n++] = mask;
    IrOp *op;
    if (a->access) {
        op = el_view_op(e, a->access, a->swaps ? IR_VIEW_CAS : IR_VIEW_ATOMIC, n, operands);
    } else {
        const IrType *t = a->pointer->type, *type = ir_tile(e->module, t->elem, t->rank, t->shape);
        op = ir_op(&e->b, a->swaps ? IR_ATOMIC_CAS : IR_ATOMIC, n, operands, 1, &type, 0, NULL);
    }
    if (!a->swaps) ir_attr_set_int(op, IR_ATTR_RMW, a->rmw);
    ir_attr_set_int(op, IR_ATTR_ORDER, a->order);
    ir_attr_set_int(op, IR_ATTR_SCOPE, a->scope);
    return ir_result(op, 0);
}

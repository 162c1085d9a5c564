// Loads and stores of lanes, and the arithmetic of their addresses.
#include "passes/cpu/emit/access.h"

static bool is_one(const IrValue *v) {
    return v->def && v->def->code == IR_CONST && ir_attr(v->def, IR_ATTR_VALUE)->u.bits == 1;
}

IrValue *access_scaled(Nest *nest, IrBuilder *b, IrValue *index, IrValue *stride) {
    if (is_one(stride)) return index;
    if (index->type->rank == 0) return lower_mul(b, index, stride);
    return ir_binary(b, IR_MUL, index, ir_broadcast(b, stride, 1, &nest->lanes));
}

IrValue *access_sum(Nest *nest, IrBuilder *b, IrValue *x, IrValue *y) {
    if (!x) return y;
    if (x->type->rank == 0 && y->type->rank == 0) return lower_add(b, x, y);
    if (x->type->rank == 0) x = ir_broadcast(b, x, 1, &nest->lanes);
    if (y->type->rank == 0) y = ir_broadcast(b, y, 1, &nest->lanes);
    return ir_binary(b, IR_ADD, x, y);
}

IrValue *access_element_pointer(Nest *nest, IrBuilder *b, IrValue *data, IrValue *linear) {
    if (linear->type->rank) data = ir_broadcast(b, data, 1, &nest->lanes);
    return ir_ptr_add(b, data, linear);
}

IrValue *access_load_op(Lower *l, Nest *nest, IrBuilder *b, const AccessLanes *lanes,
                        IrValue *pointer, Dtype elem, uint32_t count, IrValue *mask,
                        IrValue *other) {
    const IrType *t = ir_tile(l->module, elem, lanes->vector ? 1 : 0, &count);
    IrValue *operands[3] = {pointer, mask, mask ? other : NULL};
    IrOpcode code = lanes->neighbours ? IR_CPU_LOAD : IR_LOAD;
    (void)nest;
    return ir_result(ir_op(b, code, 3, operands, 1, &t, 0, NULL), 0);
}

void access_store_op(IrBuilder *b, const AccessLanes *lanes, IrValue *pointer, IrValue *x,
                     IrValue *mask, bool stream) {
    IrValue *operands[3] = {pointer, x, mask};
    IrOp *op = ir_op(b, lanes->neighbours ? IR_CPU_STORE : IR_STORE, 3, operands, 0, NULL, 0, NULL);
    if (stream) ir_attr_set_int(op, IR_ATTR_STREAM, true);
}

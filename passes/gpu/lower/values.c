// Values of the thread level: the lowered form of each value, and the ops that lowerings create
// from them.
#include "passes/gpu/lower/threads.h"

// ---- values -------------------------------------------------------------------------------------

static uint64_t key_of(const IrValue *v) { return (uint64_t)(uintptr_t)v; }

IrValue *threads_value(Threads *t, const IrValue *v) {
    if (!v) return NULL;
    if (!v->def && !v->block) return (IrValue *)(uintptr_t)v;  // a parameter
    uint64_t *found = map_find(&t->map, key_of(v));
    CHECK(found, "value %u is used before it is lowered", v->id);
    return (IrValue *)(uintptr_t)*found;
}

IrValue *threads_operand(Threads *t, const IrOp *op, uint32_t i) {
    return i < op->operand_count ? threads_value(t, ir_operand(op, i)) : NULL;
}

void threads_bind(Threads *t, const IrValue *from, IrValue *to) {
    map_put(t->scratch, &t->map, key_of(from), (uint64_t)(uintptr_t)to);
}

void threads_define(Threads *t, const IrOp *op, uint32_t result, IrValue *v) {
    threads_bind(t, ir_result(op, result), v);
}

const IrType *threads_vector(Threads *t, Dtype elem, uint32_t count) {
    return ir_tile(t->module, elem, 1, &count);
}

const IrType *threads_type(Threads *t, const IrType *type) {
    if (!type->rank || type->kind == IR_VIEW) return type;
    uint32_t count = layout_size(type->layout, LAYOUT_REG);
    return type->kind == IR_PTR ? ir_ptr(t->module, type->elem, 1, &count)
                                : threads_vector(t, type->elem, count);
}

IrValue *threads_i32(Threads *t, int64_t value) { return ir_const_int(&t->b, DTYPE_I32, value); }
IrValue *threads_i64(Threads *t, int64_t value) { return ir_const_int(&t->b, DTYPE_I64, value); }

IrValue *threads_pack(Threads *t, uint32_t count, IrValue *const *parts) {
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < count; i++) lanes += parts[i]->type->count;
    if (count == 1 && parts[0]->type->rank) return parts[0];
    const IrType *type = ir_with_shape(t->module, parts[0]->type, 1, &lanes);
    return ir_result(ir_op(&t->b, IR_THREAD_PACK, count, parts, 1, &type, 0, NULL), 0);
}

IrValue *threads_get(Threads *t, IrValue *vector, uint32_t reg) {
    if (!vector->type->rank) return vector;
    const IrType *type = ir_with_shape(t->module, vector->type, 0, NULL);
    IrOp *op = ir_op(&t->b, IR_VEC_LANE, 1, &vector, 1, &type, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_LANE, reg);
    return ir_result(op, 0);
}

IrValue *threads_pick(Threads *t, IrValue *vector, uint32_t count, const uint32_t *regs) {
    int64_t *lanes = arena_new(t->scratch, int64_t, count);
    bool same = count == vector->type->count;
    for (uint32_t i = 0; i < count; i++) {
        lanes[i] = regs[i];
        same &= regs[i] == i;
    }
    if (same) return vector;
    const IrType *type = ir_with_shape(t->module, vector->type, 1, &count);
    IrValue *operands[2] = {vector, NULL};
    IrOp *op = ir_op(&t->b, IR_VEC_SHUFFLE, 2, operands, 1, &type, 0, NULL);
    ir_attr_set_ints(op, IR_ATTR_LANES, count, lanes);
    return ir_result(op, 0);
}

IrValue *threads_splat(Threads *t, IrValue *scalar, uint32_t count) {
    return ir_broadcast(&t->b, scalar, 1, &count);
}

// ---- memory -------------------------------------------------------------------------------------

IrValue *threads_shared(Threads *t, Dtype elem, uint32_t count) {
    const IrType *type = ir_ptr(t->module, elem, 0, NULL);
    IrOp *op = ir_op(&t->b, IR_THREAD_SHARED, 0, NULL, 1, &type, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_ELEM, elem);
    ir_attr_set_int(op, IR_ATTR_COUNT, count);
    return ir_result(op, 0);
}

IrOp *threads_barrier(Threads *t) {
    return ir_op(&t->b, IR_THREAD_BARRIER, 0, NULL, 0, NULL, 0, NULL);
}

IrValue *threads_at(Threads *t, IrValue *p, IrValue *index) {
    if (index->type->elem != DTYPE_I64) index = ir_cast(&t->b, index, DTYPE_I64, false);
    return ir_ptr_add(&t->b, p, index);
}

// Does p point into a view's data whose end is known to be near?
static bool is_narrow(const Threads *t, const IrValue *p) {
    while (p->def && p->def->code == IR_PTR_ADD) p = ir_operand(p->def, 0);
    return t->facts & FACT_NEAR && p->def && p->def->code == IR_VEC_DATA;
}

IrValue *threads_load(Threads *t, IrValue *p, uint32_t count, uint32_t align, IrValue *mask,
                      IrValue *other) {
    const IrType *type =
        count == 1 ? ir_scalar(t->module, p->type->elem) : threads_vector(t, p->type->elem, count);
    IrValue *operands[3] = {p, mask, mask ? other : NULL};
    IrOp *op = ir_op(&t->b, IR_THREAD_LOAD, 3, operands, 1, &type, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_ALIGN, align);
    if (is_narrow(t, p)) ir_attr_set_int(op, IR_ATTR_NARROW, true);
    return ir_result(op, 0);
}

IrOp *threads_store(Threads *t, IrValue *p, IrValue *x, uint32_t align, IrValue *mask) {
    IrValue *operands[3] = {p, x, mask};
    IrOp *op = ir_op(&t->b, IR_THREAD_STORE, 3, operands, 0, NULL, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_ALIGN, align);
    if (is_narrow(t, p)) ir_attr_set_int(op, IR_ATTR_NARROW, true);
    return op;
}

void threads_copy_hint(const IrOp *op, IrOp *made) {
    ir_attr_set_int(made, IR_ATTR_CACHE, ir_attr_int(op, IR_ATTR_CACHE));
}

static IrValue *shuffle(Threads *t, IrValue *x, IrValue *lane, uint32_t by) {
    IrValue *operands[2] = {x, lane};
    const IrType *type = x->type;
    IrOp *op = ir_op(&t->b, IR_THREAD_SHUFFLE, 2, operands, 1, &type, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_LANE, by);
    return ir_result(op, 0);
}

IrValue *threads_xor_lane(Threads *t, IrValue *x, uint32_t by) { return shuffle(t, x, NULL, by); }

IrValue *threads_from_lane(Threads *t, IrValue *x, IrValue *lane) { return shuffle(t, x, lane, 0); }

// Loads and stores, by what they access: views, packed elements, pointers, copies.
#include "passes/gpu/lower/access.h"

static AccessRuns view_runs(Threads *t, const Selection *s) {
    int axis = s->dims[s->rank - 1].axis;
    return access_runs(t, s->layout, axis < 0 ? 0 : (uint32_t)axis, access_vector(t, s));
}

static uint32_t align_of(const Selection *s, uint32_t vector) {
    return vector * (uint32_t)dtype_size(ir_operand(s->op, 0)->type->elem);
}

static void view_load(Threads *t, const IrOp *op) {
    if (threads_load_is_copy(t, op)) return;
    const IrType *type = op->results[0].type;
    Selection s = access_select(t, op, type->layout);
    AccessRuns r = view_runs(t, &s);
    IrValue **parts = arena_new(t->scratch, IrValue *, r.count), *pad = threads_operand(t, op, 1);
    for (uint32_t i = 0; i < r.count; i++) {
        uint32_t reg = r.registers[i * r.vector];
        IrValue *other = pad && r.vector > 1 ? threads_splat(t, pad, r.vector) : pad;
        IrValue *mask = access_mask(t, &s, reg);
        parts[i] = threads_load(t, access_pointer(t, &s, reg), r.vector, align_of(&s, r.vector),
                                mask, other);
        threads_copy_hint(op, parts[i]->def);
    }
    threads_define(t, op, 0, type->rank ? access_in_order(t, &r, parts) : parts[0]);
}

static void view_store(Threads *t, const IrOp *op) {
    const IrType *type = ir_operand(op, 1)->type;
    Selection s = access_select(t, op, type->layout);
    IrValue *x = threads_operand(t, op, 1), *masks = threads_operand(t, op, 2);
    IrValue *owner = access_owner(t, s.layout);
    AccessRuns r = masks && masks->type->rank ? access_runs(t, s.layout, 0, 1) : view_runs(t, &s);
    for (uint32_t i = 0; i < r.count; i++) {
        uint32_t *regs = &r.registers[i * r.vector];
        if (s.layout && threads_first_holder(s.layout, regs[0]) != regs[0]) continue;
        IrValue *mask = access_both(t, access_mask(t, &s, regs[0]), owner);
        if (masks) mask = access_both(t, mask, threads_get(t, masks, regs[0]));
        IrValue *part =
            r.vector == 1 ? threads_get(t, x, regs[0]) : threads_pick(t, x, r.vector, regs);
        uint32_t align = align_of(&s, r.vector);
        threads_copy_hint(op, threads_store(t, access_pointer(t, &s, regs[0]), part, align, mask));
    }
}

static void view_inside(Threads *t, const IrOp *op) {
    const IrType *type = op->results[0].type;
    Selection s = access_select(t, op, type->layout);
    uint32_t count = type->layout ? layout_size(type->layout, LAYOUT_REG) : 1;
    IrValue **parts = arena_new(t->scratch, IrValue *, count);
    for (uint32_t r = 0; r < count; r++) {
        parts[r] = access_mask(t, &s, r);
        if (!parts[r]) parts[r] = ir_const_bool(&t->b, true);
    }
    threads_define(t, op, 0, type->rank ? threads_pack(t, count, parts) : parts[0]);
}

void threads_access(Threads *t, const IrOp *op) {
    bool packed = access_is_packed(ir_operand(op, 0));
    switch (op->code) {
    case IR_VIEW_LOAD: (packed ? access_load_packed : view_load)(t, op); return;
    case IR_VIEW_STORE: (packed ? access_store_packed : view_store)(t, op); return;
    case IR_VIEW_INSIDE: view_inside(t, op); return;
    case IR_LOAD: access_load_pointers(t, op); return;
    case IR_STORE: access_store_pointers(t, op); return;
    default: break;
    }
}

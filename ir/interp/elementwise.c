// Elementwise ops, element by element through ir_eval; loops.c has the common types' loops.
#include "ir/interp/internal.h"

void execute_constant(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    InterpSlot *r = result_slot(run, frame, op, 0);
    if (r->filled) return;
    r->filled = true;
    if (op->code == IR_IOTA) {
        for (uint32_t i = 0; i < r->count; i++) slot_put(r, i, i);
        return;
    }
    uint64_t bits = ir_attr(op, IR_ATTR_VALUE)->u.bits;
    for (uint32_t i = 0; i < r->count; i++) slot_put(r, i, bits);
}

static void arithmetic(const IrOp *op, InterpSlot *r, InterpSlot *const *in) {
    Dtype elem = in[0]->elem;
    const void *data[3] = {in[0]->data, in[1] ? in[1]->data : NULL, in[2] ? in[2]->data : NULL};
    bool same = !in[1] || in[1]->elem == elem;
    if (same && loop_elementwise(op->code, elem, r->count, r->data, data[0], data[1], data[2]))
        return;
    for (uint32_t i = 0; i < r->count; i++) {
        uint64_t bits[3] = {0, 0, 0};
        for (uint32_t k = 0; k < 3 && in[k]; k++) bits[k] = slot_get(in[k], i);
        uint64_t result = 0;
        bool known = ir_eval(op->code, elem, bits, &result);
        CHECK(known, "%s is not elementwise on %s", ir_op_info(op->code)->text, dtype_name(elem));
        slot_put(r, i, result);
    }
}

static void compare_places(const IrOp *op, InterpSlot *r, const InterpSlot *a,
                           const InterpSlot *b) {
    for (uint32_t i = 0; i < r->count; i++) {
        bool equal = slot_place(a, i).address == slot_place(b, i).address;
        slot_put(r, i, equal == (op->code == IR_EQ));
    }
}

static void choose(InterpSlot *r, const InterpSlot *c, const InterpSlot *a, const InterpSlot *b) {
    if (c->count == 1) {
        memcpy(r->data, slot_get(c, 0) ? a->data : b->data, (size_t)r->count * r->size);
        return;
    }
    for (uint32_t i = 0; i < r->count; i++) {
        const InterpSlot *from = c->data[i] ? a : b;
        size_t at = (size_t)i * r->size;
        copy_element(r->data + at, from->data + at, r->size);
    }
}

static void cast(const IrOp *op, InterpSlot *r, const InterpSlot *a) {
    bool saturate = ir_attr_int(op, IR_ATTR_SATURATE) != 0;
    if (loop_cast(r->elem, a->elem, r->count, r->data, a->data)) return;
    for (uint32_t i = 0; i < r->count; i++)
        slot_put(r, i, dtype_cast(r->elem, a->elem, slot_get(a, i), saturate));
}

static void lookup(const IrOp *op, InterpSlot *r, const InterpSlot *index) {
    const IrAttr *values = ir_attr(op, IR_ATTR_VALUES);
    for (uint32_t i = 0; i < r->count; i++) {
        int64_t at;
        bool inside = slot_i64(index, i, &at) && at >= 0 && at < values->u.consts.count;
        slot_put(r, i, inside ? values->u.consts.items[at] : 0);
    }
}

// The buffer that contains an address that was an integer.
static uint64_t origin_of(const InterpRun *run, uint64_t address) {
    for (size_t i = 1; i < run->interp->buffers.count; i++) {
        const InterpBuffer *b = &run->interp->buffers.data[i];
        if (address >= b->low && address < b->high) return i;
    }
    return 0;
}

static void bitcast(InterpRun *run, InterpSlot *r, const InterpSlot *a) {
    bool to_place = r->type->kind == IR_PTR;
    bool from_place = a->type->kind == IR_PTR;
    if (to_place == from_place) {
        memcpy(r->data, a->data, (size_t)r->count * r->size);
        return;
    }
    for (uint32_t i = 0; i < r->count; i++) {
        if (from_place) {
            slot_put(r, i, slot_place(a, i).address);
        } else {
            uint64_t address = slot_get(a, i);
            slot_put_place(r, i, (InterpPlace){address, origin_of(run, address)});
        }
    }
}

static void pointer_add(InterpSlot *r, const InterpSlot *p, const InterpSlot *n) {
    bool packed = dtype_is(p->type->elem, DTYPE_CLASS_PACKED);
    uint64_t scale = packed ? 1 : dtype_size(p->type->elem);
    for (uint32_t i = 0; i < r->count; i++) {
        InterpPlace at = slot_place(p, slot_lane(p, i));
        int64_t by;
        slot_i64(n, slot_lane(n, i), &by);
        at.address += (uint64_t)by * scale;
        slot_put_place(r, i, at);
    }
}

void execute_elementwise(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    InterpSlot *in[3] = {NULL, NULL, NULL};
    for (uint32_t i = 0; i < 3 && i < op->operand_count; i++)
        in[i] = operand_slot(run, frame, op, i);
    InterpSlot *r = result_slot(run, frame, op, 0);
    bool places = in[0]->type->kind == IR_PTR;
    if (op->code == IR_SELECT)
        choose(r, in[0], in[1], in[2]);
    else if (op->code == IR_CAST)
        cast(op, r, in[0]);
    else if (op->code == IR_LOOKUP)
        lookup(op, r, in[0]);
    else if (op->code == IR_BITCAST)
        bitcast(run, r, in[0]);
    else if (op->code == IR_PTR_ADD)
        pointer_add(r, in[0], in[1]);
    else if (places)
        compare_places(op, r, in[0], in[1]);
    else
        arithmetic(op, r, in);
    if (run->shadow) shadow_elementwise(run, frame, op);
    if (wrap_watched(run, frame)) wrap_elementwise(run, op, r, in);
}

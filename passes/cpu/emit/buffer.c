// Scratch memory: a buffer for each tile that is in memory.
#include "passes/cpu/emit/lower.h"

const IrType *buffer_elem_type(Lower *l, const IrType *type) {
    return ir_scalar(l->module, type->kind == IR_PTR ? DTYPE_U64 : type->elem);
}

TileBuffer buffer_as(TileBuffer buffer, const IrType *type) {
    int64_t step = 1;
    buffer.type = type;
    for (uint32_t d = type->rank; d-- > 0; step *= type->shape[d]) buffer.step[d] = step;
    return buffer;
}

TileBuffer buffer_create(Lower *l, const IrType *type) {
    TileBuffer buffer = buffer_as((TileBuffer){.id = ++l->buffers}, type);
    Dtype elem = buffer_elem_type(l, type)->elem;
    const IrType *pointer = ir_ptr(l->module, elem, 0, NULL);
    IrOp *op = ir_op(&l->top, IR_CPU_SCRATCH, 0, NULL, 1, &pointer, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_ELEM, elem);
    ir_attr_set_int(op, IR_ATTR_COUNT, type->count);
    buffer.data = ir_result(op, 0);
    return buffer;
}

TileBuffer buffer_part(Lower *l, TileBuffer buffer, uint32_t dim, uint32_t from, const IrType *type,
                       bool drop) {
    TileBuffer part = {.id = ++l->buffers, .type = type};
    uint32_t at = 0;
    for (uint32_t d = 0; d < buffer.type->rank; d++)
        if (!(drop && d == dim)) part.step[at++] = buffer.step[d];
    IrBuilder b = lower_builder(l);
    part.data = ir_ptr_add(&b, buffer.data, lower_i64(&b, from * buffer.step[dim]));
    return part;
}

TileBuffer lower_buffer_of(Lower *l, const IrValue *tile) {
    TileBuffer buffer = lower_tile(l, tile)->buffer;
    CHECK(buffer.id, "a value without its buffer");
    return buffer;
}

IrValue *buffer_element(IrBuilder *b, TileBuffer buffer, IrValue *linear) {
    return ir_ptr_add(b, buffer.data, linear);
}

TileState *lower_new_tile(Lower *l, const IrValue *value) {
    while (l->tiles.count <= value->id) {
        TileState blank = {0};
        vec_push(l->scratch, &l->tiles, blank);
    }
    return &l->tiles.data[value->id];
}

// A buffer of its own, or that of the carried tile which the value replaces.
static TileBuffer buffer_for(Lower *l, const IrValue *value) {
    uint32_t home = lower_home(l, value);
    if (home && l->tiles.data[home - 1].buffer.id) return l->tiles.data[home - 1].buffer;
    return buffer_create(l, value->type);
}

TileBuffer lower_result_buffer(Lower *l, IrValue *value) {
    TileBuffer buffer = buffer_for(l, value);
    TileState *t = lower_tile(l, value);
    t->in_memory = true;
    t->buffer = buffer;
    return buffer;
}

// ---- scratch memory that is never read ----------------------------------------------------------

static bool is_only_written(const IrValue *pointer) {
    for (const IrUse *use = pointer->uses; use; use = use->next) {
        const IrOp *op = use->user;
        bool write = (op->code == IR_CPU_STORE || op->code == IR_STORE) &&
                     ir_operand(op, 1) != pointer && ir_operand(op, 2) != pointer;
        bool moved = op->code == IR_PTR_ADD && is_only_written(&op->results[0]);
        if (!write && !moved) return false;
    }
    return true;
}

static void drop_writes(IrValue *pointer) {
    while (pointer->uses) {
        IrOp *op = pointer->uses->user;
        if (op->code == IR_PTR_ADD) drop_writes(ir_result(op, 0));
        ir_erase(op);
    }
}

void buffer_drop_unread(Lower *l) {
    for (IrOp *op = ir_body(l->func)->first, *next; op; op = next) {
        next = op->next;
        if (op->code != IR_CPU_SCRATCH || !is_only_written(ir_result(op, 0))) continue;
        drop_writes(ir_result(op, 0));
        next = op->next;
        ir_erase(op);
    }
}

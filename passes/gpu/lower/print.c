// Prints: values go to shared memory in row-major order; vec.print reads them there for all
// threads.
#include "passes/gpu/lower/shared_table.h"

// Stores the value to memory; a barrier is needed before it is read.
static IrValue *value_in_memory(Threads *t, const IrValue *v) {
    IrValue *x = threads_value(t, v), *memory;
    if (x->type->kind == IR_PTR)
        x = ir_bitcast(&t->b, x, ir_with_elem(t->module, x->type, DTYPE_U64));
    if (!v->type->rank) {
        memory = threads_shared(t, x->type->elem, 1);
        IrValue *first = ir_binary(&t->b, IR_EQ, t->thread, threads_i32(t, 0));
        threads_store(t, memory, x, 0, first);
        return memory;
    }
    uint32_t strides[IR_MAX_RANK];
    place_strides(v->type, strides);
    memory = threads_shared(t, x->type->elem, v->type->count);
    SharedPlace place = place_of(t, v->type->layout, strides);
    place_store(t, memory, x, &place);
    return memory;
}

void threads_print(Threads *t, const IrOp *op) {
    IrValue **pointers = arena_new(t->scratch, IrValue *, op->operand_count + 1);
    VEC(int64_t) shapes = {0};
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const IrType *type = ir_operand(op, i)->type;
        pointers[i] = value_in_memory(t, ir_operand(op, i));
        vec_push(t->scratch, &shapes, type->rank);
        for (uint32_t d = 0; d < type->rank; d++) vec_push(t->scratch, &shapes, type->shape[d]);
    }
    threads_barrier(t);
    IrOp *made = ir_op(&t->b, IR_VEC_PRINT, op->operand_count, pointers, 0, NULL, 0, NULL);
    const IrAttr *texts = ir_attr(op, IR_ATTR_TEXTS);
    uint32_t count = op->operand_count + 1;  // one before each value and one at the end
    if (texts->u.texts.count > count) count = texts->u.texts.count;
    Str *all = arena_new(t->scratch, Str, count);
    for (uint32_t i = 0; i < count; i++)
        all[i] = i < texts->u.texts.count ? texts->u.texts.items[i] : STR("");
    ir_attr_set_texts(made, IR_ATTR_TEXTS, count, all);
    ir_attr_set_ints(made, IR_ATTR_SELECT, (uint32_t)shapes.count, shapes.data);
    ir_attr_set_int(made, IR_ATTR_SITE, t->sites++);
    threads_barrier(t);
}

// Prints, atomics.
#include "passes/cpu/emit/lower.h"

// ---- prints -------------------------------------------------------------------------------------

static TileBuffer scalar_in_memory(Lower *l, IrBuilder *b, IrValue *x) {
    TileBuffer buffer = buffer_create(l, x->type);
    if (x->type->kind == IR_PTR) x = ir_bitcast(b, x, ir_scalar(l->module, DTYPE_U64));
    IrValue *operands[3] = {buffer.data, x, NULL};
    ir_op(b, IR_STORE, 3, operands, 0, NULL, 0, NULL);
    return buffer;
}

static void lower_print(Lower *l, IrOp *op) {
    IrBuilder b = lower_builder(l);
    IrValue **pointers = arena_new(l->scratch, IrValue *, op->operand_count + 1);
    VEC(int64_t) shapes = {0};
    for (uint32_t i = 0; i < op->operand_count; i++) {
        IrValue *x = ir_operand(op, i);
        bool tile = x->type->rank > 0;
        pointers[i] = tile ? lower_buffer_of(l, x).data : scalar_in_memory(l, &b, x).data;
        vec_push(l->scratch, &shapes, x->type->rank);
        for (uint32_t d = 0; d < x->type->rank; d++)
            vec_push(l->scratch, &shapes, x->type->shape[d]);
    }
    IrOp *made = ir_op(&b, IR_VEC_PRINT, op->operand_count, pointers, 0, NULL, 0, NULL);
    const IrAttr *texts = ir_attr(op, IR_ATTR_TEXTS);
    // One text comes before each value and one at the end.
    uint32_t count = op->operand_count + 1;
    if (texts->u.texts.count > count) count = texts->u.texts.count;
    Str *all = arena_new(l->scratch, Str, count);
    for (uint32_t i = 0; i < count; i++)
        all[i] = i < texts->u.texts.count ? texts->u.texts.items[i] : STR("");
    ir_attr_set_texts(made, IR_ATTR_TEXTS, count, all);
    ir_attr_set_ints(made, IR_ATTR_SELECT, (uint32_t)shapes.count, shapes.data);
    ir_attr_set_int(made, IR_ATTR_SITE, l->sites++);
}

// ---- atomics: one element after the other -------------------------------------------------------

typedef struct AtomicLoop {
    IrOp *op;
    TileBuffer old;   // buffer of the old values; id 0: they are unused
    IrValue *single;  // for one element: the old value
} AtomicLoop;

static IrValue *element_of(Lower *l, Nest *nest, IrValue *x, LanePlace place) {
    return value_at(l, nest, x, x->type->rank ? place : (LanePlace){0}).value;
}

static void each_atomic(Lower *l, Nest *nest, LanePlace place, void *user) {
    AtomicLoop *a = user;
    IrOp *op = a->op;
    bool cas = op->code == IR_ATOMIC_CAS || op->code == IR_VIEW_CAS;
    IrValue *operands[4], *pointer, *mask;
    access_element(l, nest, op, place, &pointer, &mask);
    IrBuilder *b = nest_builder(nest, nest->depth);
    uint32_t count = 0;
    operands[count++] = pointer;
    operands[count++] = element_of(l, nest, ir_operand(op, 1), place);
    if (cas) operands[count++] = element_of(l, nest, ir_operand(op, 2), place);
    operands[count++] = mask;
    b->span = op->span;
    const IrType *t = ir_scalar(l->module, ir_operand(op, 0)->type->elem);
    IrOp *made = ir_op(b, cas ? IR_ATOMIC_CAS : IR_ATOMIC, count, operands, 1, &t, 0, NULL);
    if (!cas) ir_attr_set_int(made, IR_ATTR_RMW, ir_attr_int(op, IR_ATTR_RMW));
    ir_attr_set_int(made, IR_ATTR_ORDER, ir_attr_int(op, IR_ATTR_ORDER));
    ir_attr_set_int(made, IR_ATTR_SCOPE, ir_attr_int(op, IR_ATTR_SCOPE));
    a->single = ir_result(made, 0);
    if (a->old.id) access_buffer_store(l, nest, a->old, place, (NestValue){a->single, nest->depth});
}

static bool is_scalar_atomic(const IrOp *op) {
    return (op->code == IR_ATOMIC || op->code == IR_ATOMIC_CAS) &&
           ir_operand(op, 0)->type->rank == 0;
}

static void lower_atomic(Lower *l, IrOp *op) {
    AtomicLoop a = {.op = op};
    IrValue *old = ir_result(op, 0);
    if (old->type->rank && old->uses) a.old = lower_result_buffer(l, old);
    nest_each(l, old->type->rank, old->type->shape, each_atomic, &a);
    if (old->type->rank == 0) ir_replace_all(old, a.single);
}

void effect_lower(Lower *l, IrOp *op) {
    CHECK(!is_scalar_atomic(op) || op->operand_count, "an atomic without operands");
    if (op->code == IR_PRINT)
        lower_print(l, op);
    else
        lower_atomic(l, op);
}

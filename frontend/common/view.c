// Accesses to views: the shape of a selection, indices, and the operation.
#include "frontend/common/build.h"

Dtype el_view_elem(const View *view) {
    if (view->elem == DTYPE_I4) return DTYPE_I8;
    return view->elem == DTYPE_U4 ? DTYPE_U8 : view->elem;
}

// ---- is a value provably even?

// `fuel` bounds the walk: values may share operands.
static bool even(const Elab *e, const IrValue *v, int *fuel) {
    if (!v || --*fuel < 0) return false;
    const IrOp *op = v->def;
    if (!op) {
        for (const Loop *loop = e->loops; loop; loop = loop->outer_any)
            if (loop->var == v) return even(e, loop->low, fuel) && even(e, loop->step, fuel);
        return false;
    }
    if (op->code == IR_CONST) return (ir_attr(op, IR_ATTR_VALUE)->u.bits & 1) == 0;
    if (op->code == IR_ADD || op->code == IR_SUB || op->code == IR_REM || op->code == IR_OR ||
        op->code == IR_XOR || op->code == IR_MIN || op->code == IR_MAX)
        return even(e, ir_operand(op, 0), fuel) && even(e, ir_operand(op, 1), fuel);
    if (op->code == IR_MUL || op->code == IR_AND)
        return even(e, ir_operand(op, 0), fuel) || even(e, ir_operand(op, 1), fuel);
    if (op->code == IR_SELECT)
        return even(e, ir_operand(op, 1), fuel) && even(e, ir_operand(op, 2), fuel);
    if (op->code == IR_SHL) {
        const IrOp *count = ir_operand(op, 1)->def;
        bool moves = count && count->code == IR_CONST && ir_attr(count, IR_ATTR_VALUE)->u.bits != 0;
        return moves || even(e, ir_operand(op, 0), fuel);
    }
    bool same = op->code == IR_NEG || op->code == IR_BROADCAST || op->code == IR_RESHAPE;
    if (op->code == IR_CAST) same = dtype_is(el_elem(ir_operand(op, 0)), DTYPE_CLASS_INT);
    return same && even(e, ir_operand(op, 0), fuel);
}

bool el_provably_even(const Elab *e, const IrValue *v) {
    int fuel = 256;
    return even(e, v, &fuel);
}

// ---- indices

// Converts an index to i64, the type in which indices are compared. A u64 from 2^63 on would turn
// negative, and the lanes of a part-select could wrap around to 0. So it is replaced by a number
// that is also outside of every view. That number is even, so that a packed offset stays provably
// even.
IrValue *el_index_to_i64(Elab *e, IrValue *index) {
    if (el_elem(index) == DTYPE_U64) {
        IrValue *top = ir_const_bits(&e->b, index->type, (uint64_t)INT64_MAX - 1);
        index = ir_binary(&e->b, IR_MIN, index, top);
    }
    return el_convert(e, index, DTYPE_I64);
}

// The dimensions of the selection. The dimensions of tile indices are at the position of the first
// of them.
bool el_access_shape(Elab *e, Access *a) {
    IrValue *tiles[IR_MAX_VIEW_RANK] = {0};
    for (uint32_t i = 0; i < a->count; i++)
        if (a->index[i]->type->rank && !a->select[i]) tiles[i] = a->index[i];
    Shape gathered;
    TRY(el_common_shape(e, a->span, a->count, tiles, &gathered));
    uint32_t dims[IR_MAX_VIEW_RANK + IR_MAX_RANK], rank = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->select[i]) dims[rank++] = (uint32_t)a->select[i];
        if (!tiles[i] || a->gathers) continue;
        a->gathers = true;
        for (uint32_t d = 0; d < gathered.rank; d++) dims[rank++] = gathered.dims[d];
    }
    TRY(el_shape_limits(e, a->span, rank, dims));
    a->shape.rank = rank;
    for (uint32_t i = 0; i < rank; i++) a->shape.dims[i] = dims[i];
    return true;
}

// ---- operations

static IrOp *access_op(Elab *e, const Access *a, IrOpcode code, uint32_t leading,
                       IrValue *const *first, Dtype result) {
    IrValue *operands[4 + IR_MAX_VIEW_RANK];
    uint32_t n = 0;
    operands[n++] = a->view->value;
    for (uint32_t i = 0; i < leading; i++) operands[n++] = first[i];
    for (uint32_t i = 0; i < a->count; i++) operands[n++] = a->index[i];
    const IrType *type = ir_tile(e->module, result, a->shape.rank, a->shape.dims);
    bool stores = code == IR_VIEW_STORE;
    IrOp *op = ir_op(&e->b, code, n, operands, stores ? 0 : 1, &type, 0, NULL);
    int64_t *select = arena_new(e->module->arena, int64_t, a->count);
    int64_t *inside = arena_new(e->module->arena, int64_t, a->count);
    for (uint32_t i = 0; i < a->count; i++) select[i] = a->select[i];
    ir_attr_set_ints(op, IR_ATTR_SELECT, a->count, select);
    if (code != IR_VIEW_INSIDE) ir_attr_set_ints(op, IR_ATTR_INSIDE, a->count, inside);
    return op;
}

IrOp *el_view_op(Elab *e, const Access *a, IrOpcode code, uint32_t leading, IrValue *const *first) {
    return access_op(e, a, code, leading, first,
                     code == IR_VIEW_INSIDE ? DTYPE_BOOL : el_view_elem(a->view));
}

IrValue *el_view_read(Elab *e, const Access *a, IrValue *pad) {
    return ir_result(el_view_op(e, a, IR_VIEW_LOAD, 1, &pad), 0);
}

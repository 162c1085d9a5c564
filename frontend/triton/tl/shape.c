// Functions of triton.language that change shapes.
#include "frontend/triton/elaborate.h"

static bool axis_of(Elab *e, Val v, uint32_t rank, Span span, uint32_t *axis) {
    Int128 n;
    if (!tr_const_int(e, v, "an axis", span, &n)) return false;
    if (n < 0) n += rank;
    if (n < 0 || n >= rank) {
        el_error(e, span, DIAG_ARGUMENTS, "the axis %s is outside of %u dimension%s",
                 el_wide_text(e, n < 0 ? n - rank : n), rank, rank == 1 ? "" : "s");
        return false;
    }
    *axis = (uint32_t)n;
    return true;
}

Val tl_expand_dims(Elab *e, const TlCall *c) {
    IrValue *v = tr_tensor(e, c->arg[0], c->at[0]);
    if (!v) return EL_POISON;
    Val axes = c->arg[1].kind == VAL_TUPLE ? c->arg[1] : el_tuple(e, 1, &c->arg[1]);
    uint32_t rank = v->type->rank + axes.tuple.count;
    if (rank > IR_MAX_RANK)
        return el_error(e, c->span, DIAG_SHAPE, "a tensor has at most %d dimensions", IR_MAX_RANK);
    bool fresh[IR_MAX_RANK] = {false};
    for (uint32_t i = 0; i < axes.tuple.count; i++) {
        uint32_t axis;
        if (!axis_of(e, axes.tuple.items[i], rank, c->at[1], &axis)) return EL_POISON;
        fresh[axis] = true;
    }
    Shape shape = {.rank = rank};
    for (uint32_t i = 0, from = 0; i < rank; i++)
        shape.dims[i] = fresh[i] || from >= v->type->rank ? 1 : v->type->shape[from++];
    return el_ir(ir_reshape(&e->b, v, shape.rank, shape.dims));
}

Val tl_squeeze(Elab *e, const TlCall *c) {
    IrValue *v = tr_tensor(e, c->arg[0], c->at[0]);
    uint32_t axis;
    if (!v || !axis_of(e, c->arg[1], v->type->rank, c->at[1], &axis)) return EL_POISON;
    if (v->type->shape[axis] != 1)
        return el_error(e, c->at[1], DIAG_SHAPE, "the dimension %u of %s is not 1", axis,
                        tr_text(e, el_ir(v)));
    Shape shape = {.rank = v->type->rank - 1};
    for (uint32_t i = 0; i < shape.rank; i++) shape.dims[i] = v->type->shape[i + (i >= axis)];
    return el_ir(ir_reshape(&e->b, v, shape.rank, shape.dims));
}

Val tl_broadcast_to(Elab *e, const TlCall *c) {
    Shape shape;
    IrValue *v = tr_tensor(e, c->arg[0], c->at[0]);
    if (!v || !tr_call_shape(e, c, 1, &shape)) return EL_POISON;
    return el_ir(tr_stretch(e, v, &shape, c->span));
}

Val tl_broadcast(Elab *e, const TlCall *c) {
    IrValue *both[2] = {tr_tensor(e, c->arg[0], c->at[0]), tr_tensor(e, c->arg[1], c->at[1])};
    if (!both[0] || !both[1] || !tr_same_shape(e, c->span, 2, both)) return EL_POISON;
    return el_tuple(e, 2, (Val[]){el_ir(both[0]), el_ir(both[1])});
}

static uint64_t count_of(const Shape *s) {
    uint64_t count = 1;
    for (uint32_t i = 0; i < s->rank; i++) count *= s->dims[i];
    return count;
}

Val tl_reshape(Elab *e, const TlCall *c) {
    IrValue *v = tr_tensor(e, c->arg[0], c->at[0]);
    if (!v) return EL_POISON;
    TlCall own = *c;
    Shape from = el_shape_of(v->type), shape;
    Val list = c->arg[1];
    // One extent may be -1: what is left.
    Val *items = arena_new(e->scratch, Val, list.tuple.count + 1);
    uint64_t known = 1;
    for (uint32_t i = 0; i < list.tuple.count; i++) {
        items[i] = list.tuple.items[i];
        if (items[i].kind == VAL_INT && items[i].integer > 0) known *= (uint64_t)items[i].integer;
    }
    for (uint32_t i = 0; i < list.tuple.count; i++)
        if (items[i].kind == VAL_INT && items[i].integer == -1 && known)
            items[i] = el_int((Int128)(count_of(&from) / known));
    own.arg[1] = el_tuple(e, list.tuple.count, items);
    if (!tr_call_shape(e, &own, 1, &shape)) return EL_POISON;
    if (count_of(&from) != count_of(&shape))
        return el_error(e, c->span, DIAG_SHAPE, "%s has %llu elements, %s has %llu",
                        tr_text(e, el_ir(v)), (unsigned long long)count_of(&from),
                        el_shape_text(e, shape.rank, shape.dims),
                        (unsigned long long)count_of(&shape));
    return el_ir(ir_reshape(&e->b, v, shape.rank, shape.dims));
}

Val tl_ravel(Elab *e, const TlCall *c) {
    IrValue *v = tr_tensor(e, c->arg[0], c->at[0]);
    if (!v) return EL_POISON;
    Shape shape = el_shape_of(v->type);
    uint32_t count = (uint32_t)count_of(&shape);
    return el_ir(ir_reshape(&e->b, v, 1, &count));
}

Val tl_trans(Elab *e, const TlCall *c) {
    IrValue *v = tr_tensor(e, c->arg[0], c->at[0]);
    if (!v) return EL_POISON;
    uint32_t rank = v->type->rank;
    Val dims = c->arg[1].kind == VAL_TUPLE ? c->arg[1] : el_tuple(e, 0, &c->arg[0]);
    int64_t perm[IR_MAX_RANK];
    unsigned seen = 0;
    if (!dims.tuple.count) {
        if (rank < 2)
            return el_error(e, c->span, DIAG_SHAPE, "tl.trans needs two dimensions, found %s",
                            tr_text(e, el_ir(v)));
        for (uint32_t i = 0; i < rank; i++) perm[i] = i;
        perm[rank - 2] = rank - 1;
        perm[rank - 1] = rank - 2;
        return el_ir(ir_permute(&e->b, v, perm));
    }
    if (dims.tuple.count != rank)
        return el_error(e, c->span, DIAG_SHAPE, "%u axes for %s", dims.tuple.count,
                        tr_text(e, el_ir(v)));
    for (uint32_t i = 0; i < rank; i++) {
        uint32_t axis;
        if (!axis_of(e, dims.tuple.items[i], rank, c->at[1], &axis)) return EL_POISON;
        perm[i] = axis;
        seen |= 1u << axis;
    }
    if (seen != (1u << rank) - 1)
        return el_error(e, c->span, DIAG_SHAPE, "an axis stands twice in the permutation");
    return el_ir(ir_permute(&e->b, v, perm));
}

// Both of one type and shape; false after an error.
static bool pair(Elab *e, const TlCall *c, IrValue **both) {
    Val a = c->arg[0], b = c->arg[1];
    bool pointers = a.kind == VAL_IR && b.kind == VAL_IR && el_is_ptr(a.ir) && el_is_ptr(b.ir);
    if (pointers && el_elem(a.ir) == el_elem(b.ir)) {
        both[0] = a.ir;
        both[1] = b.ir;
        return tr_same_shape(e, c->span, 2, both);
    }
    // Integers that differ in their sign only take the type of the first.
    if (a.kind == VAL_IR && b.kind == VAL_IR && !el_is_ptr(a.ir) && !el_is_ptr(b.ir) &&
        dtype_is(el_elem(a.ir), DTYPE_CLASS_INT) && dtype_is(el_elem(b.ir), DTYPE_CLASS_INT) &&
        dtype_bits(el_elem(a.ir)) == dtype_bits(el_elem(b.ir)))
        b = el_ir(el_convert(e, b.ir, el_elem(a.ir)));
    return tr_promote(e, a, b, false, c->span, (Span[]){c->at[0], c->at[1]}, both);
}

// The type of tensors with these elements.
static const IrType *shaped_like(Elab *e, IrValue *v, const Shape *s) {
    return el_is_ptr(v) ? ir_ptr(e->module, el_elem(v), s->rank, s->dims)
                        : ir_tile(e->module, el_elem(v), s->rank, s->dims);
}

static IrValue *join(Elab *e, IrValue *const *both) {
    Shape shape = el_shape_of(both[0]->type);
    shape.dims[shape.rank++] = 2;
    return el_op1(e, IR_JOIN, 2, both, shaped_like(e, both[0], &shape));
}

Val tl_join(Elab *e, const TlCall *c) {
    IrValue *both[2];
    if (!pair(e, c, both)) return EL_POISON;
    if (both[0]->type->rank == IR_MAX_RANK)
        return el_error(e, c->span, DIAG_SHAPE, "a tensor has at most %d dimensions", IR_MAX_RANK);
    return el_ir(join(e, both));
}

Val tl_interleave(Elab *e, const TlCall *c) {
    IrValue *both[2];
    if (!pair(e, c, both)) return EL_POISON;
    uint32_t rank = both[0]->type->rank;
    if (rank == 0) return el_ir(join(e, both));
    if (rank == IR_MAX_RANK)
        return el_error(e, c->span, DIAG_SHAPE, "tl.interleave does not take %s",
                        tr_text(e, el_ir(both[0])));
    Shape shape = el_shape_of(both[0]->type);
    shape.dims[rank - 1] *= 2;
    return el_ir(ir_reshape(&e->b, join(e, both), shape.rank, shape.dims));
}

Val tl_split(Elab *e, const TlCall *c) {
    IrValue *v = tr_tensor(e, c->arg[0], c->at[0]);
    if (!v) return EL_POISON;
    uint32_t rank = v->type->rank;
    if (!rank || v->type->shape[rank - 1] != 2)
        return el_error(e, c->at[0], DIAG_SHAPE, "tl.split needs a last dimension of 2, found %s",
                        tr_text(e, el_ir(v)));
    const IrType *half = ir_tile(e->module, el_elem(v), rank - 1, v->type->shape);
    IrOp *op = ir_op(&e->b, IR_SPLIT, 1, &v, 2, (const IrType *[]){half, half}, 0, NULL);
    return el_tuple(e, 2, (Val[]){el_ir(ir_result(op, 0)), el_ir(ir_result(op, 1))});
}

Val tl_cat(Elab *e, const TlCall *c) {
    IrValue *both[2];
    uint32_t axis;
    if (!pair(e, c, both)) return EL_POISON;
    Val dim = tr_given(c, 3) ? c->arg[3] : el_int(0);
    if (!axis_of(e, dim, both[0]->type->rank, c->at[3], &axis)) return EL_POISON;
    Shape shape = el_shape_of(both[0]->type);
    shape.dims[axis] *= 2;
    IrValue *v = el_op1(e, IR_CAT, 2, both, shaped_like(e, both[0], &shape));
    ir_attr_set_int(v->def, IR_ATTR_AXIS, axis);
    return el_ir(v);
}

static IrValue *gathered(Elab *e, IrValue *v, IrValue *index, uint32_t axis) {
    const IrType *type = ir_tile(e->module, el_elem(v), index->type->rank, index->type->shape);
    IrValue *r = el_op1(e, IR_GATHER, 2, (IrValue *[]){v, index}, type);
    ir_attr_set_int(r->def, IR_ATTR_AXIS, axis);
    return r;
}

Val tl_flip(Elab *e, const TlCall *c) {
    IrValue *v = tr_numbers(e, c->arg[0], c->at[0]);
    uint32_t axis;
    if (!v) return EL_POISON;
    Val dim = tr_given(c, 1) ? c->arg[1] : el_int(-1);
    if (!axis_of(e, dim, v->type->rank, c->at[1], &axis)) return EL_POISON;
    Shape shape = el_shape_of(v->type), line = {.rank = shape.rank};
    uint32_t n = shape.dims[axis];
    for (uint32_t i = 0; i < shape.rank; i++) line.dims[i] = i == axis ? n : 1;
    IrValue *last = ir_const_int(&e->b, DTYPE_I32, n - 1);
    IrValue *index = ir_binary(&e->b, IR_SUB, el_broadcast(e, last, 1, &n), ir_iota(&e->b, n));
    index = ir_reshape(&e->b, index, line.rank, line.dims);
    index = el_broadcast(e, index, shape.rank, shape.dims);
    return el_ir(gathered(e, v, index, axis));
}

Val tl_gather(Elab *e, const TlCall *c) {
    IrValue *v = tr_numbers(e, c->arg[0], c->at[0]), *index = tr_numbers(e, c->arg[1], c->at[1]);
    uint32_t axis;
    if (!v || !index || !axis_of(e, c->arg[2], v->type->rank, c->at[2], &axis)) return EL_POISON;
    bool fits = v->type->rank == index->type->rank && dtype_is(el_elem(index), DTYPE_CLASS_INT);
    for (uint32_t i = 0; fits && i < v->type->rank; i++)
        fits = i == axis || v->type->shape[i] == index->type->shape[i];
    if (!fits) {
        el_error(e, c->span, DIAG_SHAPE, "tl.gather does not take %s with the index %s",
                 tr_text(e, el_ir(v)), tr_text(e, el_ir(index)));
        el_help(e, "the index has integers, and the tensor's extents except along the axis");
        return EL_POISON;
    }
    if (dtype_bits(el_elem(index)) < 32) index = el_convert(e, index, DTYPE_I32);
    el_check_index(e, index, v->type->shape[axis]);
    return el_ir(gathered(e, v, index, axis));
}

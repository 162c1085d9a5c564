// Built-ins that change shapes, gather, and dot.
#include "frontend/tile/elaborate.h"

static const IrType *with_shape(Elab *e, const IrType *t, const Shape *shape) {
    return ir_with_shape(e->module, t, shape->rank, shape->dims);
}

static Val shape_reshape(Elab *e, const Args *a, IrValue *v) {
    Shape shape;
    if (!el_dims(e, a, 1, &shape) || !v) return EL_POISON;
    uint64_t count = 1;
    for (uint32_t i = 0; i < shape.rank; i++) count *= shape.dims[i];
    if (count != v->type->count) {
        return el_error(e, a->call->span, DIAG_SHAPE, "%s has %u elements, the shape %s has %llu",
                        el_type_text(e, v->type), v->type->count,
                        el_shape_text(e, shape.rank, shape.dims), (unsigned long long)count);
    }
    return el_ir(ir_reshape(&e->b, v, shape.rank, shape.dims));
}

static Val shape_broadcast(Elab *e, const Args *a, IrValue *v) {
    Shape shape;
    if (!el_dims(e, a, 1, &shape) || !v) return EL_POISON;
    if (el_stretches(v->type, shape.rank, shape.dims))
        return el_ir(el_broadcast(e, v, shape.rank, shape.dims));
    el_error(e, a->call->span, DIAG_SHAPE, "%s does not stretch to the shape %s",
             el_type_text(e, v->type), el_shape_text(e, shape.rank, shape.dims));
    el_help(e, "a scalar does, and extents of 1 of a tile of equal rank");
    return EL_POISON;
}

static Val shape_expand(Elab *e, const Args *a, IrValue *v) {
    if (!v) return EL_POISON;
    uint32_t axis = 0;
    bool given;
    if (!el_named_axis(e, a, v->type->rank + 1, &axis, &given)) return EL_POISON;
    if (!given) {
        el_error(e, a->call->span, DIAG_ARGUMENTS, "'expand' needs an axis");
        el_help(e, "as in expand(v, axis = %u)", v->type->rank);
        return EL_POISON;
    }
    Shape shape = {.rank = v->type->rank + 1};
    if (shape.rank > IR_MAX_RANK) {
        return el_error(e, a->call->span, DIAG_SHAPE, "a tile has at most %d dimensions",
                        IR_MAX_RANK);
    }
    for (uint32_t i = 0, from = 0; i < shape.rank; i++)
        shape.dims[i] = i == axis ? 1 : v->type->shape[from++];
    return el_ir(ir_reshape(&e->b, v, shape.rank, shape.dims));
}

static Val shape_permute(Elab *e, const Args *a, IrValue *v) {
    int64_t perm[IR_MAX_RANK] = {0};
    bool seen[IR_MAX_RANK] = {0}, good = v != NULL;
    uint32_t rank = a->count - 1;
    if (v && rank != v->type->rank) {
        return el_error(e, a->call->span, DIAG_SHAPE, "%s has %u dimensions, %u places given",
                        el_type_text(e, v->type), v->type->rank, rank);
    }
    for (uint32_t i = 0; i < rank && i < IR_MAX_RANK; i++) {
        int64_t place;
        int64_t most = (int64_t)rank - 1;
        if (!el_const_range(e, a->at[i + 1], "a place of 'permute'", -most - 1, most, &place)) {
            good = false;
            continue;
        }
        if (place < 0) place += rank;
        if (seen[place]) {
            el_error(e, a->at[i + 1]->span, DIAG_SHAPE, "dimension %lld is named twice",
                     (long long)place);
            good = false;
        } else {
            seen[place] = true;
            perm[i] = place;
        }
    }
    if (!good) return EL_POISON;
    return rank ? el_ir(ir_permute(&e->b, v, perm)) : el_ir(v);
}

static Val shape_transpose(Elab *e, const Args *a, IrValue *v) {
    if (!v) return EL_POISON;
    uint32_t rank = v->type->rank;
    if (rank < 2) {
        return el_error(e, a->call->span, DIAG_SHAPE, "'transpose' needs two dimensions, found %s",
                        el_type_text(e, v->type));
    }
    int64_t perm[IR_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) perm[i] = i;
    perm[rank - 2] = rank - 1;
    perm[rank - 1] = rank - 2;
    return el_ir(ir_permute(&e->b, v, perm));
}

// Moves a dimension to another place; the others keep their order.
static IrValue *move_dim(Elab *e, IrValue *v, uint32_t from, uint32_t to) {
    int64_t perm[IR_MAX_RANK] = {0};
    if (from == to) return v;
    for (uint32_t i = 0, next = 0; i < v->type->rank; i++) {
        if (next == from) next++;
        perm[i] = i == to ? from : next++;
    }
    return ir_permute(&e->b, v, perm);
}

static Val shape_split(Elab *e, const Args *a, IrValue *v) {
    if (!v) return EL_POISON;
    uint32_t rank = v->type->rank, axis = rank - 1;
    bool given;
    if (rank && !el_named_axis(e, a, rank, &axis, &given)) return EL_POISON;
    if (!rank || v->type->shape[axis] != 2) {
        el_error(e, a->call->span, DIAG_SHAPE, "'split' needs a %s of 2, found %s",
                 a->named[NAMED_AXIS] ? arena_printf(e->scratch, "dimension %u", axis)
                                      : "last dimension",
                 el_type_text(e, v->type));
        el_help(e, "reshape(v, …, 2) pairs neighbours");
        return EL_POISON;
    }
    v = move_dim(e, v, axis, rank - 1);
    Shape shape = el_shape_of(v->type);
    shape.rank--;
    const IrType *half = with_shape(e, v->type, &shape);
    IrOp *op = ir_op(&e->b, IR_SPLIT, 1, &v, 2, (const IrType *[]){half, half}, 0, NULL);
    return el_tuple(e, 2, (Val[]){el_ir(ir_result(op, 0)), el_ir(ir_result(op, 1))});
}

static bool two_alike(Elab *e, const Args *a, IrValue **both) {
    Val vals[2] = {el_operand(e, a->at[0]), el_operand(e, a->at[1])};
    const Span spans[2] = {a->at[0]->span, a->at[1]->span};
    return el_unify(e, a->call->span, a->name, 2, vals, spans, both);
}

static Val shape_join(Elab *e, const Args *a) {
    IrValue *both[2];
    if (!two_alike(e, a, both)) return EL_POISON;
    Shape shape = el_shape_of(both[0]->type);
    if (shape.rank < IR_MAX_RANK) shape.dims[shape.rank] = 2;
    uint32_t axis = shape.rank++;
    bool given;
    if (!el_shape_limits(e, a->call->span, shape.rank, shape.dims) ||
        !el_named_axis(e, a, shape.rank, &axis, &given))
        return EL_POISON;
    IrValue *pairs = el_op1(e, IR_JOIN, 2, both, with_shape(e, both[0]->type, &shape));
    return el_ir(move_dim(e, pairs, shape.rank - 1, axis));
}

// The axis of an operation that needs one. It may be omitted at rank 1.
static bool axis_or_only(Elab *e, const Args *a, uint32_t rank, uint32_t *axis) {
    bool given;
    *axis = 0;
    TRY(el_named_axis(e, a, rank, axis, &given));
    if (given || rank == 1) return true;
    el_error(e, a->call->span, DIAG_ARGUMENTS, "'%s' of a tile of rank %u needs an axis", a->name,
             rank);
    if (rank) el_help(e, "as in axis = %u", rank - 1);
    return false;
}

static Val shape_cat(Elab *e, const Args *a) {
    IrValue *both[2];
    if (!two_alike(e, a, both)) return EL_POISON;
    Shape shape = el_shape_of(both[0]->type);
    uint32_t axis;
    if (!axis_or_only(e, a, shape.rank, &axis)) return EL_POISON;
    shape.dims[axis] *= 2;
    if (!el_shape_limits(e, a->call->span, shape.rank, shape.dims)) return EL_POISON;
    IrValue *v = el_op1(e, IR_CAT, 2, both, with_shape(e, both[0]->type, &shape));
    ir_attr_set_int(v->def, IR_ATTR_AXIS, axis);
    return el_ir(v);
}

static Val shape_gather(Elab *e, const Args *a) {
    IrValue *v = el_tile(e, a->at[0]), *index = el_tile(e, a->at[1]);
    if (!v || !index) return EL_POISON;
    if (el_is_ptr(v)) {
        return el_error(e, a->at[0]->span, DIAG_TYPE, "'gather' takes a tile of elements, found %s",
                        el_type_text(e, v->type));
    }
    if (el_is_ptr(index) || !dtype_is(el_elem(index), DTYPE_CLASS_INT)) {
        return el_error(e, a->at[1]->span, DIAG_TYPE, "'gather' needs an integer index, found %s",
                        el_type_text(e, index->type));
    }
    uint32_t axis;
    if (!axis_or_only(e, a, v->type->rank, &axis)) return EL_POISON;
    bool fits = v->type->rank == index->type->rank;
    for (uint32_t i = 0; fits && i < v->type->rank; i++)
        fits = i == axis || v->type->shape[i] == index->type->shape[i];
    if (!fits) {
        el_error(e, a->call->span, DIAG_SHAPE, "%s can't be gathered from %s along axis %u",
                 el_type_text(e, index->type), el_type_text(e, v->type), axis);
        el_help(e, "the index has the tile's rank and, but for the axis, its extents");
        return EL_POISON;
    }
    const IrType *type = ir_with_shape(e->module, v->type, index->type->rank, index->type->shape);
    IrValue *result = el_op1(e, IR_GATHER, 2, (IrValue *[]){v, index}, type);
    ir_attr_set_int(result->def, IR_ATTR_AXIS, axis);
    return el_ir(result);
}

Val el_builtin_shape(Elab *e, const Args *a) {
    if (a->which == TILE_JOIN) return shape_join(e, a);
    if (a->which == TILE_CAT) return shape_cat(e, a);
    if (a->which == TILE_GATHER) return shape_gather(e, a);
    IrValue *v = el_tile(e, a->at[0]);
    if (a->which == TILE_RESHAPE) return shape_reshape(e, a, v);
    if (a->which == TILE_EXPAND) return shape_expand(e, a, v);
    if (a->which == TILE_PERMUTE) return shape_permute(e, a, v);
    if (a->which == TILE_TRANSPOSE) return shape_transpose(e, a, v);
    if (a->which == TILE_BROADCAST) return shape_broadcast(e, a, v);
    return shape_split(e, a, v);
}

// ---- dot

static IrValue *dot_accumulator(Elab *e, const Args *a, Dtype elem, const Shape *shape) {
    Val v = el_operand(e, a->at[2]);
    if (v.kind == VAL_POISON) return NULL;
    const Dtype *allowed = el_dot_accumulators(elem);
    if (el_is_const(v)) return el_adopt(e, v, *allowed, shape->rank, shape->dims, a->at[2]->span);
    bool good = false;
    for (const Dtype *t = allowed; *t != DTYPES; t++) good = good || *t == el_elem(v.ir);
    if (!good || el_is_ptr(v.ir)) {
        el_error(e, a->at[2]->span, DIAG_TYPE, "'dot' of %s accumulates in %s, found %s",
                 dtype_name(elem), dtype_name(*allowed), el_val_text(e, v));
        return NULL;
    }
    if (el_stretches(v.ir->type, shape->rank, shape->dims))
        return el_broadcast(e, v.ir, shape->rank, shape->dims);
    el_error(e, a->at[2]->span, DIAG_SHAPE, "the accumulator must have the shape %s, found %s",
             el_shape_text(e, shape->rank, shape->dims), el_val_text(e, v));
    return NULL;
}

static bool dot_precision(Elab *e, const Args *a, Dtype elem, int64_t *precision) {
    static const char words[] = "ieee, tf32, tf32x3 or bf16x3";
    const Ast *named = a->named[NAMED_PRECISION];
    *precision = dtype_is(elem, DTYPE_CLASS_FP8) ? IR_PRECISION_UNIT : IR_PRECISION_IEEE;
    if (!named) return true;
    TRY(el_named_word(e, a, NAMED_PRECISION, IR_KIND_PRECISION, words, precision));
    if (*precision == IR_PRECISION_IEEE) return true;
    if (*precision == IR_PRECISION_UNIT) {  // not a word of the language
        el_error(e, named->span, DIAG_ARGUMENTS, "'precision' must be %s", words);
        return false;
    }
    if (elem == DTYPE_F32) return true;
    el_error(e, named->span, DIAG_TYPE, "this precision is for operands of f32, found %s",
             dtype_name(elem));
    return false;
}

Val el_builtin_dot(Elab *e, const Args *a) {
    IrValue *x = el_tile(e, a->at[0]), *y = el_tile(e, a->at[1]), *acc = NULL;
    Shape shape;
    int64_t precision;
    if (!x || !y) {
        if (a->count == 3) el_operand(e, a->at[2]);
        return EL_POISON;
    }
    if (!el_dot_operands(e, x, y, a->call->span) ||
        !el_dot_shape(e, x->type, y->type, a->call->span, &shape))
        return EL_POISON;
    bool good = dot_precision(e, a, el_elem(x), &precision);
    if (a->count == 3) acc = dot_accumulator(e, a, el_elem(x), &shape);
    if (!good || (a->count == 3 && !acc)) return EL_POISON;
    return el_ir(el_dot(e, x, y, acc, &shape, precision));
}

// Values: one element, or one vector of elements, of a tile at a place of a nest.
#include <string.h>

#include "passes/cpu/lower.h"

const IrType *value_type(Lower *l, const Nest *nest, const IrType *t, bool vector) {
    return ir_with_shape(l->module, t, vector ? 1 : 0, vector ? &nest->lanes : NULL);
}

static bool is_vector(const IrValue *v) { return v->type->rank > 0; }

NestValue value_splat(Lower *l, Nest *nest, NestValue x) {
    if (nest->collecting || nest->lanes == 1 || is_vector(x.value)) return x;
    IrBuilder *b = nest_builder(nest, x.depth);
    return (NestValue){ir_broadcast(b, x.value, 1, &nest->lanes), x.depth};
    (void)l;
}

// ---- places of operands -------------------------------------------------------------------------

static const Coord zero = {COORD_ZERO, 0, 0, NULL};

static Coord coord_value(NestValue v) { return (Coord){COORD_VALUE, 0, v.depth, v.value}; }

static uint8_t max_depth(uint8_t a, uint8_t b) { return a > b ? a : b; }

// Shapes that differ in extents of 1 only have the same coordinates otherwise.
bool value_reshape_place(const IrType *from, const IrType *to, LanePlace place, LanePlace *out) {
    uint32_t i = 0;
    *out = (LanePlace){.rank = from->rank};
    for (uint32_t d = 0; d < from->rank; d++) {
        if (from->shape[d] == 1) continue;
        while (i < to->rank && to->shape[i] == 1) i++;
        if (i == to->rank || to->shape[i] != from->shape[d]) return false;
        out->at[d] = place.at[i++];
    }
    return true;
}

static bool broadcast_place(const IrOp *op, LanePlace place, LanePlace *out) {
    const IrType *x = ir_operand(op, 0)->type;
    *out = (LanePlace){.rank = x->rank};
    for (uint32_t d = 0; d < x->rank; d++) out->at[d] = x->shape[d] == 1 ? zero : place.at[d];
    return true;
}

static bool permute_place(const IrOp *op, LanePlace place, LanePlace *out) {
    const IrAttr *perm = ir_attr(op, IR_ATTR_PERM);
    *out = (LanePlace){.rank = place.rank};
    for (uint32_t d = 0; d < place.rank; d++) out->at[perm->u.ints.items[d]] = place.at[d];
    return true;
}

static bool split_place(Lower *l, Nest *nest, const IrValue *result, LanePlace place,
                        LanePlace *out) {
    *out = place;
    NestValue which = {nest->collecting ? NULL : lower_i64(nest_builder(nest, 0), result->index),
                       0};
    out->at[out->rank++] = coord_value(which);
    (void)l;
    return true;
}

bool value_operand_place(Lower *l, Nest *nest, const IrOp *op, const IrValue *result, uint32_t i,
                         LanePlace place, LanePlace *out) {
    const IrType *x = ir_operand(op, i)->type;
    *out = place;
    switch (op->code) {
    case IR_BROADCAST: return broadcast_place(op, place, out);
    case IR_PERMUTE: return permute_place(op, place, out);
    case IR_SPLIT: return split_place(l, nest, result, place, out);
    case IR_RESHAPE: return value_reshape_place(x, result->type, place, out);
    default: break;
    }
    if (x->rank == 0) *out = (LanePlace){0};
    return true;
}

// ---- ops that are more than elementwise ---------------------------------------------------------

static NestValue at_iota(Lower *l, Nest *nest, const IrValue *tile, LanePlace place) {
    NestValue c = nest_coord(l, nest, place.at[0]);
    nest->lanes_differ = nest->lanes_differ || nest_is_lane(nest, place.at[0]);
    if (nest->collecting) return c;
    IrBuilder *b = nest_builder(nest, c.depth);
    NestValue x = {ir_cast(b, c.value, tile->type->elem, true), c.depth};
    if (!nest_is_lane(nest, place.at[0])) return x;
    IrValue *lanes = ir_iota(nest_builder(nest, 0), nest->lanes);
    x = value_splat(l, nest, x);
    return (NestValue){ir_binary(nest_builder(nest, x.depth), IR_ADD, x.value, lanes), x.depth};
}

// ---- elementwise --------------------------------------------------------------------------------

static void copy_attrs(IrOp *to, const IrOp *from) {
    int count = ir_op_info(from->code)->attr_count;
    for (int i = 0; i < count; i++) to->attrs[i] = from->attrs[i];
}

// The op on lanes or on one number. One with several results (`random`) has all of them again, and
// its scalars stay scalars.
static IrValue *again(Lower *l, Nest *nest, IrBuilder *b, const IrOp *op, const IrValue *tile,
                      bool vector, IrValue **operands) {
    const IrType *types[4];
    CHECK(op->result_count <= 4, "'%s' at a place", ir_op_info(op->code)->text);
    for (uint32_t i = 0; i < op->result_count; i++)
        types[i] = value_type(l, nest, op->results[i].type, vector);
    IrOp *made = ir_op(b, op->code, op->operand_count, operands, op->result_count, types, 0, NULL);
    copy_attrs(made, op);
    return ir_result(made, (uint32_t)(tile - op->results));
}

static NestValue at_elementwise(Lower *l, Nest *nest, const IrOp *op, const IrValue *tile,
                                LanePlace place) {
    enum { OPERANDS = 4 };
    CHECK(op->operand_count <= OPERANDS, "'%s' at a place", ir_op_info(op->code)->text);
    NestValue x[OPERANDS];
    IrValue *operands[OPERANDS];
    uint8_t depth = 0;
    bool vector = false;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        LanePlace at;
        CHECK(value_operand_place(l, nest, op, tile, i, place, &at), "no place of an operand");
        x[i] = value_at(l, nest, ir_operand(op, i), at);
        depth = max_depth(depth, x[i].depth);
        if (!nest->collecting) vector = vector || is_vector(x[i].value);
    }
    if (nest->collecting) return (NestValue){NULL, depth};
    bool moves = op->code == IR_BROADCAST || op->code == IR_PERMUTE || op->code == IR_SPLIT;
    if (moves) return x[0];
    if (op->code == IR_DIV && quotient_pays(l, nest, x[0], x[1])) {
        nest_builder(nest, depth)->span = op->span;
        return (NestValue){quotient_of(l, nest, x[0], x[1]), depth};
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        bool scalar = op->result_count > 1 && !ir_operand(op, i)->type->rank;
        operands[i] = vector && !scalar ? value_splat(l, nest, x[i]).value : x[i].value;
    }
    IrBuilder *b = nest_builder(nest, depth);
    b->span = op->span;
    return (NestValue){again(l, nest, b, op, tile, vector, operands), depth};
}

// Rows of another length are read from a buffer, which has them one after the other.
static NestValue at_reshape(Lower *l, Nest *nest, const IrOp *op, const IrValue *tile,
                            LanePlace place) {
    LanePlace at;
    IrValue *x = ir_operand(op, 0);
    if (value_reshape_place(x->type, tile->type, place, &at)) return value_at(l, nest, x, at);
    return access_buffer_load(l, nest, buffer_as(lower_buffer_of(l, x), tile->type), place);
}

static NestValue at_const(Lower *l, Nest *nest, const IrOp *op, const IrValue *tile) {
    if (nest->collecting) return (NestValue){NULL, 0};
    IrBuilder *b = nest_builder(nest, 0);
    const IrType *t = value_type(l, nest, tile->type, false);
    return (NestValue){ir_const_bits(b, t, ir_attr(op, IR_ATTR_VALUE)->u.bits), 0};
}

static NestValue compute(Lower *l, Nest *nest, IrValue *tile, LanePlace place) {
    IrOp *op = tile->def;
    NestValue chosen;
    CHECK(op, "a carried tile has no buffer");
    nest->work++;
    if (op->code == IR_SELECT && select_at(l, nest, op, tile, place, &chosen)) return chosen;
    switch (op->code) {
    case IR_CONST: return at_const(l, nest, op, tile);
    case IR_IOTA: return at_iota(l, nest, tile, place);
    case IR_RESHAPE: return at_reshape(l, nest, op, tile, place);
    case IR_GATHER: return access_gather(l, nest, op, place);
    case IR_VIEW_LOAD:
    case IR_LOAD: return access_load(l, nest, op, place);
    case IR_VIEW_INSIDE: return access_inside(l, nest, op, place);
    default: return at_elementwise(l, nest, op, tile, place);
    }
}

// ---- sharing within a nest ----------------------------------------------------------------------

static bool same_coord(Coord a, Coord b) {
    if (a.kind != b.kind) return false;
    if (a.kind == COORD_LOOP) return a.loop == b.loop;
    return a.kind == COORD_ZERO || a.value == b.value;
}

static bool same_place(const IrType *t, LanePlace a, LanePlace b) {
    for (uint32_t d = 0; d < t->rank; d++)
        if (t->shape[d] > 1 && !same_coord(a.at[d], b.at[d])) return false;
    return true;
}

// The tile's last memo of this nest: index + 1, or 0. What `memo` says may be of another nest.
static uint32_t last_memo(Lower *l, const Nest *nest, const IrValue *tile) {
    uint32_t last = lower_tile(l, tile)->memo;
    bool here = last && last <= nest->memo.count && nest->memo.data[last - 1].tile == tile;
    return here ? last : 0;
}

static const ValueMemo *memo_find(Lower *l, const Nest *nest, const IrValue *tile,
                                  LanePlace place) {
    for (uint32_t i = last_memo(l, nest, tile); i; i = nest->memo.data[i - 1].earlier) {
        const ValueMemo *m = &nest->memo.data[i - 1];
        if (same_place(tile->type, m->place, place)) return m;
    }
    return NULL;
}

static void memo_add(Lower *l, Nest *nest, ValueMemo memo) {
    memo.earlier = last_memo(l, nest, memo.tile);
    vec_push(l->scratch, &nest->memo, memo);
    lower_tile(l, memo.tile)->memo = (uint32_t)nest->memo.count;
}

void value_forget_from(Lower *l, Nest *nest, size_t count) {
    while (nest->memo.count > count) {
        const ValueMemo *m = &nest->memo.data[--nest->memo.count];
        lower_tile(l, m->tile)->memo = m->earlier;
    }
}

void value_forget(Lower *l, Nest *nest, bool (*stays)(const Nest *nest, const ValueMemo *memo)) {
    size_t count = nest->memo.count;
    value_forget_from(l, nest, 0);
    for (size_t i = 0; i < count; i++) {
        ValueMemo memo = nest->memo.data[i];
        if (stays(nest, &memo)) memo_add(l, nest, memo);
    }
}

// Does the vector hold just the lanes that are wanted?
static bool is_whole_vector(const Nest *nest, const TileState *t, LanePlace place) {
    if (!t->vector || nest->lanes != t->vector->type->count) return false;
    for (uint32_t d = 0; d < place.rank; d++)
        if (nest_is_lane(nest, place.at[d])) return true;
    return false;
}

NestValue value_at(Lower *l, Nest *nest, IrValue *tile, LanePlace place) {
    if (tile->type->rank == 0) return (NestValue){tile, 0};
    const ValueMemo *known = memo_find(l, nest, tile, place);
    if (known) return known->val;
    const TileState *t = lower_tile(l, tile);
    bool stored = t->mode == MODE_BUFFER && !t->pending;
    if (stored && is_whole_vector(nest, t, place)) return (NestValue){t->vector, 0};
    NestValue val =
        stored ? access_buffer_load(l, nest, t->buffer, place) : compute(l, nest, tile, place);
    memo_add(l, nest, (ValueMemo){.tile = tile, .place = place, .val = val});
    return val;
}

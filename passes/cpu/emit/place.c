// Places in a nest: coordinates of its loops, and the element of an operand that an element needs.
#include "passes/cpu/emit/lower.h"

IrBuilder *nest_builder(Nest *nest, uint8_t depth) { return &nest->builder[depth]; }

IrBuilder lower_builder(Lower *l) {
    IrBuilder b = ir_builder_before(l->insert_before);
    b.span = l->insert_before->span;
    return b;
}

NestValue nest_coord(Nest *nest, Coord c) {
    switch (c.kind) {
    case COORD_ZERO: return (NestValue){lower_i64(nest_builder(nest, 0), 0), 0};
    case COORD_NUMBER: return (NestValue){lower_i64(nest_builder(nest, 0), c.loop), 0};
    case COORD_LOOP: return (NestValue){nest->variable[c.loop], nest->depth_of[c.loop]};
    case COORD_VALUE: return (NestValue){c.value, c.depth};
    }
    UNREACHABLE("a coordinate of no kind");
}

LanePlace nest_place(const Nest *nest) {
    LanePlace p = {.rank = nest->rank};
    for (uint32_t d = 0; d < nest->rank; d++) {
        bool one = nest->shape[d] == 1;
        p.at[d] = (Coord){one ? COORD_ZERO : COORD_LOOP, (uint8_t)d, 0, NULL};
    }
    return p;
}

const IrType *value_type(Lower *l, const Nest *nest, const IrType *t, bool vector) {
    return ir_with_shape(l->module, t, vector ? 1 : 0, vector ? &nest->lanes : NULL);
}

NestValue value_splat(Nest *nest, NestValue x) {
    if (nest->lanes == 1 || x.value->type->rank > 0) return x;
    IrBuilder *b = nest_builder(nest, x.depth);
    return (NestValue){ir_broadcast(b, x.value, 1, &nest->lanes), x.depth};
}

// ---- places of operands -------------------------------------------------------------------------

static const Coord zero = {COORD_ZERO, 0, 0, NULL};

// Shapes that differ only in extents of 1 have the same coordinates otherwise.
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

bool value_operand_place(const IrOp *op, const IrValue *result, uint32_t i, LanePlace place,
                         LanePlace *out) {
    const IrType *x = ir_operand(op, i)->type;
    *out = place;
    switch (op->code) {
    case IR_BROADCAST: return broadcast_place(op, place, out);
    case IR_PERMUTE: return permute_place(op, place, out);
    case IR_SPLIT:
        out->at[out->rank++] = (Coord){COORD_NUMBER, (uint8_t)result->index, 0, NULL};
        return true;
    case IR_RESHAPE: return value_reshape_place(x, result->type, place, out);
    default: break;
    }
    if (x->rank == 0) *out = (LanePlace){0};
    return true;
}

// ---- steps of integer tiles ---------------------------------------------------------------------

int value_lane_step(Lower *l, const Nest *nest, const IrValue *tile, LanePlace place) {
    if (tile->type->rank == 0) return 0;
    IrRange r = ir_range_of(l->ranges, tile);
    for (uint32_t d = 0; d < tile->type->rank; d++) {
        if (tile->type->shape[d] == 1 || !nest_is_lane(nest, place.at[d])) continue;
        if (!r.known) return -1;
        if (r.constant[d] >= nest->lanes) return 0;
        return r.contiguous[d] >= nest->lanes ? 1 : -1;
    }
    return 0;
}

// Elements of tiles in scratch memory, or in the view that they will be stored to.
#include "passes/cpu/emit/terms.h"
#include "passes/cpu/emit/transpose.h"

static AccessLanes buffer_lanes(Nest *nest, TileBuffer buffer, LanePlace place) {
    AccessLanes lanes = {0};
    IrValue *linear = NULL;
    for (uint32_t d = buffer.type->rank; d-- > 0;) {
        Coord c = place.at[d];
        int64_t step = buffer.step[d];
        if (buffer.type->shape[d] == 1 || c.kind == COORD_ZERO) continue;
        NestValue at = nest_coord(nest, c);
        bool lane = nest_is_lane(nest, c);
        lanes.vector = lanes.vector || lane;
        lanes.neighbours = lanes.neighbours || (lane && step == 1);
        lanes.depth = at.depth > lanes.depth ? at.depth : lanes.depth;
        IrBuilder *b = nest_builder(nest, lanes.depth);
        IrValue *index = at.value;
        if (lane && step != 1) {
            IrValue *iota = ir_cast(b, ir_iota(b, nest->lanes), DTYPE_I64, true);
            index = ir_binary(b, IR_ADD, ir_broadcast(b, index, 1, &nest->lanes), iota);
        }
        linear = access_sum(nest, b, linear, access_scaled(nest, b, index, lower_i64(b, step)));
    }
    IrBuilder *b = nest_builder(nest, lanes.depth);
    if (!linear) linear = lower_i64(b, 0);
    lanes.pointer = access_element_pointer(nest, b, buffer.data, linear);
    return lanes;
}

static TransposeSource transpose_source(Nest *nest, TileBuffer buffer, LanePlace place,
                                        uint32_t lane) {
    IrValue *now = nest->variable[nest->side];
    nest->variable[nest->side] = nest->side_base;
    IrBuilder *top = nest_builder(nest, 0);
    TransposeSource source = {.of = buffer.id, .buffer = true, .elem = buffer.data->type->elem};
    IrValue *linear = lower_i64(top, 0);
    for (uint32_t d = 0; d < buffer.type->rank; d++) {
        if (buffer.type->shape[d] == 1 || place.at[d].kind == COORD_ZERO) continue;
        NestValue at = nest_coord(nest, place.at[d]);
        if (at.depth > source.depth) source.depth = at.depth;
        IrBuilder *b = nest_builder(nest, source.depth);
        linear = lower_add(b, linear, lower_mul(b, at.value, lower_i64(top, buffer.step[d])));
    }
    nest->variable[nest->side] = now;
    source.pointer = ir_ptr_add(nest_builder(nest, source.depth), buffer.data, linear);
    source.stride = lower_i64(top, buffer.step[lane]);
    return source;
}

// A vector of a square; the square is loaded for the first of its coordinates.
static IrValue *load_transposed(Lower *l, Nest *nest, TileBuffer buffer, LanePlace place) {
    uint32_t lane = 0, side = 0;
    if (nest->sides < 2 || nest->masked) return NULL;
    if (!terms_buffer_transposed(nest, buffer, place, &lane, &side)) return NULL;
    if (!transpose_is_side(nest, place.at[side].loop) || buffer.data->type->elem == DTYPE_BOOL)
        return NULL;
    const TransposeBlock *known = transpose_find(nest, &place, buffer.id, true);
    if (!known) {
        TransposeSource source = transpose_source(nest, buffer, place, lane);
        known = transpose_load(l, nest, &source, place);
    }
    return known->row[nest->side_at];
}

// A nest that reads values that were stored early has time to prefetch the next program's row.
static void emit_pending_prefetch(Lower *l, Nest *nest, LanePlace place) {
    IrOp *load = prefetch_take_pending(l, nest);
    if (!load) return;
    AccessLanes lanes = access_view_lanes(l, nest, load, place);
    prefetch_row(l, nest, load, (NestValue){lanes.pointer, lanes.depth});
}

// Elements that the store would drop are read as 0; nothing uses them.
static NestValue early_load(Lower *l, Nest *nest, TileBuffer buffer, LanePlace place) {
    AccessLanes lanes = access_view_lanes(l, nest, buffer.view, place);
    IrBuilder *b = nest_builder(nest, lanes.depth);
    Dtype elem = buffer.type->elem;
    emit_pending_prefetch(l, nest, place);
    return (NestValue){
        access_load_op(l, nest, b, &lanes, lanes.pointer, elem, nest->lanes, lanes.mask, NULL),
        lanes.depth};
}

NestValue access_buffer_load(Lower *l, Nest *nest, TileBuffer buffer, LanePlace place) {
    if (buffer.view) return early_load(l, nest, buffer, place);
    AccessLanes lanes = buffer_lanes(nest, buffer, place);
    IrValue *x = load_transposed(l, nest, buffer, place);
    IrBuilder *b = nest_builder(nest, lanes.depth);
    Dtype elem = buffer.data->type->elem;
    if (!x) x = access_load_op(l, nest, b, &lanes, lanes.pointer, elem, nest->lanes, NULL, NULL);
    if (buffer.type->kind == IR_PTR)
        x = ir_bitcast(b, x, value_type(l, nest, buffer.type, lanes.vector));
    return (NestValue){x, lanes.depth};
}

void access_buffer_store(Lower *l, Nest *nest, TileBuffer buffer, LanePlace place, NestValue x) {
    if (buffer.view) {
        access_store(l, nest, buffer.view, place, x);
        return;
    }
    AccessLanes lanes = buffer_lanes(nest, buffer, place);
    IrBuilder *b = nest_builder(nest, nest->depth);
    if (lanes.vector) x = value_splat(nest, x);
    IrValue *value = x.value;
    if (buffer.type->kind == IR_PTR)
        value = ir_bitcast(b, value,
                           ir_tile(l->module, DTYPE_U64, value->type->rank, value->type->shape));
    access_store_op(b, &lanes, lanes.pointer, value, NULL, false);
}

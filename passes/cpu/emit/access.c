// Accesses at a place: views, pointers, gathers. Which lanes are inside, and their addresses.
#include "passes/cpu/emit/terms.h"
#include "passes/cpu/emit/transpose.h"
#include "passes/cpu/tuning.h"

static uint8_t max_depth(uint8_t a, uint8_t b) { return a > b ? a : b; }

static NestValue at_depth_0(IrValue *v) { return (NestValue){v, 0}; }

// ---- the lanes ----------------------------------------------------------------------------------

static LanePlace lane_0(Nest *nest, LanePlace place) {
    for (uint32_t d = 0; d < place.rank; d++) {
        if (!nest_is_lane(nest, place.at[d])) continue;
        NestValue c = nest_coord(nest, place.at[d]);
        place.at[d] = (Coord){COORD_VALUE, 0, c.depth, c.value};
    }
    return place;
}

// The index of a term: of lane 0 if lanes are neighbours (`run`), else of each lane.
static NestValue term_index(Lower *l, Nest *nest, const IndexTerm *m, bool run) {
    if (m->tile) {
        LanePlace p = run ? lane_0(nest, m->place) : m->place;
        NestValue x = value_at(l, nest, m->index, p);
        if (x.value->type->elem == DTYPE_I64) return x;
        return (NestValue){access_index(nest_builder(nest, x.depth), x.value), x.depth};
    }
    NestValue x = at_depth_0(m->index);
    if (x.value->type->elem != DTYPE_I64) x.value = access_index(nest_builder(nest, 0), x.value);
    if (!m->width) return x;
    NestValue c = nest_coord(nest, m->coord);
    uint8_t depth = max_depth(x.depth, c.depth);
    IrBuilder *b = nest_builder(nest, depth);
    x = (NestValue){lower_add(b, x.value, c.value), depth};
    if (run || !m->moves) return x;
    IrValue *lanes = ir_cast(nest_builder(nest, 0), ir_iota(nest_builder(nest, 0), nest->lanes),
                             DTYPE_I64, true);
    x = value_splat(nest, x);
    return (NestValue){ir_binary(b, IR_ADD, x.value, lanes), depth};
}

static IrValue *clamp_lanes(Nest *nest, IrBuilder *b, IrValue *n) {
    n = lower_max(b, lower_min(b, n, lower_i64(b, nest->lanes)), lower_i64(b, 0));
    return ir_broadcast(b, ir_cast(b, n, DTYPE_I32, true), 1, &nest->lanes);
}

// Lane k is inside if 0 <= first + k < extent.
static IrValue *run_mask(Nest *nest, IrBuilder *b, IrValue *first, IrValue *extent, bool positive) {
    IrValue *lanes = ir_iota(nest_builder(nest, 0), nest->lanes);
    IrValue *below = clamp_lanes(nest, b, ir_binary(b, IR_SUB, extent, first));
    if (positive) return ir_binary(b, IR_LT, lanes, below);
    IrValue *from = clamp_lanes(nest, b, ir_unary(b, IR_NEG, first));
    IrValue *high = ir_binary(b, IR_LT, lanes, below), *low = ir_binary(b, IR_GE, lanes, from);
    return ir_binary(b, IR_AND, high, low);
}

static IrValue *mask_and(Nest *nest, IrBuilder *b, IrValue *x, IrValue *y) {
    if (!x) return y;
    if (x->type->rank < y->type->rank) x = ir_broadcast(b, x, 1, &nest->lanes);
    if (y->type->rank < x->type->rank) y = ir_broadcast(b, y, 1, &nest->lanes);
    return ir_binary(b, IR_AND, x, y);
}

static void mask_term(Lower *l, Nest *nest, const IrOp *op, const IndexTerms *t, uint32_t dim,
                      NestValue index, bool run, AccessLanes *lanes) {
    const IndexTerm *m = &t->at[dim];
    if (m->proven || terms_interior(nest, op, t)) return;
    lanes->depth = max_depth(lanes->depth, index.depth);
    IrBuilder *b = nest_builder(nest, lanes->depth);
    IrValue *extent = access_extent(l, nest_builder(nest, 0), ir_operand(op, 0), dim);
    IrValue *mask;
    if (run && m->moves) {
        mask = run_mask(nest, b, index.value, extent, m->positive);
    } else {
        if (index.value->type->rank) extent = ir_broadcast(b, extent, 1, &nest->lanes);
        mask = access_within(b, index.value, extent);
    }
    lanes->mask = mask_and(nest, b, lanes->mask, mask);
}

// Broadcasts a mask of one bool to all lanes.
static void spread_mask(Nest *nest, AccessLanes *lanes) {
    if (!lanes->vector || !lanes->mask || lanes->mask->type->rank) return;
    lanes->mask = ir_broadcast(nest_builder(nest, lanes->depth), lanes->mask, 1, &nest->lanes);
}

// The number of elements that the access moves with each coordinate of the side; NULL: unknown.
static IrValue *side_stride(Lower *l, Nest *nest, const IrOp *op, const IndexTerms *t) {
    int along = -1;
    for (uint32_t d = 0; d < t->rank; d++) {
        const IndexTerm *m = &t->at[d];
        if (m->tile && terms_vary_along(&m->place, (uint32_t)nest->side)) return NULL;
        if (!m->width || m->coord.kind != COORD_LOOP || m->coord.loop != (uint32_t)nest->side)
            continue;
        if (along >= 0) return NULL;
        along = (int)d;
    }
    if (along < 0) return NULL;
    return access_stride(l, nest_builder(nest, 0), ir_operand(op, 0), (uint32_t)along);
}

AccessLanes access_view_lanes(Lower *l, Nest *nest, IrOp *op, LanePlace place) {
    IndexTerms t = terms_of(l, nest, op, &place);
    AccessLanes lanes = {.vector = terms_move(l, nest, &t)};
    lanes.neighbours = lanes.vector && terms_run(l, nest, op, &t);
    IrValue *linear = NULL, *view = ir_operand(op, 0);
    // Lanes that do not move are addressed through lane 0.
    bool first_only = lanes.neighbours || !lanes.vector;
    for (uint32_t d = 0; d < t.rank; d++) {
        const IndexTerm *m = &t.at[d];
        NestValue index = term_index(l, nest, m, first_only);
        lanes.depth = max_depth(lanes.depth, index.depth);
        mask_term(l, nest, op, &t, d, index, first_only && lanes.vector, &lanes);
        IrBuilder *b = nest_builder(nest, lanes.depth);
        IrValue *stride = access_stride(l, nest_builder(nest, 0), view, d);
        linear = access_sum(nest, b, linear, access_scaled(nest, b, index.value, stride));
    }
    lanes.linear = linear;
    // If the index is equal in all lanes after all, one element serves them.
    if (!lanes.neighbours && linear->type->rank == 0) lanes.vector = false;
    spread_mask(nest, &lanes);
    if (access_is_packed(view)) return lanes;
    IrBuilder *b = nest_builder(nest, lanes.depth);
    lanes.pointer =
        access_element_pointer(nest, b, access_view_data(nest_builder(nest, 0), view), linear);
    bool square = nest->side_base && linear->type->rank == 0;
    IrValue *stride = square ? side_stride(l, nest, op, &t) : NULL;
    if (stride)
        lanes.pointer = transpose_step_pointer(l, nest, b, op->id, place, lanes.pointer, stride);
    return lanes;
}

// ---- pointers -----------------------------------------------------------------------------------

static void add_mask_operand(Lower *l, Nest *nest, IrOp *op, uint32_t operand, LanePlace place,
                             AccessLanes *lanes) {
    IrValue *mask = ir_operand(op, operand);
    if (!mask) return;
    NestValue m = value_at(l, nest, mask, mask->type->rank ? place : (LanePlace){0});
    lanes->depth = max_depth(lanes->depth, m.depth);
    IrBuilder *b = nest_builder(nest, lanes->depth);
    IrValue *value = m.value;
    if (lanes->vector && value->type->rank == 0) value = ir_broadcast(b, value, 1, &nest->lanes);
    lanes->mask = mask_and(nest, b, lanes->mask, value);
}

static AccessLanes pointer_lanes(Lower *l, Nest *nest, IrOp *op, uint32_t mask, LanePlace place) {
    IrValue *p = ir_operand(op, 0);
    int step = terms_pointer_step(l, nest, p, place);
    AccessLanes lanes = {.vector = step != 0 || terms_mask_moves(l, nest, op, mask, place)};
    lanes.neighbours = step == 1;
    LanePlace at = step >= 0 ? lane_0(nest, place) : place;
    NestValue x = value_at(l, nest, p, at);
    lanes.depth = x.depth;
    lanes.pointer = x.value;
    if (lanes.vector && !lanes.neighbours) lanes.pointer = value_splat(nest, x).value;
    add_mask_operand(l, nest, op, mask, place, &lanes);
    return lanes;
}

// ---- transposed loads ---------------------------------------------------------------------------

// The memory of an access that is known to be inside: lane 0 at the first coordinate of the side.
static TransposeSource view_transpose_source(Lower *l, Nest *nest, IrOp *op, const IndexTerms *t,
                                             uint32_t lanes_dim) {
    IrBuilder *top = nest_builder(nest, 0);
    IrValue *view = ir_operand(op, 0), *linear = NULL, *now = nest->variable[nest->side];
    TransposeSource source = {.of = op->id, .elem = view->type->elem};
    nest->variable[nest->side] = nest->side_base;
    for (uint32_t d = 0; d < t->rank; d++) {
        NestValue index = term_index(l, nest, &t->at[d], true);
        source.depth = max_depth(source.depth, index.depth);
        IrBuilder *b = nest_builder(nest, source.depth);
        linear = access_sum(nest, b, linear,
                            access_scaled(nest, b, index.value, access_stride(l, top, view, d)));
    }
    nest->variable[nest->side] = now;
    IrBuilder *b = nest_builder(nest, source.depth);
    source.pointer = ir_ptr_add(b, access_view_data(top, view), linear);
    source.stride = access_stride(l, top, view, lanes_dim);
    return source;
}

static NestValue transposed_row(const Nest *nest, const TransposeBlock *square) {
    return (NestValue){square->row[nest->side_at], nest->depth};
}

// A vector of a square; the square is loaded for the first of its coordinates.
static bool view_load_transposed(Lower *l, Nest *nest, IrOp *op, LanePlace place, NestValue *out) {
    if (nest->sides < 2 || nest->masked) return false;
    IndexTerms t = terms_of(l, nest, op, &place);
    int lanes = terms_transposed(l, nest, op, &t), along = access_run(l, ir_operand(op, 0));
    if (lanes < 0) return false;
    if (!transpose_is_side(nest, t.at[along].coord.loop) || !terms_inside(nest, op, &t))
        return false;
    const TransposeBlock *known = transpose_find(nest, &place, op->id, false);
    if (!known) {
        TransposeSource source = view_transpose_source(l, nest, op, &t, (uint32_t)lanes);
        known = transpose_load(l, nest, &source, place);
    }
    *out = transposed_row(nest, known);
    return true;
}

// ---- loads --------------------------------------------------------------------------------------

static IrValue *other_value(Lower *l, Nest *nest, IrOp *op, uint32_t operand, AccessLanes *lanes,
                            LanePlace place) {
    IrValue *other = operand < op->operand_count ? ir_operand(op, operand) : NULL;
    if (!other) return NULL;
    NestValue x = value_at(l, nest, other, other->type->rank ? place : (LanePlace){0});
    lanes->depth = max_depth(lanes->depth, x.depth);
    IrValue *v = x.value;
    if (!lanes->vector || v->type->rank) return v;
    return ir_broadcast(nest_builder(nest, lanes->depth), v, 1, &nest->lanes);
}

// Much arithmetic between one load and the next fills the window in which a CPU finds loads to
// start early, so such loads are prefetched. With little arithmetic the window reaches far enough.
// The ops emitted before the load are added to the survey's count.
static bool hides_loads(const Nest *nest, const AccessLanes *lanes) {
    return nest->survey.work + nest->emitted >= TUNE_PREFETCH_OPS && !nest->pack &&
           nest->lane >= 0 && !nest->masked && lanes->neighbours && !lanes->mask &&
           lanes->depth == nest->depth_of[nest->lane];
}

// Are the lanes of the place beyond the view's end (nest->outside)?
static bool is_outside(Lower *l, const Nest *nest, IrOp *op, LanePlace place) {
    if (!nest->outside) return false;
    IndexTerms t = terms_of(l, nest, op, &place);
    return terms_move(l, nest, &t);
}

static NestValue padding(Lower *l, Nest *nest, const IrOp *op) {
    if (ir_operand(op, 1)) return value_at(l, nest, ir_operand(op, 1), (LanePlace){0});
    const IrType *t = ir_with_shape(l->module, op->results[0].type, 0, NULL);
    return (NestValue){ir_const_bits(nest_builder(nest, 0), t, 0), 0};
}

NestValue access_load(Lower *l, Nest *nest, IrOp *op, LanePlace place) {
    bool view = op->code == IR_VIEW_LOAD;
    NestValue transposed;
    if (view && is_outside(l, nest, op, place)) return padding(l, nest, op);
    if (view && view_load_transposed(l, nest, op, place, &transposed)) return transposed;
    AccessLanes lanes =
        view ? access_view_lanes(l, nest, op, place) : pointer_lanes(l, nest, op, 1, place);
    IrValue *other = other_value(l, nest, op, view ? 1 : 2, &lanes, place);
    IrBuilder *b = access_begin(l, nest, op, &lanes, lanes.depth);
    if (view && access_is_packed(ir_operand(op, 0)))
        return (NestValue){packed_load(l, nest, op, &lanes, other), lanes.depth};
    Dtype elem = ir_operand(op, 0)->type->elem;
    IrValue *x =
        access_load_op(l, nest, b, &lanes, lanes.pointer, elem, nest->lanes, lanes.mask, other);
    bool asked = view && lanes.neighbours &&
                 prefetch_next_row(l, nest, op, (NestValue){lanes.pointer, lanes.depth});
    if (view && !asked && hides_loads(nest, &lanes))
        ir_attr_set_int(x->def, IR_ATTR_AHEAD, TUNE_PREFETCH_BYTES);
    return (NestValue){x, lanes.depth};
}

NestValue access_inside(Lower *l, Nest *nest, IrOp *op, LanePlace place) {
    if (is_outside(l, nest, op, place))
        return (NestValue){ir_const_bool(nest_builder(nest, 0), false), 0};
    IndexTerms t = terms_of(l, nest, op, &place);
    AccessLanes lanes = {.vector = terms_move(l, nest, &t)};
    bool run = lanes.vector && terms_run(l, nest, op, &t);
    for (uint32_t d = 0; d < t.rank; d++) {
        NestValue index = term_index(l, nest, &t.at[d], run || !lanes.vector);
        lanes.depth = max_depth(lanes.depth, index.depth);
        mask_term(l, nest, op, &t, d, index, run, &lanes);
    }
    spread_mask(nest, &lanes);
    // It holds in this loop only, not at the edge.
    if (!lanes.mask) return (NestValue){ir_const_bool(nest_builder(nest, 0), true), nest->depth};
    return (NestValue){lanes.mask, lanes.depth};
}

// ---- stores -------------------------------------------------------------------------------------

static IrValue *lane_of(IrBuilder *b, IrValue *x, uint32_t lane) {
    if (x->type->rank == 0) return x;
    const IrType *t = ir_with_shape(b->module, x->type, 0, NULL);
    IrOp *op = ir_op(b, IR_VEC_LANE, 1, &x, 1, &t, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_LANE, lane);
    return ir_result(op, 0);
}

bool access_needs_scalars(const Lower *l, const IrOp *op) {
    if (!op || op->code != IR_VIEW_STORE || !access_is_packed(ir_operand(op, 0))) return false;
    bool strided = access_run(l, ir_operand(op, 0)) < 0;
    return strided || !l->aligned[op->id];
}

// Does the store write whole aligned vectors, so that it may bypass the caches?
static bool may_stream(const Lower *l, const IrOp *op, const AccessLanes *lanes) {
    return (l->facts & FACT_STREAM) && op->code == IR_VIEW_STORE && lanes->neighbours &&
           !lanes->mask && l->aligned[op->id];
}

// Lanes that all store to one place: it is unspecified which value stays; with a mask, any active
// lane stores.
void access_store(Lower *l, Nest *nest, IrOp *op, LanePlace place, NestValue x) {
    bool view = op->code == IR_VIEW_STORE;
    AccessLanes lanes =
        view ? access_view_lanes(l, nest, op, place) : pointer_lanes(l, nest, op, 2, place);
    if (view) {
        bool moving = terms_mask_moves(l, nest, op, 2, place);
        if (moving && !lanes.vector) {
            lanes.vector = true;
            IrBuilder *b = nest_builder(nest, lanes.depth);
            lanes.pointer = ir_broadcast(b, lanes.pointer, 1, &nest->lanes);
            if (lanes.mask) lanes.mask = ir_broadcast(b, lanes.mask, 1, &nest->lanes);
        }
        add_mask_operand(l, nest, op, 2, place, &lanes);
    }
    IrBuilder *b = access_begin(l, nest, op, &lanes, nest->depth);
    if (lanes.vector) x = value_splat(nest, x);
    IrValue *value = lanes.vector ? x.value : lane_of(b, x.value, nest->lanes - 1);
    if (view && access_is_packed(ir_operand(op, 0)))
        packed_store(l, nest, op, &lanes, value);
    else
        access_store_op(b, &lanes, lanes.pointer, value, lanes.mask, may_stream(l, op, &lanes));
}

void access_element(Lower *l, Nest *nest, IrOp *op, LanePlace place, IrValue **pointer,
                    IrValue **mask) {
    bool view = ir_operand(op, 0)->type->kind == IR_VIEW;
    bool cas = op->code == IR_ATOMIC_CAS || op->code == IR_VIEW_CAS;
    uint32_t operand = cas ? 3 : 2;
    AccessLanes lanes =
        view ? access_view_lanes(l, nest, op, place) : pointer_lanes(l, nest, op, operand, place);
    if (view) add_mask_operand(l, nest, op, operand, place, &lanes);
    *pointer = lanes.pointer;
    *mask = lanes.mask;  // lanes are single elements here
}

// ---- gather -------------------------------------------------------------------------------------

// gather(x, index, axis): x is in a buffer; the result is 0 where the index is outside.
NestValue access_gather(Lower *l, Nest *nest, const IrOp *op, LanePlace place) {
    const IrValue *x = ir_operand(op, 0);
    int64_t axis = ir_attr_int(op, IR_ATTR_AXIS);
    NestValue index = value_at(l, nest, ir_operand(op, 1), place);
    AccessLanes lanes = {.vector = terms_any_lane(nest, &place), .depth = index.depth};
    for (uint32_t d = 0; d < place.rank; d++)
        lanes.depth = max_depth(lanes.depth, nest_coord(nest, place.at[d]).depth);
    IrBuilder *b = nest_builder(nest, lanes.depth);
    IrValue *linear = NULL, *mask = NULL;
    int64_t stride = 1;
    for (uint32_t d = x->type->rank; d-- > 0;) {
        IrValue *at = nest_coord(nest, place.at[d]).value;
        if (nest_is_lane(nest, place.at[d]) && (int64_t)d != axis) {
            IrValue *iota = ir_cast(b, ir_iota(b, nest->lanes), DTYPE_I64, true);
            at = ir_binary(b, IR_ADD, ir_broadcast(b, at, 1, &nest->lanes), iota);
        }
        if ((int64_t)d == axis) {
            at = ir_cast(b, index.value, DTYPE_I64, true);
            IrValue *extent = ir_const_bits(b, at->type, x->type->shape[d]);
            mask = access_within(b, at, extent);
        }
        linear = access_sum(nest, b, linear, access_scaled(nest, b, at, lower_i64(b, stride)));
        stride *= x->type->shape[d];
    }
    if (lanes.vector && linear->type->rank == 0) linear = ir_broadcast(b, linear, 1, &nest->lanes);
    if (lanes.vector && mask->type->rank == 0) mask = ir_broadcast(b, mask, 1, &nest->lanes);
    lanes.pointer = access_element_pointer(nest, b, lower_buffer_of(l, x).data, linear);
    IrValue *v =
        access_load_op(l, nest, b, &lanes, lanes.pointer, x->type->elem, nest->lanes, mask, NULL);
    return (NestValue){v, lanes.depth};
}

// Memory at a place: views, pointers, buffers. Which lanes are inside, and where they lie.
#include <string.h>

#include "passes/cpu/access.h"
#include "passes/cpu/transpose.h"
#include "passes/cpu/tuning.h"

static uint8_t max_depth(uint8_t a, uint8_t b) { return a > b ? a : b; }

static bool is_packed(const IrValue *view) {
    return dtype_is(view->type->elem, DTYPE_CLASS_PACKED);
}

static NestValue at_depth_0(IrValue *v) { return (NestValue){v, 0}; }

// ---- shapes of views ----------------------------------------------------------------------------

static const IrParam *param_of(const Lower *l, const IrValue *view) {
    for (size_t i = 0; i < l->func->params.count; i++)
        if (l->func->params.data[i].value == view) return &l->func->params.data[i];
    UNREACHABLE("a view that is no parameter");
}

static IrValue *view_op(IrBuilder *b, IrOpcode code, IrValue *view, uint32_t dim) {
    const IrType *t = ir_scalar(b->module, DTYPE_I64);
    IrOp *op = ir_op(b, code, 1, &view, 1, &t, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_DIM, dim);
    return ir_result(op, 0);
}

static IrValue *view_extent(Lower *l, IrBuilder *b, IrValue *view, uint32_t dim) {
    const IrDim *d = &param_of(l, view)->dims[dim];
    return d->extent ? ir_extent(b, d->extent) : lower_i64(b, d->value);
}

int access_run(const Lower *l, const IrValue *view) {
    bool last = !param_of(l, view)->strided || (l->facts & FACT_CONTIGUOUS);
    if (last) return (int)view->type->rank - 1;
    return l->assumed.view == view && !is_packed(view) ? (int)l->assumed.dim : -1;
}

IrValue *access_stride(Lower *l, IrBuilder *b, IrValue *view, uint32_t dim) {
    uint32_t rank = view->type->rank;
    if (access_run(l, view) == (int)dim) return lower_i64(b, 1);
    if (param_of(l, view)->strided) return view_op(b, IR_VEC_STRIDE, view, dim);
    IrValue *stride = lower_i64(b, 1);
    for (uint32_t d = rank; d-- > dim + 1;)
        stride = lower_mul(b, stride, view_extent(l, b, view, d));
    return stride;
}

IrValue *access_has_stride_1(IrBuilder *b, IrValue *view, uint32_t dim) {
    return ir_binary(b, IR_EQ, view_op(b, IR_VEC_STRIDE, view, dim), lower_i64(b, 1));
}

IrValue *access_view_data(IrBuilder *b, IrValue *view) {
    Dtype elem = is_packed(view) ? DTYPE_U8 : view->type->elem;
    const IrType *t = ir_ptr(b->module, elem, 0, NULL);
    return ir_result(ir_op(b, IR_VEC_DATA, 1, &view, 1, &t, 0, NULL), 0);
}

static bool is_one(const IrValue *v) {
    return v->def && v->def->code == IR_CONST && ir_attr(v->def, IR_ATTR_VALUE)->u.bits == 1;
}

// ---- a selection at a place ---------------------------------------------------------------------

// What one dimension of a view contributes: index + coordinate.
typedef struct IndexTerm {
    IrValue *index;   // scalar: the op's own
    bool tile;        // the index is a tile
    bool width;       // `i +: W`: has a coordinate
    Coord coord;      // of the width
    LanePlace place;  // of the tile index
    bool proven;
    bool moves;     // with the lanes
    bool positive;  // the index of a width is never below 0, nor are its lanes'
} IndexTerm;
typedef struct IndexTerms {
    LanePlace place;
    uint32_t rank;
    IndexTerm at[IR_MAX_VIEW_RANK];
} IndexTerms;

static LanePlace index_place(const IrType *t, const LanePlace *place, uint32_t first) {
    LanePlace p = {.rank = t->rank};
    for (uint32_t d = 0; d < t->rank; d++)
        p.at[d] = t->shape[d] == 1 ? (Coord){COORD_ZERO, 0, 0, NULL} : place->at[first + d];
    return p;
}

static uint32_t tile_rank_of(const IrOp *op, uint32_t start, uint32_t rank) {
    for (uint32_t d = 0; d < rank; d++)
        if (ir_operand(op, start + d)->type->rank > 0) return ir_operand(op, start + d)->type->rank;
    return 0;
}

static bool any_lane(const Nest *nest, const LanePlace *p) {
    for (uint32_t d = 0; d < p->rank; d++)
        if (nest_is_lane(nest, p->at[d])) return true;
    return false;
}

static IndexTerms terms_of(Lower *l, const Nest *nest, const IrOp *op, const LanePlace *place) {
    const IrAttr *select = ir_attr(op, IR_ATTR_SELECT);
    bool can_prove = op->code != IR_VIEW_INSIDE;
    uint32_t start = ir_view_index_start(op->code), at = 0, tiles_at = 0;
    IndexTerms t = {.place = *place, .rank = select->u.ints.count};
    uint32_t tile_rank = tile_rank_of(op, start, t.rank);
    bool placed = false;
    for (uint32_t d = 0; d < t.rank; d++) {
        IndexTerm *m = &t.at[d];
        m->index = ir_operand(op, start + d);
        m->tile = m->index->type->rank > 0;
        m->width = select->u.ints.items[d] > 0;
        m->proven = can_prove && ir_attr(op, IR_ATTR_INSIDE)->u.ints.items[d] != 0;
        if (m->width) {
            m->coord = place->at[at++];
            m->moves = nest_is_lane(nest, m->coord);
            m->positive = (l->positive[op->id] >> d & 1) != 0;
        } else if (m->tile && !placed) {
            placed = true;
            tiles_at = at;
            at += tile_rank;
        }
    }
    for (uint32_t d = 0; d < t.rank; d++) {
        IndexTerm *m = &t.at[d];
        if (!m->tile) continue;
        m->place = index_place(m->index->type, place, tiles_at);
        m->moves = any_lane(nest, &m->place) && value_lane_step(l, nest, m->index, m->place) != 0;
    }
    return t;
}

// What is read again had better stay in the caches.
static bool is_read(const IrValue *view) {
    for (const IrUse *use = view->uses; use; use = use->next) {
        IrOpcode code = use->user->code;
        if (code != IR_VIEW_STORE && code != IR_VIEW_INSIDE && code != IR_NOALIAS) return true;
    }
    return false;
}

// Does a row's part that begins at this index begin at a multiple of FACT_STREAM_ALIGN bytes, if
// the row does? Of packed elements: with a whole byte?
static bool is_aligned(const Lower *l, const IrOp *op, const IrValue *index) {
    uint64_t size = dtype_bits(ir_operand(op, 0)->type->elem) / 8;
    IrRange r = ir_range_of(l->ranges, index);
    if (is_packed(ir_operand(op, 0))) return r.known && r.divisor % 2 == 0;
    bool leaves = op->code == IR_VIEW_STORE && !is_read(ir_operand(op, 0));
    return leaves && r.known && r.divisor % (FACT_STREAM_ALIGN / size) == 0;
}

// In none of the lanes that go on from the index: sums wrap.
static bool never_negative(const Lower *l, const IrOp *op, const IrValue *index) {
    IrRange r = ir_range_of(l->ranges, index);
    return r.known && r.max <= INT64_MAX - UINT32_MAX &&
           ir_provably_at_least(l->ranges, op, index, 0);
}

void access_prove(Lower *l, const IrBlock *block) {
    IR_EACH_OP(op, block) {
        for (uint32_t i = 0; i < op->region_count; i++) access_prove(l, op->regions[i]);
        IrRule rule = ir_op_info(op->code)->rule;
        if (rule < IR_RULE_VIEW_LOAD || rule > IR_RULE_VIEW_INSIDE) continue;
        const IrAttr *select = ir_attr(op, IR_ATTR_SELECT);
        uint32_t start = ir_view_index_start(op->code);
        for (uint32_t d = 0; d < select->u.ints.count; d++) {
            bool width = select->u.ints.items[d] > 0;
            bool last = d + 1 == select->u.ints.count;
            if (width && last) l->aligned[op->id] = is_aligned(l, op, ir_operand(op, start + d));
            if (width && never_negative(l, op, ir_operand(op, start + d)))
                l->positive[op->id] |= (uint8_t)(1u << d);
        }
    }
}

// ---- checks of the whole loop of lanes ----------------------------------------------------------

static LaneCheck *check_find(Nest *nest, const IrOp *op) {
    for (size_t i = 0; i < nest->checks.count; i++)
        if (nest->checks.data[i].op == op) return &nest->checks.data[i];
    return NULL;
}

static bool simple_coord(Coord c) { return c.kind != COORD_VALUE; }

static bool coords_equal(const LanePlace *a, const LanePlace *b) {
    for (uint32_t d = 0; d < a->rank; d++)
        if (a->at[d].kind != b->at[d].kind || a->at[d].loop != b->at[d].loop) return false;
    return true;
}

// An access that goes before the loop of lanes (`depth`) is reached by its edge as well.
static void check_collect(Lower *l, Nest *nest, IrOp *op, const IndexTerms *t, uint8_t depth) {
    bool moves = false, open = false, endless = false;
    bool always = nest->lane >= 0 && depth < nest->depth_of[nest->lane];
    for (uint32_t d = 0; d < t->rank; d++) {
        const IndexTerm *m = &t->at[d];
        moves = moves || m->moves;
        open = open || !m->proven;
        endless = endless || (m->moves && m->proven);
        always = always || (m->tile && !m->proven) || (m->width && !simple_coord(m->coord));
    }
    nest->lanes_differ = nest->lanes_differ || (moves && (endless || always));
    if (!moves || !open) return;
    LaneCheck *known = check_find(nest, op);
    if (known) {
        known->always = known->always || always || !coords_equal(&known->place, &t->place);
        return;
    }
    LaneCheck check = {op, t->place, always};
    vec_push(l->scratch, &nest->checks, check);
}

// Do the loops' own bounds say that all lanes are inside? They do of the place that was checked:
// the same op may be reached at another one, where its lanes do not move.
static bool is_interior(Nest *nest, const IrOp *op, const IndexTerms *t) {
    if (nest->masked) return false;
    const LaneCheck *check = check_find(nest, op);
    return check && !check->always && coords_equal(&check->place, &t->place);
}

// An index as i64: one of u64 that is no i64 is beyond every extent, wherever lanes go from there.
static IrValue *index_i64(IrBuilder *b, IrValue *index) {
    if (index->type->elem == DTYPE_I64) return index;
    if (index->type->elem == DTYPE_U64)
        index = ir_binary(b, IR_MIN, index, ir_const_bits(b, index->type, INT64_MAX));
    return ir_cast(b, index, DTYPE_I64, true);
}

static IrValue *as_unsigned(IrBuilder *b, IrValue *x) {
    return ir_bitcast(b, x, ir_with_elem(b->module, x->type, DTYPE_U64));
}

// 0 <= x < extent.
static IrValue *within(IrBuilder *b, IrValue *x, IrValue *extent) {
    IrValue *end = as_unsigned(b, extent);
    return ir_binary(b, IR_LT, as_unsigned(b, x), end);
}

// Is the whole dimension inside that runs in a loop within the lanes' loop?
static IrValue *span_within(IrBuilder *b, IrValue *first, uint32_t count, IrValue *extent) {
    IrValue *low = ir_binary(b, IR_GE, first, lower_i64(b, 0));
    IrValue *room = lower_add(b, extent, lower_i64(b, -(int64_t)count));
    return lower_and(b, low, ir_binary(b, IR_LE, first, room));
}

static void interior_term(Lower *l, Nest *nest, IrOp *op, const IndexTerm *m, uint32_t dim,
                          Interior *in) {
    if (m->proven) return;
    IrBuilder *b = nest_builder(nest, nest->depth);
    IrValue *extent = view_extent(l, nest_builder(nest, 0), ir_operand(op, 0), dim);
    IrValue *index = index_i64(b, m->index);
    if (m->width && m->moves) {
        if (!m->positive)
            in->from_start =
                lower_and(b, in->from_start, ir_binary(b, IR_GE, index, lower_i64(b, 0)));
        IrValue *left = ir_binary(b, IR_SUB, extent, index);
        in->end = in->end ? lower_min(b, in->end, left) : left;
        in->farthest = in->farthest ? lower_max(b, in->farthest, left) : left;
        return;
    }
    bool inner =
        m->width && m->coord.kind == COORD_LOOP && nest->depth_of[m->coord.loop] > nest->depth;
    if (inner) {
        uint32_t count = nest->shape[m->coord.loop];
        in->from_start = lower_and(b, in->from_start, span_within(b, index, count, extent));
        return;
    }
    if (m->width) index = lower_add(b, index, nest_coord(l, nest, m->coord).value);
    bool side = m->width && m->coord.kind == COORD_LOOP && square_is_side(nest, m->coord.loop);
    IrValue *fits = side ? span_within(b, index, nest->sides, extent) : within(b, index, extent);
    in->from_start = lower_and(b, in->from_start, fits);
}

Interior access_interior(Lower *l, Nest *nest) {
    Interior in = {NULL, NULL, NULL};
    for (size_t i = 0; i < nest->checks.count; i++) {
        LaneCheck check = nest->checks.data[i];
        if (check.always) continue;
        IndexTerms t = terms_of(l, nest, check.op, &check.place);
        for (uint32_t d = 0; d < t.rank; d++) interior_term(l, nest, check.op, &t.at[d], d, &in);
    }
    return in;
}

IrValue *access_room(Lower *l, IrBuilder *b, const IrOp *op, uint32_t dim) {
    IrValue *index = ir_operand(op, ir_view_index_start(op->code) + dim);
    index = index_i64(b, index);
    IrValue *room = ir_binary(b, IR_SUB, view_extent(l, b, ir_operand(op, 0), dim), index);
    for (size_t i = 0; i < l->reaches.count; i++) {
        const StoreReach *s = &l->reaches.data[i];
        if (s->store == op && s->dim == dim) room = lower_min(b, room, s->extent);
    }
    return room;
}

// ---- a selection as a whole ---------------------------------------------------------------------

bool access_is_whole(Lower *l, const IrOp *op) {
    if (op->code != IR_VIEW_LOAD) return false;
    const IrAttr *select = ir_attr(op, IR_ATTR_SELECT);
    uint32_t start = ir_view_index_start(op->code), rank = select->u.ints.count;
    for (uint32_t d = 0; d < rank; d++)
        if (ir_operand(op, start + d)->type->rank > 0) return false;
    bool neighbours = access_run(l, ir_operand(op, 0)) == (int)rank - 1;
    return neighbours && select->u.ints.items[rank - 1] > 0;
}

WholeMatrix access_whole(Lower *l, IrBuilder *b, IrOp *op) {
    const IrAttr *select = ir_attr(op, IR_ATTR_SELECT), *proven = ir_attr(op, IR_ATTR_INSIDE);
    uint32_t start = ir_view_index_start(op->code), at = 0;
    IrValue *view = ir_operand(op, 0), *linear = lower_i64(b, 0);
    WholeMatrix w = {0};
    for (uint32_t d = 0; d < select->u.ints.count; d++) {
        int64_t width = select->u.ints.items[d];
        IrValue *index = ir_operand(op, start + d);
        index = index_i64(b, index);
        IrValue *stride = access_stride(l, b, view, d);
        if (width > 0) w.step[at++] = stride;
        linear = lower_add(b, linear, lower_mul(b, index, stride));
        if (proven->u.ints.items[d]) continue;
        IrValue *extent = view_extent(l, b, view, d);
        IrValue *fits =
            width > 0 ? span_within(b, index, (uint32_t)width, extent) : within(b, index, extent);
        w.inside = lower_and(b, w.inside, fits);
    }
    w.pointer = ir_ptr_add(b, access_view_data(b, view), linear);
    return w;
}

// ---- where the lanes are ------------------------------------------------------------------------

static LanePlace lane_0(Lower *l, Nest *nest, LanePlace place) {
    for (uint32_t d = 0; d < place.rank; d++) {
        if (!nest_is_lane(nest, place.at[d])) continue;
        NestValue c = nest_coord(l, nest, place.at[d]);
        place.at[d] = (Coord){COORD_VALUE, 0, c.depth, c.value};
    }
    return place;
}

// The index of a term: of lane 0 where lanes are neighbours (`run`), else of each lane.
static NestValue term_index(Lower *l, Nest *nest, const IndexTerm *m, bool run) {
    if (m->tile) {
        LanePlace p = run ? lane_0(l, nest, m->place) : m->place;
        NestValue x = value_at(l, nest, m->index, p);
        if (nest->collecting) return x;
        if (x.value->type->elem == DTYPE_I64) return x;
        return (NestValue){index_i64(nest_builder(nest, x.depth), x.value), x.depth};
    }
    NestValue x = at_depth_0(m->index);
    if (x.value->type->elem != DTYPE_I64 && !nest->collecting)
        x.value = index_i64(nest_builder(nest, 0), x.value);
    if (!m->width) return x;
    NestValue c = nest_coord(l, nest, m->coord);
    uint8_t depth = max_depth(x.depth, c.depth);
    if (nest->collecting) return (NestValue){NULL, depth};
    IrBuilder *b = nest_builder(nest, depth);
    x = (NestValue){lower_add(b, x.value, c.value), depth};
    if (run || !m->moves) return x;
    IrValue *lanes = ir_cast(nest_builder(nest, 0), ir_iota(nest_builder(nest, 0), nest->lanes),
                             DTYPE_I64, true);
    x = value_splat(l, nest, x);
    return (NestValue){ir_binary(b, IR_ADD, x.value, lanes), depth};
}

static IrValue *clamp_lanes(Nest *nest, IrBuilder *b, IrValue *n) {
    n = lower_max(b, lower_min(b, n, lower_i64(b, nest->lanes)), lower_i64(b, 0));
    return ir_broadcast(b, ir_cast(b, n, DTYPE_I32, true), 1, &nest->lanes);
}

// Lane k is inside where 0 <= first + k < extent.
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
    if (m->proven || is_interior(nest, op, t)) return;
    lanes->depth = max_depth(lanes->depth, index.depth);
    IrBuilder *b = nest_builder(nest, lanes->depth);
    IrValue *extent = view_extent(l, nest_builder(nest, 0), ir_operand(op, 0), dim);
    IrValue *mask;
    if (run && m->moves) {
        mask = run_mask(nest, b, index.value, extent, m->positive);
    } else {
        if (index.value->type->rank) extent = ir_broadcast(b, extent, 1, &nest->lanes);
        mask = within(b, index.value, extent);
    }
    lanes->mask = mask_and(nest, b, lanes->mask, mask);
}

// Do the lanes lie side by side? One dimension of stride 1 moves, by steps of 1.
static bool is_run(Lower *l, const Nest *nest, const IrOp *op, const IndexTerms *t) {
    uint32_t moving = 0;
    bool run = true;
    const IrValue *view = ir_operand(op, 0);
    int along = access_run(l, view);
    for (uint32_t d = 0; d < t->rank; d++) {
        const IndexTerm *m = &t->at[d];
        if (!m->moves) continue;
        int step = m->tile ? value_lane_step(l, nest, m->index, m->place) : 1;
        if (step == 0) continue;
        moving++;
        run = run && step == 1 && (int)d == along;
        // Packed elements go by whole bytes.
        run = run && !(is_packed(view) && (m->tile || !l->aligned[op->id]));
    }
    return run && moving == 1;
}

static bool moves_at_all(Lower *l, const Nest *nest, const IndexTerms *t) {
    for (uint32_t d = 0; d < t->rank; d++) {
        const IndexTerm *m = &t->at[d];
        if (m->moves && !(m->tile && value_lane_step(l, nest, m->index, m->place) == 0))
            return true;
    }
    return false;
}

IrValue *access_scaled(Nest *nest, IrBuilder *b, IrValue *index, IrValue *stride) {
    if (is_one(stride)) return index;
    if (index->type->rank == 0) return lower_mul(b, index, stride);
    return ir_binary(b, IR_MUL, index, ir_broadcast(b, stride, 1, &nest->lanes));
}

IrValue *access_sum(Nest *nest, IrBuilder *b, IrValue *x, IrValue *y) {
    if (!x) return y;
    if (x->type->rank == 0 && y->type->rank == 0) return lower_add(b, x, y);
    if (x->type->rank == 0) x = ir_broadcast(b, x, 1, &nest->lanes);
    if (y->type->rank == 0) y = ir_broadcast(b, y, 1, &nest->lanes);
    return ir_binary(b, IR_ADD, x, y);
}

IrValue *access_element_pointer(Nest *nest, IrBuilder *b, IrValue *data, IrValue *linear) {
    if (linear->type->rank) data = ir_broadcast(b, data, 1, &nest->lanes);
    return ir_ptr_add(b, data, linear);
}

// A mask of one bool for all lanes becomes one for each.
static void spread_mask(Nest *nest, AccessLanes *lanes) {
    if (nest->collecting || !lanes->vector || !lanes->mask || lanes->mask->type->rank) return;
    lanes->mask = ir_broadcast(nest_builder(nest, lanes->depth), lanes->mask, 1, &nest->lanes);
}

static bool goes_along(const LanePlace *place, uint32_t loop) {
    for (uint32_t d = 0; d < place->rank; d++)
        if (place->at[d].kind == COORD_LOOP && place->at[d].loop == loop) return true;
    return false;
}

// By how many elements the access moves with each coordinate of the side; NULL: there is no
// telling.
static IrValue *side_stride(Lower *l, Nest *nest, const IrOp *op, const IndexTerms *t) {
    int along = -1;
    for (uint32_t d = 0; d < t->rank; d++) {
        const IndexTerm *m = &t->at[d];
        if (m->tile && goes_along(&m->place, (uint32_t)nest->side)) return NULL;
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
    AccessLanes lanes = {.vector = moves_at_all(l, nest, &t)};
    lanes.neighbours = lanes.vector && is_run(l, nest, op, &t);
    IrValue *linear = NULL, *view = ir_operand(op, 0);
    // Lanes that do not move are looked at through lane 0.
    bool first_only = lanes.neighbours || !lanes.vector;
    for (uint32_t d = 0; d < t.rank; d++) {
        const IndexTerm *m = &t.at[d];
        NestValue index = term_index(l, nest, m, first_only);
        lanes.depth = max_depth(lanes.depth, index.depth);
        if (nest->collecting) continue;
        mask_term(l, nest, op, &t, d, index, first_only && lanes.vector, &lanes);
        IrBuilder *b = nest_builder(nest, lanes.depth);
        IrValue *stride = access_stride(l, nest_builder(nest, 0), view, d);
        linear = access_sum(nest, b, linear, access_scaled(nest, b, index.value, stride));
    }
    if (nest->collecting) {
        check_collect(l, nest, op, &t, lanes.depth);
        return lanes;
    }
    lanes.linear = linear;
    // Indices that turn out equal for all lanes: one element serves them.
    if (!lanes.neighbours && linear->type->rank == 0) lanes.vector = false;
    spread_mask(nest, &lanes);
    if (is_packed(view)) return lanes;
    IrBuilder *b = nest_builder(nest, lanes.depth);
    lanes.pointer =
        access_element_pointer(nest, b, access_view_data(nest_builder(nest, 0), view), linear);
    bool square = nest->side_base && linear->type->rank == 0;
    IrValue *stride = square ? side_stride(l, nest, op, &t) : NULL;
    if (stride) lanes.pointer = square_beside(l, nest, b, op->id, place, lanes.pointer, stride);
    return lanes;
}

// ---- pointers -----------------------------------------------------------------------------------

// By how many elements a pointer moves from lane to lane: 0, 1, or -1: unknown.
static int pointer_step(Lower *l, Nest *nest, const IrValue *p, LanePlace place) {
    if (p->type->rank == 0 || !any_lane(nest, &place)) return 0;
    const IrOp *op = p->def;
    if (!op) return -1;
    if (op->code == IR_BROADCAST) {
        LanePlace at;
        value_operand_place(l, nest, op, p, 0, place, &at);
        return ir_operand(op, 0)->type->rank == 0 ? 0
                                                  : pointer_step(l, nest, ir_operand(op, 0), at);
    }
    if (op->code != IR_PTR_ADD || pointer_step(l, nest, ir_operand(op, 0), place) != 0) return -1;
    return value_lane_step(l, nest, ir_operand(op, 1), place);
}

static void add_mask_operand(Lower *l, Nest *nest, IrOp *op, uint32_t operand, LanePlace place,
                             AccessLanes *lanes) {
    IrValue *mask = ir_operand(op, operand);
    if (!mask) return;
    NestValue m = value_at(l, nest, mask, mask->type->rank ? place : (LanePlace){0});
    lanes->depth = max_depth(lanes->depth, m.depth);
    if (nest->collecting) return;
    IrBuilder *b = nest_builder(nest, lanes->depth);
    IrValue *value = m.value;
    if (lanes->vector && value->type->rank == 0) value = ir_broadcast(b, value, 1, &nest->lanes);
    lanes->mask = mask_and(nest, b, lanes->mask, value);
}

// A mask that differs from lane to lane makes lanes of what a single pointer would serve.
static bool mask_moves(Lower *l, Nest *nest, IrOp *op, uint32_t operand, LanePlace place) {
    IrValue *mask = ir_operand(op, operand);
    return mask && mask->type->rank && any_lane(nest, &place) &&
           value_lane_step(l, nest, mask, place) != 0;
}

static AccessLanes pointer_lanes(Lower *l, Nest *nest, IrOp *op, uint32_t mask, LanePlace place) {
    IrValue *p = ir_operand(op, 0);
    int step = pointer_step(l, nest, p, place);
    AccessLanes lanes = {.vector = step != 0 || mask_moves(l, nest, op, mask, place)};
    nest->lanes_differ = nest->lanes_differ || lanes.vector;
    lanes.neighbours = step == 1;
    LanePlace at = step >= 0 ? lane_0(l, nest, place) : place;
    NestValue x = value_at(l, nest, p, at);
    lanes.depth = x.depth;
    lanes.pointer = x.value;
    if (!nest->collecting && lanes.vector && !lanes.neighbours)
        lanes.pointer = value_splat(l, nest, x).value;
    add_mask_operand(l, nest, op, mask, place, &lanes);
    return lanes;
}

// ---- loads that are turned ----------------------------------------------------------------------

// Lanes along one dimension, neighbours along another one, by single steps both: the dimension of
// the lanes, or -1. No other index may go along with either.
static int turned_lanes(Lower *l, const Nest *nest, const IrOp *op, const IndexTerms *t) {
    int along = access_run(l, ir_operand(op, 0)), lanes = -1;
    if (along < 0 || is_packed(ir_operand(op, 0)) || !t->at[along].width) return -1;
    if (ir_operand(op, 0)->type->elem == DTYPE_BOOL) return -1;
    Coord side = t->at[along].coord;
    if (!square_fits(nest, side)) return -1;
    for (uint32_t d = 0; d < t->rank; d++) {
        const IndexTerm *m = &t->at[d];
        bool with_it = m->width && m->coord.kind == COORD_LOOP && m->coord.loop == side.loop;
        if ((m->tile && goes_along(&m->place, side.loop)) || ((int)d != along && with_it))
            return -1;
        if (!m->moves) continue;
        if (m->tile || lanes >= 0) return -1;
        lanes = (int)d;
    }
    return lanes;
}

// Of an access that is known to be inside: element by element, lane 0 at the side's first.
static Far view_far(Lower *l, Nest *nest, IrOp *op, const IndexTerms *t, uint32_t lanes_dim) {
    IrBuilder *top = nest_builder(nest, 0);
    IrValue *view = ir_operand(op, 0), *linear = NULL, *now = nest->variable[nest->side];
    Far far = {.of = op->id, .elem = view->type->elem};
    nest->variable[nest->side] = nest->side_base;
    for (uint32_t d = 0; d < t->rank; d++) {
        NestValue index = term_index(l, nest, &t->at[d], true);
        far.depth = max_depth(far.depth, index.depth);
        IrBuilder *b = nest_builder(nest, far.depth);
        linear = access_sum(nest, b, linear,
                            access_scaled(nest, b, index.value, access_stride(l, top, view, d)));
    }
    nest->variable[nest->side] = now;
    IrBuilder *b = nest_builder(nest, far.depth);
    far.pointer = ir_ptr_add(b, access_view_data(top, view), linear);
    far.stride = access_stride(l, top, view, lanes_dim);
    return far;
}

static bool known_inside(Nest *nest, const IrOp *op, const IndexTerms *t) {
    if (is_interior(nest, op, t)) return true;
    for (uint32_t d = 0; d < t->rank; d++)
        if (!t->at[d].proven) return false;
    return true;
}

static NestValue turned_row(const Nest *nest, const Square *square) {
    return (NestValue){square->row[nest->side_at], nest->depth};
}

// A vector of a square, which is loaded for the first of them.
static bool view_load_turned(Lower *l, Nest *nest, IrOp *op, LanePlace place, NestValue *out) {
    if (!nest->collecting && (nest->sides < 2 || nest->masked)) return false;
    IndexTerms t = terms_of(l, nest, op, &place);
    int lanes = turned_lanes(l, nest, op, &t), along = access_run(l, ir_operand(op, 0));
    if (lanes < 0) return false;
    if (nest->collecting) {
        square_collect(nest, t.at[along].coord.loop, ir_operand(op, 0)->type->elem);
        return false;
    }
    if (!square_is_side(nest, t.at[along].coord.loop) || !known_inside(nest, op, &t)) return false;
    const Square *known = square_find(nest, &place, op->id, false);
    if (!known) {
        Far far = view_far(l, nest, op, &t, (uint32_t)lanes);
        known = square_load(l, nest, &far, place);
    }
    *out = turned_row(nest, known);
    return true;
}

// ---- loads --------------------------------------------------------------------------------------

static IrValue *other_value(Lower *l, Nest *nest, IrOp *op, uint32_t operand, AccessLanes *lanes,
                            LanePlace place) {
    IrValue *other = operand < op->operand_count ? ir_operand(op, operand) : NULL;
    if (!other) return NULL;
    NestValue x = value_at(l, nest, other, other->type->rank ? place : (LanePlace){0});
    lanes->depth = max_depth(lanes->depth, x.depth);
    if (nest->collecting) return NULL;
    IrValue *v = x.value;
    if (!lanes->vector || v->type->rank) return v;
    return ir_broadcast(nest_builder(nest, lanes->depth), v, 1, &nest->lanes);
}

IrValue *access_load_op(Lower *l, Nest *nest, IrBuilder *b, const AccessLanes *lanes,
                        IrValue *pointer, Dtype elem, uint32_t count, IrValue *mask,
                        IrValue *other) {
    const IrType *t = ir_tile(l->module, elem, lanes->vector ? 1 : 0, &count);
    IrValue *operands[3] = {pointer, mask, mask ? other : NULL};
    IrOpcode code = lanes->neighbours ? IR_CPU_LOAD : IR_LOAD;
    (void)nest;
    return ir_result(ir_op(b, code, 3, operands, 1, &t, 0, NULL), 0);
}

// Much arithmetic between one load and the next fills the window in which a CPU looks for loads to
// begin early: it is told what comes. Where there is little it looks far ahead by itself.
static bool hides_loads(const Nest *nest, const AccessLanes *lanes) {
    return nest->work >= TUNE_AHEAD_OPS && !nest->pack && nest->lane >= 0 && !nest->masked &&
           lanes->neighbours && !lanes->mask && lanes->depth == nest->depth_of[nest->lane];
}

NestValue access_load(Lower *l, Nest *nest, IrOp *op, LanePlace place) {
    bool view = op->code == IR_VIEW_LOAD;
    NestValue turned;
    if (view && view_load_turned(l, nest, op, place, &turned)) return turned;
    AccessLanes lanes =
        view ? access_view_lanes(l, nest, op, place) : pointer_lanes(l, nest, op, 1, place);
    IrValue *other = other_value(l, nest, op, view ? 1 : 2, &lanes, place);
    if (nest->collecting) return (NestValue){NULL, lanes.depth};
    IrBuilder *b = access_begin(l, nest, op, &lanes, lanes.depth);
    if (view && is_packed(ir_operand(op, 0)))
        return (NestValue){packed_load(l, nest, op, &lanes, other), lanes.depth};
    Dtype elem = ir_operand(op, 0)->type->elem;
    IrValue *x =
        access_load_op(l, nest, b, &lanes, lanes.pointer, elem, nest->lanes, lanes.mask, other);
    bool asked = view && lanes.neighbours &&
                 ahead_fetch(l, nest, op, (NestValue){lanes.pointer, lanes.depth});
    if (view && !asked && hides_loads(nest, &lanes))
        ir_attr_set_int(x->def, IR_ATTR_AHEAD, TUNE_AHEAD_BYTES);
    return (NestValue){x, lanes.depth};
}

NestValue access_inside(Lower *l, Nest *nest, IrOp *op, LanePlace place) {
    IndexTerms t = terms_of(l, nest, op, &place);
    AccessLanes lanes = {.vector = moves_at_all(l, nest, &t)};
    bool run = lanes.vector && is_run(l, nest, op, &t);
    for (uint32_t d = 0; d < t.rank; d++) {
        NestValue index = term_index(l, nest, &t.at[d], run || !lanes.vector);
        lanes.depth = max_depth(lanes.depth, index.depth);
        if (nest->collecting) continue;
        mask_term(l, nest, op, &t, d, index, run, &lanes);
    }
    if (!nest->collecting) spread_mask(nest, &lanes);
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

void access_store_op(IrBuilder *b, const AccessLanes *lanes, IrValue *pointer, IrValue *x,
                     IrValue *mask, bool stream) {
    IrValue *operands[3] = {pointer, x, mask};
    IrOp *op = ir_op(b, lanes->neighbours ? IR_CPU_STORE : IR_STORE, 3, operands, 0, NULL, 0, NULL);
    if (stream) ir_attr_set_int(op, IR_ATTR_STREAM, true);
}

bool access_needs_scalars(const Lower *l, const IrOp *op) {
    if (!op || op->code != IR_VIEW_STORE || !is_packed(ir_operand(op, 0))) return false;
    bool strided = access_run(l, ir_operand(op, 0)) < 0;
    return strided || !l->aligned[op->id];
}

// Whole vectors that begin where a vector may, and go past the caches.
static bool may_stream(const Lower *l, const IrOp *op, const AccessLanes *lanes) {
    return (l->facts & FACT_STREAM) && op->code == IR_VIEW_STORE && lanes->neighbours &&
           !lanes->mask && l->aligned[op->id];
}

// Lanes that all store to one place: which one stays is unspecified; a mask lets any that is on.
void access_store(Lower *l, Nest *nest, IrOp *op, LanePlace place, NestValue x) {
    bool view = op->code == IR_VIEW_STORE;
    AccessLanes lanes =
        view ? access_view_lanes(l, nest, op, place) : pointer_lanes(l, nest, op, 2, place);
    if (view) {
        bool moving = mask_moves(l, nest, op, 2, place);
        if (moving && !lanes.vector) {
            lanes.vector = true;
            if (!nest->collecting) {
                IrBuilder *b = nest_builder(nest, lanes.depth);
                lanes.pointer = ir_broadcast(b, lanes.pointer, 1, &nest->lanes);
                if (lanes.mask) lanes.mask = ir_broadcast(b, lanes.mask, 1, &nest->lanes);
            }
        }
        add_mask_operand(l, nest, op, 2, place, &lanes);
    }
    if (nest->collecting) return;
    IrBuilder *b = access_begin(l, nest, op, &lanes, nest->depth);
    if (lanes.vector) x = value_splat(l, nest, x);
    IrValue *value = lanes.vector ? x.value : lane_of(b, x.value, nest->lanes - 1);
    if (view && is_packed(ir_operand(op, 0)))
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

// gather(x, index, axis): x lies in a buffer; 0 where the index is outside.
NestValue access_gather(Lower *l, Nest *nest, const IrOp *op, LanePlace place) {
    const IrValue *x = ir_operand(op, 0);
    int64_t axis = ir_attr_int(op, IR_ATTR_AXIS);
    NestValue index = value_at(l, nest, ir_operand(op, 1), place);
    AccessLanes lanes = {.vector = any_lane(nest, &place), .depth = index.depth};
    for (uint32_t d = 0; d < place.rank; d++)
        lanes.depth = max_depth(lanes.depth, nest_coord(l, nest, place.at[d]).depth);
    if (nest->collecting) {
        nest->lanes_differ = true;
        return (NestValue){NULL, lanes.depth};
    }
    IrBuilder *b = nest_builder(nest, lanes.depth);
    IrValue *linear = NULL, *mask = NULL;
    int64_t stride = 1;
    for (uint32_t d = x->type->rank; d-- > 0;) {
        IrValue *at = nest_coord(l, nest, place.at[d]).value;
        if (nest_is_lane(nest, place.at[d]) && (int64_t)d != axis) {
            IrValue *iota = ir_cast(b, ir_iota(b, nest->lanes), DTYPE_I64, true);
            at = ir_binary(b, IR_ADD, ir_broadcast(b, at, 1, &nest->lanes), iota);
        }
        if ((int64_t)d == axis) {
            at = ir_cast(b, index.value, DTYPE_I64, true);
            IrValue *extent = ir_const_bits(b, at->type, x->type->shape[d]);
            mask = within(b, at, extent);
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

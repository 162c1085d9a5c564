// The lanes of an access: pure queries, used by the survey of a nest and by its emission.
#include "passes/cpu/emit/terms.h"

#include "passes/cpu/emit/transpose.h"

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

bool terms_any_lane(const Nest *nest, const LanePlace *p) {
    for (uint32_t d = 0; d < p->rank; d++)
        if (nest_is_lane(nest, p->at[d])) return true;
    return false;
}

IndexTerms terms_of(Lower *l, const Nest *nest, const IrOp *op, const LanePlace *place) {
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
        m->moves =
            terms_any_lane(nest, &m->place) && value_lane_step(l, nest, m->index, m->place) != 0;
    }
    return t;
}

// ---- checks of the whole loop of lanes ----------------------------------------------------------

LaneCheck *terms_check(NestSurvey *survey, const IrOp *op) {
    for (size_t i = 0; i < survey->checks.count; i++)
        if (survey->checks.data[i].op == op) return &survey->checks.data[i];
    return NULL;
}

bool terms_same_place(const LanePlace *a, const LanePlace *b) {
    for (uint32_t d = 0; d < a->rank; d++)
        if (a->at[d].kind != b->at[d].kind || a->at[d].loop != b->at[d].loop) return false;
    return true;
}

// Do the loops' own bounds prove that all lanes are inside? They do so only for the place that was
// checked: the op may be used at another place, where its lanes do not move.
bool terms_interior(Nest *nest, const IrOp *op, const IndexTerms *t) {
    if (nest->masked) return false;
    const LaneCheck *check = terms_check(&nest->survey, op);
    return check && !check->always && terms_same_place(&check->place, &t->place);
}

// ---- how lanes move -----------------------------------------------------------------------------

// Are the lanes neighbours in memory? Then one dimension of stride 1 moves, by steps of 1.
bool terms_run(Lower *l, const Nest *nest, const IrOp *op, const IndexTerms *t) {
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
        // Packed elements are accessed by whole bytes.
        run = run && !(access_is_packed(view) && (m->tile || !l->aligned[op->id]));
    }
    return run && moving == 1;
}

bool terms_move(Lower *l, const Nest *nest, const IndexTerms *t) {
    for (uint32_t d = 0; d < t->rank; d++) {
        const IndexTerm *m = &t->at[d];
        if (m->moves && !(m->tile && value_lane_step(l, nest, m->index, m->place) == 0))
            return true;
    }
    return false;
}

bool terms_vary_along(const LanePlace *place, uint32_t loop) {
    for (uint32_t d = 0; d < place->rank; d++)
        if (place->at[d].kind == COORD_LOOP && place->at[d].loop == loop) return true;
    return false;
}

// The number of elements that a pointer moves from lane to lane: 0, 1, or -1: unknown.
int terms_pointer_step(Lower *l, const Nest *nest, const IrValue *p, LanePlace place) {
    if (p->type->rank == 0 || !terms_any_lane(nest, &place)) return 0;
    const IrOp *op = p->def;
    if (!op) return -1;
    if (op->code == IR_BROADCAST) {
        LanePlace at;
        value_operand_place(op, p, 0, place, &at);
        return ir_operand(op, 0)->type->rank == 0
                   ? 0
                   : terms_pointer_step(l, nest, ir_operand(op, 0), at);
    }
    if (op->code != IR_PTR_ADD || terms_pointer_step(l, nest, ir_operand(op, 0), place) != 0)
        return -1;
    return value_lane_step(l, nest, ir_operand(op, 1), place);
}

// Does the mask differ from lane to lane? Then a single pointer becomes a vector of lanes.
bool terms_mask_moves(Lower *l, const Nest *nest, const IrOp *op, uint32_t operand,
                      LanePlace place) {
    const IrValue *mask = ir_operand(op, operand);
    return mask && mask->type->rank && terms_any_lane(nest, &place) &&
           value_lane_step(l, nest, mask, place) != 0;
}

// ---- transposed loads ---------------------------------------------------------------------------

// Are the lanes along one dimension and the neighbours along another, both with single steps?
// Returns the dimension of the lanes, or -1. No other index may move along either.
int terms_transposed(Lower *l, const Nest *nest, const IrOp *op, const IndexTerms *t) {
    int along = access_run(l, ir_operand(op, 0)), lanes = -1;
    if (along < 0 || access_is_packed(ir_operand(op, 0)) || !t->at[along].width) return -1;
    if (ir_operand(op, 0)->type->elem == DTYPE_BOOL) return -1;
    Coord side = t->at[along].coord;
    if (!transpose_fits(nest, side)) return -1;
    for (uint32_t d = 0; d < t->rank; d++) {
        const IndexTerm *m = &t->at[d];
        bool with_it = m->width && m->coord.kind == COORD_LOOP && m->coord.loop == side.loop;
        if ((m->tile && terms_vary_along(&m->place, side.loop)) || ((int)d != along && with_it))
            return -1;
        if (!m->moves) continue;
        if (m->tile || lanes >= 0) return -1;
        lanes = (int)d;
    }
    return lanes;
}

bool terms_inside(Nest *nest, const IrOp *op, const IndexTerms *t) {
    if (terms_interior(nest, op, t)) return true;
    for (uint32_t d = 0; d < t->rank; d++)
        if (!t->at[d].proven) return false;
    return true;
}

// The same for a buffer: returns both dimensions; false: it does not hold.
bool terms_buffer_transposed(const Nest *nest, TileBuffer buffer, LanePlace place, uint32_t *lane,
                             uint32_t *side) {
    uint32_t lanes = 0, sides = 0;
    for (uint32_t d = 0; d < buffer.type->rank; d++) {
        Coord c = place.at[d];
        if (buffer.type->shape[d] == 1) continue;
        if (nest_is_lane(nest, c)) *lane = d, lanes++;
        if (buffer.step[d] == 1 && transpose_fits(nest, c)) *side = d, sides++;
    }
    for (uint32_t d = 0; sides == 1 && d < buffer.type->rank; d++)
        if (d != *side && place.at[d].kind == COORD_LOOP &&
            place.at[d].loop == place.at[*side].loop && buffer.type->shape[d] > 1)
            return false;
    return lanes == 1 && sides == 1 && *lane != *side;
}

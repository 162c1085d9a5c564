// Surveys the body of a nest before anything is emitted: which accesses may be outside of their
// views, how much is computed, which loads will be transposed.
//
// The survey follows the values of a nest like their emission (value.c, access.c, buffer_access.c),
// but it finds only how deep in the loops each of them will be computed. Invariants: no IR is made
// or changed; the nest emits exactly what was surveyed, for the same number of lanes.
#include "passes/cpu/emit/survey.h"

#include "passes/cpu/emit/terms.h"
#include "passes/cpu/emit/transpose.h"

typedef struct SurveyMemo {
    const IrValue *tile;
    LanePlace place;
    uint8_t depth;
    uint32_t earlier;  // the tile's memo before this one: its index + 1
} SurveyMemo;

// Functions named `…_depth` return the number of the nest's loops around a value's computation.
typedef struct Surveyor {
    Lower *l;
    Nest *nest;
    NestSurvey *out;
    VEC(SurveyMemo) memo;
} Surveyor;

static uint8_t max_depth(uint8_t a, uint8_t b) { return a > b ? a : b; }

static uint8_t coord_depth(const Nest *nest, Coord c) {
    if (c.kind == COORD_LOOP) return nest->depth_of[c.loop];
    return c.kind == COORD_VALUE ? c.depth : 0;
}

static uint8_t value_depth(Surveyor *s, const IrValue *tile, LanePlace place);

static uint8_t operand_depth(Surveyor *s, const IrValue *x, LanePlace place) {
    return x ? value_depth(s, x, x->type->rank ? place : (LanePlace){0}) : 0;
}

// ---- memos --------------------------------------------------------------------------------------

// Numbers and values of lane 0 are not known yet: two of them count as equal.
static bool same_coord(Coord a, Coord b) {
    if (a.kind != b.kind) return false;
    if (a.kind == COORD_LOOP) return a.loop == b.loop;
    return a.kind != COORD_VALUE || a.value == b.value;
}

static bool same_place(const IrType *t, const LanePlace *a, const LanePlace *b) {
    for (uint32_t d = 0; d < t->rank; d++)
        if (t->shape[d] > 1 && !same_coord(a->at[d], b->at[d])) return false;
    return true;
}

static uint32_t last_memo(Surveyor *s, const IrValue *tile) {
    uint32_t last = lower_tile(s->l, tile)->memo;
    bool here = last && last <= s->memo.count && s->memo.data[last - 1].tile == tile;
    return here ? last : 0;
}

static const SurveyMemo *find_memo(Surveyor *s, const IrValue *tile, const LanePlace *place) {
    for (uint32_t i = last_memo(s, tile); i; i = s->memo.data[i - 1].earlier) {
        const SurveyMemo *m = &s->memo.data[i - 1];
        if (same_place(tile->type, &m->place, place)) return m;
    }
    return NULL;
}

static void remember(Surveyor *s, const IrValue *tile, LanePlace place, uint8_t depth) {
    SurveyMemo memo = {tile, place, depth, last_memo(s, tile)};
    vec_push(s->l->scratch, &s->memo, memo);
    lower_tile(s->l, tile)->memo = (uint32_t)s->memo.count;
}

// ---- accesses of views --------------------------------------------------------------------------

static LanePlace lane_0(const Nest *nest, LanePlace place) {
    for (uint32_t d = 0; d < place.rank; d++)
        if (nest_is_lane(nest, place.at[d]))
            place.at[d] = (Coord){COORD_VALUE, 0, coord_depth(nest, place.at[d]), NULL};
    return place;
}

static uint8_t term_depth(Surveyor *s, const IndexTerm *m, bool run) {
    if (m->tile) return value_depth(s, m->index, run ? lane_0(s->nest, m->place) : m->place);
    return m->width ? coord_depth(s->nest, m->coord) : 0;
}

static bool simple_coord(Coord c) { return c.kind == COORD_ZERO || c.kind == COORD_LOOP; }

// An access that goes before the lane loop (`depth`) also serves the loop's edge.
static void note_check(Surveyor *s, IrOp *op, const IndexTerms *t, uint8_t depth) {
    const Nest *nest = s->nest;
    bool moves = false, open = false, endless = false;
    bool always = nest->lane >= 0 && depth < nest->depth_of[nest->lane];
    for (uint32_t d = 0; d < t->rank; d++) {
        const IndexTerm *m = &t->at[d];
        moves = moves || m->moves;
        open = open || !m->proven;
        endless = endless || (m->moves && m->proven);
        always = always || (m->tile && !m->proven) || (m->width && !simple_coord(m->coord));
    }
    s->out->lanes_differ = s->out->lanes_differ || (moves && (endless || always));
    if (!moves || !open) return;
    LaneCheck *known = terms_check(s->out, op);
    if (known) {
        // The end of the view is known along one place only.
        bool elsewhere = !terms_same_place(&known->place, &t->place);
        s->out->lanes_differ = s->out->lanes_differ || elsewhere;
        known->always = known->always || always || elsewhere;
        return;
    }
    LaneCheck check = {op, t->place, always};
    vec_push(s->l->scratch, &s->out->checks, check);
}

static uint8_t view_depth(Surveyor *s, IrOp *op, LanePlace place) {
    IndexTerms t = terms_of(s->l, s->nest, op, &place);
    bool vector = terms_move(s->l, s->nest, &t);
    bool first_only = !vector || terms_run(s->l, s->nest, op, &t);
    uint8_t depth = 0;
    for (uint32_t d = 0; d < t.rank; d++)
        depth = max_depth(depth, term_depth(s, &t.at[d], first_only));
    note_check(s, op, &t, depth);
    return depth;
}

static uint8_t inside_depth(Surveyor *s, IrOp *op, LanePlace place) {
    IndexTerms t = terms_of(s->l, s->nest, op, &place);
    bool vector = terms_move(s->l, s->nest, &t);
    bool run = vector && terms_run(s->l, s->nest, op, &t);
    uint8_t depth = 0;
    for (uint32_t d = 0; d < t.rank; d++)
        depth = max_depth(depth, term_depth(s, &t.at[d], run || !vector));
    note_check(s, op, &t, depth);
    return depth;
}

// The side of squares is that of the first load that could be transposed.
static void note_transpose(Surveyor *s, uint32_t side, Dtype elem) {
    if (s->out->transpose_side < 0) s->out->transpose_side = (int)side;
    uint32_t bytes = (uint32_t)dtype_size(elem);
    if ((uint32_t)s->out->transpose_side == side && bytes > s->out->transpose_bytes)
        s->out->transpose_bytes = bytes;
}

static void note_transposed_view(Surveyor *s, const IrOp *op, LanePlace place) {
    IndexTerms t = terms_of(s->l, s->nest, op, &place);
    const IrValue *view = ir_operand(op, 0);
    if (terms_transposed(s->l, s->nest, op, &t) < 0) return;
    note_transpose(s, t.at[access_run(s->l, view)].coord.loop, view->type->elem);
}

// ---- loads and stores ---------------------------------------------------------------------------

static uint8_t pointer_depth(Surveyor *s, IrOp *op, uint32_t mask, LanePlace place) {
    const IrValue *p = ir_operand(op, 0);
    int step = terms_pointer_step(s->l, s->nest, p, place);
    bool vector = step != 0 || terms_mask_moves(s->l, s->nest, op, mask, place);
    s->out->lanes_differ = s->out->lanes_differ || vector;
    uint8_t depth = value_depth(s, p, step >= 0 ? lane_0(s->nest, place) : place);
    return max_depth(depth, operand_depth(s, ir_operand(op, mask), place));
}

static uint8_t load_depth(Surveyor *s, IrOp *op, LanePlace place) {
    bool view = op->code == IR_VIEW_LOAD;
    if (view) note_transposed_view(s, op, place);
    uint8_t depth = view ? view_depth(s, op, place) : pointer_depth(s, op, 1, place);
    uint32_t other = view ? 1 : 2;
    if (other >= op->operand_count) return depth;
    return max_depth(depth, operand_depth(s, ir_operand(op, other), place));
}

static void survey_store(Surveyor *s, IrOp *op, LanePlace place) {
    if (op->code != IR_VIEW_STORE) {
        pointer_depth(s, op, 2, place);
        return;
    }
    view_depth(s, op, place);
    operand_depth(s, ir_operand(op, 2), place);
}

static uint8_t gather_depth(Surveyor *s, const IrOp *op, LanePlace place) {
    uint8_t depth = value_depth(s, ir_operand(op, 1), place);
    for (uint32_t d = 0; d < place.rank; d++)
        depth = max_depth(depth, coord_depth(s->nest, place.at[d]));
    s->out->lanes_differ = true;
    return depth;
}

static uint8_t buffer_depth(Surveyor *s, TileBuffer buffer, LanePlace place) {
    if (buffer.view) return view_depth(s, buffer.view, place);
    uint8_t depth = 0;
    uint32_t lane, side;
    for (uint32_t d = buffer.type->rank; d-- > 0;) {
        Coord c = place.at[d];
        if (buffer.type->shape[d] == 1 || c.kind == COORD_ZERO) continue;
        s->out->lanes_differ = s->out->lanes_differ || nest_is_lane(s->nest, c);
        depth = max_depth(depth, coord_depth(s->nest, c));
    }
    Dtype elem = buffer_elem_type(s->l, buffer.type)->elem;
    if (elem != DTYPE_BOOL && terms_buffer_transposed(s->nest, buffer, place, &lane, &side))
        note_transpose(s, place.at[side].loop, elem);
    return depth;
}

// ---- values -------------------------------------------------------------------------------------

static uint8_t reshape_depth(Surveyor *s, const IrOp *op, const IrValue *tile, LanePlace place) {
    LanePlace at;
    const IrValue *x = ir_operand(op, 0);
    if (value_reshape_place(x->type, tile->type, place, &at)) return value_depth(s, x, at);
    return buffer_depth(s, buffer_as(lower_buffer_of(s->l, x), tile->type), place);
}

static uint8_t elementwise_depth(Surveyor *s, const IrOp *op, const IrValue *tile,
                                 LanePlace place) {
    uint8_t depth = 0;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        LanePlace at;
        CHECK(value_operand_place(op, tile, i, place, &at), "no place of an operand");
        depth = max_depth(depth, value_depth(s, ir_operand(op, i), at));
    }
    return depth;
}

static uint8_t iota_depth(Surveyor *s, LanePlace place) {
    s->out->lanes_differ = s->out->lanes_differ || nest_is_lane(s->nest, place.at[0]);
    return coord_depth(s->nest, place.at[0]);
}

static uint8_t computed_depth(Surveyor *s, const IrValue *tile, LanePlace place) {
    IrOp *op = tile->def;
    CHECK(op, "a carried tile has no buffer");
    s->out->work++;
    switch (op->code) {
    case IR_CONST: return 0;
    case IR_IOTA: return iota_depth(s, place);
    case IR_RESHAPE: return reshape_depth(s, op, tile, place);
    case IR_GATHER: return gather_depth(s, op, place);
    case IR_VIEW_LOAD:
    case IR_LOAD: return load_depth(s, op, place);
    case IR_VIEW_INSIDE: return inside_depth(s, op, place);
    default: return elementwise_depth(s, op, tile, place);
    }
}

static uint8_t value_depth(Surveyor *s, const IrValue *tile, LanePlace place) {
    if (tile->type->rank == 0) return 0;
    const SurveyMemo *known = find_memo(s, tile, &place);
    if (known) return known->depth;
    const TileState *t = lower_tile(s->l, tile);
    bool stored = t->in_memory && !t->pending;
    if (stored && value_in_register(s->l, s->nest, tile, place)) return 0;
    uint8_t depth = stored ? buffer_depth(s, t->buffer, place) : computed_depth(s, tile, place);
    remember(s, tile, place, depth);
    return depth;
}

// ---- the nest -----------------------------------------------------------------------------------

static void survey_value(Surveyor *s, const Root *root, LanePlace place) {
    if (root->kind == ROOT_REDUCE) {
        for (uint32_t i = 0; i < root->op->operand_count; i++)
            if (ir_operand(root->op, i)) value_depth(s, ir_operand(root->op, i), place);
    } else if (root->source.id) {
        buffer_depth(s, root->source, place);
    } else if (root->kind == ROOT_BUFFER) {
        value_depth(s, root->value, place);
    } else {
        operand_depth(s, ir_operand(root->op, 1), place);
    }
}

void survey(Lower *l, Nest *nest) {
    NestSurvey *out = &nest->survey;
    *out = (NestSurvey){.checks = out->checks, .transpose_side = -1, .transpose_bytes = 1};
    out->checks.count = 0;
    Surveyor s = {.l = l, .nest = nest, .out = out};
    if (nest->pack) {
        value_depth(&s, nest->pack->tile, nest->pack->place);
        return;
    }
    LanePlace place = nest_place(nest);
    for (size_t i = 0; i < nest->roots.count; i++) survey_value(&s, &nest->roots.data[i], place);
    for (size_t i = 0; i < nest->roots.count; i++) {
        const Root *root = &nest->roots.data[i];
        bool early = root->kind == ROOT_BUFFER && root->buffer.view;
        if (early || root->kind == ROOT_STORE)
            survey_store(&s, early ? root->buffer.view : root->op, place);
    }
}

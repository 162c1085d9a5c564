// The range in which all accesses of a lane loop are inside of their views.
#include "passes/cpu/emit/terms.h"
#include "passes/cpu/emit/transpose.h"

static void interior_term(Lower *l, Nest *nest, IrOp *op, const IndexTerm *m, uint32_t dim,
                          Interior *in) {
    if (m->proven) return;
    IrBuilder *b = nest_builder(nest, nest->depth);
    IrValue *extent = access_extent(l, nest_builder(nest, 0), ir_operand(op, 0), dim);
    IrValue *index = access_index(b, m->index);
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
        in->from_start = lower_and(b, in->from_start, access_span_within(b, index, count, extent));
        return;
    }
    if (m->width) index = lower_add(b, index, nest_coord(nest, m->coord).value);
    bool side = m->width && m->coord.kind == COORD_LOOP && transpose_is_side(nest, m->coord.loop);
    IrValue *fits =
        side ? access_span_within(b, index, nest->sides, extent) : access_within(b, index, extent);
    in->from_start = lower_and(b, in->from_start, fits);
}

Interior access_interior(Lower *l, Nest *nest) {
    Interior in = {NULL, NULL, NULL};
    for (size_t i = 0; i < nest->survey.checks.count; i++) {
        LaneCheck check = nest->survey.checks.data[i];
        if (check.always) continue;
        IndexTerms t = terms_of(l, nest, check.op, &check.place);
        for (uint32_t d = 0; d < t.rank; d++) interior_term(l, nest, check.op, &t.at[d], d, &in);
    }
    return in;
}

// The lanes of an access: pure queries, used by the survey of a nest and by its emission.
//
// Ownership: values.
//
//     IndexTerms t = terms_of(l, nest, op, &place);
//     bool vector = terms_move(l, nest, &t), neighbours = vector && terms_run(l, nest, op, &t);
#ifndef TILEC_PASSES_CPU_EMIT_TERMS_H
#define TILEC_PASSES_CPU_EMIT_TERMS_H

#include "passes/cpu/emit/access.h"

// The contribution of one dimension of a view: index + coordinate.
typedef struct IndexTerm {
    IrValue *index;   // scalar: the op's own
    bool tile;        // the index is a tile
    bool width;       // `i +: W`: has a coordinate
    Coord coord;      // of the width
    LanePlace place;  // of the tile index
    bool proven;
    bool moves;     // with the lanes
    bool positive;  // the index of a width is never below 0, and neither are its lanes
} IndexTerm;
typedef struct IndexTerms {
    LanePlace place;
    uint32_t rank;
    IndexTerm at[IR_MAX_VIEW_RANK];
} IndexTerms;

bool terms_any_lane(const Nest *nest, const LanePlace *place);
IndexTerms terms_of(Lower *l, const Nest *nest, const IrOp *op, const LanePlace *place);
// Does any of them move from lane to lane?
bool terms_move(Lower *l, const Nest *nest, const IndexTerms *t);
// Are the lanes neighbours in memory? Then one dimension of stride 1 moves, by steps of 1.
bool terms_run(Lower *l, const Nest *nest, const IrOp *op, const IndexTerms *t);
bool terms_vary_along(const LanePlace *place, uint32_t loop);
// The number of elements that a pointer moves from lane to lane: 0, 1, or -1: unknown.
int terms_pointer_step(Lower *l, const Nest *nest, const IrValue *p, LanePlace place);
// Does the mask differ from lane to lane? Then a single pointer becomes a vector of lanes.
bool terms_mask_moves(Lower *l, const Nest *nest, const IrOp *op, uint32_t operand,
                      LanePlace place);

// The survey's check of an op; NULL: it has none.
LaneCheck *terms_check(NestSurvey *survey, const IrOp *op);
bool terms_same_place(const LanePlace *a, const LanePlace *b);
// Do the loops' own bounds prove that all lanes are inside? They do so only for the place that was
// checked: the op may be used at another place, where its lanes do not move.
bool terms_interior(Nest *nest, const IrOp *op, const IndexTerms *t);
bool terms_inside(Nest *nest, const IrOp *op, const IndexTerms *t);

// Are the lanes along one dimension and the neighbours along another, both with single steps?
// Returns the dimension of the lanes, or -1. No other index may move along either.
int terms_transposed(Lower *l, const Nest *nest, const IrOp *op, const IndexTerms *t);
// The same for a buffer: returns both dimensions; false: it does not hold.
bool terms_buffer_transposed(const Nest *nest, TileBuffer buffer, LanePlace place, uint32_t *lane,
                             uint32_t *side);

#endif

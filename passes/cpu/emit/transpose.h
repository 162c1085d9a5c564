// Squares of elements turned in registers: rows become columns.
//
// A nest whose lanes run along one dimension may read a value that lies in memory along another
// (transpose, permute, views by columns). Instead of gathering, one iteration takes a square: as
// many vectors are loaded, each of neighbours, and their elements change places.
//
//     for side …, by 16                   square_choose
//         for lanes …                     inside only: the edge goes one by one, as without squares
//             16 rows of x, turned        square_load
//             the body, for each of the 16 coordinates of the side
//
// Invariants: sides divide lanes, all are powers of two; squares are for interiors, without masks.
// Ownership: new IR, in the module's arena; the rest in the pass's scratch.
//
//     square_exchange(l, b, row, 16, 1);   // 16 vectors of 16 elements
#ifndef TILEC_PASSES_CPU_EMIT_TRANSPOSE_H
#define TILEC_PASSES_CPU_EMIT_TRANSPOSE_H

#include "passes/cpu/emit/access.h"

// A square of units (groups of neighbouring elements), a row in each vector: rows become columns.
void square_exchange(Lower *l, IrBuilder *b, IrValue **row, uint32_t units, uint32_t group);

// Where a turned load lies: neighbours along the side, lanes `stride` elements apart.
typedef struct Far {
    uint32_t of;  // as Square
    bool buffer;
    Dtype elem;
    IrValue *pointer;  // of lane 0 at the first coordinate of the side
    IrValue *stride;   // i64
    uint8_t depth;
} Far;
// In the body for a coordinate of the side: where access `of` lies there, reached from where it lay
// at earlier ones, `stride` elements apart. `pointer` is the same by itself.
IrValue *square_beside(const Lower *l, Nest *nest, IrBuilder *b, uint32_t of, LanePlace place,
                       IrValue *pointer, IrValue *stride);
// Is the square known already?
const Square *square_find(const Nest *nest, const LanePlace *place, uint32_t of, bool buffer);
const Square *square_load(Lower *l, Nest *nest, const Far *far, LanePlace place);
// After the survey: how many coordinates of the side an iteration takes; may change the lanes.
void square_choose(const Lower *l, Nest *nest, uint32_t bytes);
// Is this the dimension that iterations take several coordinates of?
static inline bool square_is_side(const Nest *nest, uint32_t dim) {
    return nest->sides > 1 && (uint32_t)nest->side == dim;
}
// May a load be turned along this coordinate of a place?
bool square_fits(const Nest *nest, Coord c);
// The body for each coordinate of the side; what is known of one is forgotten for the next.
void square_forget(Lower *l, Nest *nest);

#endif

// Squares of elements that are transposed in registers: rows become columns.
//
// A nest whose lanes run along one dimension may read a value whose neighbours in memory are along
// another (transpose, permute, views by columns). Instead of gathering, one iteration takes a
// square: it loads as many vectors of neighbours as the square has rows, and transposes them.
//
//     for side …, by 16                   transpose_choose
//         for lanes …                     interior only: the edge goes one by one, without squares
//             16 rows of x, transposed    transpose_load
//             the body, for each of the 16 coordinates of the side
//
// Invariants: sides divide lanes, all are powers of two; squares are for interiors, without masks.
// Ownership: new IR, in the module's arena; the rest in the pass's scratch.
//
//     transpose_exchange(l, b, row, 16, 1);   // 16 vectors of 16 elements
#ifndef TILEC_PASSES_CPU_EMIT_TRANSPOSE_H
#define TILEC_PASSES_CPU_EMIT_TRANSPOSE_H

#include "passes/cpu/emit/access.h"

// Transposes a square of units (groups of neighbouring elements), with a row in each vector.
void transpose_exchange(Lower *l, IrBuilder *b, IrValue **row, uint32_t units, uint32_t group);

// The memory of a transposed load: neighbours along the side, lanes `stride` elements apart.
typedef struct TransposeSource {
    uint32_t of;  // as in TransposeBlock
    bool buffer;
    Dtype elem;
    IrValue *pointer;  // of lane 0 at the first coordinate of the side
    IrValue *stride;   // i64
    uint8_t depth;
} TransposeSource;
// In the body for one coordinate of the side: the pointer of access `of` there, computed from its
// pointer at an earlier coordinate with `stride`. `pointer` is the same, computed independently.
IrValue *transpose_step_pointer(const Lower *l, Nest *nest, IrBuilder *b, uint32_t of,
                                LanePlace place, IrValue *pointer, IrValue *stride);
// Has the square been loaded already?
const TransposeBlock *transpose_find(const Nest *nest, const LanePlace *place, uint32_t of,
                                     bool buffer);
const TransposeBlock *transpose_load(Lower *l, Nest *nest, const TransposeSource *source,
                                     LanePlace place);
// Called after the survey: how many coordinates of the side an iteration takes; may change the
// lanes.
void transpose_choose(const Lower *l, Nest *nest, uint32_t bytes);
// Is this the dimension of which an iteration takes several coordinates?
static inline bool transpose_is_side(const Nest *nest, uint32_t dim) {
    return nest->sides > 1 && (uint32_t)nest->side == dim;
}
// Can a load be transposed along this coordinate of a place?
bool transpose_fits(const Nest *nest, Coord c);
// Called for each coordinate of the side: drops the memos that hold for one coordinate only.
void transpose_drop_memos(Lower *l, Nest *nest);

#endif

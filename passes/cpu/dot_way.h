// Traces an operand of a product back to the load that it comes from, through conversions and
// permutations.
//
// Ownership: the lists of a DotWay are in the arena that it was found with.
//
//     DotWay ways[2];
//     if (dot_find_ways(scratch, dot, ways)) …   // both are loads whose pad is 0
#ifndef TILEC_PASSES_CPU_DOT_WAY_H
#define TILEC_PASSES_CPU_DOT_WAY_H

#include "ir/ir.h"

typedef struct DotWay {
    IrOp *load;
    uint32_t dim;         // of the view's dimensions: the one that runs along k
    VEC(IrValue *) tile;  // the load's result … the operand
    VEC(uint32_t) along;  // which dimension of each runs along k
} DotWay;

// Traces both operands; false: one of them is not such a load, or is not 0 outside of its view.
bool dot_find_ways(Arena *scratch, const IrOp *dot, DotWay ways[2]);
// The index where the load begins along k, and the extent of its view there.
IrValue *dot_way_index(const DotWay *way);
const IrDim *dot_way_extent(const IrFunc *f, const DotWay *way);

#endif

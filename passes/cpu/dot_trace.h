// Traces an operand of a product back to the load that it comes from, through conversions and
// permutations.
//
// Ownership: the lists of a DotTrace are in the arena that it was found with.
//
//     DotTrace traces[2];
//     if (dot_trace_factors(scratch, dot, traces)) …   // both are loads whose pad is 0
#ifndef TILEC_PASSES_CPU_DOT_TRACE_H
#define TILEC_PASSES_CPU_DOT_TRACE_H

#include "ir/ir.h"

typedef struct DotTrace {
    IrOp *load;
    uint32_t dim;         // of the view's dimensions: the one that runs along k
    VEC(IrValue *) tile;  // the load's result … the operand
    VEC(uint32_t) along;  // which dimension of each runs along k
} DotTrace;

// Traces both operands; false: one of them is not such a load, or is not 0 outside of its view.
bool dot_trace_factors(Arena *scratch, const IrOp *dot, DotTrace traces[2]);
// The index where the load begins along k, and the extent of its view there.
IrValue *dot_trace_index(const DotTrace *trace);
const IrDim *dot_trace_extent(const IrFunc *f, const DotTrace *trace);

#endif

// The elements that the same access touches in different iterations of a loop.
//
// Invariants: the answers are sound for any launch. They also hold for every other access of the
// same array, or of an array that may be the same in place, that selects with the very same values
// (alias_same_elements).
// Ownership: none.
//
//     // iterations may touch the same element: order matters
//     if (!iterations_agree(&iterations, loop, store)) …
#ifndef TILEC_PASSES_ITERATIONS_H
#define TILEC_PASSES_ITERATIONS_H

#include "ir/analysis/analysis.h"

typedef struct Iterations {
    const IrFunc *func;
    const IrRanges *ranges;
} Iterations;

// Does every iteration touch the same elements in the same order, or different ones from those
// before it?
bool iterations_agree(const Iterations *t, const IrOp *loop, const IrOp *access);
// Does every iteration touch different elements?
bool iterations_disjoint(const Iterations *t, const IrOp *loop, const IrOp *access);

#endif

// What the same access touches in different turns of a loop.
//
// Invariants: sound for any launch. What is said of an access holds of every other one of the same
// array, or of one that is the same in place, that selects with the very same values
// (alias_same_elements). Ownership: none.
//
//     if (!turns_agree(&turns, loop, store)) …   // turns may meet at an element: order matters
#ifndef TILEC_PASSES_ITERATIONS_H
#define TILEC_PASSES_ITERATIONS_H

#include "ir/analysis/analysis.h"

typedef struct Turns {
    const IrFunc *func;
    const IrRanges *ranges;
} Turns;

// Does every turn touch the same elements in the same order, or others than the turns before it?
bool turns_agree(const Turns *t, const IrOp *loop, const IrOp *access);
// Does every turn touch others?
bool turns_apart(const Turns *t, const IrOp *loop, const IrOp *access);

#endif

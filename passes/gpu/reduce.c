// Reductions: registers of a lane, then lanes of a warp, then warps through shared memory.
//
// A bit of the hardware's number that moves along the axis has two halves to combine; taken from
// the lowest coordinate bit on, what is combined are always neighbours, the earlier first: any
// associative combiner gives the same. A bit that replicates has nothing to combine.
#include "passes/gpu/threads.h"

typedef struct Reduce {
    const IrOp *op;
    uint32_t axis, count;  // values reduced at once
    Layout layout;         // of what is left to be combined
    IrValue *x[8];         // vectors
    IrValue *on;           // bool vector: who takes part; NULL: all
} Reduce;

void threads_reduce(Threads *t, const IrOp *op) { threads_unsupported(t, op, "reductions"); }

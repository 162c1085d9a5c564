// Sorts, gathers, histograms.
#include "passes/gpu/threads.h"

void threads_order(Threads *t, const IrOp *op) {
    threads_unsupported(t, op, "gather, sort, topk and histogram");
}

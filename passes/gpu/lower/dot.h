// Products on the thread level, by their plan (dot_plan.h).
//
// Invariants: operands are thread-level vectors; operands that no matrix unit reads go through
// shared memory.
// Ownership: the function that is created.
//
//     GpuDot d = gpu_dot_of(op);
//     if (d.matrix) r = threads_dot_matrix(t, op, &d, acc);
#ifndef TILEC_PASSES_GPU_LOWER_DOT_H
#define TILEC_PASSES_GPU_LOWER_DOT_H

#include "passes/gpu/layout/dot_plan.h"
#include "passes/gpu/lower/threads.h"

// The remarks of `tilec explain` about a plan (dot_remarks.c).
void gpu_dot_remarks(Remarks *remarks, const IrOp *op, const GpuDot *d, const Machine *machine);
// The product of thread-level vectors (a and b in the layouts of their values), in the layout d->c;
// acc is in that layout as well, of type d->sum, NULL: zeros.
IrValue *threads_dot_matrix(Threads *t, const IrOp *op, const GpuDot *d, IrValue *acc);
IrValue *threads_dot_wgmma(Threads *t, const IrOp *op, const GpuDot *d, IrValue *acc);
IrValue *threads_dot_plain(Threads *t, const IrOp *op, const GpuDot *d, IrValue *acc);

#endif

// Products on the thread level, by their plan (dot_plan.h).
//
// Invariants: operands are thread-level vectors; what is not a matrix unit's goes through shared
// memory. Ownership: the function that is made.
//
//     GpuDot d = gpu_dot_of(op);
//     if (d.matrix) r = threads_dot_matrix(t, op, &d, acc);
#ifndef TILEC_PASSES_GPU_LOWER_DOT_H
#define TILEC_PASSES_GPU_LOWER_DOT_H

#include "passes/gpu/layout/dot_plan.h"
#include "passes/gpu/lower/threads.h"

// What `tilec explain` says of a plan (dot_remarks.c).
void gpu_dot_remarks(Remarks *remarks, const IrOp *op, const GpuDot *d, const Machine *machine);
// The product of thread-level vectors (a and b as their values are spread), as d->c spreads it; acc
// is spread so too, of type d->sum, NULL: zeros.
IrValue *threads_dot_matrix(Threads *t, const IrOp *op, const GpuDot *d, IrValue *acc);
IrValue *threads_dot_plain(Threads *t, const IrOp *op, const GpuDot *d, IrValue *acc);

#endif

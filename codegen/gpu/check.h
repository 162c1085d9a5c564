// The capability table of GPUs: the ops of the thread level, by what the machine has.
//
// Invariants and ownership: as in codegen/common/check.h.
//
//     if (!gpu_check(func, target, multiplies, diags)) return false;
#ifndef TILEC_CODEGEN_GPU_CHECK_H
#define TILEC_CODEGEN_GPU_CHECK_H

#include "codegen/common/check.h"

// Is there the matrix instruction that a thread.mma names?
typedef bool GpuMultiplies(const Check *c, const IrOp *op);

// False after reporting all that cannot be compiled.
bool gpu_check(const IrFunc *func, GpuTarget target, GpuMultiplies *multiplies, Diags *diags);

#endif

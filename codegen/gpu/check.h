// The capability table of GPUs: the ops of the thread level, by what the machine has.
//
// Invariants and ownership: as in codegen/common/check.h.
//
//     if (!gpu_check(func, target, diags)) return false;
#ifndef TILEC_CODEGEN_GPU_CHECK_H
#define TILEC_CODEGEN_GPU_CHECK_H

#include "codegen/common/check.h"

// The matrix instruction that a thread.mma names; NULL: the chip does not have it.
const MatrixOp *gpu_matrix_op(const Machine *machine, const IrOp *op);

// False after reporting all that cannot be compiled.
bool gpu_check(const IrFunc *func, GpuTarget target, Diags *diags);

#endif

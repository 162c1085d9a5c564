// The capability table of GPUs: which ops of the thread level a machine supports.
//
// Invariants and ownership: as in codegen/common/check.h.
//
//     if (!gpu_check(func, target, diags)) return false;
#ifndef TILEC_CODEGEN_GPU_CHECK_H
#define TILEC_CODEGEN_GPU_CHECK_H

#include "codegen/common/check.h"

// The matrix instruction for a thread.mma; NULL: the chip does not have it.
const MatrixOp *gpu_matrix_op(const Machine *machine, const IrOp *op);

// False after reporting all ops that cannot be compiled.
bool gpu_check(const IrFunc *func, GpuTarget target, Diags *diags);

#endif

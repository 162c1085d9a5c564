// What there is a translation for on an AMD GPU.
//
//     if (!amdgpu_check(func, target, diags)) return false;
#ifndef TILEC_CODEGEN_AMDGPU_CHECK_H
#define TILEC_CODEGEN_AMDGPU_CHECK_H

#include "base/diag.h"
#include "base/gpu.h"
#include "ir/ir.h"

// False after reporting all that cannot be compiled.
bool amdgpu_check(const IrFunc *func, GpuTarget target, Diags *diags);

#endif

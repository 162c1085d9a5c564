// What codegen/nvptx has a translation for: the capability table in front of LLVM.
//
// Invariants and ownership: as codegen/cpu/check.h.
//
//     if (!nvptx_check(func, target, diags)) return false;
#ifndef TILEC_CODEGEN_NVPTX_CHECK_H
#define TILEC_CODEGEN_NVPTX_CHECK_H

#include "base/diag.h"
#include "ir/ir.h"
#include "ir/machine.h"

// False after reporting all that cannot be compiled.
bool nvptx_check(const IrFunc *func, GpuTarget target, Diags *diags);
// The lowest PTX version that its ops need on this architecture: 70 for 7.0.
uint32_t nvptx_version(const IrFunc *func, GpuTarget target);

#endif

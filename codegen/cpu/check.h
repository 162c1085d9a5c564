// What codegen/cpu has a translation for: the capability table in front of LLVM.
//
// Invariants: exhaustive over the op table; whatever passes here is translated without LLVM calling
// a library or giving up. What a target lacks is taken away by passes (legalize, expand_math)
// before; a refusal names op, type and target. Ownership: none.
//
//     if (!cpu_check(func, target, diags)) return false;
#ifndef TILEC_CODEGEN_CPU_CHECK_H
#define TILEC_CODEGEN_CPU_CHECK_H

#include "base/diag.h"
#include "ir/ir.h"
#include "target/machine.h"

enum { CPU_MAX_LANES = 1024 };  // of one vector

// False after reporting all that cannot be compiled.
bool cpu_check(const IrFunc *func, CpuTarget target, Diags *diags);

#endif

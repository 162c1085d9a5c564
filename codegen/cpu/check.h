// The ops that codegen/cpu can translate: the capability table in front of LLVM.
//
// Invariants: exhaustive over the op table; an op that passes here is translated without LLVM
// calling a library or failing. Passes (legalize, expand_math) remove ops that a target lacks
// before; a refusal names op, type and target. Ownership: none.
//
//     if (!cpu_check(func, target, diags)) return false;
#ifndef TILEC_CODEGEN_CPU_CHECK_H
#define TILEC_CODEGEN_CPU_CHECK_H

#include "base/diag.h"
#include "ir/ir.h"
#include "target/machine.h"

enum { CPU_MAX_LANES = 1024 };  // of one vector

// False after reporting all ops that cannot be compiled.
bool cpu_check(const IrFunc *func, CpuTarget target, Diags *diags);

#endif

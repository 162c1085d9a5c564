// CPU-level IR to code: LLVM IR, assembly, an object or a shared object.
//
// Invariants: what codegen/cpu cannot translate is refused before LLVM sees anything (check.h); one
// LLVM context for each call, so that calls from several threads do not meet. Ownership: the output
// is in the arena given.
//
//     if (!codegen_cpu_compile(arena, func, &options, &object, diags)) …
#ifndef TILEC_CODEGEN_CPU_COMPILE_H
#define TILEC_CODEGEN_CPU_COMPILE_H

#include "codegen/codegen.h"

bool codegen_cpu_compile(Arena *arena, const IrFunc *func, const CodegenOptions *options,
                         Str *output, Diags *diags);

#endif

// CPU-level IR to code: LLVM IR, assembly, an object or a shared object.
//
// Invariants: code that codegen/cpu cannot translate is refused before LLVM sees anything
// (check.h); each call has one LLVM context, so calls from several threads share nothing.
// Ownership: the output is in the arena given.
//
//     if (!codegen_cpu_compile(arena, func, &options, &object, diags)) …
#ifndef TILEC_CODEGEN_CPU_COMPILE_H
#define TILEC_CODEGEN_CPU_COMPILE_H

#include "codegen/codegen.h"

bool codegen_cpu_compile(Arena *arena, const IrFunc *func, const CodegenOptions *options,
                         Str *output, Diags *diags);

#endif

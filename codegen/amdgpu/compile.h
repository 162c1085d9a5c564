// Thread-level IR to AMD's code objects.
//
// Invariants: code that codegen/amdgpu cannot translate is refused before LLVM sees anything
// (check.h); each call has one LLVM context. The kernel takes one argument by reference, the block
// that runtime/meta.h lays out and then the address of a report (runtime/failure.h), and no hidden
// ones. Ownership: the output is in the arena given.
//
//     if (!codegen_amdgpu_compile(arena, func, &options, &object, diags)) …
#ifndef TILEC_CODEGEN_AMDGPU_COMPILE_H
#define TILEC_CODEGEN_AMDGPU_COMPILE_H

#include "codegen/codegen.h"

bool codegen_amdgpu_compile(Arena *arena, const IrFunc *func, const CodegenOptions *options,
                            Str *output, Diags *diags);

#endif

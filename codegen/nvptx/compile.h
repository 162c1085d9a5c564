// Thread-level IR to PTX.
//
// Invariants: code that codegen/nvptx cannot translate is refused before LLVM sees anything
// (check.h); each call has one LLVM context. The PTX has the lowest version that supports the
// architecture. The kernel takes one parameter by value: the block of arguments as runtime/meta.h
// lays it out, followed by the address of a report (runtime/failure.h). Ownership: the output is in
// the arena given.
//
//     if (!codegen_nvptx_compile(arena, func, &options, &ptx, diags)) …
#ifndef TILEC_CODEGEN_NVPTX_COMPILE_H
#define TILEC_CODEGEN_NVPTX_COMPILE_H

#include "codegen/codegen.h"

bool codegen_nvptx_compile(Arena *arena, const IrFunc *func, const CodegenOptions *options,
                           Str *output, Diags *diags);

#endif

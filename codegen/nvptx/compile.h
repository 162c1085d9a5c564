// Thread-level IR to PTX.
//
// Invariants: what codegen/nvptx cannot translate is refused before LLVM sees anything (check.h);
// one LLVM context for each call. The lowest PTX version that the architecture has is asked for.
// The kernel takes one parameter, the block of arguments as runtime/meta.h lays it out, and then
// the address of a report (runtime/failure.h), by value. Ownership: the output is in the arena
// given.
//
//     if (!codegen_nvptx_compile(arena, func, &options, &ptx, diags)) …
#ifndef TILEC_CODEGEN_NVPTX_COMPILE_H
#define TILEC_CODEGEN_NVPTX_COMPILE_H

#include "codegen/codegen.h"

bool codegen_nvptx_compile(Arena *arena, const IrFunc *func, const CodegenOptions *options,
                           Str *output, Diags *diags);

#endif

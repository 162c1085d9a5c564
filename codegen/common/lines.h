// Line tables: from spans of ops to DWARF, so that gdb stops at file.tile:LINE and perf names
// kernels.
//
// Invariants: an op without a span takes the line of the kernel; deterministic: paths are those of
// the sources, the folder is ".". Ownership: the LLVM module; the scratch arena.
//
//     GenLines *lines = lines_create(arena, context, module, func);
//     lines_function(lines, b, func, function);
//     lines_at(lines, b, op->span);   // for all that is built from here on
//     lines_finish(lines);
#ifndef TILEC_CODEGEN_COMMON_LINES_H
#define TILEC_CODEGEN_COMMON_LINES_H

#include <llvm-c/Core.h>

#include "ir/ir.h"

typedef struct GenLines GenLines;
// NULL when the function has no source. `directives`: lines only, as .file and .loc (PTX); else
// DWARF with names.
GenLines *lines_create(Arena *arena, LLVMContextRef context, LLVMModuleRef module,
                       const IrFunc *func, bool directives);
void lines_function(GenLines *lines, LLVMBuilderRef b, const IrFunc *func, LLVMValueRef function);
void lines_at(GenLines *lines, LLVMBuilderRef b, Span span);
void lines_finish(GenLines *lines);

#endif

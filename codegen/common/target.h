// An LLVM module to text, assembly or an object.
//
// Invariants: the same module gives the same bytes; what LLVM complains of is reported, and counts
// as failure even where LLVM says success. Ownership: outputs are in the arena given.
//
//     target_log(context, &log);
//     if (!target_optimise(tm, module, &log)) …
//     if (!target_emit(arena, tm, module, true, NULL, &text, &log)) …
#ifndef TILEC_CODEGEN_COMMON_TARGET_H
#define TILEC_CODEGEN_COMMON_TARGET_H

#include <llvm-c/TargetMachine.h>

#include "base/diag.h"

typedef struct TargetLog {  // of LLVM's own diagnostics
    Diags *diags;
    Span span;
    unsigned errors;
} TargetLog;

void target_log(LLVMContextRef context, TargetLog *log);
// A defect of LLVM, or of what it was given.
void target_failed(TargetLog *log, const char *what, const char *text);
// Not a defect: the system did not give what is needed.
void target_refused(TargetLog *log, DiagCode code, const char *what, const char *text);
// By the text of a pipeline.
bool target_passes(LLVMTargetMachineRef machine, LLVMModuleRef module, const char *passes,
                   TargetLog *log);
bool target_optimise(LLVMTargetMachineRef machine, LLVMModuleRef module, TargetLog *log);
// Without those of LLVM's passes that are named (up to a NULL); NULL: with all.
bool target_emit(Arena *arena, LLVMTargetMachineRef machine, LLVMModuleRef module, bool assembly,
                 const char *const *without, Str *output, TargetLog *log);

#endif

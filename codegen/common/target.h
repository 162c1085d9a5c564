// An LLVM module to text, assembly or an object.
//
// Invariants: the same module gives the same bytes; LLVM's errors are reported, and count as
// failure even if LLVM reports success. Ownership: outputs are in the arena given.
//
//     target_log(context, &log);
//     if (!target_optimise(tm, module, false, &log)) …
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
// Reports a defect of LLVM, or of its input.
void target_failed(TargetLog *log, const char *what, const char *text);
// Reports a failure that is not a defect: the system did not provide something.
void target_refused(TargetLog *log, DiagCode code, const char *what, const char *text);
// Runs the passes of a pipeline, given as text.
bool target_passes(LLVMTargetMachineRef machine, LLVMModuleRef module, const char *passes,
                   TargetLog *log);
// `hurried`: code that is not optimised; only what is computed twice is removed, since each
// instruction costs time later.
bool target_optimise(LLVMTargetMachineRef machine, LLVMModuleRef module, bool hurried,
                     TargetLog *log);
// `without`: the passes of LLVM to leave out, NULL-terminated; NULL: none.
bool target_emit(Arena *arena, LLVMTargetMachineRef machine, LLVMModuleRef module, bool assembly,
                 const char *const *without, Str *output, TargetLog *log);

#endif

// An LLVM module to text, assembly or an object, for a CPU target; and objects to shared objects.
//
// Invariants: the same module gives the same bytes; what LLVM complains of is reported, and counts
// as failure even where LLVM says success. Ownership: outputs are in the arena given.
//
//     LLVMTargetMachineRef tm = target_machine(target, false);
//     if (!target_optimise(tm, module, diags) || !target_emit(…)) …
#ifndef TILEC_CODEGEN_CPU_TARGET_H
#define TILEC_CODEGEN_CPU_TARGET_H

#include <llvm-c/TargetMachine.h>

#include "base/cpu.h"
#include "base/diag.h"

typedef struct TargetLog {  // of LLVM's own diagnostics
    Diags *diags;
    Span span;
    unsigned errors;
} TargetLog;

const char *target_triple(CpuTarget target);
LLVMTargetMachineRef target_machine(CpuTarget target, bool quick);
void target_log(LLVMContextRef context, TargetLog *log);
bool target_optimise(LLVMTargetMachineRef machine, LLVMModuleRef module, TargetLog *log);
bool target_emit(Arena *arena, LLVMTargetMachineRef machine, LLVMModuleRef module, bool assembly,
                 Str *output, TargetLog *log);
// Kernel code calls nothing: reports each undefined symbol of an object.
bool target_is_closed(Str object, TargetLog *log);
bool target_link(Arena *arena, CpuTarget target, Str object, Str entry, Str *output,
                 TargetLog *log);

#endif

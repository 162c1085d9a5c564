// CPUs as LLVM's targets; and objects to shared objects.
//
// Invariants: as in codegen/common/target.h. Ownership: outputs are in the arena given.
//
//     LLVMTargetMachineRef tm = target_machine(target, false);
//     if (!target_is_closed(object, &log) || !target_link(arena, target, object, …)) …
#ifndef TILEC_CODEGEN_CPU_TARGET_H
#define TILEC_CODEGEN_CPU_TARGET_H

#include "base/cpu.h"
#include "codegen/common/target.h"

const char *target_triple(CpuTarget target);
LLVMTargetMachineRef target_machine(CpuTarget target, bool quick);
// Kernel code calls nothing: reports each undefined symbol of an object.
bool target_is_closed(Str object, TargetLog *log);
bool target_link(Arena *arena, CpuTarget target, Str object, Str entry, Str *output,
                 TargetLog *log);

#endif

// CPUs as LLVM's targets; links objects to shared objects.
//
// Invariants: as in codegen/common/target.h. Ownership: outputs are in the arena given.
//
//     LLVMTargetMachineRef tm = target_machine(target, false);
//     if (!target_is_closed(object, &log) || !target_link(arena, target, object, …)) …
#ifndef TILEC_CODEGEN_CPU_TARGET_H
#define TILEC_CODEGEN_CPU_TARGET_H

#include "codegen/common/target.h"
#include "target/cpu.h"

// The names of the target for LLVM and for lld (-m).
const char *target_triple(CpuTarget target);
const char *target_emulation(CpuTarget target);
CpuTarget target_baseline(CpuTarget target);  // the lowest level of its architecture
LLVMTargetMachineRef target_machine(CpuTarget target, bool quick);
// Calls the function for each undefined symbol of an object, in order; `hidden`: another object
// must have it. False: the bytes are not an object.
typedef void TargetSymbol(void *user, const char *name, bool hidden);
bool target_undefined(Str object, TargetSymbol *each, void *user);
// Kernel code calls nothing: reports each undefined symbol of an object.
bool target_is_closed(Str object, TargetLog *log);
bool target_link(Arena *arena, CpuTarget target, Str object, Str entry, Str *output,
                 TargetLog *log);

#endif

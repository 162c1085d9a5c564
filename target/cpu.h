// CPUs as targets: architecture, level, extra instructions; and which one this machine is.
//
// Names: "x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4+bf16", extras joined by '+' in the order
// of the enum (vnni, bf16, fp16, amx-bf16, amx-int8), "aarch64", and "native", which stands for the
// best that this machine runs. Invariants: extras only with x86-64-v4; the name of a target parses
// back to it.
// Tile registers (AMX) belong to processes that asked the system for them: who wants to know
// whether the machine has them asks, for the whole process and all that it forks. Where the system
// says no, the machine has none.
//
//     CpuTarget t;
//     if (!cpu_target_parse(STR("x86-64-v4+vnni+bf16"), &t)) …
//     if (!cpu_runs_here(t)) …   // it would meet an illegal instruction
#ifndef TILEC_TARGET_CPU_H
#define TILEC_TARGET_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef enum CpuLevel { CPU_X86_64_V2, CPU_X86_64_V3, CPU_X86_64_V4, CPU_AARCH64 } CpuLevel;
enum {
    CPU_VNNI = 1,  // AVX-512's
    CPU_BF16 = 2,
    CPU_FP16 = 4,
    CPU_AMX_BF16 = 8,  // products of tile registers
    CPU_AMX_INT8 = 16,
    CPU_AMX = CPU_AMX_BF16 | CPU_AMX_INT8,
};

typedef struct CpuTarget {
    CpuLevel level;
    unsigned extras;
} CpuTarget;

// The names, for messages about one that is none.
#define CPU_TARGETS_TEXT                                                          \
    "x86-64-v2, x86-64-v3, x86-64-v4 (also with +vnni, +bf16, +fp16, +amx-bf16, " \
    "+amx-int8, in this order), aarch64, native"
bool cpu_target_parse(Str text, CpuTarget *target);
enum { CPU_NAME_MAX = 48 };
// Into a buffer of CPU_NAME_MAX bytes, which is returned.
const char *cpu_target_name(CpuTarget target, char *buffer);
// The best target this machine runs, the system's support of the registers included: asks for tile
// registers.
CpuTarget cpu_native(void);
// Does code for `target` run on `machine`?
bool cpu_runs(CpuTarget machine, CpuTarget target);
// As cpu_runs(cpu_native(), target), but asks for tile registers only where `target` has them.
bool cpu_runs_here(CpuTarget target);

// How floats are rounded, and whether the least are flushed to 0, is a mode of each thread that any
// library may have changed, and so is whether an exception is a signal. Sets the usual mode; the
// result is what cpu_float_mode_restore takes.
uint64_t cpu_float_mode_usual(void);
void cpu_float_mode_restore(uint64_t mode);

#endif

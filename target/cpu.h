// CPUs as targets: architecture, level, extra instructions; and which one this machine is.
//
// Names: "x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4+bf16", extras joined by '+' in the order
// of the enum (vnni, bf16, fp16, amx-bf16, amx-int8), "aarch64", and "native", which is the best
// target that this machine runs.
// Invariants: extras only with x86-64-v4; the name of a target parses back to it. Tile registers
// (AMX) are for processes that asked the system for them. So checking whether the machine has them
// asks the system, for the whole process and all its forked children. If the system refuses, the
// machine counts as having none.
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
    CPU_AMX_BF16 = 8,  // matrix products of tile registers
    CPU_AMX_INT8 = 16,
    CPU_AMX = CPU_AMX_BF16 | CPU_AMX_INT8,
};

// A cache line: the unit in which the caches of all these CPUs store, request and share memory.
enum { CPU_LINE_BYTES = 64 };

typedef struct CpuTarget {
    CpuLevel level;
    unsigned extras;
} CpuTarget;

// The names, for messages about an unknown one.
#define CPU_TARGETS_TEXT                                                          \
    "x86-64-v2, x86-64-v3, x86-64-v4 (also with +vnni, +bf16, +fp16, +amx-bf16, " \
    "+amx-int8, in this order), aarch64, native"
bool cpu_target_parse(Str text, CpuTarget *target);
enum { CPU_NAME_MAX = 48 };
// Writes the name into a buffer of CPU_NAME_MAX bytes, which is returned.
const char *cpu_target_name(CpuTarget target, char *buffer);
// The best target that this machine and its system support. This asks the system for tile
// registers.
CpuTarget cpu_native(void);
// Does code for `target` run on `machine`?
bool cpu_runs(CpuTarget machine, CpuTarget target);
// The same as cpu_runs(cpu_native(), target), but asks for tile registers only if `target` has
// them.
bool cpu_runs_here(CpuTarget target);

// Each thread has a floating-point mode: the rounding, flushing of subnormals, and whether
// exceptions raise signals. Any library may have changed it. This sets the usual mode and returns
// the old one for cpu_float_mode_restore.
uint64_t cpu_float_mode_usual(void);
void cpu_float_mode_restore(uint64_t mode);

#endif

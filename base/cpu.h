// CPUs as targets: architecture, level, extra instructions; and which one this machine is.
//
// Names: "x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4+bf16", extras joined by '+' in the order
// of the enum (vnni, bf16, fp16), "aarch64", and "native", which stands for the best that this
// machine runs. Invariants: extras only with x86-64-v4; the name of a target parses back to it.
//
//     CpuTarget t;
//     if (!cpu_target_parse(STR("x86-64-v4+vnni+bf16"), &t)) …
//     if (!cpu_runs(cpu_native(), t)) …   // it would meet an illegal instruction
#ifndef TILEC_BASE_CPU_H
#define TILEC_BASE_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef enum CpuLevel { CPU_X86_64_V2, CPU_X86_64_V3, CPU_X86_64_V4, CPU_AARCH64 } CpuLevel;
enum { CPU_VNNI = 1, CPU_BF16 = 2, CPU_FP16 = 4 };  // AVX-512's

typedef struct CpuTarget {
    CpuLevel level;
    unsigned extras;
} CpuTarget;

// The names, for messages about one that is none.
#define CPU_TARGETS_TEXT                                                                        \
    "x86-64-v2, x86-64-v3, x86-64-v4 (also with +vnni, +bf16, +fp16, in this order), aarch64, " \
    "native"
bool cpu_target_parse(Str text, CpuTarget *target);
enum { CPU_NAME_MAX = 48 };
// Into a buffer of CPU_NAME_MAX bytes, which is returned.
const char *cpu_target_name(CpuTarget target, char *buffer);
// The best target this machine runs, the system's support of the registers included.
CpuTarget cpu_native(void);
// Does code for `target` run on `machine`?
bool cpu_runs(CpuTarget machine, CpuTarget target);

// How floats are rounded, and whether the least are flushed to 0, is a mode of each thread that any
// library may have changed. Sets the usual mode; the result is what cpu_float_mode_restore takes.
uint64_t cpu_float_mode_usual(void);
void cpu_float_mode_restore(uint64_t mode);

#endif

// Target: the CPU or GPU that code is made for.
//
// Invariants: a GPU if `gpu` has a vendor, else a CPU; the name of a target parses back to it.
//
//     CodeTarget t;
//     if (!code_target_parse(STR("sm_80"), &t)) …
//     Machine m = code_target_machine(t);
#ifndef TILEC_TARGET_TARGET_H
#define TILEC_TARGET_TARGET_H

#include "target/machine.h"

typedef struct CodeTarget {
    CpuTarget cpu;
    GpuTarget gpu;
} CodeTarget;

enum { CODE_TARGET_NAME_MAX = CPU_NAME_MAX };

bool code_target_parse(Str text, CodeTarget *target);
// Writes the name into a buffer of CODE_TARGET_NAME_MAX bytes, which is returned.
const char *code_target_name(CodeTarget target, char *buffer);
Machine code_target_machine(CodeTarget target);

static inline bool code_target_is_gpu(CodeTarget target) { return target.gpu.vendor != GPU_NONE; }
// Its code is PTX; the driver or a tool makes machine code from it.
static inline bool code_target_takes_ptx(CodeTarget target) {
    return target.gpu.vendor == GPU_NVIDIA;
}

#endif

// GPUs as targets: vendor, architecture, and the form of the architecture.
//
// Names: "sm_75", "sm_80", …; "sm_90a", "sm_100a", "sm_120a", which add instructions that only this
// architecture has; "gfx90a", "gfx942", …; "gfx11-generic", ….
// Invariants: the name of a target parses back to it.
//
//     GpuTarget t;
//     if (!gpu_target_parse(STR("sm_90a"), &t)) …
//     t.number;   // 90
#ifndef TILEC_TARGET_GPU_H
#define TILEC_TARGET_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef enum GpuVendor { GPU_NONE, GPU_NVIDIA, GPU_AMD } GpuVendor;

typedef struct GpuTarget {
    GpuVendor vendor;
    uint32_t number;  // sm_90: 90; gfx942: 0x942
    bool own;         // sm_90a: with instructions that later architectures lack
    bool generic;     // gfx11-generic: code for several processors of AMD
} GpuTarget;

bool gpu_target_parse(Str text, GpuTarget *target);
// The target number `index`; of AMD's, those with matrix instructions come first. False beyond the
// last.
bool gpu_target_at(size_t index, GpuTarget *target);
enum { GPU_TARGETS_MAX = 96 };
// For AMD's targets: does code for one run on the other?
bool gpu_target_runs(GpuTarget code, GpuTarget device);
// Shared memory that code may declare statically, without asking the driver for more.
enum { GPU_SHARED_STATIC = 48 << 10 };
enum { GPU_PTX_NEWEST = 901 };  // version 9.1: the newest PTX that is known here
enum { GPU_NAME_MAX = 16 };
// Writes the name into a buffer of GPU_NAME_MAX bytes, which is returned.
const char *gpu_target_name(GpuTarget target, char *buffer);

#endif

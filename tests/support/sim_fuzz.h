// The kernels of a program that may be made of any bytes, on the warp machine: each on a small
// grid, in two orders, under a step limit and with all observers, whatever they do. A launch that
// fails without a message ends the process.
//
// Invariants: kernels that need much time or memory beyond their steps are left out. Ownership: the
// arena is the caller's.
//
//     SimFuzz how = {.device = {GPU_NVIDIA, p->arch, p->arch_a}, .threads = 64, .shared = 2048};
//     sim_fuzz(arena, p, &how);
#ifndef TILEC_TESTS_SUPPORT_SIM_FUZZ_H
#define TILEC_TESTS_SUPPORT_SIM_FUZZ_H

#include "sim/machine/machine.h"

typedef struct SimFuzz {
    GpuTarget device;
    uint64_t base;           // of global memory; 0: the machine's own choice
    uint32_t threads;        // where the kernel does not say
    uint32_t shared;         // bytes for what the kernel leaves open
    uint32_t registers_max;  // of a kernel that is run; 0: any
} SimFuzz;

void sim_fuzz(Arena *arena, const SimProgram *p, const SimFuzz *how);

#endif

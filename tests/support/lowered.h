// Modules lowered to the level of CPUs or of threads, to be run on the interpreter: what lowering
// makes of a kernel must do what the kernel does.
//
// `choice` (a hash of the case) picks the machine and whether the pass knows the facts that hold of
// the launch. Ownership: the module's.
//
//     unsigned facts = lowered_facts(kernel, args);
//     if (lowered_run(m, hash, facts, diags)) … ir_interp_create(arena, kernel)
#ifndef TILEC_TESTS_SUPPORT_LOWERED_H
#define TILEC_TESTS_SUPPORT_LOWERED_H

#include "ir/interp/interp.h"
#include "target/machine.h"

// FACT_ bits that hold of these arguments.
unsigned lowered_facts(const IrFunc *f, const IrArg *args);
// A choice stands for a machine, whether the pass knows the facts, and how much runs.
enum {
    LOWERED_MACHINES = 4,
    LOWERED_FACTS = LOWERED_MACHINES,
    LOWERED_CHOICES = 4 * LOWERED_MACHINES
};
Machine lowered_machine(uint64_t choice);
bool lowered_knows_facts(uint64_t choice);
// The tile pipeline, then cpu_loops or all of the cpu pipeline. False with diagnostics.
bool lowered_run(IrModule *m, uint64_t choice, unsigned facts, Diags *diags);

// For GPUs a choice stands for an architecture, whether the passes know the facts, 1, 2, 4 or 8
// warps of a program, how much of the pipeline runs, and an order of warps. NVIDIA's GPUs come
// first.
enum { LOWERED_GPUS = 11, LOWERED_NVIDIA = 5, LOWERED_WARPS = 4, LOWERED_ORDERS = 20 };
uint64_t lowered_choice(uint64_t gpu, uint64_t warps, uint64_t facts, uint64_t part,
                        uint64_t order);
uint32_t lowered_order(uint64_t choice);
Machine lowered_gpu(uint64_t choice);
uint32_t lowered_warps(uint64_t choice);
// The tile pipeline, then that of GPUs: all of it where `whole`, else some choices stop after
// gpu_threads. False with diagnostics.
bool lowered_to_threads(IrModule *m, uint64_t choice, bool whole, unsigned facts, Diags *diags);
// The same, all of it, for this architecture instead of the choice's.
bool lowered_to_threads_of(IrModule *m, GpuTarget gpu, uint64_t choice, unsigned facts,
                           Diags *diags);

#endif

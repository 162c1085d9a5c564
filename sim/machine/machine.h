// The warp machine: runs one launch of a decoded kernel on the calling thread.
//
// Purpose: clusters run one after another, the blocks of one together. Without clusters these are
// single blocks. Within a block, warps run in rotation, each for some instructions; all lanes of a
// warp run at once. Lanes that diverge at a branch reconverge at its immediate post-dominator.
// Until then they run in rotation, so that lanes that wait for one another make progress.
// Invariants: the same launch, seed and memory give the same run, to the bit. Seed 0 runs warps and
// blocks in order; any other seed lets a random generator choose warps, run lengths and blocks. A
// fault ends the launch.
// Ownership: the caller's, all of it.
//
//     SimLaunch l = {.kernel = k, .memory = m, .grid = {8, 1, 1}, .block = {128, 1, 1},
//                    .params = block, .variables = addresses};
//     SimResult r = sim_run(&l);
//     if (r.outcome != SIM_DONE) puts(r.text);
#ifndef TILEC_SIM_MACHINE_MACHINE_H
#define TILEC_SIM_MACHINE_MACHINE_H

#include "base/arena.h"
#include "sim/machine/observer.h"
#include "target/gpu.h"

// The device has several multiprocessors, so that programs that loop over tiles do loop.
enum { SIM_THREADS_MAX = 1024, SIM_TEXT_MAX = 768, SIM_MULTIPROCESSORS = 4 };

typedef struct SimLaunch {
    const SimKernel *kernel;
    SimMemory *memory;
    const uint64_t *variables;  // addresses of the program's variables (sim_program_load)
    uint32_t grid[3], block[3];
    uint32_t cluster[3];  // blocks; 0 first: those that the kernel requires, or one
    GpuTarget device;     // the device whose limits apply
    uint32_t shared;      // dynamic shared memory in bytes
    const void *params;   // kernel->param_bytes
    uint64_t seed;
    uint64_t step_limit;  // in warp instructions of the whole launch; 0: no limit
    const SimObserver *const *observers;
    uint32_t observer_count;
    void (*print)(void *user, Str text);  // output of printf, not split into lines
    void *user;
} SimLaunch;

typedef enum SimOutcome { SIM_DONE, SIM_FAILED, SIM_REFUSED } SimOutcome;
typedef struct SimResult {
    SimOutcome outcome;
    SimFaultKind fault;       // when it failed
    char text[SIM_TEXT_MAX];  // the reason, in lower case; empty when done
    SimLine line;             // place of the failure
    uint64_t steps;           // warp instructions executed
    uint64_t lane_steps;      // the sum of their lanes
} SimResult;

SimResult sim_run(const SimLaunch *launch);

// Allocates and fills memory for the program's variables; `addresses`: variable_count of them.
bool sim_program_load(const SimProgram *program, SimMemory *memory, uint64_t *addresses);

#endif

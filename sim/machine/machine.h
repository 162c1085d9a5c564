// The warp machine: runs one launch of a decoded kernel on the calling thread.
//
// Purpose: blocks one after another; within a block, warps in turns, each for a while; all lanes of
// a warp at once. Lanes that part at a branch meet again at its immediate post-dominator, and take
// turns until then, so that lanes that wait for one another make progress.
// Invariants: the same launch, seed and memory give the same run, to the bit. Seed 0 takes warps
// and blocks in their order; any other seed picks warps, lengths of turns and blocks by a generator
// of its own. A fault ends the launch. Ownership: the caller's, all of it.
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

enum { SIM_THREADS_MAX = 1024, SIM_TEXT_MAX = 512 };

typedef struct SimLaunch {
    const SimKernel *kernel;
    SimMemory *memory;
    const uint64_t *variables;  // addresses of the program's variables (sim_program_load)
    uint32_t grid[3], block[3];
    GpuTarget device;    // whose limits hold
    uint32_t shared;     // dynamic bytes
    const void *params;  // kernel->param_bytes
    uint64_t seed;
    uint64_t step_limit;  // warp instructions of the whole launch; 0: none
    const SimObserver *const *observers;
    uint32_t observer_count;
    void (*print)(void *user, Str text);  // printf's output, not cut into lines
    void *user;
} SimLaunch;

typedef enum SimOutcome { SIM_DONE, SIM_FAILED, SIM_REFUSED } SimOutcome;
typedef struct SimResult {
    SimOutcome outcome;
    SimFaultKind fault;       // when it failed
    char text[SIM_TEXT_MAX];  // why, in lower case; empty when done
    SimLine line;             // where, when it failed
    uint64_t steps;           // warp instructions
    uint64_t lane_steps;      // lanes of them
} SimResult;

SimResult sim_run(const SimLaunch *launch);

// Gives the program's variables memory and contents; `addresses`: variable_count of them.
bool sim_program_load(const SimProgram *program, SimMemory *memory, uint64_t *addresses);

#endif

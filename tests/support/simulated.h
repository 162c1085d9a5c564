// Modules of tile IR compiled for a GPU and run on the warp machine with all observers that check:
// the PTX of a kernel must do what the kernel does on the interpreter. With TILEC_TEST_GPU=cuda:0
// they run on that device instead, compiled for it or an architecture before it; the process opens
// it once.
//
// Invariants: the module is lowered by the call; `requires` and `grid` are the caller's matter, and
// so is `sanitize`. Memory is copied to the machine, its addresses' low bits kept, and back. Each
// finding of an observer is a diagnostic. Ownership: the module's arena.
//
//     SimulatedOptions o = {.choice = hash, .facts = lowered_facts(kernel, launch.args)};
//     if (simulated_run(m, kernel, &o, &launch, &outcome, diags)) …
#ifndef TILEC_TESTS_SUPPORT_SIMULATED_H
#define TILEC_TESTS_SUPPORT_SIMULATED_H

#include "base/diag.h"
#include "ir/interp/interp.h"
#include "target/target.h"

typedef struct SimulatedOptions {
    uint64_t choice;  // as in lowered_to_threads: of a machine, warps, facts, the order of warps
    unsigned facts;   // FACT_ bits that hold of the arguments
    GpuTarget gpu;    // instead of the choice's, on the warp machine; number 0: the choice's
} SimulatedOptions;

// Does TILEC_TEST_GPU's device run code of the choice's GPU? Elsewhere it runs the next that fits.
// True without the variable.
bool simulated_fits(uint64_t choice);
// False with diagnostics where it does not compile, or observers found something; else it ran:
// IR_RUN_DONE or IR_RUN_ASSERT.
bool simulated_run(IrModule *m, IrFunc *kernel, const SimulatedOptions *options,
                   const IrLaunch *launch, IrOutcome *outcome, Diags *diags);

#endif

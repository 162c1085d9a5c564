// Modules of tile or cpu IR compiled for a target and run on the device `cpu` of the runtime, on
// the calling thread: what a kernel does as code, beside what it does on the interpreter.
//
// Invariants: the module is lowered on the way; `requires` and `grid` are the caller's matter, and
// so is `sanitize`, which code knows nothing of. Ownership: the module's arena.
//
//     CpuTarget targets[4];
//     uint32_t count = compiled_targets(targets);
//     JittedOptions o = {.target = targets[0], .facts = lowered_facts(kernel, launch.args)};
//     if (jitted_run(m, kernel, &o, &launch, &outcome, diags)) …
#ifndef TILEC_TESTS_SUPPORT_JITTED_H
#define TILEC_TESTS_SUPPORT_JITTED_H

#include "base/cpu.h"
#include "ir/interp/interp.h"
#include "passes/pass.h"

// Was libtilec_llvm built?
bool jitted_possible(void);

typedef struct JittedOptions {
    CpuTarget target;
    unsigned facts;         // FACT_ bits that hold of the arguments
    const PassStep *steps;  // NULL: all of PIPELINE_TILE, then all of PIPELINE_CPU
    size_t step_count;
} JittedOptions;

// False with diagnostics where it does not compile; else it ran: IR_RUN_DONE or IR_RUN_ASSERT.
bool jitted_run(IrModule *m, IrFunc *kernel, const JittedOptions *options, const IrLaunch *launch,
                IrOutcome *outcome, Diags *diags);

#endif

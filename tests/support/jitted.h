// Modules of tile or cpu IR compiled for a target and run on the device `cpu` of the runtime, on
// the calling thread: the code of a kernel must do what the kernel does on the interpreter.
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

#include "ir/interp/interp.h"
#include "passes/pass.h"
#include "target/cpu.h"

// Was libtilec_llvm built?
bool jitted_possible(void);

// Defects for a test of the tests, in one op of the lowered code; none of them makes code reach
// for memory that is not its own.
typedef enum JittedPlant {
    JITTED_NO_PLANT,
    JITTED_OTHER_SUM,    // floats: a - b for a + b, a + b for any other sum or product
    JITTED_OTHER_ORDER,  // floats: max for min, min for max
    JITTED_SWAPPED,      // select takes the other value
    JITTED_CONSTANT,     // floats: a constant is twice or half of what it was
    JITTED_LOST_STORE,   // a store is left out
    JITTED_ZERO_SIGN,    // floats: every product that is -0 is +0
    JITTED_PLANTS,
} JittedPlant;

typedef struct JittedOptions {
    CpuTarget target;
    JittedPlant plant;
    uint64_t plant_at;      // number of the place, modulo how many there are
    bool *planted;          // set to true when there was a place
    bool quick;             // as in CodegenOptions
    unsigned facts;         // FACT_ bits that hold of the arguments
    const PassStep *steps;  // NULL: all of PIPELINE_TILE, then all of PIPELINE_CPU
    size_t step_count;
} JittedOptions;

// False with diagnostics where it does not compile; else it ran: IR_RUN_DONE or IR_RUN_ASSERT.
bool jitted_run(IrModule *m, IrFunc *kernel, const JittedOptions *options, const IrLaunch *launch,
                IrOutcome *outcome, Diags *diags);

#endif

// Attempts: a function is compiled again with other schedules if the facts of its first code say
// that it can be better.
//
// Purpose: codegen compiles as it is asked and reports facts of the code; this file decides what to
// ask for. The first attempt uses LLVM's default schedule. Another one is made only if the facts of
// the best code so far say that it can win, and none if that code is good enough. Between equally
// good codes the earlier attempt wins. On idle processors attempts run in parallel, some of them
// before it is known that they are needed. Invariants: the winner follows from the facts and a
// fixed order, never from which attempt ends first: any number of processors gives the same bytes.
// A later attempt that fails counts as if it had not been made. Ownership: the output is in the
// arena given.
//
//     options.schedule = attempts_first(target, threads, shared_bytes);
//     AttemptJob job = {.api = api, .func = func, .options = &options, .idle = 1};
//     if (!attempts_compile(arena, &job, &code, diags)) …
#ifndef TILEC_COMPILE_PIPELINE_ATTEMPTS_H
#define TILEC_COMPILE_PIPELINE_ATTEMPTS_H

#include "codegen/codegen.h"

typedef struct AttemptJob {
    const CodegenApi *api;
    const IrFunc *func;
    // These have the schedule of the first attempt. The facts are set to those of the winner, the
    // times to the sum over all attempts that were waited for.
    const CodegenOptions *options;
    unsigned idle;  // idle processors, without this thread's
} AttemptJob;

// False after reporting: the first attempt failed.
bool attempts_compile(Arena *arena, const AttemptJob *job, Str *output, Diags *diags);

// ---- what is decided (attempts_choose.c) --------------------------------------------------------

// The program that is compiled.
typedef struct AttemptProgram {
    CodeTarget target;
    uint32_t threads, lanes;  // lanes in a warp
} AttemptProgram;

// The faults of code, the worst first.
typedef struct AttemptFault {
    uint32_t vectors;  // spilled vector registers of a lane
    uint32_t waves;    // waves that fit on a SIMD at once: more are better
    uint32_t scalars;  // scalar registers of a wave that are spilled into lanes of vector registers
    uint32_t nearly;   // waves that slightly fewer registers would allow; 0: no more than now
} AttemptFault;

// The schedule of the first attempt at a program with `shared_bytes` of shared memory.
CodegenSchedule attempts_first(const AttemptProgram *program, uint32_t shared_bytes);
AttemptFault attempts_fault(const AttemptProgram *program, const CodegenFacts *facts);
bool attempts_is_better(const AttemptFault *fault, const AttemptFault *than);
// The schedule to try after `last`, if `best` is the fault of the best code so far. False if that
// code is good enough, or no schedule is left.
bool attempts_next(CodegenStrategy last, const AttemptFault *best, CodegenSchedule *next);

// ---- what is expected (attempts_expect.c) -------------------------------------------------------

// A guess at the facts of the first attempt at a function for an AMD GPU.
CodegenFacts attempts_expected(Arena *arena, const AttemptProgram *program, const IrFunc *func);

#endif

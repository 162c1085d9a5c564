// Attempts: one function's code, and code of other schedules where the first shows that it can be
// better.
//
// Purpose: codegen makes what it is asked for and says what came of it; here is decided what LLVM
// is asked for. The first attempt is LLVM's own way. Another one is made only where the facts of
// the best code so far say that it can win, and none where that code is good enough. Of code that
// is equally good the earlier attempt's counts. On processors that are idle attempts run side by
// side, some of them before it is known that they are wanted. Invariants: what counts follows from
// the facts and a fixed order, never from which attempt ends first: the same bytes on any number of
// processors; an attempt after the first that fails is as if it had not been made. Ownership: the
// output is in the arena given.
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
    // With the schedule of the first attempt. The facts are set to those of the code that counts,
    // the times to the sum over all attempts that were waited for.
    const CodegenOptions *options;
    unsigned idle;  // processors beside this thread's
} AttemptJob;

// False after reporting: the first attempt failed.
bool attempts_compile(Arena *arena, const AttemptJob *job, Str *output, Diags *diags);

// ---- what is decided (attempts_choose.c) --------------------------------------------------------

// A program that is compiled.
typedef struct AttemptProgram {
    CodeTarget target;
    uint32_t threads, lanes;  // lanes: of a warp
} AttemptProgram;

// What is wrong with code, the worst first.
typedef struct AttemptFault {
    uint32_t vectors;  // registers of a lane that are kept in memory
    uint32_t waves;    // that a SIMD has at once: more are better
    uint32_t scalars;  // registers of a wave that are kept in lanes of others
    uint32_t nearly;   // waves that a few registers less would give; 0: no more than there are
} AttemptFault;

// Of a program with so many bytes of shared memory.
CodegenSchedule attempts_first(const AttemptProgram *program, uint32_t shared_bytes);
AttemptFault attempts_fault(const AttemptProgram *program, const CodegenFacts *facts);
bool attempts_is_better(const AttemptFault *fault, const AttemptFault *than);
// The schedule to try behind `last`, where `best` is the fault of the best code so far; false: the
// code is good enough, or nothing is left to try.
bool attempts_next(CodegenStrategy last, const AttemptFault *best, CodegenSchedule *next);

// ---- what is expected (attempts_expect.c) -------------------------------------------------------

// A guess at the facts of the first attempt at a function for an AMD GPU.
CodegenFacts attempts_expected(Arena *arena, const AttemptProgram *program, const IrFunc *func);

#endif

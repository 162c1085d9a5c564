// Run: one `tilec run` from options to results, and what it reports.
//
// Invariants: `compiled` is of the same specialisation as `handle`; it serves metadata and --check,
// while the launch goes through the public API alone. Ownership: run.c makes and frees everything.
//
//     int status = run_check(r);      // --check, after the launch
//     run_print(r);                   // the results, as text or members of the object
#ifndef TILEC_TOOLS_RUN_H
#define TILEC_TOOLS_RUN_H

#include <tilec/tilec.h>

#include "tools/arrays.h"

typedef struct Run {
    Cli *cli;
    Unit *unit;
    const AstKernel *kernel;
    Settings settings;
    RunArrays arrays;
    const Compiled *compiled;
    tilec_context *context;
    tilec_device *device;
    tilec_kernel *handle;
    tilec_arg *args;
    bool own_grid;
    int64_t grid[3];  // given, or computed once the arrays are known
    int64_t seed, repeat;
    uint64_t best_ns;
    VEC(Str) printed;  // under --json: lines that the kernel printed
    StrBuf report;     // under --json: rows of --check
} Run;

// What the last failed call of the API had to say, with places in our own copy of the source.
int run_api_error(Run *r, tilec_status status);
// Compares all arrays with the interpreter's; EXIT_MISMATCH when one differs.
int run_check(Run *r);
// What the run left; `done`: the kernel ran to its end.
void run_print(Run *r, bool done);

#endif

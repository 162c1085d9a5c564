// Run: one kernel on one device, from options to a launch, for `run`, `bench` and `tune`; and what
// `tilec run` reports.
//
// Invariants: `compiled` is of the same specialisation as `handle`; it serves metadata and --check,
// while the launch goes through the public API alone. Ownership: run.c makes and frees everything.
//
//     int status = run_check(r);      // --check, after the launch
//     run_print(r);                   // the results, as text or members of the object
#ifndef TILEC_TOOLS_RUN_H
#define TILEC_TOOLS_RUN_H

#include <tilec/tilec.h>

#include "compile/device/sim_device.h"
#include "target/target.h"
#include "tools/arrays.h"

typedef struct Run {
    Cli *cli;
    Unit *unit;
    const FrontKernel *kernel;
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
    StrBuf special;    // the same with special values, or why there are none
    bool tallied;      // under --json, on a simulated device: what the first launch did
    SimTally tally;
} Run;

// Everything before the kernel is made: the file, the device, names, types, extents, contents.
// Fills *r, also on failure: run_close follows in any case.
int run_open(Cli *cli, Run *r);
void run_close(Run *r);
// The kernel of the settings into r->handle, and what it is called with into r->args.
int run_make_kernel(Run *r);
int run_make_args(Run *r);
// The grid by the kernel's own rule, unless one was given.
void run_compute_grid(Run *r);
// The grid that run_launch launches: consts of the tune table count.
void run_launched_grid(const Run *r, int64_t grid[3]);
// Launches and waits.
tilec_status run_launch(const Run *r, tilec_kernel *kernel);
// The specialisation as the public API takes it; with room for no more entries.
tilec_spec run_spec(const Run *r);
// The text that was read once (a pipe has no second reading), and what messages call it.
Str run_source(const Run *r, const char **path);

// What the last failed call of the API had to say, with places in our own copy of the source.
int run_api_error(Run *r, tilec_status status);
// Does compiled code run, and for which target?
bool run_as_code(const Run *r, CodeTarget *target);
bool run_has_print(const Run *r);
// Launches once more, on what the arrays hold now.
tilec_status run_again(Run *r);
// Compares all arrays with the interpreter's; EXIT_MISMATCH when one differs (run_check.c).
int run_check(Run *r);
// FILE.ptx: code from anywhere, on a simulated GPU (run_foreign.c).
int run_foreign(Cli *cli);
// What was counted, as text or as members of an object.
void run_print_tally(Cli *cli, const SimTally *tally);
// What the run left; `done`: the kernel ran to its end.
void run_print(Run *r, bool done);

#endif

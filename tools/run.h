// Run: one kernel on one device, from options to a launch, for `run`, `bench` and `tune`; and the
// report of `tilec run`.
//
// Invariants: `compiled` and `handle` are the same specialisation. `compiled` is for metadata and
// --check; the launch uses only the public API. Ownership: run.c makes and frees everything.
//
//     int status = run_check(r);      // --check, after the launch
//     run_print(r);                   // the results, as text or members of the object
#ifndef TILEC_TOOLS_RUN_H
#define TILEC_TOOLS_RUN_H

#include <tilec/tilec.h>

#include "compile/device/sim_device.h"
#include "runtime/tune.h"
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
    StrBuf special;    // the same with special values, or the reason why there are none
    bool tallied;      // on a simulated device: counts of the first launch
    SimTally tally;
} Run;

// Everything before the kernel is made: the file, the device, names, types, extents, contents.
// Fills *r, also on failure: the caller must always call run_close.
int run_open(Cli *cli, Run *r);
void run_close(Run *r);
// run_make_kernel makes the kernel of the settings in r->handle, run_make_args its arguments in
// r->args.
int run_make_kernel(Run *r);
int run_make_args(Run *r);
// Computes the grid with the kernel's own rule, unless one was given.
void run_compute_grid(Run *r);
// The grid that run_launch launches, for the consts of the tune table.
void run_launched_grid(const Run *r, int64_t grid[3]);
// The consts of that launch that are not the defaults, by the table or by an estimate.
typedef struct RunConst {
    Str name;
    int64_t value;
} RunConst;
enum { RUN_CONSTS = 16 };
void run_launched_consts(const Run *r, RunConst *consts, uint32_t *count);
// The key of the run in the table of `tilec tune`, without a device's prefix, and the names under
// which the device's rows are (run_tuned.c).
TuneRow run_tune_key(const Run *r);
TuneNames run_tune_names(const Run *r, const TuneRow *key);
// Warns of a row for these extents that is of another version of the kernel.
void run_warn_of_stale_row(const Run *r);
// Launches and waits.
tilec_status run_launch(const Run *r, tilec_kernel *kernel);
// The specialisation in the form of the public API. It has no room for more entries.
tilec_spec run_spec(const Run *r);
// The text that was read (a pipe can be read only once), and its name in messages.
Str run_source(const Run *r, const char **path);

// Reports the last failed call of the API, with places in our own copy of the source.
int run_api_error(Run *r, tilec_status status);
// Does compiled code run, and for which target?
bool run_as_code(const Run *r, CodeTarget *target);
bool run_has_print(const Run *r);
// Launches once more, on the current contents of the arrays.
tilec_status run_again(Run *r);
// Compares all arrays with the interpreter's; EXIT_MISMATCH when one differs (run_check.c).
int run_check(Run *r);
// Runs FILE.ptx, code from any source, on a simulated GPU (run_foreign.c).
int run_foreign(Cli *cli);
// Prints the counts, as text or as members of an object.
void run_print_tally(Cli *cli, const SimTally *tally);
// Prints the results of the run; `done`: the kernel ran to its end.
void run_print(Run *r, bool done);

#endif

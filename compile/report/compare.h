// Comparing what a device computed with the interpreter's shadow (docs/numerics.md, §6).
//
// compare_run runs the kernel on the interpreter, with shadows, on its own copies of the arguments
// as they were before the launch. `compiled` is best made with `elaborate_only`: after expand_math
// the bounds of exp and the like are lost. compare_element judges one element of the device's
// result. Ownership: the Compare belongs to the arena given; destroy it to free the interpreter.
//
//     const CompareLaunch launch = {.machine = &machine, .args = args, .grid = {8, 1, 1}};
//     Compare *c = compare_run(arena, compiled, &launch, diags);
//     for (each element i) compare_element(c, dtype, interp_data, i, device_bits, &report);
#ifndef TILEC_COMPILE_REPORT_COMPARE_H
#define TILEC_COMPILE_REPORT_COMPARE_H

#include "compile/pipeline/compile.h"
#include "ir/interp/interp.h"
#include "target/machine.h"

typedef struct CompareReport {
    uint64_t elements;   // compared
    uint64_t undecided;  // not compared: hang on a comparison that the bound cannot decide
    uint64_t wrong;
    uint64_t worst_index;  // of the element with the greatest ratio |x - v| / e
    double worst_ratio;    // > 1: wrong; infinity where e is 0 or the classes differ
    double worst_value, worst_expected, worst_bound;
} CompareReport;

typedef struct CompareLaunch {
    const IrArg *args;  // they point at memory that the run writes
    int64_t grid[3];
    // What the device's code was made for, whose deviations (docs/numerics.md, §4) the bounds
    // allow; NULL: none.
    const Machine *machine;
    // For numbers that the kernel may not expect: accesses out of bounds, and more steps than this
    // (0: no limit), are failures.
    bool sanitize;
    uint64_t steps;
} CompareLaunch;

typedef struct Compare Compare;
// NULL when the interpreter itself failed (reported, but for the limit of steps).
Compare *compare_run(Arena *arena, const Compiled *compiled, const CompareLaunch *launch,
                     Diags *diags);
uint64_t compare_steps(const Compare *compare);  // of the interpreter
void compare_destroy(Compare *compare);
// Element `index` of the array at `data` (the interpreter's memory) against the device's bits.
void compare_element(const Compare *compare, Dtype type, const void *data, uint64_t index,
                     uint64_t bits, CompareReport *report);

#endif

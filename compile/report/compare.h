// Compares the results of a device with the interpreter's shadow (docs/numerics.md, §6).
//
// compare_run runs the kernel on the interpreter, with shadows, on its own copies of the arguments
// before the launch. `compiled` should be made with `elaborate_only`: expand_math loses the bounds
// of exp and similar functions. compare_element judges one element of the device's result.
// Ownership: the Compare belongs to the arena given; destroy it to free the interpreter.
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
    uint64_t undecided;  // not compared: they depend on a comparison that the bound cannot decide
    uint64_t wrong;
    uint64_t worst_index;  // index of the element with the greatest ratio |x - v| / e
    double worst_ratio;    // > 1: wrong; infinity if e is 0 or the classes differ
    double worst_value, worst_expected, worst_bound;
} CompareReport;

typedef struct CompareLaunch {
    const IrArg *args;  // they point to memory that the run writes
    int64_t grid[3];
    // The machine of the device's code. The bounds allow its deviations (docs/numerics.md, §4).
    // NULL: none.
    const Machine *machine;
    // For inputs that the kernel may not expect: accesses out of bounds, and more than `steps`
    // steps (0: no limit), are failures.
    bool sanitize;
    uint64_t steps;
} CompareLaunch;

typedef struct Compare Compare;
// NULL when the interpreter itself failed; that is reported, except for the limit of steps.
Compare *compare_run(Arena *arena, const Compiled *compiled, const CompareLaunch *launch,
                     Diags *diags);
uint64_t compare_steps(const Compare *compare);  // of the interpreter
void compare_destroy(Compare *compare);
// Element `index` of the array at `data` (the interpreter's memory) against the device's bits.
void compare_element(const Compare *compare, Dtype type, const void *data, uint64_t index,
                     uint64_t bits, CompareReport *report);

#endif

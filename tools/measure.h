// Measure: how long a launch takes, how many bytes it moves, how many operations it does.
//
// Invariants: as compile/tune/timing.h says; arrays are not restored between launches. Ownership:
// nothing is kept.
//
//     Timing t;
//     tilec_status s = measure_launches(run, kernel, 1.0, &t);
//     double bytes = measure_bytes(run), flops = measure_flops(run);
#ifndef TILEC_TOOLS_MEASURE_H
#define TILEC_TOOLS_MEASURE_H

#include "tools/run.h"

enum { MEASURE_SAMPLES = 101 };
// The note about times on a `sim:` device.
#define MEASURE_SIMULATED "simulated: times of the simulator on this machine, not of a GPU"

typedef struct Timing {
    double median, least, greatest;  // seconds of one launch
    unsigned samples, repeats;       // launches of one sample
} Timing;

// One launch that is not measured, then samples for about `budget` seconds, three at least.
tilec_status measure_launches(Run *run, tilec_kernel *kernel, double budget, Timing *timing);
// The bytes of the arrays that the kernel reads, plus those of the arrays that it writes.
double measure_bytes(const Run *run);
// Twice the multiply-adds of all dots. Tiles count in full, with padding at the edges. Loops run as
// often as their bounds say for these extents; a bound that depends on the program counts as the
// middle of its range. 0: the kernel has no dot, or a loop around one has no known bounds.
double measure_flops(const Run *run);

#endif

// Measure: how long a launch takes, how many bytes it moves, how many operations it does.
//
// Invariants: the time of a launch includes waiting for its end. A sample is a row of launches that
// takes two milliseconds, after one that is not measured. Arrays are not restored between launches:
// a kernel that updates in place continues with its own results. Ownership: nothing is kept.
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
tilec_status measure_launches(const Run *run, tilec_kernel *kernel, double budget, Timing *timing);
// The number of launches in a sample, after one that is not measured; *once: seconds of one launch.
tilec_status measure_calibrate(const Run *run, tilec_kernel *kernel, unsigned *repeats,
                               double *once);
// Seconds of one launch, from one sample.
tilec_status measure_sample(const Run *run, tilec_kernel *kernel, unsigned repeats,
                            double *seconds);
// The same, as the median of up to 64 parts of the sample: other work of the machine takes the
// processor for whole parts, and the others tell the time of a launch.
tilec_status measure_steady(const Run *run, tilec_kernel *kernel, unsigned repeats,
                            double *seconds);
double measure_median(double *values, size_t count);  // sorts them

// The bytes of the arrays that the kernel reads, plus those of the arrays that it writes.
double measure_bytes(const Run *run);
// Twice the multiply-adds of all dots. Tiles count in full, with padding at the edges. Loops run as
// often as their bounds say for these extents; a bound that depends on the program counts as the
// middle of its range. 0: the kernel has no dot, or a loop around one has no known bounds.
double measure_flops(const Run *run);

#endif

// Measure: how long a launch takes, and what a launch moves and computes.
//
// Invariants: a launch is timed with the wait for its end; a sample is as many launches in a row as
// make two milliseconds, after one that is not counted. Arrays are not put back between launches:
// a kernel that updates in place goes on from what it left. Ownership: nothing is kept.
//
//     Timing t;
//     tilec_status s = measure_launches(run, kernel, 1.0, &t);
//     double bytes = measure_bytes(run), flops = measure_flops(run);
#ifndef TILEC_TOOLS_MEASURE_H
#define TILEC_TOOLS_MEASURE_H

#include "tools/run.h"

enum { MEASURE_SAMPLES = 101 };
// What is said of times on a `sim:` device.
#define MEASURE_SIMULATED "simulated: times of the simulator on this machine, no GPU's"

typedef struct Timing {
    double median, least, greatest;  // seconds of one launch
    unsigned samples, repeats;       // launches of one sample
} Timing;

// One launch that nobody times, then samples for about `budget` seconds, three at least.
tilec_status measure_launches(const Run *run, tilec_kernel *kernel, double budget, Timing *timing);
// How many launches make a sample, after one that is not timed; *once: seconds of one launch.
tilec_status measure_calibrate(const Run *run, tilec_kernel *kernel, unsigned *repeats,
                               double *once);
// Seconds of one launch, from one sample.
tilec_status measure_sample(const Run *run, tilec_kernel *kernel, unsigned repeats,
                            double *seconds);
double measure_median(double *values, size_t count);  // sorts them

// The bytes of the arrays that the kernel reads, and again of those that it writes.
double measure_bytes(const Run *run);
// Twice the multiply-adds of all dots, as the tiles are, padding at the edges included: loops run
// as often as their bounds say for these extents (in the middle of what they can be where that
// depends on the program). 0: the kernel has no dot, or a loop without such bounds around one.
double measure_flops(const Run *run);

#endif

// Timing: how long a launch takes.
//
// Invariants: the time of a launch includes waiting for its end. A sample is a row of launches that
// takes two milliseconds, after one that is not measured. Arrays are not restored between launches
// (a kernel that updates in place continues with its own results), unless `before` does it.
// Ownership: nothing is kept.
//
//     Timed t = {.user = run, .launch = launch_and_wait};
//     tilec_status s = timing_calibrate(&t, kernel, &repeats, &once);
//     if (!s) s = timing_steady(&t, kernel, repeats, &seconds);
#ifndef TILEC_COMPILE_TUNE_TIMING_H
#define TILEC_COMPILE_TUNE_TIMING_H

#include <tilec/tilec.h>

typedef struct Timed {
    void *user;
    tilec_status (*launch)(void *user, tilec_kernel *kernel);  // launches and waits
    // Called before each launch, and not measured; NULL: nothing is to be done.
    tilec_status (*before)(void *user);
} Timed;

// Seconds of one launch, the mean of `count`.
tilec_status timing_launches(const Timed *t, tilec_kernel *kernel, unsigned count, double *seconds);
// The number of launches in a sample, after one that is not measured; *once: seconds of one launch.
tilec_status timing_calibrate(const Timed *t, tilec_kernel *kernel, unsigned *repeats,
                              double *once);
// Seconds of one launch, as the median of up to 64 parts of a sample: other work of the machine
// takes the processor for whole parts, and the others give the time of a launch.
tilec_status timing_steady(const Timed *t, tilec_kernel *kernel, unsigned repeats, double *seconds);
double timing_median(double *values, size_t count);  // sorts them

#endif

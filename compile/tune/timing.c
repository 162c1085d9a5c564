#include "compile/tune/timing.h"

#include <math.h>
#include <stdlib.h>

#include "base/os/os.h"

static const double SAMPLE_SECONDS = 2e-3;

static double seconds_since(uint64_t begin) { return (double)(os_time_ns() - begin) * 1e-9; }

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double timing_median(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare_doubles);
    return values[count / 2];
}

// Each launch is measured by itself, because something happens before each.
static tilec_status one_by_one(const Timed *t, tilec_kernel *kernel, unsigned count,
                               double *seconds) {
    tilec_status s = TILEC_OK;
    double sum = 0;
    for (unsigned i = 0; i < count && !s; i++) {
        s = t->before(t->user);
        uint64_t begin = os_time_ns();
        if (!s) s = t->launch(t->user, kernel);
        sum += seconds_since(begin);
    }
    *seconds = sum / count;
    return s;
}

tilec_status timing_launches(const Timed *t, tilec_kernel *kernel, unsigned count,
                             double *seconds) {
    if (t->before) return one_by_one(t, kernel, count, seconds);
    uint64_t begin = os_time_ns();
    for (unsigned i = 0; i < count; i++) {
        tilec_status s = t->launch(t->user, kernel);
        if (s) return s;
    }
    *seconds = seconds_since(begin) / count;
    return TILEC_OK;
}

// *whole: seconds of one launch and of what comes before it.
static tilec_status calibrate_once(const Timed *t, tilec_kernel *kernel, unsigned count,
                                   double *once, double *whole) {
    uint64_t begin = os_time_ns();
    tilec_status s = timing_launches(t, kernel, count, once);
    *whole = seconds_since(begin) / count;
    return s;
}

tilec_status timing_calibrate(const Timed *t, tilec_kernel *kernel, unsigned *repeats,
                              double *once) {
    // touches the memory and compiles what is missing
    double whole;
    tilec_status s = calibrate_once(t, kernel, 1, once, &whole);
    // If the first launch takes longer than the whole budget, one launch is enough.
    if (!s && whole < 1.0) s = calibrate_once(t, kernel, 1, once, &whole);
    if (!s && whole < SAMPLE_SECONDS / 20) s = calibrate_once(t, kernel, 20, once, &whole);
    double wanted = ceil(SAMPLE_SECONDS / (whole > 1e-9 ? whole : 1e-9));
    *repeats = wanted > 1e6 ? 1000000 : (unsigned)wanted;
    return s;
}

tilec_status timing_steady(const Timed *t, tilec_kernel *kernel, unsigned repeats,
                           double *seconds) {
    enum { PARTS = 64 };
    double parts[PARTS];
    unsigned each = (repeats + PARTS - 1) / PARTS, count = (repeats + each - 1) / each;
    tilec_status s = repeats > 1 ? timing_launches(t, kernel, 1, seconds) : TILEC_OK;
    for (unsigned i = 0; i < count && !s; i++) s = timing_launches(t, kernel, each, &parts[i]);
    if (!s) *seconds = timing_median(parts, count);
    return s;
}

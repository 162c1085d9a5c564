#include "tools/measure.h"

#include "base/os/os.h"
#include "base/status.h"
#include "compile/tune/model.h"
#include "compile/tune/timing.h"

static double seconds_since(uint64_t begin) { return (double)(os_time_ns() - begin) * 1e-9; }

static tilec_status launch(void *run, tilec_kernel *kernel) { return run_launch(run, kernel); }

static tilec_status sample(const Timed *t, tilec_kernel *kernel, unsigned repeats,
                           double *seconds) {
    tilec_status s = TILEC_OK;
    if (repeats > 1) s = timing_launches(t, kernel, 1, seconds);
    return s ? s : timing_launches(t, kernel, repeats, seconds);
}

tilec_status measure_launches(Run *run, tilec_kernel *kernel, double budget, Timing *timing) {
    double once, times[MEASURE_SAMPLES];
    *timing = (Timing){0};
    Timed t = {.user = run, .launch = launch};
    tilec_status s = timing_calibrate(&t, kernel, &timing->repeats, &once);
    uint64_t begin = os_time_ns();
    while (!s && timing->samples < MEASURE_SAMPLES &&
           (timing->samples < 3 || seconds_since(begin) < budget))
        s = sample(&t, kernel, timing->repeats, &times[timing->samples++]);
    if (s) return s;
    timing->median = timing_median(times, timing->samples);
    timing->least = times[0];
    timing->greatest = times[timing->samples - 1];
    return TILEC_OK;
}

double measure_bytes(const Run *run) {
    const MetaKernel *meta = run->compiled->meta;
    double bytes = 0;
    size_t next = 0;
    for (int d = 0; d < 3; d++)
        if (!run->grid[d]) return 0;
    for (uint32_t i = 0; i < meta->arg_count; i++) {
        const MetaArg *arg = &meta->args[i];
        if (arg->kind == META_SCALAR) continue;
        bytes += (double)run->arrays.items[next++].size * (arg->read + arg->written);
    }
    return bytes;
}

double measure_flops(const Run *run) {
    Arena *scratch = arena_create();
    double flops = model_flops(scratch, run->compiled->func, run->args,
                               run->compiled->meta->arg_count, run->grid);
    arena_destroy(scratch);
    return flops;
}

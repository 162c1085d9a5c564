#include "tools/measure.h"

#include <math.h>

#include "base/os/os.h"
#include "base/status.h"
#include "compile/tune/timing.h"
#include "ir/analysis/analysis.h"

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

// ---- Operations ----

// The value of a scalar, or the middle of its range. False if its range is unknown.
static bool middle(const IrRanges *ranges, const IrValue *value, double *out) {
    IrRange r = ir_range_of(ranges, value);
    *out = ((double)r.min + (double)r.max) / 2;
    return r.known && r.min > INT32_MIN && r.max < INT64_C(1) << 40;
}

static bool iterations(const IrRanges *ranges, const IrOp *loop, double *count) {
    double lo, hi, step;
    *count = 0;
    if (!middle(ranges, ir_operand(loop, 0), &lo) || !middle(ranges, ir_operand(loop, 1), &hi) ||
        !middle(ranges, ir_operand(loop, 2), &step) || step == 0)
        return false;
    *count = fmax(0, ceil((hi - lo) / step));
    return true;
}

static double dot_flops(const IrOp *dot) {
    const IrType *a = ir_operand(dot, 0)->type, *c = ir_result(dot, 0)->type;
    return 2.0 * c->count * a->shape[a->rank - 1];
}

static bool has_dot(const IrBlock *block) {
    IR_EACH_OP(op, block) {
        if (op->code == IR_DOT) return true;
        for (uint32_t i = 0; i < op->region_count; i++)
            if (has_dot(op->regions[i])) return true;
    }
    return false;
}

// Adds the operations of one program to *flops. The recursion is as deep as the nesting of the
// source, which has a limit.
static bool block_flops(const IrRanges *ranges, const IrBlock *block, double times, double *flops) {
    IR_EACH_OP(op, block) {
        double inside = times;
        if (op->code == IR_DOT) *flops += times * dot_flops(op);
        for (uint32_t i = 0; i < op->region_count; i++) {
            if (!has_dot(op->regions[i])) continue;
            if (op->code == IR_WHILE) return false;
            double count = 1;
            if (op->code == IR_FOR && !iterations(ranges, op, &count)) return false;
            inside = times * count;
            TRY(block_flops(ranges, op->regions[i], inside, flops));
        }
    }
    return true;
}

double measure_flops(const Run *run) {
    IrFunc *f = run->compiled->func;
    for (size_t i = 0; i < f->extents.count; i++) {
        const SettingsValue *v = settings_find_extent(&run->settings, f->extents.data[i].name);
        if (!v) continue;
        IrFacts *facts = &f->extents.data[i].facts;
        facts->has_range = true;
        facts->min = facts->max = v->value;
    }
    Arena *scratch = arena_create();
    double flops = 0;
    bool known = block_flops(ir_ranges(scratch, f, IR_TRUST_CHECKED), ir_body(f), 1, &flops);
    arena_destroy(scratch);
    for (int d = 0; d < 3; d++) flops *= (double)run->grid[d];
    return known ? flops : 0;
}

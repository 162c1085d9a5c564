#include "compile/report/compare.h"

#include <math.h>

struct Compare {
    IrInterp *interp;
};

static IrFlushes flushes_of(const Machine *machine) {
    if (machine && machine->flushes_halves) return IR_FLUSHES_HALVES;
    bool flushes = machine && (machine->bf16_dot || machine->bf16_tiles || machine->loose_pairs);
    return flushes ? IR_FLUSHES_BF16 : IR_FLUSHES_NONE;
}

Compare *compare_run(Arena *arena, const Compiled *compiled, const CompareLaunch *launch,
                     Diags *diags) {
    const Machine *machine = launch->machine;
    Compare *c = arena_new(arena, Compare, 1);
    c->interp = ir_interp_create(arena, compiled->func);
    IrLaunch run = {.args = launch->args,
                    .arg_count = (uint32_t)compiled->func->params.count,
                    .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
                    .shadow = true,
                    .sanitize = launch->sanitize,
                    .step_limit = launch->steps,
                    .flushes = flushes_of(machine),
                    .loose_pairs = machine && machine->loose_pairs,
                    .short_sums = machine && machine->short_sums};
    if (ir_interp_run(c->interp, &run, diags) == IR_RUN_DONE) return c;
    compare_destroy(c);
    return NULL;
}

uint64_t compare_steps(const Compare *compare) { return ir_interp_steps(compare->interp); }

void compare_destroy(Compare *compare) {
    if (compare) ir_interp_destroy(compare->interp);
}

static double as_double(Dtype type, uint64_t bits) {
    if (dtype_is(type, DTYPE_CLASS_ANYFLOAT)) return dtype_to_double(type, bits);
    if (dtype_signed(type)) return (double)dtype_to_i64(type, bits);
    return (double)bits;
}

// `own` is the interpreter's result. If it is certain, the sign of a zero is certain, too.
static double float_ratio(double value, double own, const IrShadow *s) {
    if (isnan(s->value) || isinf(s->value))
        return (isnan(s->value) && isnan(value)) || value == s->value ? 0 : INFINITY;
    double distance = fabs(value - s->value);
    if (!isfinite(value)) return INFINITY;
    if (s->bound == 0 && own == 0 && value == 0)
        return !signbit(value) == !signbit(own) ? 0 : INFINITY;
    if (distance <= s->bound) return s->bound > 0 ? distance / s->bound : 0;
    return s->bound > 0 ? distance / s->bound : INFINITY;
}

static double integer_ratio(Dtype type, uint64_t a, uint64_t b, double bound) {
    if (a == b) return 0;
    bool less = dtype_signed(type) ? dtype_to_i64(type, a) < dtype_to_i64(type, b) : a < b;
    uint64_t distance = dtype_signed(type) ? (uint64_t)dtype_to_i64(type, less ? b : a) -
                                                 (uint64_t)dtype_to_i64(type, less ? a : b)
                        : less ? b - a
                               : a - b;
    return bound > 0 ? (double)distance / bound : INFINITY;
}

static void note(CompareReport *report, uint64_t index, double ratio, double value, double expected,
                 double bound) {
    report->elements++;
    report->wrong += ratio > 1;
    if (report->elements > 1 && ratio <= report->worst_ratio) return;
    report->worst_ratio = ratio;
    report->worst_index = index;
    report->worst_value = value;
    report->worst_expected = expected;
    report->worst_bound = bound;
}

void compare_element(const Compare *compare, Dtype type, const void *data, uint64_t index,
                     uint64_t bits, CompareReport *report) {
    uint64_t own = dtype_load(type, data, index);
    const char *address =
        (const char *)data + (dtype_bits(type) < 8 ? index / 2 : index * dtype_size(type));
    bool is_float = dtype_is(type, DTYPE_CLASS_ANYFLOAT);
    IrShadow shadow = {as_double(type, own), 0, false};
    IrShadow found;
    if (ir_interp_shadow(compare->interp, address, &found)) shadow = found;
    if (shadow.undecided) {
        report->undecided++;
        return;
    }
    double value = as_double(type, bits);
    double ratio = is_float ? float_ratio(value, as_double(type, own), &shadow)
                            : integer_ratio(type, bits, own, shadow.bound);
    note(report, index, ratio, value, is_float ? shadow.value : as_double(type, own), shadow.bound);
}

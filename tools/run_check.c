// --check: compares the device's results with the interpreter's, within the documented bounds: once
// for the given numbers, and once more with signed zeros, subnormals, infinities and NaN among
// those that the seed made.
#include <stdio.h>
#include <string.h>

#include "compile/jit/compiler.h"
#include "compile/report/compare.h"
#include "tools/progress.h"
#include "tools/run.h"

typedef struct RunCheck {
    const Compiled *reference;
    const Machine *machine;  // NULL: no code
    uint8_t **memory;        // the interpreter's, by array
    const char *with;        // the special values in the input, for messages
    uint64_t wrong;          // arrays that differ, or were not compared at all
    const char *undecided;   // an array with special values of which nothing was compared, or NULL
} RunCheck;

// The interpreter's own arguments, on copies of the device's input.
static IrArg *interp_args(Run *r, uint8_t **memory) {
    const MetaKernel *meta = r->compiled->meta;
    IrArg *args = arena_new(r->cli->arena, IrArg, meta->arg_count + 1);
    size_t next = 0;
    for (uint32_t i = 0; i < meta->arg_count; i++) {
        const MetaArg *arg = &meta->args[i];
        if (arg->kind == META_SCALAR) {
            settings_scalar_bits(&r->settings, intern(r->unit->names, arg->name), arg->dtype,
                                 &args[i].bits);
            continue;
        }
        const RunArray *a = &r->arrays.items[next];
        memory[next] = arena_copy(r->cli->arena, a->given, a->size + 1);
        args[i].data = memory[next];
        args[i].base = memory[next];
        args[i].size = a->size;
        memcpy(args[i].extent, a->extent, sizeof args[i].extent);
        memcpy(args[i].stride, a->stride, sizeof args[i].stride);
        next++;
    }
    return args;
}

static void report_json(Json *j, const RunArray *a, const CompareReport *c) {
    json_open(j, '{');
    json_key(j, "array"), json_str(j, str(a->param->name));
    json_key(j, "compared"), json_uint(j, c->elements);
    json_key(j, "undecided"), json_uint(j, c->undecided);
    json_key(j, "wrong"), json_uint(j, c->wrong);
    json_key(j, "worstRatio"), json_double(j, c->elements ? c->worst_ratio : 0);
    json_close(j, '}');
}

// If nothing was compared, the check fails.
static bool all_undecided(const CompareReport *c) { return !c->elements && c->undecided; }

static void report_array(Run *r, const RunCheck *check, const RunArray *a, const CompareReport *c) {
    if (c->wrong) {
        const char *help = arena_printf(
            r->cli->arena, "worst at element %llu: found %.17g, expected %.17g ± %.3g",
            (unsigned long long)c->worst_index, c->worst_value, c->worst_expected, c->worst_bound);
        cli_fail(r->cli, EXIT_MISMATCH, DIAG_MISMATCH, help,
                 "'%s' differs from the reference in %llu of %llu elements%s", a->param->name,
                 (unsigned long long)c->wrong, (unsigned long long)c->elements, check->with);
    } else if (check->with[0]) {
        return;  // a single line reports that all arrays agree
    } else if (all_undecided(c)) {
        cli_fail(
            r->cli, EXIT_MISMATCH, DIAG_MISMATCH,
            "rounding may decide a condition or an index of the kernel either way, so that any "
            "result is allowed: give inputs that avoid this (--in, --seed)",
            "nothing of '%s' was compared: all %llu elements are undecided", a->param->name,
            (unsigned long long)c->undecided);
    } else if (!r->cli->quiet && !r->cli->json) {
        printf("check %s: %llu elements agree", a->param->name, (unsigned long long)c->elements);
        if (c->undecided) printf(", %llu undecided", (unsigned long long)c->undecided);
        printf(", worst at %.3g of the bound\n", c->elements ? c->worst_ratio : 0.0);
    }
}

static Compare *interpret(Run *r, RunCheck *check, uint64_t steps) {
    CompareLaunch launch = {.args = interp_args(r, check->memory),
                            .grid = {r->grid[0], r->grid[1], r->grid[2]},
                            .machine = check->machine,
                            .sanitize = steps != 0,
                            .steps = steps};
    Progress *p = progress_begin(r->cli, "comparing with the interpreter");
    Compare *compare = compare_run(r->cli->arena, check->reference, &launch, r->unit->diags);
    progress_end(p);
    return compare;
}

static void compare_arrays(Run *r, RunCheck *check, const Compare *compare, Json *j) {
    json_open(j, '[');
    for (size_t i = 0; i < r->arrays.count; i++) {
        const RunArray *a = &r->arrays.items[i];
        CompareReport c = {0};
        for (uint64_t k = 0; k < a->count; k++)
            compare_element(compare, a->dtype, check->memory[i], k,
                            dtype_load(a->dtype, a->left, k), &c);
        report_json(j, a, &c);
        report_array(r, check, a, &c);
        check->wrong += c.wrong || (all_undecided(&c) && !check->with[0]);
        if (all_undecided(&c)) check->undecided = a->param->name;
    }
    json_close(j, ']');
}

// ---- special values -----------------------------------------------------------------------------

// The second check is left out if the interpreter does not finish with these numbers: an assert
// fails, an index leaves its array, or a loop does not end.
static const char *left_out(Run *r, RunCheck *check, uint64_t steps, Compare **compare) {
    enum { MORE = 4, LEAST = 10000 };
    if (run_has_print(r)) return "the kernel prints";
    if (!arrays_have_random_floats(&r->arrays)) return "no floats are random";
    *compare = interpret(r, check, MORE * steps + LEAST);
    diags_truncate(r->unit->diags, 0);
    return *compare ? NULL : "the kernel does not accept these numbers";
}

static int check_special(Run *r, RunCheck *check, uint64_t steps) {
    Json j = json_begin(&r->special);
    Compare *compare = NULL;
    RunArrays kept = arrays_make_special(&r->settings, &r->arrays, (uint64_t)r->seed);
    const char *why = left_out(r, check, steps, &compare);
    tilec_status s = why ? TILEC_OK : run_again(r);
    if (!why && !s) compare_arrays(r, check, compare, &j);
    if (compare) compare_destroy(compare);
    arrays_restore(&r->arrays, &kept);
    if (s) return run_api_error(r, s);
    if (why) json_str(&j, str(why));
    bool says = !r->cli->quiet && !r->cli->json && !check->wrong;
    if (says && why) printf("check%s: left out, %s\n", check->with, why);
    if (says && !why && check->undecided)
        printf("check%s: nothing of '%s' was compared, all its elements are undecided\n",
               check->with, check->undecided);
    else if (says && !why)
        printf("check%s: all agree\n", check->with);
    return EXIT_OK;
}

// ---- all ----------------------------------------------------------------------------------------

int run_check(Run *r) {
    CodeTarget target;
    bool code = run_as_code(r, &target);
    Machine machine = code_target_machine(target);
    diags_truncate(r->unit->diags, 0);  // already reported
    // Shadows need the kernel as it was written: no bound follows the bits of an expanded exp.
    const CompileOptions written = {.elaborate_only = true};
    RunCheck check = {.reference = unit_compile(r->unit, r->kernel, &r->settings.spec, &written),
                      .machine = code ? &machine : NULL,
                      .memory = arena_new(r->cli->arena, uint8_t *, r->arrays.count + 1),
                      .with = ""};
    Compare *compare = check.reference ? interpret(r, &check, 0) : NULL;
    if (!compare) {
        cli_diags(r->cli, r->unit->diags);
        return EXIT_MISMATCH;
    }
    Json j = json_begin(&r->report);
    compare_arrays(r, &check, compare, &j);
    uint64_t steps = compare_steps(compare);
    compare_destroy(compare);
    check.with = " with signed zeros, subnormals, infinities and NaN";
    int status = check.wrong ? EXIT_OK : check_special(r, &check, steps);
    return check.wrong ? EXIT_MISMATCH : status;
}

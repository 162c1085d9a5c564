#include "tests/gen/gen_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/os/os.h"
#include "base/os/os_child.h"
#include "tests/gen/gen.h"
#include "tests/support/codegen_plugin.h"
#include "tests/support/dice.h"
#include "tests/support/jitted.h"
#include "tests/support/portion.h"
#include "tests/support/slice.h"
#include "tests/support/tir.h"

enum {
    WHOLE = 32,     // times as many
    QUICK = 8,      // one in these is compiled as users' kernels are
    FAILURES = 10,  // then the run ends
    SECONDS = 900,  // for one seed, shrinking included
    TARGET_SLICE = 10,
    MUTANT_SLICE = 10,
};

typedef struct Seeds {
    uint64_t first, count;
} Seeds;

// All of `count * WHOLE` numbers, or the slice of them that is due; with `slice` that many of
// `count`.
static Seeds seeds_from(uint64_t first, uint64_t count, uint64_t slice) {
    const char *whole = os_env("TILEC_TEST_WHOLE");
    uint64_t parts = slice ? count / slice : WHOLE;
    if (!slice) slice = count;
    if (whole && whole[0] == '1') return (Seeds){first, slice * parts};
    return (Seeds){first + slice_begin(parts, slice), slice};
}

// Neighbouring numbers must not give similar programs: the seed is a hash.
static uint64_t seed_of(uint64_t i) {
    Dice dice = dice_roll(i);
    return dice_below(&dice, UINT64_C(1) << 32);
}

static GenSize size_of(uint64_t seed) {
    return (GenSize){.statements = (uint32_t)(seed % 5) * 12 + 6,
                     .depth = (uint32_t)(seed % 3) + 1};
}

// Code of large kernels takes LLVM long. Most are small, and made the quick way.
static GenCode code_of(uint64_t seed) {
    if (seed % QUICK == 0) return (GenCode){.size = size_of(seed / QUICK)};
    uint64_t choice = seed / QUICK;
    GenSize size = {.statements = (uint32_t)(choice % 3) * 6 + 4,
                    .depth = (uint32_t)(choice / 3 % 3) + 1};
    return (GenCode){.size = size, .quick = true};
}

// ---- runs ---------------------------------------------------------------------------------------

typedef struct Run {
    const char *what;
    uint64_t *counts;  // of opcodes
    const struct Targets *targets;
    uint64_t slice;  // seeds of one, where a run is not all of a sixteenth; 0: it is
    bool (*check)(const struct Run *run, uint64_t seed, Arena *arena, Str *problem);
} Run;

static bool check_kernel(const Run *run, uint64_t seed, Arena *arena, Str *problem) {
    return gen_check(seed, size_of(seed), run->counts, arena, problem);
}

static bool check_code(const Run *run, uint64_t seed, Arena *arena, Str *problem) {
    (void)run;
    return gen_check_code(seed, code_of(seed), arena, problem);
}

static bool check_source(const Run *run, uint64_t seed, Arena *arena, Str *problem) {
    (void)run;
    return gen_check_source(seed, arena, problem);
}

typedef struct Targets {
    const GenTarget *list[GEN_TARGETS];
    size_t count;
} Targets;

static bool check_targets(const Run *run, uint64_t seed, Arena *arena, Str *problem) {
    return gen_check_targets(seed, run->targets->list, run->targets->count, arena, problem);
}

static bool check_foreign(const Run *run, uint64_t seed, Arena *arena, Str *problem) {
    GenCode how = {.size = code_of(seed).size, .foreign = run->targets->list[0]->name};
    return gen_check_code(seed, how, arena, problem);
}

static bool check_mutants(const Run *run, uint64_t seed, Arena *arena, Str *problem) {
    (void)run;
    return gen_check_mutants(seed, arena, problem);
}

static bool check_code_mutants(const Run *run, uint64_t seed, Arena *arena, Str *problem) {
    (void)run;
    return gen_check_code_mutants(seed, arena, problem);
}

typedef struct Job {
    const Run *run;
    uint64_t seed;
} Job;

// Of the address sanitizer, where it is linked: were blocks lost? It says which.
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

static void work(void *argument, OsChildOut *out) {
    const Job *job = argument;
    Arena *arena = arena_create();
    Str problem = {0};
    bool fine = job->run->check(job->run, job->seed, arena, &problem);
    if (!fine) os_child_write(out, problem.text, problem.size);
    arena_destroy(arena);
    if (__lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check()) _Exit(1);
}

static const char *const endings[] = {
    [OS_CHILD_DONE] = "says",
    [OS_CHILD_EXITED] = "ends the process with status",
    [OS_CHILD_SIGNAL] = "is ended by signal",
    [OS_CHILD_TIMED_OUT] = "is not done after seconds:",
};

// In a child, so that a crash names its seed and does not hide the next ones.
static bool run_seed(const Run *run, uint64_t seed) {
    Arena *arena = arena_create();
    Job job = {run, seed};
    OsChildEnd end;
    OsError error;
    if (!os_child_run(arena, work, &job, SECONDS, &end, &error)) fail_msg("%s", error.text);
    bool done = end.outcome == OS_CHILD_DONE, fine = done && !end.output.size;
    if (!done)
        fprintf(stderr, "seed %llu %s %d\n", (unsigned long long)seed, endings[end.outcome],
                end.outcome == OS_CHILD_TIMED_OUT ? SECONDS : end.number);
    if (!fine) fprintf(stderr, "%.*s%.*s\n", STR_ARG(end.errors), STR_ARG(end.output));
    arena_destroy(arena);
    return fine;
}

// In this process, where a debugger sees it.
static bool run_here(const Run *run, uint64_t seed) {
    Arena *arena = arena_create();
    Str problem = {0};
    bool fine = run->check(run, seed, arena, &problem);
    if (!fine) fprintf(stderr, "%.*s\n", STR_ARG(problem));
    arena_destroy(arena);
    return fine;
}

// TILEC_TEST_SEED=4711 runs that one. A failure does not hide the next ones.
static void run_all(const Run *run, uint64_t first, uint64_t count) {
    const char *one = os_env("TILEC_TEST_SEED");
    if (one) {
        assert_true(run_here(run, strtoull(one, NULL, 10)));
        return;
    }
    Portion p = portion();
    Seeds seeds = seeds_from(first, count, run->slice);
    uint64_t ran = 0, failures = 0;
    for (uint64_t i = 0; i < seeds.count && failures < FAILURES; i++) {
        if (!portion_has(p, i)) continue;
        ran++;
        failures += os_env("TILEC_TEST_GPU") ? !run_here(run, seed_of(seeds.first + i))
                                             : !run_seed(run, seed_of(seeds.first + i));
    }
    print_message("%s: %llu ran, %llu failed\n", run->what, (unsigned long long)ran,
                  (unsigned long long)failures);
    assert_int_equal(failures, 0);
}

void gen_run_kernels(uint64_t first, uint64_t count) {
    uint64_t counts[IR_OPCODES] = {0};
    run_all(&(Run){.what = "random kernels", .counts = counts, .check = check_kernel}, first,
            count);
}

void gen_run_code(uint64_t first, uint64_t count) {
    if (!jitted_possible()) {
        print_message(
            "skipped: libtilec_llvm was not built: apt-get install llvm-22-dev liblld-22-dev\n");
        skip();
    }
    run_all(&(Run){.what = "random kernels as code", .check = check_code}, first, count);
}

static bool is_listed(const char *names, const char *name) {
    Str rest = str(names);
    while (rest.size)
        if (str_equal(str_cut(rest, ',', &rest), str(name))) return true;
    return false;
}

// Those that TILEC_TEST_DEVICE names, or all; what cannot run here is said.
static Targets targets_here(void) {
    Targets t = {.count = 0};
    const char *names = os_env("TILEC_TEST_DEVICE");
    codegen_plugin();  // once, for all children
    for (size_t i = 0; i < GEN_TARGETS; i++) {
        if (names && names[0] && !is_listed(names, gen_targets[i].name)) continue;
        const char *why = gen_target_missing(&gen_targets[i]);
        if (why)
            print_message("%s skipped: %s\n", gen_targets[i].name, why);
        else
            t.list[t.count++] = &gen_targets[i];
    }
    return t;
}

void gen_run_foreign(const char *target, uint64_t first, uint64_t count) {
    Targets t = {.count = 0};
    codegen_plugin();  // once, for all children
    for (size_t i = 0; i < GEN_TARGETS; i++)
        if (is_listed(target, gen_targets[i].name)) t.list[t.count++] = &gen_targets[i];
    assert_int_equal(t.count, 1);
    const char *why = gen_target_missing(t.list[0]);
    if (why) {
        print_message("skipped: %s\n", why);
        skip();
    }
    run_all(&(Run){.what = "random kernels as code", .targets = &t, .check = check_foreign}, first,
            count);
}

void gen_run_targets(uint64_t first, uint64_t count) {
    Targets t = targets_here();
    assert_true(t.count);
    print_message("on");
    for (size_t i = 0; i < t.count; i++) print_message(" %s", t.list[i]->name);
    print_message("\n");
    run_all(&(Run){.what = "special values on each target",
                   .targets = &t,
                   .slice = TARGET_SLICE,
                   .check = check_targets},
            first, count);
}

static void need_code(void) {
    if (!jitted_possible()) {
        print_message("skipped: libtilec_llvm was not built\n");
        skip();
    }
    codegen_plugin();  // once, for all children
}

void gen_run_mutants(uint64_t first, uint64_t count) {
    need_code();
    run_all(&(Run){.what = "mutants", .slice = MUTANT_SLICE, .check = check_mutants}, first, count);
}

void gen_run_code_mutants(uint64_t first, uint64_t count) {
    need_code();
    run_all(&(Run){.what = "mutants of code", .slice = MUTANT_SLICE, .check = check_code_mutants},
            first, count);
}

void gen_run_found(const char *name) {
    Targets t = targets_here();
    Arena *arena = arena_create();
    Str problem = {0};
    const char *path = arena_printf(arena, "tests/gen/data/%s.tir", name);
    Str text = str(tir_read(arena, path));
    if (!gen_check_text(text, slice_number() % 2, t.list, t.count, arena, &problem))
        fail_msg("%s: %.*s", path, STR_ARG(problem));
    arena_destroy(arena);
}

void gen_run_sources(uint64_t first, uint64_t count) {
    run_all(&(Run){.what = "random sources", .check = check_source}, first, count);
}

// ---- coverage -----------------------------------------------------------------------------------

// Why an opcode is not generated; NULL when it has to be.
static const char *left_out(IrOpcode code) {
    IrLevel level = ir_op_info(code)->level;
    if (level != IR_LEVEL_TILE && level != IR_LEVEL_ANY) return "below tile level";
    return NULL;
}

void gen_run_coverage(uint64_t seeds) {
    uint64_t counts[IR_OPCODES] = {0};
    for (uint64_t i = 0; i < seeds; i++) {
        Arena *arena = arena_create();
        IrModule *m = ir_module_create(arena, sources_create(arena), interner_create(arena));
        uint64_t seed = seed_of(i);
        gen_kernel(m, seed, size_of(seed));
        gen_count(m, counts);
        arena_destroy(arena);
    }
    for (int code = 0; code < IR_OPCODES; code++) {
        const char *reason = left_out((IrOpcode)code);
        const char *name = ir_op_info((IrOpcode)code)->text;
        print_message("%-14s %llu %s\n", name, (unsigned long long)counts[code],
                      reason ? reason : "");
        if (!reason && !counts[code]) fail_msg("'%s' is generated by no seed", name);
        if (reason && counts[code]) fail_msg("'%s' is generated, although: %s", name, reason);
    }
}

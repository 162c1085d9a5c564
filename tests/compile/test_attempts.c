// Attempts: which schedules are asked for after which facts, and which code counts. The code
// generator here is a fake that reports the facts it was given.
#define _POSIX_C_SOURCE 200809L
#include "compile/pipeline/attempts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
// after the above, as cmocka asks
#include <cmocka.h>

#include "tests/support/tir.h"

// The facts that the fake reports for the code of one schedule.
typedef struct Said {
    CodegenStrategy strategy;
    uint32_t count;
    bool fails;
    CodegenFacts facts;
} Said;

enum { SAID_MOST = 4 };
typedef struct Row {
    const char *what, *target;
    Said said[SAID_MOST];    // in the order of the attempts; ends with one without facts
    CodegenStrategy counts;  // the code that counts
} Row;

#define FACTS(vectors_, vector_spills_, scalar_spills_)                          \
    {                                                                            \
        .known = true, .vectors = (vectors_), .vector_spills = (vector_spills_), \
        .scalar_spills = (scalar_spills_)                                        \
    }

// 256 threads: on gfx942 four waves of 64, of which a SIMD takes one; 512 registers of a lane.
static const Row rows[] = {
    {"good code is left alone",
     "gfx942",
     {{CODEGEN_DEFAULT, 0, false, FACTS(128, 0, 0)}},
     CODEGEN_DEFAULT},
    {"a wave is nearly there",
     "gfx942",
     {{CODEGEN_DEFAULT, 0, false, FACTS(130, 0, 0)}, {CODEGEN_WAVES, 4, false, FACTS(122, 0, 0)}},
     CODEGEN_WAVES},
    {"a wave is not near enough",
     "gfx942",
     {{CODEGEN_DEFAULT, 0, false, FACTS(140, 0, 0)}},
     CODEGEN_DEFAULT},
    {"the wave costs spills",
     "gfx942",
     {{CODEGEN_DEFAULT, 0, false, FACTS(130, 0, 0)}, {CODEGEN_WAVES, 4, false, FACTS(128, 9, 0)}},
     CODEGEN_DEFAULT},
    {"the wave is not won",
     "gfx942",
     {{CODEGEN_DEFAULT, 0, false, FACTS(130, 0, 0)}, {CODEGEN_WAVES, 4, false, FACTS(131, 0, 0)}},
     CODEGEN_DEFAULT},
    {"a wave is won, scalars are kept in lanes",
     "gfx942",
     {{CODEGEN_DEFAULT, 0, false, FACTS(130, 0, 2)},
      {CODEGEN_WAVES, 4, false, FACTS(122, 0, 2)},
      {CODEGEN_REGISTERS, 0, false, FACTS(122, 0, 0)}},
     CODEGEN_REGISTERS},
    {"few registers spill",
     "gfx1100",
     {{CODEGEN_DEFAULT, 0, false, FACTS(256, 6, 0)},
      {CODEGEN_REGISTERS, 0, false, FACTS(206, 0, 0)}},
     CODEGEN_REGISTERS},
    {"the second order helps",
     "gfx1100",
     {{CODEGEN_DEFAULT, 0, false, FACTS(256, 6, 0)},
      {CODEGEN_REGISTERS, 0, false, FACTS(256, 8, 0)},
      {CODEGEN_CLAUSES, 0, false, FACTS(256, 2, 0)}},
     CODEGEN_CLAUSES},
    {"nothing helps",
     "gfx1100",
     {{CODEGEN_DEFAULT, 0, false, FACTS(256, 6, 0)},
      {CODEGEN_REGISTERS, 0, false, FACTS(256, 6, 0)},
      {CODEGEN_CLAUSES, 0, false, FACTS(256, 7, 0)}},
     CODEGEN_DEFAULT},
    {"fewer waves do not pay for scalars",
     "gfx1100",
     {{CODEGEN_DEFAULT, 0, false, FACTS(96, 0, 3)},
      {CODEGEN_REGISTERS, 0, false, FACTS(256, 0, 0)},
      {CODEGEN_CLAUSES, 0, false, FACTS(96, 0, 1)}},
     CODEGEN_CLAUSES},
    {"many registers spill",
     "gfx1100",
     {{CODEGEN_DEFAULT, 0, false, FACTS(256, 33, 0)}},
     CODEGEN_DEFAULT},
    {"an attempt fails",
     "gfx1100",
     {{CODEGEN_DEFAULT, 0, false, FACTS(256, 6, 0)},
      {CODEGEN_REGISTERS, 0, true, FACTS(1, 0, 0)},
      {CODEGEN_CLAUSES, 0, false, FACTS(256, 1, 0)}},
     CODEGEN_CLAUSES},
    {"all that follow fail",
     "gfx1100",
     {{CODEGEN_DEFAULT, 0, false, FACTS(256, 6, 0)},
      {CODEGEN_REGISTERS, 0, true, FACTS(1, 0, 0)},
      {CODEGEN_CLAUSES, 0, true, FACTS(1, 0, 0)}},
     CODEGEN_DEFAULT},
    {"nothing is known",
     "gfx1100",
     {{CODEGEN_DEFAULT, 0, false, {.vector_spills = 6}}},
     CODEGEN_DEFAULT},
    {"long code",
     "gfx1100",
     {{CODEGEN_DEFAULT,
       0,
       false,
       {.known = true, .is_long = true, .vectors = 256, .vector_spills = 6}}},
     CODEGEN_DEFAULT},
    {"no scheduler of ours",
     "sm_80",
     {{CODEGEN_BLOCKS, 1, false, FACTS(255, 6, 0)}},
     CODEGEN_BLOCKS},
};
enum { ROWS = sizeof rows / sizeof *rows };

// ---- the code generator -------------------------------------------------------------------------

typedef struct World {
    Tir *t;
    const Row *row;
    bool first_fails, last_first;  // last_first: later attempts end before earlier ones
    _Atomic uint32_t calls;
} World;

static uint32_t said_count(const Row *row) {
    uint32_t count = 1;
    while (count < SAID_MOST && row->said[count].strategy) count++;
    return count;
}

static void wait_in_turn(const World *w, uint32_t place) {
    enum { TURN = 2000000 };  // ns
    uint32_t turns = w->last_first ? SAID_MOST - place : place;
    nanosleep(&(struct timespec){.tv_nsec = TURN * (long)turns}, NULL);
}

static bool told_compile(Arena *arena, const IrFunc *func, const CodegenOptions *o, Str *output,
                         Diags *diags) {
    World *w = o->user;
    atomic_fetch_add(&w->calls, 1);
    for (uint32_t i = 0; i < said_count(w->row); i++) {
        const Said *s = &w->row->said[i];
        if (s->strategy != o->schedule.strategy || s->count != o->schedule.count) continue;
        wait_in_turn(w, i);
        *o->facts = s->facts;
        *o->times = (CodegenTimes){1, 10, 100, 1000};
        if (s->fails || (!i && w->first_fails))
            diag_error(diags, func->span, DIAG_LIMIT, "it was asked to fail");
        *output = str(arena_printf(arena, "code %d", (int)s->strategy));
        return !s->fails && !(!i && w->first_fails);
    }
    // An attempt that was begun for nothing.
    *o->facts = (CodegenFacts){.known = true, .vectors = 1};
    *output = STR("code that must not count");
    return true;
}

static const CodegenApi told = {.version = CODEGEN_VERSION, .compile = told_compile};

static bool compile(World *w, unsigned idle, Str *code, CodegenTimes *times, CodegenFacts *facts) {
    CodegenOptions o = {.output = CODEGEN_SHARED,
                        .schedule = {w->row->said[0].strategy, w->row->said[0].count},
                        .times = times,
                        .facts = facts,
                        .user = w};
    assert_true(gpu_target_parse(str(w->row->target), &o.target.gpu));
    AttemptJob job = {
        .api = &told, .func = w->t->module->funcs.data[0], .options = &o, .idle = idle};
    w->calls = 0;
    return attempts_compile(w->t->arena, &job, code, w->t->diags);
}

static World world_of(const Row *row) {
    bool waves_of_64 = strcmp(row->target, "gfx942") == 0;
    World w = {.row = row};
    w.t = tir_load("kernel @k(%%x: *i8) {level = thread, warps = %d} { body {return} }",
                   waves_of_64 ? 4 : 8);
    w.t->module->funcs.data[0]->lanes = waves_of_64 ? 64 : 32;
    return w;
}

// ---- tests --------------------------------------------------------------------------------------

static void one_by_one(void **state) {
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        World w = world_of(&rows[i]);
        CodegenTimes times = {0};
        CodegenFacts facts = {0};
        Str code;
        assert_true(compile(&w, 0, &code, &times, &facts));
        uint32_t count = said_count(&rows[i]), won = 0;
        while (rows[i].said[won].strategy != rows[i].counts) won++;
        const char *wanted = arena_printf(w.t->arena, "code %d", (int)rows[i].counts);
        if (!str_equal(code, str(wanted)) || w.calls != count)
            fail_msg("%s: %.*s after %u attempts, expected %s after %u", rows[i].what,
                     STR_ARG(code), w.calls, wanted, count);
        assert_int_equal(times.link, 1000 * count);
        assert_int_equal(facts.vectors, rows[i].said[won].facts.vectors);
        assert_int_equal(diags_count(w.t->diags), 0);
        tir_free(w.t);
    }
}

// Whichever ends first: the same code, the same facts.
static void side_by_side(void **state) {
    (void)state;
    for (int i = 0; i < ROWS; i++)
        for (unsigned idle = 1; idle < 4; idle++)
            for (int order = 0; order < 2; order++) {
                World w = world_of(&rows[i]);
                CodegenTimes times[2];
                CodegenFacts facts[2];
                Str code[2];
                w.last_first = order;
                assert_true(compile(&w, 0, &code[0], &times[0], &facts[0]));
                assert_true(compile(&w, idle, &code[1], &times[1], &facts[1]));
                if (!str_equal(code[0], code[1]))
                    fail_msg("%s: %.*s beside %u", rows[i].what, STR_ARG(code[1]), idle);
                assert_int_equal(facts[0].vectors, facts[1].vectors);
                assert_int_equal(facts[0].vector_spills, facts[1].vector_spills);
                assert_int_equal(times[0].build, times[1].build);
                assert_int_equal(diags_count(w.t->diags), 0);
                tir_free(w.t);
            }
}

static void the_first_fails(void **state) {
    (void)state;
    for (unsigned idle = 0; idle < 3; idle++) {
        World w = world_of(&rows[ROWS - 1]);
        Str code;
        w.first_fails = true;
        assert_false(compile(&w, idle, &code, NULL, NULL));
        assert_int_equal(diags_errors(w.t->diags), 1);
        tir_free(w.t);
    }
}

// A function that keeps `registers` of a lane live, in at most three tiles.
static Tir *live_at_once(const char *target, const unsigned registers[3]) {
    bool waves_of_64 = strcmp(target, "gfx942") == 0;
    Tir *t = tir_load(
        "kernel @k(%%x: *f32, %%y: *f32) {level = thread, warps = %d} { body {\n"
        "%%0 = thread.load %%x, _, _ {align = 4} : f32[%u]\n"
        "%%1 = thread.load %%x, _, _ {align = 4} : f32[%u]\n"
        "%%2 = thread.load %%x, _, _ {align = 4} : f32[%u]\n"
        "thread.store %%y, %%0, _ {align = 4}\n"
        "thread.store %%y, %%1, _ {align = 4}\n"
        "thread.store %%y, %%2, _ {align = 4}\nreturn } }",
        waves_of_64 ? 4 : 8, registers[0], registers[1], registers[2]);
    t->module->funcs.data[0]->lanes = waves_of_64 ? 64 : 32;
    return t;
}

// An attempt is begun at once if it is likely to be wanted: for tiles that take more registers than
// there are, and for one more wave where few run.
static void begins_what_is_likely(void **state) {
    static const struct {
        const char *target;
        unsigned registers[3];
        uint32_t calls;
    } cases[] = {{"gfx1100", {128, 64, 64}, 2},  // spills
                 {"gfx1100", {64, 64, 64}, 1},
                 {"gfx1100", {64, 32, 4}, 1},  // 12 waves; 94 registers would allow 16
                 {"gfx942", {128, 2, 2}, 2},   // 3 waves; 124 registers would allow 4
                 {"gfx942", {64, 2, 2}, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Row row = {.target = cases[i].target,
                   .said = {{CODEGEN_DEFAULT, 0, false, FACTS(64, 0, 0)}},
                   .counts = CODEGEN_DEFAULT};
        World w = {.row = &row, .t = live_at_once(cases[i].target, cases[i].registers)};
        Str code;
        assert_true(compile(&w, 1, &code, NULL, NULL));
        if (w.calls != cases[i].calls)
            fail_msg("case %zu: %u attempts, expected %u", i, w.calls, cases[i].calls);
        assert_true(str_equal(code, STR("code 0")));
        assert_true(compile(&w, 0, &code, NULL, NULL));
        assert_int_equal(w.calls, 1);
        tir_free(w.t);
    }
}

// If shared memory leaves room for few blocks, registers are not spared for more of them.
static void registers_are_not_spared(void **state) {
    (void)state;
    static const struct {
        uint32_t warps, bytes, told;
    } asked[] = {{4, 1, 0},     {4, 8192, 0},  {4, 49152, 1},  {4, 32000, 2},
                 {8, 65536, 1}, {8, 16384, 0}, {32, 65536, 0}, {8, 50000, 1}};
    AttemptProgram p = {.lanes = 32};
    assert_true(gpu_target_parse(STR("sm_80"), &p.target.gpu));
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        p.threads = 32 * asked[i].warps;
        CodegenSchedule s = attempts_first(&p, asked[i].bytes);
        if (s.count != asked[i].told || (s.strategy == CODEGEN_BLOCKS) != (asked[i].told > 0))
            fail_msg("%u warps, %u bytes: %u", asked[i].warps, asked[i].bytes, s.count);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_by_one),
        cmocka_unit_test(side_by_side),
        cmocka_unit_test(the_first_fails),
        cmocka_unit_test(begins_what_is_likely),
        cmocka_unit_test(registers_are_not_spared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Copies by tensor maps in loops of products of four warps: the interpreter's results stay the same
// at the levels gpu and thread, wherever the boxes are, and for loops that share memory.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "passes/pass.h"
#include "tests/support/dice.h"
#include "tests/support/tir.h"

// Tiles of 64 by 64 in steps of 16; the views end within a box.
enum { SIDE = 64, STEP = 16, ROWS = 60, COLUMNS = 56, BATCHES = 2, DEPTH_MAX = 9 * STEP };

// %0 is 0, %1 the depth, %5 is 8 * %d. In the loop of `one` %10 is k, and %12 is k + 8 * %d.
#define HEAD                                                                                    \
    "kernel @k(%%a: view f16[B, R, K], %%b: view f16[B, K, S], %%c: view f32[M, N], %%d: i64) " \
    "{warps = %d, stages = %d} {\n  body {\n    %%0 = const {value = 0} : i64\n"                \
    "    %%1 = extent {extent = K} : i64\n    %%2 = const {value = 16} : i64\n"                 \
    "    %%3 = const {value = 0.0} : f32[64,64]\n    %%4 = const {value = 8} : i64\n"           \
    "    %%5 = mul %%d, %%4 : i64\n    %%6 = const {value = 0.5} : f32[64,64]\n"                \
    "    %%7 = const {value = 1} : i64\n    %%8 = const {value = 2} : i64\n"
#define TAIL                                                                                       \
    "    view_store %%c, %%9, _, %%0, %%0 {select = [64, 64], inside = [0, 0]}\n    return\n  }\n" \
    "}\n"

// A product whose boxes begin where the indices say.
static const char one[] = HEAD
    "    %%9 = for %%0, %%1, %%2, %%3 : f32[64,64] (%%10: i64, %%11: f32[64,64]) {\n"
    "      %%12 = add %%10, %%5 : i64\n"
    "      %%13 = view_load %%a, _, %s {select = [0, 64, 16]} : f16[64,16]\n"
    "      %%14 = view_load %%b, _, %s {select = [0, 16, 64]} : f16[16,64]\n"
    "      %%15 = dot %%13, %%14, %%11 {precision = ieee} : f32[64,64]\n"
    "      yield %%15\n    }\n" TAIL;

// Two rounds of two loops, the second of which changes its sum.
static const char rounds[] = HEAD
    "    %%9 = for %%0, %%8, %%7, %%3 : f32[64,64] (%%10: i64, %%11: f32[64,64]) {\n"
    "      %%12 = for %%0, %%1, %%2, %%11 : f32[64,64] (%%13: i64, %%14: f32[64,64]) {\n"
    "        %%15 = view_load %%a, _, %%0, %%0, %%13 {select = [0, 64, 16]} : f16[64,16]\n"
    "        %%16 = view_load %%b, _, %%0, %%13, %%0 {select = [0, 16, 64]} : f16[16,64]\n"
    "        %%17 = dot %%15, %%16, %%14 {precision = ieee} : f32[64,64]\n"
    "        yield %%17\n      }\n"
    "      %%18 = for %%0, %%1, %%2, %%12 : f32[64,64] (%%19: i64, %%20: f32[64,64]) {\n"
    "        %%21 = view_load %%a, _, %%10, %%0, %%19 {select = [0, 64, 16]} : f16[64,16]\n"
    "        %%22 = view_load %%b, _, %%7, %%19, %%0 {select = [0, 16, 64]} : f16[16,64]\n"
    "        %%23 = dot %%21, %%22, %%20 {precision = ieee} : f32[64,64]\n"
    "        %%24 = mul %%23, %%6 : f32[64,64]\n"
    "        yield %%24\n      }\n"
    "      yield %%18\n    }\n" TAIL;

typedef struct Arrays {
    uint16_t a[BATCHES * ROWS * DEPTH_MAX], b[BATCHES * DEPTH_MAX * COLUMNS];
    float c[SIDE * SIDE];
} Arrays;

static void fill(uint16_t *x, size_t count, Dice *dice) {
    for (size_t i = 0; i < count; i++)
        x[i] = (uint16_t)dtype_from_double(DTYPE_F16, (double)dice_below(dice, 3) - 1, true);
}

static void run(Tir *t, Arrays *x, int64_t depth, int64_t start) {
    IrArg args[] = {tir_view(x->a, 3, (int64_t[]){BATCHES, ROWS, depth}),
                    tir_view(x->b, 3, (int64_t[]){BATCHES, depth, COLUMNS}),
                    tir_view(x->c, 2, (int64_t[]){SIDE, SIDE}), tir_scalar((uint64_t)start)};
    memset(x->c, 0, sizeof x->c);
    t->launch.sanitize = true;
    if (tir_run(t, args, 4, 1) != IR_RUN_DONE || tir_reported(t, "error"))
        fail_msg("depth %lld, start %lld: %s", (long long)depth, (long long)start, tir_text(t));
}

typedef struct Count {
    uint32_t loads, copies;
} Count;

static void count_ops(const IrBlock *block, Count *c) {
    for (const IrOp *op = block->first; op; op = op->next) {
        c->loads += op->code == IR_THREAD_TMA_LOAD || op->code == IR_GPU_TMA_LOAD;
        c->copies += op->code == IR_THREAD_COPY || op->code == IR_GPU_COPY;
        for (uint32_t r = 0; r < op->region_count; r++) count_ops(op->regions[r], c);
    }
}

// All that the loops load is copied by maps: the first steps before a loop, the others in it, where
// each slot has a copy of the step in the end.
static void lower(Tir *t, const char *passes, uint32_t loops) {
    GpuTarget gpu;
    Count c = {0};
    assert_true(gpu_target_parse(STR("sm_90a"), &gpu));
    Machine m = machine_of_gpu(gpu);
    size_t count;
    const PassStep *steps = passes_parse(t->arena, str(passes), &count, t->diags);
    PassOptions options = {.verify = true,
                           .machine = &m,
                           .facts = FACT_WIDE | FACT_DISJOINT | FACT_NARROW | FACT_MAPPED,
                           .mapped = 3};
    if (!passes_run(t->module, steps, count, &options, t->diags)) fail_msg("%s", tir_text(t));
    IrFunc *f = t->module->funcs.data[0];
    count_ops(ir_body(f), &c);
    assert_int_equal(c.copies, 0);
    uint32_t slots = (uint32_t)f->stages;
    bool unrolled = f->level == IR_LEVEL_THREAD;
    assert_int_equal(c.loads, loops * 2 * (slots - 1 + (unrolled ? slots : 1)));
    assert_int_equal(f->maps.count, 2);
}

// A kernel as it is, and after the passes.
typedef struct Pair {
    Tir *plain, *lowered;
} Pair;

static void agree(const Pair *p, Arrays *x, int64_t depth, int64_t start, const char *what) {
    run(p->plain, &x[0], depth, start);
    run(p->lowered, &x[1], depth, start);
    if (memcmp(x[0].c, x[1].c, sizeof x[0].c) != 0)
        fail_msg("%s, depth %lld, start %lld: other sums", what, (long long)depth,
                 (long long)start);
}

static void agree_from(const Pair *p, const int64_t *starts, size_t count, const char *what) {
    static const int64_t depths[] = {8, STEP, 40, DEPTH_MAX};
    Arrays *x = calloc(2, sizeof *x);
    Dice dice = dice_roll(1);
    fill(x[0].a, sizeof x->a / sizeof *x->a, &dice);
    fill(x[0].b, sizeof x->b / sizeof *x->b, &dice);
    x[1] = x[0];
    for (size_t d = 0; d < sizeof depths / sizeof *depths; d++)
        for (size_t s = 0; s < count; s++) agree(p, x, depths[d], starts[s], what);
    free(x);
}

static const char *const levels[] = {"tile,gpu_layout,gpu_pipeline,gpu_stage_factors", "tile,gpu"};

// A start that does not fit 32 bits is outside, as it is for every other access.
static void boxes_begin_anywhere(void **state) {
    (void)state;
    static const int64_t starts[] = {0,
                                     1,
                                     -1,
                                     7,
                                     -63,
                                     64,
                                     INT32_MAX,
                                     INT64_C(1) << 31,
                                     INT64_C(1) << 32,
                                     (INT64_C(1) << 32) - 1,
                                     (INT64_C(1) << 29) + 1,
                                     -(INT64_C(1) << 31) - 1,
                                     -(INT64_C(1) << 32),
                                     INT64_MAX,
                                     INT64_MAX - 63,
                                     INT64_MIN};
    static const char *const indices[][2] = {
        {"%0, %d, %10", "%0, %10, %0"},  // rows
        {"%0, %0, %10", "%0, %10, %5"},  // columns
        {"%0, %5, %12", "%0, %12, %5"},  // in steps
        {"%d, %0, %10", "%7, %10, %0"},  // batches
    };
    for (size_t i = 0; i < sizeof indices / sizeof *indices; i++)
        for (int level = 0; level < 2; level++) {
            Pair p = {tir_load(one, 4, 3, indices[i][0], indices[i][1]),
                      tir_load(one, 4, 3, indices[i][0], indices[i][1])};
            lower(p.lowered, levels[level], 1);
            agree_from(&p, starts, sizeof starts / sizeof *starts, indices[i][0]);
            tir_free(p.plain);
            tir_free(p.lowered);
        }
}

// Each loop has barriers of its own, which end before the next one's begin.
static void loops_follow_one_another(void **state) {
    (void)state;
    static const int64_t none[] = {0};
    for (int stages = 2; stages <= 5; stages++)
        for (int warps = 4; warps <= 8; warps *= 2)
            for (int level = 0; level < 2; level++) {
                Pair p = {tir_load(rounds, warps, stages), tir_load(rounds, warps, stages)};
                lower(p.lowered, levels[level], 2);
                agree_from(&p, none, 1, "rounds");
                tir_free(p.plain);
                tir_free(p.lowered);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_begin_anywhere),
        cmocka_unit_test(loops_follow_one_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

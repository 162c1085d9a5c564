// Products of four warps in loops: the interpreter's results stay the same at the levels gpu and
// thread, for any number of steps and stages; and a step's product runs into the next step exactly
// where nothing but that step's product needs its sum.
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
#include "tests/support/slice.h"
#include "tests/support/tir.h"

enum { SIDE = 64, STEP = 16, DEPTH_MAX = 9 * STEP };

typedef struct Arrays {
    uint16_t a[SIDE * DEPTH_MAX], b[DEPTH_MAX * SIDE];
    float c[SIDE * SIDE];
} Arrays;

// The views that maps may copy: %a and %b. A warp that only copies begins them, or the first one.
enum { BY_THREADS = 0, BY_MAPS = 3, BY_PRODUCER = 4 };

static Tir *load(const char *name, int warps, int stages, uint64_t mapped) {
    Tir *t = tir_load_file("tests/passes/data/wgmma.tir");
    IrFunc *f = tir_kernel(t, name);
    f->warps = warps;
    f->stages = stages;
    f->producers = mapped & BY_PRODUCER ? 1 : -1;
    return t;
}

static void lower(Tir *t, const char *passes, uint64_t mapped) {
    GpuTarget gpu;
    assert_true(gpu_target_parse(STR("sm_90a"), &gpu));
    Machine m = machine_of_gpu(gpu);
    size_t count;
    const PassStep *steps = passes_parse(t->arena, str(passes), &count, t->diags);
    PassOptions options = {.verify = true,
                           .machine = &m,
                           .facts = FACT_WIDE | FACT_DISJOINT,
                           .mapped = mapped & BY_MAPS};
    if (!passes_run(t->module, steps, count, &options, t->diags)) fail_msg("%s", tir_text(t));
}

static void run(Tir *t, const char *name, Arrays *x, int64_t depth) {
    bool turned = strcmp(name, "turned") == 0;
    int64_t b[2] = {turned ? SIDE : depth, turned ? depth : SIDE};
    IrArg args[] = {tir_view(x->a, 2, (int64_t[]){SIDE, depth}), tir_view(x->b, 2, b),
                    tir_view(x->c, 2, (int64_t[]){SIDE, SIDE})};
    memset(x->c, 0, sizeof x->c);
    IrInterp *interp = ir_interp_create(t->arena, tir_kernel(t, name));
    IrLaunch launch = {.args = args, .arg_count = 3, .grid = {1, 1, 1}, .sanitize = true};
    if (ir_interp_run(interp, &launch, t->diags) != IR_RUN_DONE || tir_reported(t, "error"))
        fail_msg("%s, depth %lld: %s", name, (long long)depth, tir_text(t));
    ir_interp_destroy(interp);
}

static void agree(const char *name, int warps, int stages, uint64_t mapped) {
    static const int64_t depths[] = {0,        STEP,     2 * STEP, 3 * STEP,
                                     4 * STEP, 5 * STEP, 8 * STEP, DEPTH_MAX};
    static const char *const levels[] = {
        "tile,gpu_layout,gpu_pipeline,gpu_stage_factors",
        "tile,gpu_layout,gpu_pipeline,gpu_stage_factors,gpu_unroll_rings", "tile,gpu"};
    enum { LEVELS = sizeof levels / sizeof *levels };
    Arrays *x = calloc(2, sizeof *x);
    Dice dice = dice_roll((uint64_t)stages);
    tir_small_halves(&dice, x[0].a, SIDE * DEPTH_MAX);
    tir_small_halves(&dice, x[0].b, SIDE * DEPTH_MAX);
    x[1] = x[0];
    for (size_t d = 0; d < sizeof depths / sizeof *depths; d++) {
        Tir *plain = load(name, warps, stages, mapped);
        run(plain, name, &x[0], depths[d]);
        tir_free(plain);
        for (int level = 0; level < LEVELS; level++) {
            Tir *t = load(name, warps, stages, mapped);
            lower(t, levels[level], mapped);
            run(t, name, &x[1], depths[d]);
            tir_free(t);
            if (memcmp(x[0].c, x[1].c, sizeof x[0].c) != 0)
                fail_msg("%s, %d warps, %d stages, depth %lld, %s: other sums", name, warps, stages,
                         (long long)depths[d], levels[level]);
        }
    }
    free(x);
}

// ---- what is in flight --------------------------------------------------------------------------

typedef struct Count {
    uint32_t products, from_registers, waits, copies, loads, stores, fences, arrivals;
    int64_t ahead;     // the most groups that a wait lets run
    bool copies_late;  // copies begin after the first product
    bool free_late;  // by maps: a barrier is between the product and the copies, or, if a warp only
                     // copies, the arrival of each warp
} Count;

static void count_ops(const IrBlock *block, Count *c) {
    for (const IrOp *op = block->first; op; op = op->next) {
        c->products += op->code == IR_THREAD_WGMMA;
        c->from_registers += op->code == IR_THREAD_WGMMA && ir_operand(op, 0)->type->kind != IR_PTR;
        bool copies = op->code == IR_THREAD_COPY || op->code == IR_THREAD_TMA_LOAD;
        c->copies_late |= copies && c->products > 0;
        bool frees = op->code == IR_THREAD_BARRIER || op->code == IR_THREAD_MBARRIER_ARRIVE;
        c->free_late |= frees && c->products > 0 && !c->loads;
        c->arrivals += op->code == IR_THREAD_MBARRIER_ARRIVE;
        c->loads += op->code == IR_THREAD_TMA_LOAD;
        c->fences += op->code == IR_THREAD_BARRIER && ir_attr_int(op, IR_ATTR_ASYNC);
        c->copies += op->code == IR_THREAD_COPY;
        c->stores += op->code == IR_THREAD_STORE;
        c->waits += op->code == IR_THREAD_WGMMA_WAIT;
        if (op->code == IR_THREAD_WGMMA_WAIT && ir_attr_int(op, IR_ATTR_COUNT) > c->ahead)
            c->ahead = ir_attr_int(op, IR_ATTR_COUNT);
        for (uint32_t r = 0; r < op->region_count; r++) count_ops(op->regions[r], c);
    }
}

static Count loop_of(const char *name, int stages, uint64_t mapped) {
    Tir *t = load(name, 4, stages, mapped);
    Count c = {0};
    lower(t, "tile,gpu", mapped);
    const IrOp *op = ir_body(tir_kernel(t, name))->first;
    for (; op; op = op->next)
        if (op->code == IR_FOR) count_ops(op->regions[0], &c);
    tir_free(t);
    return c;
}

// With four stages and more, or three if maps copy, and only for sums that nothing else uses.
static void a_product_runs_into_the_next_step(void **state) {
    (void)state;
    static const char *const names[] = {"product", "turned", "halved", "computed", "chained"};
    for (int i = 0; i < 5; i++)
        for (int stages = 2; stages <= 5; stages++) {
            Count c = loop_of(names[i], stages, BY_THREADS);
            assert_int_equal(c.ahead, i < 2 && stages >= 4);
            assert_int_equal(c.waits, i == 4 ? 2 : 1);
            assert_int_equal(loop_of(names[i], stages, BY_MAPS).ahead, i < 2 && stages >= 3);
        }
}

static void copies_begin_behind_the_product(void **state) {
    (void)state;
    static const char *const names[] = {"product", "turned", "halved", "chained"};
    for (int i = 0; i < 4; i++) {
        Count c = loop_of(names[i], 3, BY_THREADS);
        assert_true(c.copies > 0 && c.copies_late);
        assert_int_equal(c.stores, 0);
        assert_int_equal(c.loads, 0);
        c = loop_of(names[i], 3, BY_MAPS);
        assert_true(c.loads > 0 && c.copies_late);
        assert_int_equal(c.copies, 0);
    }
}

static void computed_factors(void **state) {
    (void)state;
    Count c = loop_of("computed", 3, BY_THREADS);
    assert_int_equal(c.products, 1);
    assert_int_equal(c.from_registers, 1);
    assert_true(c.stores > 0);
    c = loop_of("chained", 3, BY_THREADS);
    assert_int_equal(c.products, 5);  // 4 steps of 64, and one of 16
    assert_int_equal(c.from_registers, 1);
}

// A slot is free for the next copies once a barrier follows the product that read it, or once all
// warps have arrived. This needs no fence: only maps and products reach the slots.
static void slots_by_maps_need_no_fence(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++)
        for (int stages = 3; stages <= 5; stages++) {
            Count c = loop_of(i ? "turned" : "product", stages, BY_MAPS);
            assert_int_equal(c.loads, 2 * stages);
            assert_true(c.free_late);
            assert_int_equal(c.fences + c.arrivals, 0);
            c = loop_of(i ? "turned" : "product", stages, BY_MAPS | BY_PRODUCER);
            assert_true(c.free_late);
            assert_int_equal(c.arrivals, stages + 1);
            assert_int_equal(c.fences, 0);
        }
    // Threads read what is copied, so each would have to arrive.
    assert_int_equal(loop_of("computed", 3, BY_MAPS | BY_PRODUCER).arrivals, 0);
    assert_true(loop_of("product", 3, BY_THREADS).fences > 0);
    assert_true(loop_of("computed", 3, BY_MAPS).fences > 0);
}

// ---- results ------------------------------------------------------------------------------------

// A third of the combinations in each slice.
static void results_stay(void **state) {
    (void)state;
    static const char *const names[] = {"product", "turned", "halved", "computed", "chained"};
    for (int i = 0; i < 5; i++)
        for (int stages = 0; stages <= 5; stages++)
            for (int warps = 4; warps <= 8; warps *= 2) {
                if (!slice_has((uint64_t)(i + stages + warps / 8), 3)) continue;
                agree(names[i], warps, stages, BY_THREADS);
                if (warps == 4 && stages > 1) agree(names[i], warps, stages, BY_MAPS);
                if (warps == 8 && stages > 1) agree(names[i], warps, stages, BY_MAPS | BY_PRODUCER);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_stay),
        cmocka_unit_test(a_product_runs_into_the_next_step),
        cmocka_unit_test(copies_begin_behind_the_product),
        cmocka_unit_test(computed_factors),
        cmocka_unit_test(slots_by_maps_need_no_fence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

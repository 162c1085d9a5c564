// Programs that compute several tiles: the interpreter's results stay the same at every level, for
// any number of programs, steps and stages; and the copies for a tile begin before the stores of
// the tile before it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/facts.h"
#include "passes/gpu/gpu.h"
#include "passes/pass.h"
#include "tests/support/dice.h"
#include "tests/support/slice.h"
#include "tests/support/tir.h"

enum { TILE = 64, STEP = 16, ROWS = 3, COLUMNS = 2, DEPTH_MAX = 5 * STEP };

typedef struct Arrays {
    uint16_t a[ROWS * TILE * DEPTH_MAX], b[DEPTH_MAX * COLUMNS * TILE];
    float c[ROWS * TILE * COLUMNS * TILE];
} Arrays;

static Tir *load(const char *name, int stages, int producers) {
    Tir *t = tir_load_file("tests/passes/data/persistent.tir");
    IrFunc *f = tir_kernel(t, name);
    f->warps = 4;
    f->stages = stages;
    f->producers = producers;
    return t;
}

static void lower(Tir *t, const char *passes, unsigned facts) {
    GpuTarget gpu;
    assert_true(gpu_target_parse(STR("sm_90a"), &gpu));
    Machine m = machine_of_gpu(gpu);
    size_t count;
    const PassStep *steps = passes_parse(t->arena, str(passes), &count, t->diags);
    facts |= FACT_NARROW | FACT_WIDE | FACT_DISJOINT | FACT_MAPPED;
    PassOptions options = {.verify = true, .machine = &m, .facts = facts, .mapped = 3};
    if (!passes_run(t->module, steps, count, &options, t->diags)) fail_msg("%s", tir_text(t));
}

static void run(Tir *t, const char *name, Arrays *x, int64_t depth, const int64_t *grid) {
    int64_t rows = ROWS * TILE, columns = strcmp(name, "line") ? COLUMNS * TILE : TILE;
    IrArg args[] = {tir_view(x->a, 2, (int64_t[]){rows, depth}),
                    tir_view(x->b, 2, (int64_t[]){depth, columns}),
                    tir_view(x->c, 2, (int64_t[]){rows, columns})};
    memset(x->c, 0, sizeof x->c);
    IrInterp *interp = ir_interp_create(t->arena, tir_kernel(t, name));
    IrLaunch launch = {.args = args, .arg_count = 3, .sanitize = true};
    memcpy(launch.grid, grid, sizeof launch.grid);
    if (ir_interp_run(interp, &launch, t->diags) != IR_RUN_DONE || tir_reported(t, "error"))
        fail_msg("%s, depth %lld: %s", name, (long long)depth, tir_text(t));
    ir_interp_destroy(interp);
}

typedef struct Case {
    const char *name;
    int64_t grid[3];
} Case;
static const Case cases[] = {
    {"plane", {ROWS, COLUMNS, 1}}, {"line", {ROWS, 1, 1}}, {"space", {1, COLUMNS, ROWS}}};
enum { CASES = sizeof cases / sizeof *cases };

static void agree(const Case *c, int stages, int producers, int64_t depth, Arrays *x) {
    static const char *const levels[] = {
        "tile,gpu_program_order,gpu_persistent",
        "tile,gpu_program_order,gpu_persistent,gpu_layout,gpu_pipeline",
        "tile,gpu_program_order,gpu_persistent,gpu_layout,gpu_pipeline,gpu_unroll_rings",
        "tile,gpu"};
    enum { LEVELS = sizeof levels / sizeof *levels };
    Tir *plain = load(c->name, stages, 0);
    run(plain, c->name, &x[0], depth, c->grid);
    tir_free(plain);
    for (int level = 0; level < LEVELS; level++)
        for (int64_t programs = 1; programs <= ROWS * COLUMNS + 1; programs += 3) {
            Tir *t = load(c->name, stages, producers);
            lower(t, levels[level], FACT_PERSISTENT);
            run(t, c->name, &x[1], depth, (const int64_t[]){programs, 1, 1});
            tir_free(t);
            if (memcmp(x[0].c, x[1].c, sizeof x[0].c) != 0)
                fail_msg("%s, %d stages, %d producers, depth %lld, %lld programs, %s: other sums",
                         c->name, stages, producers, (long long)depth, (long long)programs,
                         levels[level]);
        }
}

static void results_stay(void **state) {
    (void)state;
    static const int64_t depths[] = {0, STEP, 2 * STEP, 4 * STEP, DEPTH_MAX};
    Arrays *x = calloc(2, sizeof *x);
    Dice dice = dice_roll(7);
    tir_small_halves(&dice, x[0].a, sizeof x->a / sizeof *x->a);
    tir_small_halves(&dice, x[0].b, sizeof x->b / sizeof *x->b);
    x[1] = x[0];
    for (int i = 0; i < CASES; i++)
        for (int stages = 2; stages <= 4; stages++)
            for (size_t d = 0; d < sizeof depths / sizeof *depths; d++)
                agree(&cases[i], stages, slice_has((uint64_t)i + d, 2) ? 1 : -1, depths[d], x);
    free(x);
}

// ---- order --------------------------------------------------------------------------------------

typedef struct Order {
    uint32_t inits, copies, products, stores, ends;
    uint32_t copies_before_stores;  // after the last product
    uint32_t arrivals, waits;       // of warps that have read a slot, of the producer for these
} Order;

static void count_ops(const IrBlock *block, Order *o) {
    for (const IrOp *op = block->first; op; op = op->next) {
        o->inits += op->code == IR_THREAD_MBARRIER_INIT;
        o->copies += op->code == IR_THREAD_TMA_LOAD;
        o->products += op->code == IR_THREAD_WGMMA;
        o->ends += op->code == IR_THREAD_MBARRIER_END;
        o->arrivals += op->code == IR_THREAD_MBARRIER_ARRIVE;
        o->waits += op->code == IR_THREAD_MBARRIER_WAIT && ir_attr_int(op, IR_ATTR_PRODUCER);
        if (op->code == IR_THREAD_WGMMA) o->copies_before_stores = 0;
        if (op->code == IR_THREAD_TMA_LOAD && !o->stores) o->copies_before_stores++;
        bool elsewhere;
        bool global = op->code == IR_THREAD_STORE;
        o->stores += global && !gpu_piece_of(ir_operand(op, 0), &elsewhere);
        for (uint32_t r = 0; r < op->region_count; r++) count_ops(op->regions[r], o);
    }
}

static const IrOp *loop_of(const IrBlock *block) {
    const IrOp *op = block->first;
    while (op && op->code != IR_FOR) op = op->next;
    return op;
}

static Order order_of(unsigned facts, int producers, bool in_tiles) {
    Tir *t = load("plane", 3, producers);
    Order o = {0};
    lower(t, "tile,gpu", facts);
    const IrBlock *body = ir_body(tir_kernel(t, "plane"));
    count_ops(in_tiles ? loop_of(body)->regions[0] : body, &o);
    tir_free(t);
    return o;
}

// A step copies a box of each factor; the next tile's first two steps follow the loops over steps:
// one makes a step for each slot, and the other one the steps left over, without copies.
enum { SLOTS = 3, TURN = 2 * SLOTS, FIRST = 2 * (SLOTS - 1) };

static void next_tile_is_copied_before_stores(void **state) {
    (void)state;
    Order o = order_of(FACT_PERSISTENT, -1, true);
    assert_int_equal(o.inits + o.ends, 0);
    assert_int_equal(o.products, SLOTS + 1);
    assert_int_equal(o.copies, TURN + FIRST);
    assert_int_equal(o.copies_before_stores, FIRST);
    assert_true(o.stores > 0);
    o = order_of(FACT_PERSISTENT, -1, false);
    assert_int_equal(o.inits, SLOTS);
    assert_int_equal(o.ends, SLOTS);
    assert_int_equal(o.copies, FIRST + TURN + FIRST);
}

// The same with a warp that only copies. It waits for a slot before each copy, except those of the
// first tile's first steps; warps arrive once a step, for the step before, and after the last one.
static void producers_wait_for_slots(void **state) {
    (void)state;
    Order o = order_of(FACT_PERSISTENT, 1, true);
    assert_int_equal(o.copies, TURN + FIRST);
    assert_int_equal(o.arrivals, SLOTS + 1 + 1);
    assert_int_equal(o.waits, SLOTS + SLOTS - 1);
    o = order_of(FACT_PERSISTENT, 1, false);
    assert_int_equal(o.inits, SLOTS + SLOTS);
    assert_int_equal(o.ends, SLOTS + SLOTS);
    assert_int_equal(o.waits, SLOTS + SLOTS - 1);
    o = order_of(0, 1, false);
    assert_int_equal(o.waits, SLOTS);
    assert_int_equal(o.arrivals, SLOTS + 1);
}

static void one_tile_without_the_fact(void **state) {
    (void)state;
    Order o = order_of(0, -1, false);
    assert_int_equal(o.copies, FIRST + TURN);
    assert_int_equal(o.products, SLOTS + 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_stay),
        cmocka_unit_test(next_tile_is_copied_before_stores),
        cmocka_unit_test(producers_wait_for_slots),
        cmocka_unit_test(one_tile_without_the_fact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

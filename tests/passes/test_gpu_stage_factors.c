// gpu_stage_factors: a product whose factor is kept in shared memory gives the same result, at the
// gpu level and at that of threads, also where the loop is within another one and the factor is
// used after it. Also: what is kept on which target, and what does not fit.
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

enum { ROWS = 256, DEPTH_MAX = 128, COLUMNS = 256 };

// Rows of a by all columns of b, block by block, and by the first block once more where a has fewer
// rows than b has columns; into the rows of c.
#define PRODUCT(depth)                                                                      \
    "kernel @k(%a: view f16[M, D], %b: view f16[D, N], %c: view f32[M, E]) {warps = 4} {\n" \
    "  body {\n    %0 = const {value = 0} : i64\n    %1 = extent {extent = M} : i64\n"      \
    "    %2 = const {value = 128} : i64\n    %3 = extent {extent = N} : i64\n"              \
    "    for %0, %1, %2 (%4: i64) {\n"                                                      \
    "      %5 = view_load %a, _, %4, %0 {select = [128, " depth                             \
    "], inside = [0, 0]} : f16[128," depth                                                  \
    "]\n"                                                                                   \
    "      %6 = const {value = 0.0} : f32[128,128]\n"                                       \
    "      %7 = for %0, %3, %2, %6 : f32[128,128] (%8: i64, %9: f32[128,128]) {\n"          \
    "        %10 = view_load %b, _, %0, %8 {select = [" depth                               \
    ", 128], inside = [0, 0]} : f16[" depth                                                 \
    ",128]\n"                                                                               \
    "        %11 = dot %5, %10, %9 {precision = ieee} : f32[128,128]\n"                     \
    "        yield %11\n      }\n"                                                          \
    "      %12 = lt %1, %3 : bool\n"                                                        \
    "      %13 = if %12 : f32[128,128] {\n"                                                 \
    "        %14 = view_load %b, _, %0, %0 {select = [" depth                               \
    ", 128], inside = [0, 0]} : f16[" depth                                                 \
    ",128]\n"                                                                               \
    "        %15 = dot %5, %14, %7 {precision = ieee} : f32[128,128]\n"                     \
    "        yield %15\n      } {\n        yield %7\n      }\n"                             \
    "      view_store %c, %13, _, %4, %0 {select = [128, 128], inside = [0, 0]}\n"          \
    "      yield\n    }\n    return\n  }\n}\n"

static const char product[] = PRODUCT("64"), deep[] = PRODUCT("128");

typedef struct Arrays {
    uint16_t a[ROWS * DEPTH_MAX], b[DEPTH_MAX * COLUMNS];
    float c[ROWS * 128];
} Arrays;

static void fill(uint16_t *x, size_t count, Dice *dice) {
    for (size_t i = 0; i < count; i++)
        x[i] = (uint16_t)dtype_from_double(DTYPE_F16, (double)dice_below(dice, 7) - 3, true);
}

static bool lower(Tir *t, const char *target, const char *passes, uint32_t shared_bytes) {
    GpuTarget gpu;
    assert_true(gpu_target_parse(str(target), &gpu));
    Machine m = machine_of_gpu(gpu);
    if (shared_bytes) m.shared_bytes = shared_bytes;
    size_t count;
    const PassStep *steps = passes_parse(t->arena, str(passes), &count, t->diags);
    unsigned facts = FACT_WIDE | FACT_DISJOINT;
    if (gpu.vendor == GPU_AMD) facts |= FACT_NARROW | FACT_NEAR;  // of buffers
    PassOptions options = {.verify = true, .machine = &m, .facts = facts};
    return passes_run(t->module, steps, count, &options, t->diags);
}

static void run(Tir *t, Arrays *x, int64_t depth, int64_t rows, int64_t columns, const char *what) {
    IrArg args[] = {tir_view(x->a, 2, (int64_t[]){rows, depth}),
                    tir_view(x->b, 2, (int64_t[]){depth, columns}),
                    tir_view(x->c, 2, (int64_t[]){rows, 128})};
    memset(x->c, 0, sizeof x->c);
    IrInterp *interp = ir_interp_create(t->arena, t->module->funcs.data[0]);
    IrLaunch launch = {.args = args, .arg_count = 3, .grid = {1, 1, 1}, .sanitize = true};
    if (ir_interp_run(interp, &launch, t->diags) != IR_RUN_DONE || tir_reported(t, "error"))
        fail_msg("%s, %lld x %lld: %s", what, (long long)rows, (long long)columns, tir_text(t));
    ir_interp_destroy(interp);
}

static void agree(Arrays *x, const char *target, int64_t depth, int64_t rows, int64_t columns) {
    const char *text = depth == 64 ? product : deep;
    static const char *const levels[] = {"tile,gpu_layout,licm,gpu_pipeline,gpu_stage_factors",
                                         "tile,gpu"};
    Tir *plain = tir_load("%s", text);
    run(plain, &x[0], depth, rows, columns, "as it is");
    tir_free(plain);
    for (int level = 0; level < 2; level++) {
        Tir *t = tir_load("%s", text);
        if (!lower(t, target, levels[level], 0)) fail_msg("%s: %s", target, tir_text(t));
        run(t, &x[1], depth, rows, columns, target);
        tir_free(t);
        if (memcmp(x[0].c, x[1].c, sizeof x[0].c) != 0)
            fail_msg("%s, %lld x %lld, %s: other sums", target, (long long)rows, (long long)columns,
                     levels[level]);
    }
}

static void products(void **state) {
    (void)state;
    static const struct {
        const char *target;
        int64_t depth;
    } targets[] = {{"sm_75", 64},  {"sm_80", 64},  {"sm_80", 128},  {"sm_90", 128},
                   {"gfx90a", 64}, {"gfx950", 64}, {"gfx1100", 64}, {"gfx1201", 64}};
    static const int64_t shapes[][2] = {{128, 0}, {256, 128}, {128, 256}, {200, 248}};
    Arrays *x = calloc(2, sizeof *x);
    Dice dice = dice_roll(1);
    fill(x[0].a, ROWS * DEPTH_MAX, &dice);
    fill(x[0].b, DEPTH_MAX * COLUMNS, &dice);
    x[1] = x[0];
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            agree(x, targets[i].target, targets[i].depth, shapes[s][0], shapes[s][1]);
    free(x);
}

// ---- what is kept -------------------------------------------------------------------------------

// Places for one tile: rings have more.
static uint32_t kept_in(const IrBlock *block) {
    uint32_t count = 0;
    for (const IrOp *op = block->first; op; op = op->next) {
        count += op->code == IR_GPU_SHARED && ir_attr_int(op, IR_ATTR_COUNT) == 1;
        for (uint32_t i = 0; i < op->region_count; i++) count += kept_in(op->regions[i]);
    }
    return count;
}

static uint32_t kept(const char *text, const char *target, int warps, uint32_t shared_bytes) {
    Tir *t = tir_load("%s", text);
    t->module->funcs.data[0]->warps = warps;
    t->module->funcs.data[0]->stages = 2;
    if (!lower(t, target, "tile,gpu_layout,licm,gpu_pipeline,gpu_stage_factors", shared_bytes))
        fail_msg("%s: %s", target, tir_text(t));
    uint32_t count = kept_in(ir_body(t->module->funcs.data[0]));
    tir_free(t);
    return count;
}

static void by_need(void **state) {
    (void)state;
    static const struct {
        const char *text, *target;
        int warps;
        uint32_t shared_bytes, kept;
    } rows[] = {
        {product, "gfx950", 4, 0, 1},  {product, "gfx950", 8, 0, 0},
        {product, "gfx1100", 4, 0, 1}, {product, "gfx1201", 4, 0, 1},
        {product, "gfx1201", 8, 0, 0}, {product, "gfx942", 4, 0, 0},
        {product, "sm_80", 4, 0, 0},   {product, "gfx1201", 4, 32768, 0},
        {deep, "sm_80", 4, 0, 1},      {deep, "sm_80", 4, 65536, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t found = kept(rows[i].text, rows[i].target, rows[i].warps, rows[i].shared_bytes);
        if (found != rows[i].kept)
            fail_msg("%s, %d warps: %u factors are kept", rows[i].target, rows[i].warps, found);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),
        cmocka_unit_test(by_need),
    };
    return cmocka_run_group_tests_name("passes/gpu_stage_factors", tests, NULL, NULL);
}

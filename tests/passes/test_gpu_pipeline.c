// gpu_pipeline: a pipelined loop computes the same as the loop, at the gpu level and at that of
// threads, for any number of iterations. The loads of (stages - 1) iterations are in flight, with
// one barrier an iteration.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/layout/layout.h"
#include "passes/pass.h"
#include "tests/support/dice.h"
#include "tests/support/tir.h"

enum { SIDE = 32, STEP = 16, DEPTH_MAX = 9 * STEP };

// %a[SIDE, depth] and %b[depth, SIDE] into %c[SIDE, SIDE], in steps of 16.
#define HEAD                                                                                \
    "} {\n  body {\n    %0 = const {value = 0} : i64\n    %1 = extent {extent = K} : i64\n" \
    "    %2 = const {value = 16} : i64\n    %3 = const {value = 0.0} : f32[32,32]\n"
#define TAIL                                                                                \
    "    view_store %c, %4, _, %0, %0 {select = [32, 32], inside = [0, 0]}\n    return\n  " \
    "}\n}\n"
#define LOAD_A "view_load %a, _, %0, %5 {select = [32, 16], inside = [0, 0]} : f16[32,16]\n"
#define LOAD_B "view_load %b, _, %5, %0 {select = [16, 32], inside = [0, 0]} : f16[16,32]\n"
#define LOOP "    %4 = for %0, %1, %2, %3 : f32[32,32] (%5: i64, %6: f32[32,32]) {\n"

static const char product[] = HEAD LOOP
    "      %7 = " LOAD_A "      %8 = " LOAD_B
    "      %9 = dot %7, %8, %6 {precision = ieee} : f32[32,32]\n      yield %9\n    }\n" TAIL;

// The factor a is changed on its way; its steps come from a value that is carried.
static const char changed[] = HEAD
    "    %4, %10 = for %0, %1, %2, %3, %0 : f32[32,32], i64 (%5: i64, %6: f32[32,32], "
    "%11: i64) {\n"
    "      %7 = view_load %a, _, %0, %11 {select = [32, 16], inside = [0, 0]} : f16[32,16]\n"
    "      %12 = add %7, %7 : f16[32,16]\n      %8 = " LOAD_B
    "      %9 = dot %12, %8, %6 {precision = ieee} : f32[32,32]\n"
    "      %13 = add %11, %2 : i64\n      yield %9, %13\n    }\n" TAIL;

// Both factors are of one array, one of them turned; what is loaded is used twice.
static const char turned[] = HEAD LOOP
    "      %7 = " LOAD_A
    "      %8 = permute %7 {perm = [1, 0]} : f16[16,32]\n"
    "      %9 = dot %7, %8, %6 {precision = ieee} : f32[32,32]\n      yield %9\n    }\n" TAIL;

// No product.
static const char sum[] = HEAD LOOP
    "      %7 = view_load %b, _, %5, %0 {select = [32, 32], inside = [0, 0]} : f16[32,32]\n"
    "      %8 = cast %7 : f32[32,32]\n      %9 = add %6, %8 : f32[32,32]\n"
    "      yield %9\n    }\n" TAIL;

typedef struct Arrays {
    uint16_t a[SIDE * DEPTH_MAX], b[DEPTH_MAX * SIDE];
    float c[SIDE * SIDE];
} Arrays;

static void fill(uint16_t *x, size_t count, Dice *dice) {
    for (size_t i = 0; i < count; i++)
        x[i] = (uint16_t)dtype_from_double(DTYPE_F16, (double)dice_below(dice, 7) - 3, true);
}

static void lower(Tir *t, const char *target, const char *passes) {
    GpuTarget gpu;
    assert_true(gpu_target_parse(str(target), &gpu));
    Machine m = machine_of_gpu(gpu);
    size_t count;
    const PassStep *steps = passes_parse(t->arena, str(passes), &count, t->diags);
    unsigned facts = FACT_WIDE | FACT_DISJOINT;
    if (gpu.vendor == GPU_AMD) facts |= FACT_NARROW | FACT_NEAR;  // of buffers
    PassOptions options = {.verify = true, .machine = &m, .facts = facts};
    if (!passes_run(t->module, steps, count, &options, t->diags))
        fail_msg("%s: %s", target, tir_text(t));
}

static Tir *load(const char *text, int stages) {
    char option[32] = "";
    if (stages) snprintf(option, sizeof option, ", stages = %d", stages);
    return tir_load(
        "kernel @k(%%a: view f16[R, K], %%b: view f16[K, S], %%c: view f32[M, N]) "
        "{warps = 2, direct = 1%s%s",
        option, text);
}

static void run(Tir *t, Arrays *x, int64_t depth, const char *what) {
    IrArg args[] = {tir_view(x->a, 2, (int64_t[]){SIDE, depth}),
                    tir_view(x->b, 2, (int64_t[]){depth, SIDE}),
                    tir_view(x->c, 2, (int64_t[]){SIDE, SIDE})};
    memset(x->c, 0, sizeof x->c);
    IrInterp *interp = ir_interp_create(t->arena, t->module->funcs.data[0]);
    IrLaunch launch = {.args = args, .arg_count = 3, .grid = {1, 1, 1}, .sanitize = true};
    if (ir_interp_run(interp, &launch, t->diags) != IR_RUN_DONE || tir_reported(t, "error"))
        fail_msg("%s, depth %lld: %s", what, (long long)depth, tir_text(t));
    ir_interp_destroy(interp);
}

static void agree(const char *text, const char *target, int stages) {
    static const int64_t depths[] = {0, STEP, 2 * STEP, 3 * STEP, 4 * STEP, DEPTH_MAX};
    static const char *const levels[] = {"tile,gpu_layout,gpu_pipeline", "tile,gpu"};
    Arrays *x = calloc(2, sizeof *x);
    Dice dice = dice_roll(1);
    fill(x[0].a, SIDE * DEPTH_MAX, &dice);
    fill(x[0].b, SIDE * DEPTH_MAX, &dice);
    x[1] = x[0];
    for (size_t d = 0; d < sizeof depths / sizeof *depths; d++) {
        Tir *plain = load(text, stages);
        run(plain, &x[0], depths[d], "as it is");
        tir_free(plain);
        for (int level = 0; level < 2; level++) {
            Tir *t = load(text, stages);
            lower(t, target, levels[level]);
            run(t, &x[1], depths[d], levels[level]);
            tir_free(t);
            if (memcmp(x[0].c, x[1].c, sizeof x[0].c) != 0)
                fail_msg("%s, %d stages, depth %lld, %s: other sums", target, stages,
                         (long long)depths[d], levels[level]);
        }
    }
    free(x);
}

static void agree_on_all(const char *text) {
    static const char *const targets[] = {"sm_75", "sm_80", "sm_90", "gfx942", "gfx950", "gfx1100"};
    for (int i = 0; i < 6; i++)
        for (int stages = 2; stages <= 5; stages++) agree(text, targets[i], stages);
}

static void products(void **state) {
    (void)state;
    agree_on_all(product);
    agree(product, "sm_80", 0);
    agree(product, "sm_80", 1);
}

static void changed_factors(void **state) {
    (void)state;
    agree_on_all(changed);
}

static void turned_factors(void **state) {
    (void)state;
    agree_on_all(turned);
}

static void sums(void **state) {
    (void)state;
    agree_on_all(sum);
}

// ---- what is under way --------------------------------------------------------------------------

typedef struct Count {
    uint32_t copies, commits, barriers, matrices, stores, divisions;
    int64_t wait;
} Count;

static void count_ops(const IrBlock *block, Count *c) {
    for (const IrOp *op = block->first; op; op = op->next) {
        c->copies += op->code == IR_THREAD_COPY;
        c->commits += op->code == IR_THREAD_COMMIT;
        c->barriers += op->code == IR_THREAD_BARRIER;
        c->matrices += op->code == IR_THREAD_MATRIX_LOAD;
        c->stores += op->code == IR_THREAD_STORE;
        c->divisions += op->code == IR_DIV || op->code == IR_REM;
        if (op->code == IR_THREAD_WAIT) c->wait = ir_attr_int(op, IR_ATTR_COUNT);
        for (uint32_t r = 0; r < op->region_count; r++) count_ops(op->regions[r], c);
    }
}

// Counts in the loop, and before it.
static void counts_of(Tir *t, Count *before, Count *inside) {
    *before = *inside = (Count){.wait = -1};
    const IrBlock *body = ir_body(t->module->funcs.data[0]);
    Count after = {.wait = -1};
    bool met = false;
    for (const IrOp *op = body->first; op; op = op->next) {
        if (op->code == IR_FOR) count_ops(op->regions[0], inside);
        met |= op->code == IR_FOR;
        Count *c = met ? &after : before;
        c->copies += op->code == IR_THREAD_COPY;
        c->commits += op->code == IR_THREAD_COMMIT;
        if (op->code == IR_IF)
            for (uint32_t r = 0; r < op->region_count; r++) count_ops(op->regions[r], c);
    }
}

static void as_many_as_stages_less_one(void **state) {
    (void)state;
    for (int stages = 2; stages <= 5; stages++) {
        Tir *t = load(product, stages);
        Count before, inside;
        lower(t, "sm_80", "tile,gpu");
        counts_of(t, &before, &inside);
        assert_int_equal(before.commits, stages - 1);
        assert_int_equal(inside.commits, 1);
        assert_int_equal(inside.wait, stages - 2);
        assert_int_equal(inside.barriers, 1);
        assert_int_equal(inside.stores, 0);
        assert_int_equal(inside.divisions, 0);
        assert_true(inside.copies > 0 && inside.matrices > 0);
        assert_int_equal(before.copies, inside.copies * ((uint32_t)stages - 1));
        tir_free(t);
    }
}

static void in_registers_where_nothing_is_copied(void **state) {
    (void)state;
    Tir *t = load(product, 3);
    Count before, inside;
    lower(t, "sm_75", "tile,gpu");
    counts_of(t, &before, &inside);
    assert_int_equal(before.copies + inside.copies, 0);
    assert_int_equal(inside.commits, 0);
    const IrOp *loop = ir_body(t->module->funcs.data[0])->first;
    while (loop->code != IR_FOR) loop = loop->next;
    assert_int_equal(loop->result_count, 3);  // the sum, and a step of each factor
    for (const IrOp *op = loop->regions[0]->first; op; op = op->next)
        assert_int_not_equal(op->code, IR_IF);  // past the end all is outside
    tir_free(t);
}

static void not_where_it_is_not_wanted(void **state) {
    (void)state;
    const char *const kernels[] = {product, sum};
    for (int i = 0; i < 2; i++) {
        Tir *t = load(kernels[i], i ? 0 : 1);
        Count before, inside;
        lower(t, "sm_80", "tile,gpu");
        counts_of(t, &before, &inside);
        assert_int_equal(before.commits + inside.commits + inside.copies, 0);
        tir_free(t);
    }
}

// ---- straight to shared memory ------------------------------------------------------------------

// The elements that a warp's lanes copy are adjacent in memory, in the order of the lanes, for
// every register.
static void check_row(const IrOp *copy, uint32_t most) {
    const Layout *memory = ir_operand(copy, 0)->type->layout;
    const Layout *l = ir_operand(copy, 1)->type->layout;
    uint32_t inverse[LAYOUT_MAX_BITS], vector = 0;
    assert_true(layout_invert(memory, inverse));
    for (uint32_t reg = 0; reg < layout_size(l, LAYOUT_REG); reg++)
        for (uint32_t lane = 0; lane < layout_size(l, LAYOUT_LANE); lane++) {
            uint32_t at[2];
            for (uint32_t i = 0; i < 2; i++) {
                uint32_t element = layout_apply(l, layout_at(reg, i ? lane : 0, 0));
                at[i] = 0;
                for (uint32_t bit = 0; element >> bit; bit++)
                    if (element >> bit & 1) at[i] ^= inverse[bit];
            }
            if (lane == 1 && reg == 0) vector = at[1] - at[0];
            if (lane) assert_int_equal(at[1], at[0] + lane * vector);
        }
    uint32_t bytes = vector * ir_elem_size(ir_operand(copy, 1)->type);
    assert_true(bytes == 4 || bytes == most);
}

static uint32_t check_rows(const IrBlock *block, uint32_t most) {
    uint32_t found = 0;
    for (const IrOp *op = block->first; op; op = op->next) {
        if (op->code == IR_GPU_COPY) check_row(op, most), found++;
        for (uint32_t r = 0; r < op->region_count; r++) found += check_rows(op->regions[r], most);
    }
    return found;
}

static void lanes_lie_in_a_row(void **state) {
    (void)state;
    static const char *const elems[] = {"f16", "f32", "i8"};
    for (int i = 0; i < 6; i++) {
        bool wide = i % 2 != 0;
        const char *elem = elems[i / 2], *total = i / 2 == 2 ? "i32" : "f32";
        Tir *t = tir_load(
            "kernel @k(%%a: view %s[R, K], %%b: view %s[S, K], %%c: view %s[M, N]) "
            "{warps = 4, direct = 1} {\n  body {\n    %%0 = const {value = 0} : i64\n"
            "    %%1 = extent {extent = K} : i64\n    %%2 = const {value = 32} : i64\n"
            "    %%3 = const {value = 0%s} : %s[64,64]\n"
            "    %%4 = for %%0, %%1, %%2, %%3 : %s[64,64] (%%5: i64, %%6: %s[64,64]) {\n"
            "      %%7 = view_load %%a, _, %%0, %%5 {select = [64, 32]} : %s[64,32]\n"
            "      %%8 = view_load %%b, _, %%0, %%5 {select = [64, 32]} : %s[64,32]\n"
            "      %%9 = permute %%8 {perm = [1, 0]} : %s[32,64]\n"
            "      %%10 = dot %%7, %%9, %%6 {precision = ieee} : %s[64,64]\n"
            "      yield %%10\n    }\n"
            "    view_store %%c, %%4, _, %%0, %%0 {select = [64, 64]}\n    return\n  }\n}\n",
            elem, elem, total, i / 2 == 2 ? "" : ".0", total, total, total, elem, elem, elem,
            total);
        lower(t, wide ? "gfx950" : "gfx942", "tile,gpu_layout,gpu_pipeline");
        uint32_t found = check_rows(ir_body(t->module->funcs.data[0]), wide ? 16 : 4);
        if (!found) fail_msg("%s: nothing is copied", elem);
        tir_free(t);
    }
}

// Without the option, without buffers, and where the machine has none, all goes through registers.
static void not_straight_unless_asked(void **state) {
    (void)state;
    static const char *const targets[] = {"gfx90a", "gfx1100", "gfx942"};
    for (int i = 0; i < 3; i++) {
        Tir *t = load(product, 3);
        Count before, inside;
        if (i == 2) t->module->funcs.data[0]->direct = 0;
        lower(t, targets[i], "tile,gpu");
        counts_of(t, &before, &inside);
        assert_int_equal(before.copies + inside.copies + inside.commits, 0);
        tir_free(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),
        cmocka_unit_test(changed_factors),
        cmocka_unit_test(turned_factors),
        cmocka_unit_test(sums),
        cmocka_unit_test(as_many_as_stages_less_one),
        cmocka_unit_test(in_registers_where_nothing_is_copied),
        cmocka_unit_test(not_where_it_is_not_wanted),
        cmocka_unit_test(lanes_lie_in_a_row),
        cmocka_unit_test(not_straight_unless_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

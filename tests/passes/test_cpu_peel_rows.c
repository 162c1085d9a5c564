// cpu_peel_rows: which kernels are there twice, and that both versions compute the same.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ir/interp/interp.h"
#include "passes/pass.h"
#include "tests/support/pass_world.h"
#include "tests/support/tir.h"

enum { MOST = 200 };

// y[i] = x[i] * the sum of x, in two loops of steps of %d.
static const char sums[] =
    "kernel @k(%%x: view f32[C], %%y: view f32[C]) { body {\n"
    "%%0 = const {value = 0} : i64\n%%1 = extent {extent = C} : i64\n"
    "%%2 = const {value = %d} : i64\n%%3 = const {value = 0.0} : f32\n"
    "%%4 = for %%0, %%1, %%2, %%3 : f32 (%%5: i64, %%6: f32) {\n"
    "%%7 = view_load %%x, _, %%5 {select = [%d]} : f32[%d]\n"
    "%%8 = reduce _, %%7 {kind = sum, axis = 0} : f32\n"
    "%%9 = add %%6, %%8 : f32\nyield %%9\n}\n"
    "%%10 = broadcast %%4 : f32[%d]\n"
    "for %%0, %%1, %%2 (%%11: i64) {\n"
    "%%12 = view_load %%x, _, %%11 {select = [%d]} : f32[%d]\n"
    "%%13 = mul %%12, %%10 : f32[%d]\n"
    "view_store %%y, %%13, _, %%11 {select = [%d]}\nyield\n}\nreturn\n} }\n";

static const char *kernel_of(PassWorld *w, int step) {
    return arena_printf(w->arena, sums, step, step, step, step, step, step, step, step);
}

static bool split(PassWorld *w, IrModule *m, CpuLevel level) {
    static const PassStep once[] = {{PASS_CPU_PEEL_ROWS, "what is tested"}};
    Machine machine = machine_of_cpu((CpuTarget){level, 0});
    PassOptions options = {.verify = true, .machine = &machine};
    assert_true(passes_run(m, once, 1, &options, w->diags));
    IR_EACH_OP(op, ir_body(m->funcs.data[0])) {
        if (op->code == IR_IF) return true;
    }
    return false;
}

static bool is_split(const char *text, CpuLevel level) {
    PassWorld w = pass_world();
    bool is = split(&w, pass_parse(&w, text), level);
    pass_world_free(&w);
    return is;
}

static bool step_is_split(int step, CpuLevel level) {
    PassWorld w = pass_world();
    bool is = is_split(kernel_of(&w, step), level);
    pass_world_free(&w);
    return is;
}

static void few_registers_and_masks(void **state) {
    (void)state;
    assert_true(step_is_split(16, CPU_X86_64_V4));
    assert_true(step_is_split(64, CPU_X86_64_V4));
    assert_false(step_is_split(128, CPU_X86_64_V4));
    assert_false(step_is_split(16, CPU_X86_64_V3));
}

static void one_loop_shares_nothing(void **state) {
    (void)state;
    const char *text =
        "kernel @k(%x: view f32[C], %y: view f32[C]) { body {\n"
        "%0 = const {value = 0} : i64\n%1 = extent {extent = C} : i64\n"
        "%2 = const {value = 16} : i64\nfor %0, %1, %2 (%3: i64) {\n"
        "%4 = view_load %x, _, %3 {select = [16]} : f32[16]\n"
        "view_store %y, %4, _, %3 {select = [16]}\nyield\n}\nreturn\n} }\n";
    assert_false(is_split(text, CPU_X86_64_V4));
}

// Loops along different rows, or in other steps, need not be of one step together.
static void loops_must_go_alike(void **state) {
    (void)state;
    Arena *arena = arena_create();
    const char *text = tir_read(arena, "tests/passes/data/two_extents.tir");
    assert_false(is_split(text, CPU_X86_64_V4));
    arena_destroy(arena);
}

static void run(PassWorld *w, IrModule *m, int64_t count, float *y) {
    float x[MOST];
    for (int i = 0; i < MOST; i++) x[i] = (float)(i % 7) - 2.5f, y[i] = -1;
    uint64_t size = (uint64_t)count * sizeof *x;
    IrArg args[] = {{.data = x, .base = x, .size = size, .extent = {count}, .stride = {1}},
                    {.data = y, .base = y, .size = size, .extent = {count}, .stride = {1}}};
    IrInterp *interp = ir_interp_create(w->arena, m->funcs.data[0]);
    IrLaunch launch = {.args = args, .arg_count = 2, .grid = {1, 1, 1}, .sanitize = true};
    assert_int_equal(ir_interp_run(interp, &launch, w->diags), IR_RUN_DONE);
    ir_interp_destroy(interp);
}

static void both_ways_compute_the_same(void **state) {
    (void)state;
    static const int64_t lengths[] = {0, 1, 15, 16, 17, 32, 33, MOST};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        PassWorld w = pass_world();
        float plain[MOST], twice[MOST];
        run(&w, pass_parse(&w, kernel_of(&w, 16)), lengths[i], plain);
        IrModule *m = pass_parse(&w, kernel_of(&w, 16));
        assert_true(split(&w, m, CPU_X86_64_V4));
        run(&w, m, lengths[i], twice);
        assert_memory_equal(plain, twice, sizeof plain);
        pass_world_free(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_registers_and_masks),
        cmocka_unit_test(one_loop_shares_nothing),
        cmocka_unit_test(loops_must_go_alike),
        cmocka_unit_test(both_ways_compute_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Loops, branches, calls, asserts, prints, limits.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/tir.h"

static int64_t loop_count(int64_t lo, int64_t hi, int64_t step, bool down, int64_t *last) {
    Tir *t = tir_load(
        "kernel @k(%%a: i64, %%b: i64, %%c: i64, %%r: view i64[2]) { body {\n"
        "%%0 = const {value = 0} : i64\n"
        "%%1 = const {value = 1} : i64\n"
        "%%2, %%3 = for %%a, %%b, %%c, %%0, %%0 {down = %s} : i64, i64 (%%4: i64, %%5: i64, %%6: "
        "i64) {\n"
        "  %%7 = add %%5, %%1 : i64\n"
        "  yield %%7, %%4\n"
        "}\n"
        "view_store %%r, %%2, _, %%0 {select = [0]}\n"
        "view_store %%r, %%3, _, %%1 {select = [0]}\n"
        "return\n} }",
        down ? "true" : "false");
    int64_t r[2] = {-1, -1}, two = 2;
    IrArg args[] = {tir_scalar((uint64_t)lo), tir_scalar((uint64_t)hi), tir_scalar((uint64_t)step),
                    tir_view(r, 1, &two)};
    assert_int_equal(tir_run(t, args, 4, 1), IR_RUN_DONE);
    tir_free(t);
    *last = r[1];
    return r[0];
}

static void for_counts_up_and_down(void **state) {
    (void)state;
    static const struct {
        int64_t lo, hi, step;
        bool down;
        int64_t count, last;
    } cases[] = {
        {0, 10, 1, false, 10, 9},
        {0, 10, 3, false, 4, 9},
        {5, 5, 1, false, 0, 0},
        {6, 5, 1, false, 0, 0},
        {0, 10, 0, false, 0, 0},
        {0, 10, -1, false, 0, 0},
        {10, 0, -1, true, 10, 1},
        {10, 0, -4, true, 3, 2},
        {10, 0, 1, true, 0, 0},
        {10, 0, 0, true, 0, 0},
        {0, 10, -1, true, 0, 0},
        {INT64_MAX - 3, INT64_MAX, 2, false, 2, INT64_MAX - 1},
        {INT64_MAX - 3, INT64_MAX, 100, false, 1, INT64_MAX - 3},
        {INT64_MIN + 3, INT64_MIN, -2, true, 2, INT64_MIN + 1},
        {INT64_MIN, INT64_MAX, INT64_MAX, false, 3, INT64_MAX - 1},
        {INT64_MAX, INT64_MIN, INT64_MIN, true, 2, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t last;
        assert_int_equal(loop_count(cases[i].lo, cases[i].hi, cases[i].step, cases[i].down, &last),
                         cases[i].count);
        assert_int_equal(last, cases[i].last);
    }
}

// A yield that exchanges its arguments: the Fibonacci numbers, and a break at 5.
static void yields_are_simultaneous_and_loops_exit(void **state) {
    (void)state;
    Tir *t = tir_load_file("tests/interp/data/yields.tir");
    int64_t r[2], two = 2;
    IrArg args[] = {tir_view(r, 1, &two)};
    assert_int_equal(tir_run(t, args, 1, 1), IR_RUN_DONE);
    assert_int_equal(r[0], 8);  // after six iterations
    assert_int_equal(r[1], 13);
    tir_free(t);
}

static void while_and_if(void **state) {
    (void)state;
    Tir *t = tir_load_file("tests/interp/data/collatz.tir");
    int64_t r, one = 1;
    IrArg args[] = {tir_scalar(27), tir_view(&r, 1, &one)};
    assert_int_equal(tir_run(t, args, 2, 1), IR_RUN_DONE);
    assert_int_equal(r, 111);
    tir_free(t);
}

static void calls_pass_tiles_and_views(void **state) {
    (void)state;
    Tir *t = tir_load_file("tests/interp/data/calls.tir");
    int32_t r[4];
    int64_t four = 4;
    IrArg args[] = {tir_view(r, 1, &four)};
    assert_int_equal(tir_run(t, args, 1, 1), IR_RUN_DONE);
    for (int32_t i = 0; i < 4; i++) assert_int_equal(r[i], 2 * i + 2 * (2 * i * i) * (2 * i * i));
    tir_free(t);
}

static void programs_and_extents(void **state) {
    (void)state;
    Tir *t = tir_load_file("tests/interp/data/programs.tir");
    int64_t x[5], five = 5;
    IrArg args[] = {tir_view(x, 1, &five)};
    IrLaunch launch = {.args = args, .arg_count = 1};
    uint64_t grid[1];
    const IrFunc *f = t->module->funcs.data[0];
    assert_true(ir_interp_section(t->interp, ir_section(f, IR_GRID), &launch, 1, grid));
    assert_int_equal(grid[0], 5);
    assert_false(ir_interp_section(t->interp, ir_section(f, IR_GRID), &launch, 2, grid));
    assert_int_equal(tir_run(t, args, 1, 5), IR_RUN_DONE);
    for (int64_t i = 0; i < 5; i++) assert_int_equal(x[i], (i * 5 + 1) * 5);
    tir_free(t);
}

static void an_empty_grid_does_nothing(void **state) {
    (void)state;
    Tir *t = tir_load(
        "kernel @k(%%x: view i32[N]) { body {\n"
        "%%0 = const {value = false} : bool\n"
        "assert %%0 {text = \"never\"}\nreturn\n} }");
    int64_t zero = 0;
    IrArg args[] = {tir_view(NULL, 1, &zero)};
    assert_int_equal(tir_run(t, args, 1, 0), IR_RUN_DONE);
    tir_free(t);
}

// Programs 2, 3, 4 fail; the lowest program and its lowest lane are reported, and all others
// finish.
static void asserts_end_their_program_only(void **state) {
    (void)state;
    Tir *t = tir_load(
        "kernel @k(%%x: view i64[N]) { body {\n"
        "%%0 = program {dim = 0} : i64\n"
        "%%1 = iota : i32[4]\n"
        "%%2 = cast %%0 : i32\n"
        "%%3 = broadcast %%2 : i32[4]\n"
        "%%4 = add %%1, %%3 : i32[4]\n"
        "%%5 = const {value = 5} : i32[4]\n"
        "%%6 = lt %%4, %%5 : bool[4]\n"
        "assert %%6 {text = \"small enough\"}\n"
        "view_store %%x, %%0, _, %%0 {select = [0]}\n"
        "return\n} }");
    int64_t x[5] = {-1, -1, -1, -1, -1}, five = 5;
    IrArg args[] = {tir_view(x, 1, &five)};
    assert_int_equal(tir_run(t, args, 1, 5), IR_RUN_ASSERT);
    assert_memory_equal(x, ((int64_t[]){0, 1, -1, -1, -1}), sizeof x);
    assert_true(tir_reported(t, "assertion failed: \"small enough\" in program (2, 0, 0), lane 3"));
    assert_true(tir_reported(t, "test.tir:9:"));
    assert_true(tir_reported(t, "3 programs"));
    assert_int_equal(diags_errors(t->diags), 1);
    tir_free(t);
}

static void prints_are_lines(void **state) {
    (void)state;
    Tir *t = tir_load(
        "kernel @k(%%f: f32) { body {\n"
        "%%0 = iota : i32[4]\n"
        "%%1 = reshape %%0 : i32[2,2]\n"
        "%%2 = program {dim = 0} : i64\n"
        "%%3 = const {value = true} : bool\n"
        "print %%2, %%1, %%f, %%3 {texts = [\"p = \", \" t = \", \" f = \", \" \", \"!\"]}\n"
        "return\n} }");
    IrArg args[] = {tir_scalar(dtype_from_double(DTYPE_F32, 0.1, false))};
    assert_int_equal(tir_run(t, args, 1, 2), IR_RUN_DONE);
    assert_string_equal(t->printed.text,
                        "p = 0 t = [[0, 1], [2, 3]] f = 0.1 true!\n"
                        "p = 1 t = [[0, 1], [2, 3]] f = 0.1 true!\n");
    tir_free(t);
}

static void endless_loops_meet_the_limit(void **state) {
    (void)state;
    Tir *t = tir_load(
        "kernel @k() { body {\n"
        "while {\n%%0 = const {value = true} : bool\nyield %%0\n} {\nyield\n}\n"
        "return\n} }");
    t->launch.step_limit = 10000;
    assert_int_equal(tir_run(t, NULL, 0, 1), IR_RUN_LIMIT);
    tir_free(t);
}

static void deep_nesting_ends_in_order(void **state) {
    (void)state;
    Arena *arena = arena_create();
    StrBuf text = strbuf(arena);
    strbuf_add(&text, STR("kernel @k(%c: bool) { body {\n"));
    for (int i = 0; i < 100; i++) strbuf_add(&text, STR("if %c {\n"));
    for (int i = 0; i < 100; i++) strbuf_add(&text, STR("yield\n} {\nyield\n}\n"));
    strbuf_add(&text, STR("return\n} }"));
    Tir *t = tir_load("%s", text.text);
    IrArg args[] = {tir_scalar(1)};
    assert_int_equal(tir_run(t, args, 1, 1), IR_RUN_DONE);
    tir_free(t);
    arena_destroy(arena);
}

static void requires_are_evaluated(void **state) {
    (void)state;
    Tir *t = tir_load_file("tests/interp/data/requires.tir");
    float memory[64];
    const IrFunc *f = t->module->funcs.data[0];
    IrArg args[] = {tir_view(memory, 2, (int64_t[]){2, 8}),
                    tir_view(memory + 16, 1, (int64_t[]){8})};
    IrLaunch launch = {.args = args, .arg_count = 2};
    uint64_t holds = 7;
    assert_true(ir_interp_section(t->interp, &f->sections.data[0], &launch, 1, &holds));
    assert_int_equal(holds, 1);
    assert_true(ir_interp_section(t->interp, &f->sections.data[1], &launch, 1, &holds));
    assert_int_equal(holds, 1);
    args[1].data = memory + 15;  // one element too early
    assert_true(ir_interp_section(t->interp, &f->sections.data[1], &launch, 1, &holds));
    assert_int_equal(holds, 0);
    args[1].stride[0] = -1;
    args[1].data = memory + 23;
    assert_true(ir_interp_section(t->interp, &f->sections.data[1], &launch, 1, &holds));
    assert_int_equal(holds, 1);  // backwards from 23 to 16
    args[0].extent[0] = 0;
    args[1].data = memory;
    assert_true(ir_interp_section(t->interp, &f->sections.data[1], &launch, 1, &holds));
    assert_int_equal(holds, 1);  // an empty view is disjoint from all
    args[0].extent[1] = 7;
    assert_true(ir_interp_section(t->interp, &f->sections.data[0], &launch, 1, &holds));
    assert_int_equal(holds, 0);
    tir_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(for_counts_up_and_down),
        cmocka_unit_test(yields_are_simultaneous_and_loops_exit),
        cmocka_unit_test(while_and_if),
        cmocka_unit_test(calls_pass_tiles_and_views),
        cmocka_unit_test(programs_and_extents),
        cmocka_unit_test(an_empty_grid_does_nothing),
        cmocka_unit_test(asserts_end_their_program_only),
        cmocka_unit_test(prints_are_lines),
        cmocka_unit_test(endless_loops_meet_the_limit),
        cmocka_unit_test(deep_nesting_ends_in_order),
        cmocka_unit_test(requires_are_evaluated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

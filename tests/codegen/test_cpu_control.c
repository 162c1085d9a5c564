// Loops, branches, arguments, the walk over the grid, asserts and prints: compiled against
// interpreted, or against what the ops are defined to do.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/codegen/bundle.h"

static bool *seen_of(void **state) { return *state; }

static int set_up(void **state) {
    static bool seen[IR_OPCODES];
    *state = seen;
    return 0;
}

static Tir *marked(void **state, Tir *t) {
    bundle_mark(ir_body(t->module->funcs.data[0]), seen_of(state));
    return t;
}

static Tir *load(void **state, const char *text) { return marked(state, tir_load("%s", text)); }

// Argument `out` is run once each way; both must leave the same bytes.
static void compare(Tir *t, CpuTarget target, IrArg *args, uint32_t count, uint32_t out,
                    uint64_t size, const int64_t grid[3]) {
    unsigned char *expected = arena_alloc(t->arena, size), *found = arena_alloc(t->arena, size);
    args[out].data = expected;
    t->launch = (IrLaunch){.args = args, .arg_count = count};
    memcpy(t->launch.grid, grid, sizeof t->launch.grid);
    assert_int_equal(ir_interp_run(t->interp, &t->launch, t->diags), IR_RUN_DONE);
    args[out].data = found;
    Compiled *k = compiled_load(t, target);
    compiled_run(k, args, count, grid);
    assert_memory_equal(found, expected, size);
    compiled_free(k);
}

static const int64_t once[3] = {1, 1, 1};

// ---- for ----------------------------------------------------------------------------------------

// Writes how many iterations there were, the sum and the last of the counters.
static const char counting[] =
    "kernel @k(%%lo: i64, %%hi: i64, %%s: i64, %%r: *i64) {level = cpu} { body {\n"
    " %%0 = const {value = 0} : i64\n %%1 = const {value = 1} : i64\n"
    " %%2, %%3, %%4 = for %%lo, %%hi, %%s, %%0, %%0, %%0 {down = %s} : i64, i64, i64 "
    " (%%5: i64, %%6: i64, %%7: i64, %%8: i64) {\n"
    "  %%9 = add %%6, %%1 : i64\n  %%10 = add %%7, %%5 : i64\n  yield %%9, %%10, %%5\n }\n"
    " store %%r, %%2, _\n %%11 = ptr_add %%r, %%1 : *i64\n store %%11, %%3, _\n"
    " %%12 = ptr_add %%11, %%1 : *i64\n store %%12, %%4, _\n return } }";

static void loops_end_without_overflow(void **state) {
    if (!codegen_plugin()) skip();
    static const int64_t up[][3] = {
        {0, 10, 1},
        {0, 10, 3},
        {0, 0, 1},
        {5, 4, 1},
        {0, 10, 0},
        {0, 10, -1},
        {-7, 8, 5},
        {INT64_MIN, INT64_MIN + 3, 1},
        {INT64_MAX - 5, INT64_MAX, 2},
        {INT64_MAX - 5, INT64_MAX, INT64_MAX},
        {INT64_MIN, INT64_MAX, INT64_MAX},
        {INT64_MAX - 2, INT64_MAX, 1},
        {INT64_MIN, INT64_MAX, INT64_MAX / 2},
        {0, 100, 16},
    };
    for (int down = 0; down < 2; down++) {
        Tir *t = tir_load(counting, down ? "true" : "false");
        bundle_mark(ir_body(t->module->funcs.data[0]), seen_of(state));
        Compiled *k = compiled_load(t, cpu_native());
        for (size_t i = 0; i < sizeof up / sizeof *up; i++) {
            int64_t lo = up[i][0], hi = up[i][1], step = up[i][2], r[2][3] = {{9}, {9}};
            if (down) {  // the same loop, mirrored: ~x is -1 - x
                lo = ~lo, hi = ~hi;
                step = -step;
            }
            IrArg args[] = {tir_scalar((uint64_t)lo), tir_scalar((uint64_t)hi),
                            tir_scalar((uint64_t)step), tir_pointer(r[0], 24)};
            assert_int_equal(tir_run(t, args, 4, 1), IR_RUN_DONE);
            args[3].data = r[1];
            compiled_run(k, args, 4, once);
            assert_memory_equal(r[1], r[0], sizeof r[0]);
        }
        compiled_free(k);
        tir_free(t);
    }
}

static void loops_exit_early(void **state) {
    if (!codegen_plugin()) skip();
    for (uint64_t limit = 0; limit < 12; limit += 3) {
        for (uint64_t go = 0; go < 2; go++) {
            Tir *t =
                load(state,
                     "kernel @k(%n: i64, %go: bool, %r: *f32) {level = cpu} { body {\n"
                     " %0 = const {value = 0} : i64\n %1 = const {value = 1} : i64\n"
                     " %2 = const {value = 8} : i64\n %3 = const {value = 1.5} : f32[8]\n"
                     " %4, %5 = for %0, %2, %1, %go, %3 {exit = true} : bool, f32[8] "
                     " (%6: i64, %7: bool, %8: f32[8]) {\n"
                     "  %9 = add %8, %3 : f32[8]\n  %10 = lt %6, %n : bool\n  yield %10, %9\n }\n"
                     " cpu.store %r, %5, _\n return } }");
            IrArg args[] = {tir_scalar(limit), tir_scalar(go), tir_pointer(NULL, 0)};
            compare(t, cpu_native(), args, 3, 2, 32, once);
            tir_free(t);
        }
    }
}

// Vectors are swapped from iteration to iteration.
static void whiles_carry_vectors(void **state) {
    if (!codegen_plugin()) skip();
    Tir *t = marked(state, tir_load_file("tests/codegen/data/while_vectors.tir"));
    CpuTarget targets[4];
    uint32_t count = compiled_targets(targets);
    for (uint32_t i = 0; i < count; i++)
        for (uint64_t n = 0; n < 20; n += 5) {
            IrArg args[] = {tir_pointer(NULL, 0), tir_scalar(n)};
            compare(t, targets[i], args, 2, 0, 128, once);
        }
    tir_free(t);
}

static void branches_nest(void **state) {
    if (!codegen_plugin()) skip();
    Tir *t = marked(state, tir_load_file("tests/codegen/data/branches.tir"));
    IrArg args[] = {tir_pointer(NULL, 0)};
    compare(t, cpu_native(), args, 1, 0, 64, (int64_t[]){8, 1, 1});
    tir_free(t);
}

// ---- arguments and the grid ---------------------------------------------------------------------

// Every scalar type between others, views with and without strides, fixed and shared extents.
static void arguments_are_where_meta_says(void **state) {
    if (!codegen_plugin()) skip();
    Tir *t = marked(state, tir_load_file("tests/codegen/data/arguments.tir"));
    float x = 77;
    int32_t y = -88;
    IrArg args[] = {tir_scalar(200),
                    tir_scalar(1),
                    tir_scalar(UINT64_C(0x8123456789abcdef)),
                    tir_scalar(0x8001),
                    tir_view(&x, 3, (int64_t[]){7, 3, 9}),
                    tir_scalar(0x3c01),
                    tir_view(&y, 3, (int64_t[]){9, 7, 5}),
                    tir_scalar(UINT64_C(0x400921fb54442d18)),
                    tir_pointer(NULL, 0)};
    memcpy(args[4].stride, (int64_t[]){-100, 1000, 17}, 24);
    compare(t, cpu_native(), args, 9, 8, 14 * 8, once);
    tir_free(t);
}

// Each program writes its place and the grid where its number says; any cut into calls will do.
static void programs_know_their_place(void **state) {
    if (!codegen_plugin()) skip();
    Tir *t = marked(state, tir_load_file("tests/codegen/data/places.tir"));
    IrArg args[] = {tir_pointer(NULL, 0)};
    const int64_t grid[] = {3, 4, 5};
    compare(t, cpu_native(), args, 1, 0, 60 * 8, grid);
    int64_t r[60] = {0};
    args[0].data = r;
    Compiled *k = compiled_load(t, cpu_native());
    memcpy(k->services.grid, grid, sizeof grid);
    for (int64_t first = 0; first < 60; first += 7)
        compiled_part(k, args, 1, first, first + 7 < 60 ? first + 7 : 60);
    compiled_part(k, args, 1, 5, 5);
    for (int64_t i = 0; i < 60; i++) assert_int_equal(r[i], i * 1000 + 5);
    k->cancel = 1;
    compiled_part(k, args, 1, 0, 60);
    assert_int_equal(r[0], 5);
    compiled_free(k);
    tir_free(t);
}

// Runs of several programs: each program is done once, however the grid is cut, and r[60] counts
// the runs.
static void runs_take_every_program_once(void **state) {
    if (!codegen_plugin()) skip();
    Tir *t = marked(state, tir_load_file("tests/codegen/data/span.tir"));
    Compiled *k = compiled_load(t, cpu_native());
    const int64_t grid[] = {3, 5, 4};
    memcpy(k->services.grid, grid, sizeof grid);
    for (int64_t part = 1; part <= 60; part++) {
        int64_t r[61] = {0};
        IrArg args[] = {tir_pointer(r, sizeof r)};
        for (int64_t first = 0; first < 60; first += part)
            compiled_part(k, args, 1, first, first + part < 60 ? first + part : 60);
        for (int64_t i = 0; i < 60; i++) assert_int_equal(r[i], 1);
        // The plane has 5 rows of 3: 3 rows, then 2, in runs of 2 and of 1.
        if (part == 1) assert_int_equal(r[60], 60);
        if (part == 60) assert_int_equal(r[60], 4 * 2 * 2);
    }
    compiled_free(k);
    tir_free(t);
}

// ---- asserts and prints -------------------------------------------------------------------------

static void asserts_end_their_program(void **state) {
    if (!codegen_plugin()) skip();
    Tir *t = marked(state, tir_load_file("tests/codegen/data/asserts.tir"));
    int64_t r[6] = {9, 9, 9, 9, 9, 9};
    Compiled *k = compiled_load(t, cpu_native());
    compiled_run(k, (IrArg[]){tir_pointer(r, sizeof r)}, 1, (int64_t[]){6, 1, 1});
    // The lane i - p is not negative first at i = p; from program 4 on it never is.
    assert_memory_equal(r, ((int64_t[]){0, 1, 2, 3, 4, 4}), sizeof r);
    assert_int_equal(k->failures.count, 4);
    for (int64_t i = 0; i < 4; i++) {
        assert_int_equal(k->failures.data[i].program, i);
        assert_int_equal(k->failures.data[i].lane, 0);
        assert_int_equal(k->failures.data[i].site, 7);
    }
    compiled_free(k);
    tir_free(t);
}

static void prints_hand_over_memory(void **state) {
    if (!codegen_plugin()) skip();
    Tir *t = load(state,
                  "kernel @k(%x: *i32) {level = cpu} { body {\n"
                  " %0 = program {dim = 0} : i64\n %1 = cast %0 : i32\n"
                  " %2 = cpu.scratch {elem = i32, count = 1, place = 64} : *i32\n store %2, %1, _\n"
                  " vec.print %x, %2 {texts = [\"x \", \" p \", \"\"], select = [0, 0], site = 3}\n"
                  " return } }");
    int32_t x = 0x1234;
    Compiled *k = compiled_load(t, cpu_native());
    compiled_run(k, (IrArg[]){tir_pointer(&x, 4)}, 1, (int64_t[]){2, 1, 1});
    assert_string_equal(k->printed.text, "0 3: 00001234 00000000\n1 3: 00001234 00000001\n");
    compiled_free(k);
    tir_free(t);
}

static void no_op_is_left_out(void **state) {
    if (!codegen_plugin()) skip();
    bundle_all_seen(CONTROL, seen_of(state));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_end_without_overflow),
        cmocka_unit_test(loops_exit_early),
        cmocka_unit_test(whiles_carry_vectors),
        cmocka_unit_test(branches_nest),
        cmocka_unit_test(arguments_are_where_meta_says),
        cmocka_unit_test(programs_know_their_place),
        cmocka_unit_test(runs_take_every_program_once),
        cmocka_unit_test(asserts_end_their_program),
        cmocka_unit_test(prints_hand_over_memory),
        cmocka_unit_test(no_op_is_left_out),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}

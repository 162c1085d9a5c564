// Estimates of launches: what is counted of a tile, which of two candidates is promising, and what
// launches without a tuned row run.
#include "compile/tune/model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
// after the above, as cmocka asks
#include <cmocka.h>

#include "compile/pipeline/compile.h"
#include "tests/support/codegen_plugin.h"

static const char matmul[] =
    "kernel matmul(type T, T a[M, K], T b[K, N], f32 c[M, N], const BM = 128, const BN = 128,\n"
    "              const BK = 64) grid(cdiv(M, BM), cdiv(N, BN))\n"
    "{\n"
    "    var acc = zeros(f32, BM, BN);\n"
    "    for k in 0 .. K step BK\n"
    "        acc = dot(a[program(0) * BM +: BM, k +: BK], b[k +: BK, program(1) * BN +: BN], "
    "acc);\n"
    "    c[program(0) * BM +: BM, program(1) * BN +: BN] = acc;\n"
    "}\n";

// One kernel, specialised; its estimate is made for a target.
typedef struct Asked {
    Unit *unit;
    FrontSpec spec;
} Asked;

static Asked ask(const char *source, Dtype type) {
    Asked a = {.unit = unit_load_text(STR("k.tile"), str(source))};
    IrBinding t = {.name = intern(a.unit->names, STR("T")), .is_type = true, .type = type};
    vec_push(a.unit->arena, &a.spec.bindings, t);
    return a;
}

static void bind(Asked *a, const char *name, int64_t value) {
    IrBinding b = {.name = intern(a->unit->names, str(name)), .value = value};
    vec_push(a->unit->arena, &a->spec.bindings, b);
}

static const IrFunc *tile_of(Asked *a) {
    const FrontKernel *kernel = unit_kernel(a->unit, STR(""));
    const Compiled *c = kernel ? unit_compile(a->unit, kernel, &a->spec, NULL) : NULL;
    StrBuf text = strbuf(a->unit->arena);
    if (!c) diags_text(a->unit->diags, (DiagStyle){0}, &text);
    if (!c) fail_msg("%s", text.text);
    return c->func;
}

static tilec_arg view(int64_t rows, int64_t columns) {
    tilec_arg a = {.kind = TILEC_ARG_VIEW};
    a.view.rank = 2;
    a.view.extent[0] = rows, a.view.extent[1] = columns;
    return a;
}

static CodeTarget target_named(const char *name) {
    CodeTarget t = {0};
    if (!cpu_target_parse(str(name), &t.cpu)) assert_true(gpu_target_parse(str(name), &t.gpu));
    return t;
}

static double seconds_on(Asked *a, const char *target, double units, ModelOptions options,
                         const tilec_arg *args, size_t count) {
    ModelMachine machine;
    assert_true(model_machine(target_named(target), units, &machine));
    return model_seconds(a->unit->arena, tile_of(a), args, count, options, &machine);
}

// The estimate of a product with these tiles.
static double product(const char *target, double units, Dtype type, const int64_t size[3],
                      const int64_t tile[3], ModelOptions options) {
    Asked a = ask(matmul, type);
    bind(&a, "BM", tile[0]), bind(&a, "BN", tile[1]), bind(&a, "BK", tile[2]);
    tilec_arg args[] = {view(size[0], size[2]), view(size[2], size[1]), view(size[0], size[1])};
    double seconds = seconds_on(&a, target, units, options, args, 3);
    unit_destroy(a.unit);
    return seconds;
}

static double cpu_product(int64_t m, int64_t n, int64_t k, int64_t bm, int64_t bn, int64_t bk) {
    return product("x86-64-v3", 2, DTYPE_F32, (int64_t[]){m, n, k}, (int64_t[]){bm, bn, bk},
                   (ModelOptions){0});
}

// A core makes 16 multiply-adds of f32 in a clock of a third of a nanosecond.
static void cpu_products_take_their_time(void **state) {
    (void)state;
    double least = 1024.0 * 1024 * 1024 / 2 / 16 / 3e9;
    double seconds = cpu_product(1024, 1024, 1024, 128, 128, 64);
    assert_true(seconds > least && seconds < 1.5 * least);
}

// More programs than are dealt one by one take as long as their sum.
static void many_programs_take_their_sum(void **state) {
    (void)state;
    double few = cpu_product(2048, 4096, 64, 64, 128, 64);   // 1,024 programs
    double many = cpu_product(2048, 4096, 128, 64, 64, 64);  // 2,048
    assert_true(many > 1.6 * few && many < 2.6 * few);
}

static void threads_share_programs(void **state) {
    (void)state;
    // One program for two threads, and two.
    assert_true(cpu_product(100, 100, 100, 128, 64, 64) * 1.3 <
                cpu_product(100, 100, 100, 128, 128, 64));
    // Two programs, of which one has nearly all the work.
    assert_true(cpu_product(1000, 130, 1000, 64, 256, 64) * 1.3 <
                cpu_product(1000, 130, 1000, 1024, 128, 64));
    // A thread that has to wake up first does not help a launch of a few microseconds.
    assert_true(cpu_product(32, 64, 32, 64, 64, 64) <= cpu_product(32, 64, 32, 64, 32, 64));
}

static void what_is_outside_costs_cpus_nothing(void **state) {
    (void)state;
    double small = cpu_product(1, 1024, 1024, 16, 128, 64);
    double large = cpu_product(1, 1024, 1024, 256, 128, 64);
    assert_true(fabs(small - large) < 1e-3 * small);
}

static double h100_product(int64_t size, int64_t bm, int64_t bn, int64_t bk, int warps,
                           int stages) {
    return product("sm_90", 132, DTYPE_F16, (int64_t[]){size, size, size}, (int64_t[]){bm, bn, bk},
                   (ModelOptions){warps, stages});
}

// As an H100 measured it (bench/results/h100-tune.json): tiles of 128 x 128 are the best for large
// products, those of 256 x 256 with 4 warps spill.
static void gpu_products(void **state) {
    (void)state;
    double best = h100_product(4096, 128, 128, 32, 4, 3);
    assert_true(isinf(h100_product(4096, 256, 256, 64, 4, 4)));
    assert_true(best < h100_product(4096, 64, 64, 32, 4, 3));
    // A small product has too few large tiles for all multiprocessors.
    assert_true(h100_product(512, 64, 64, 32, 4, 3) * 1.3 < h100_product(512, 256, 128, 32, 8, 3));
}

// No other tile promises enough to leave the one that is the fastest on an H100 (docs/hopper.md).
static void gpu_products_keep_the_best_tile(void **state) {
    (void)state;
    static const int64_t tiles[][3] = {{128, 256, 32}, {128, 128, 64}, {128, 128, 32},
                                       {128, 64, 64},  {64, 256, 64},  {64, 64, 32}};
    for (int64_t size = 2048; size <= 8192; size *= 2) {
        double best = product("sm_90a", 132, DTYPE_F16, (int64_t[]){size, size, size},
                              (int64_t[]){128, 256, 64}, (ModelOptions){8, 4});
        for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++)
            assert_true(product("sm_90a", 132, DTYPE_F16, (int64_t[]){size, size, size}, tiles[i],
                                (ModelOptions){8, 4}) *
                            1.3 >
                        best);
    }
}

static double estimate_of(const char *source, tilec_arg *args, size_t count) {
    Asked a = ask(source, DTYPE_F32);
    double seconds = seconds_on(&a, "x86-64-v3", 2, (ModelOptions){0}, args, count);
    unit_destroy(a.unit);
    return seconds;
}

static void loops_are_counted(void **state) {
    (void)state;
    static const char body[] =
        "kernel f(type T, T x[M, N], i64 n) grid(1) {\n"
        "    var s = zeros(T, 64, 64);\n"
        "    for i in 0 .. n step 3 s = s * x[0 +: 64, 0 +: 64] + 1.0;\n"
        "    x[0 +: 64, 0 +: 64] = s;\n"
        "}\n";
    tilec_arg args[] = {view(64, 64), {.kind = TILEC_ARG_INT, .integer = 30000}};
    double many = estimate_of(body, args, 2);
    args[1].integer = 15000;
    double half = estimate_of(body, args, 2);
    assert_true(many / half > 1.9 && many / half < 2.1);
    args[1].integer = 0;
    assert_true(estimate_of(body, args, 2) < half / 100);
}

static void unknown_times_are_not_guessed(void **state) {
    (void)state;
    tilec_arg args[] = {view(64, 64), view(64, 64)};
    // A bound from memory, and a loop until something holds.
    assert_true(estimate_of("kernel f(type T, T x[M, N], i32 n[K, L]) grid(1) {\n"
                            "    for i in 0 .. n[0, 0] x[i, 0] = 1.0;\n"
                            "}\n",
                            args, 2) == 0);
    assert_true(estimate_of("kernel f(type T, T x[M, N]) grid(1) {\n"
                            "    var s = x[0, 0];\n"
                            "    while (s < 100.0) s = s * 2.0;\n"
                            "    x[0, 0] = s;\n"
                            "}\n",
                            args, 1) == 0);
    // Arguments that are not the kernel's.
    assert_true(estimate_of("kernel f(type T, T x[M, N]) grid(1) { x[0, 0] = 1.0; }\n", args, 2) ==
                0);
}

// Masks of pointers are not known, so a time is not; products are.
static void pointers_have_operations_only(void **state) {
    (void)state;
    static const char body[] =
        "kernel f(type T, *T x, *T y) grid(1) {\n"
        "    let p = x + expand(iota(16), axis = 1) * 16 + expand(iota(16), axis = 0);\n"
        "    store(y + expand(iota(16), axis = 1) * 16 + expand(iota(16), axis = 0),\n"
        "          T(dot(load(p), load(p))));\n"
        "}\n";
    tilec_arg args[] = {view(16, 16), {.kind = TILEC_ARG_POINTER}};
    assert_true(estimate_of(body, args, 2) == 0);
    Asked a = ask(body, DTYPE_F32);
    double flops = model_flops(a.unit->arena, tile_of(&a), args, 2, (int64_t[]){3, 1, 1});
    assert_true(flops == 2.0 * 16 * 16 * 16 * 3);
    unit_destroy(a.unit);
}

static void a_failed_condition_excludes(void **state) {
    (void)state;
    static const char body[] =
        "kernel f(type T, T x[M, N], const B = 32) requires N <= B grid(M)\n"
        "{ x[program(0), 0 +: B] = 1.0; }\n";
    tilec_arg args[] = {view(8, 32)};
    double fits = estimate_of(body, args, 1);
    assert_true(fits > 0 && isfinite(fits));
    args[0] = view(8, 33);
    assert_true(isinf(estimate_of(body, args, 1)));
}

static void operations_are_those_inside(void **state) {
    (void)state;
    Asked a = ask(matmul, DTYPE_F32);
    tilec_arg args[] = {view(130, 100), view(100, 257), view(130, 257)};
    double flops = model_flops(a.unit->arena, tile_of(&a), args, 3, (int64_t[]){2, 3, 1});
    assert_true(flops == 2.0 * 130 * 257 * 100);
    unit_destroy(a.unit);
}

// ---- Launches ----

// Each program writes its tile's extent, so that the result tells which one ran.
static const char tiled[] =
    "kernel tiled(f32 x[M, N], const B = 64) grid(cdiv(M, B))\n"
    "{\n"
    "    var s = x[program(0) * B +: B, 0 +: 64];\n"
    "    for k in 0 .. 300 s = s * 0.5 + 1.0;\n"
    "    x[program(0) * B +: B, 0 +: 64] = s * 0.0 + f32(B);\n"
    "}\n"
    "tune tiled { B: 64, 32; }\n";

typedef struct World {
    tilec_context *context;
    tilec_device *device;
    tilec_kernel *kernel;
} World;

static void open_kernel(World *w, const char *device, const char *text, const tilec_spec *spec) {
    assert_int_equal(tilec_context_create(NULL, &w->context), TILEC_OK);
    assert_int_equal(tilec_device_open(w->context, device, &w->device), TILEC_OK);
    tilec_status s = tilec_kernel_from_source(w->context, w->device, "k.tile", text, strlen(text),
                                              NULL, spec, &w->kernel);
    if (s) fail_msg("%s", tilec_last_error(w->context));
}

static void open_world(World *w, const char *device, const tilec_spec *spec) {
    open_kernel(w, device, tiled, spec);
}

static float tile_that_ran(const World *w, int64_t rows) {
    enum { COLUMNS = 64, MOST = 128 };
    static float x[MOST * COLUMNS];
    for (int i = 0; i < MOST * COLUMNS; i++) x[i] = 1;
    tilec_buffer b;
    size_t size = (size_t)rows * COLUMNS * sizeof *x;
    assert_int_equal(tilec_buffer_create(w->device, size, &b), TILEC_OK);
    assert_int_equal(tilec_buffer_write(w->device, NULL, b, 0, x, size), TILEC_OK);
    tilec_arg args[] = {tilec_arg_view(tilec_buffer_view2(TILEC_F32, b, rows, COLUMNS))};
    if (tilec_launch(w->kernel, NULL, args, 1)) fail_msg("%s", tilec_last_error(w->context));
    assert_int_equal(tilec_buffer_read(w->device, NULL, b, 0, x, size), TILEC_OK);
    tilec_buffer_destroy(w->device, b);
    return x[0];
}

static void launches_take_the_promising_one(void **state) {
    (void)state;
    if (!codegen_built()) skip();
    World w;
    open_world(&w, "cpu:2", NULL);
    assert_true(tile_that_ran(&w, 64) == 32);   // two programs for two threads
    assert_true(tile_that_ran(&w, 32) == 64);   // one program in any case
    assert_true(tile_that_ran(&w, 128) == 64);  // enough programs
    assert_true(tile_that_ran(&w, 64) == 32);
    tilec_context_destroy(w.context);
    open_world(&w, "cpu:1", NULL);
    assert_true(tile_that_ran(&w, 64) == 64);
    tilec_context_destroy(w.context);
    tilec_spec_entry given = TILEC_CONST("B", 64);
    open_world(&w, "cpu:2", &(tilec_spec){1, &given});
    assert_true(tile_that_ran(&w, 64) == 64);
    tilec_context_destroy(w.context);
}

// The choice for a class of shapes is none about what is refused: 128 is chosen with 32, and 96 is
// of its class, but no multiple of the default.
static void refusals_are_those_of_the_default(void **state) {
    (void)state;
    static const char text[] =
        "kernel tiled(f32 x[M, N], const B = 128) requires M % B == 0 grid(M / B)\n"
        "{\n"
        "    var s = x[program(0) * B +: B, 0 +: 64];\n"
        "    for k in 0 .. 300 s = s * 0.5 + 1.0;\n"
        "    x[program(0) * B +: B, 0 +: 64] = s * 0.0 + f32(B);\n"
        "}\n"
        "tune tiled { B: 128, 32; }\n";
    if (!codegen_built()) skip();
    World w;
    open_kernel(&w, "cpu:2", text, NULL);
    assert_true(tile_that_ran(&w, 128) == 32);
    static float x[96 * 64];
    tilec_view v = {.dtype = TILEC_F32, .rank = 2, .data = x, .extent = {96, 64}};
    v.stride[0] = 64, v.stride[1] = 1;
    tilec_arg args[] = {tilec_arg_view(v)};
    assert_int_equal(tilec_launch(w.kernel, NULL, args, 1), TILEC_LAUNCH_REFUSED);
    tilec_context_destroy(w.context);
}

// A launch does not wait for estimates of hundreds of long candidates.
static void long_spaces_are_not_estimated(void **state) {
    (void)state;
    char text[20000] =
        "kernel tiled(f32 x[M, N], const B = 64, const A = 1) grid(cdiv(M, B))\n"
        "{\n"
        "    var s = x[program(0) * B +: B, 0 +: 64];\n";
    for (int i = 0; i < 300; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "    s = s * 0.%d + f32(A);\n",
                 i);
    strcat(text,
           "    x[program(0) * B +: B, 0 +: 64] = s * 0.0 + f32(B);\n}\ntune tiled { B: 64, 32;  "
           "A: 1");
    for (int i = 2; i <= 100; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", %d", i);
    strcat(text, "; }\n");
    if (!codegen_built()) skip();
    World w;
    open_kernel(&w, "cpu:2", text, NULL);
    assert_true(tile_that_ran(&w, 64) == 64);
    tilec_context_destroy(w.context);
}

// Times of the interpreter and of a simulator mean nothing.
static void others_take_the_default(void **state) {
    (void)state;
    World w;
    open_world(&w, "interp", NULL);
    assert_true(tile_that_ran(&w, 64) == 64);
    tilec_context_destroy(w.context);
    if (!codegen_built()) skip();
    open_world(&w, "sim:sm_80", NULL);
    assert_true(tile_that_ran(&w, 64) == 64);
    tilec_context_destroy(w.context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_products_take_their_time),
        cmocka_unit_test(many_programs_take_their_sum),
        cmocka_unit_test(threads_share_programs),
        cmocka_unit_test(what_is_outside_costs_cpus_nothing),
        cmocka_unit_test(gpu_products),
        cmocka_unit_test(gpu_products_keep_the_best_tile),
        cmocka_unit_test(loops_are_counted),
        cmocka_unit_test(unknown_times_are_not_guessed),
        cmocka_unit_test(pointers_have_operations_only),
        cmocka_unit_test(a_failed_condition_excludes),
        cmocka_unit_test(operations_are_those_inside),
        cmocka_unit_test(launches_take_the_promising_one),
        cmocka_unit_test(refusals_are_those_of_the_default),
        cmocka_unit_test(long_spaces_are_not_estimated),
        cmocka_unit_test(others_take_the_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

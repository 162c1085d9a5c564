// Kernels on simulated GPUs through the public API: variants, the cache, what is refused, what the
// machine finds.
#define _GNU_SOURCE  // setenv, mkdtemp
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilec/tilec.h>
// after the above, as cmocka asks
#include <cmocka.h>

#include "base/arena.h"
#include "tests/support/codegen_plugin.h"

enum { N = 96 };

typedef struct World {
    Arena *arena;
    char folder[64];
    tilec_context *context;
    tilec_device *device;
} World;

static void open_device(World *w, const char *name) {
    tilec_context_options o = {.size = sizeof o};
    assert_int_equal(tilec_context_create(&o, &w->context), TILEC_OK);
    if (tilec_device_open(w->context, name, &w->device))
        fail_msg("%s", tilec_last_error(w->context));
}

static int set_up(void **state) {
    World *w = calloc(1, sizeof *w);
    w->arena = arena_create();
    snprintf(w->folder, sizeof w->folder, "%s/tilec-test-XXXXXX", P_tmpdir);
    assert_non_null(mkdtemp(w->folder));
    setenv("TILEC_CACHE_DIR", arena_printf(w->arena, "%s/cache", w->folder), 1);
    open_device(w, "sim:sm_80");
    *state = w;
    return 0;
}

static int tear_down(void **state) {
    World *w = *state;
    tilec_context_destroy(w->context);
    unsetenv("TILEC_CACHE_DIR");
    unsetenv("TILEC_LLVM_LIBRARY");
    unsetenv("TILEC_COMPILE_IN_CHILD");
    assert_int_equal(system(arena_printf(w->arena, "rm -rf '%s'", w->folder)), 0);
    arena_destroy(w->arena);
    free(w);
    return 0;
}

static tilec_status make(World *w, const char *text, const tilec_spec *spec, tilec_kernel **k) {
    *k = NULL;
    return tilec_kernel_from_source(w->context, w->device, "k.tile", text, strlen(text), NULL, spec,
                                    k);
}

static tilec_kernel *kernel_of(World *w, const char *text) {
    tilec_kernel *k;
    if (make(w, text, NULL, &k)) fail_msg("%s", tilec_last_error(w->context));
    return k;
}

static void assert_said(const World *w, const char *part) {
    if (!strstr(tilec_last_error(w->context), part))
        fail_msg("expected '%s' in: %s", part, tilec_last_error(w->context));
}

static const char plus_text[] =
    "kernel plus(f32 x[M], f32 y[M], const B = 64) grid(cdiv(M, B)) {\n"
    "    y[program(0) * B +: B] = x[program(0) * B +: B] + 1.0;\n"
    "}\n";

static tilec_buffer buffer_of(World *w, const float *data, size_t count) {
    tilec_buffer b;
    assert_int_equal(tilec_buffer_create(w->device, count * sizeof *data, &b), TILEC_OK);
    assert_int_equal(tilec_buffer_write(w->device, NULL, b, 0, data, count * sizeof *data),
                     TILEC_OK);
    return b;
}

// y = x + 1 on `count` elements from element `offset` on; no other element changes.
static void check_plus(World *w, tilec_kernel *k, int64_t offset, int64_t count) {
    float x[N], y[N];
    for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = -5;
    tilec_buffer from = buffer_of(w, x, N), to = buffer_of(w, y, N);
    tilec_view vx = tilec_buffer_view1(TILEC_F32, from, count);
    tilec_view vy = tilec_buffer_view1(TILEC_F32, to, count);
    vx.offset = vy.offset = offset;
    tilec_status s = tilec_launch(k, NULL, TILEC_ARGS(vx, vy));
    if (!s) s = tilec_device_synchronize(w->device);
    if (s) fail_msg("%s", tilec_last_error(w->context));
    assert_int_equal(tilec_buffer_read(w->device, NULL, to, 0, y, sizeof y), TILEC_OK);
    for (int i = 0; i < N; i++)
        assert_true(y[i] == (i >= offset && i < offset + count ? (float)i + 1 : -5));
    tilec_buffer_destroy(w->device, from);
    tilec_buffer_destroy(w->device, to);
}

static void both_variants_run(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    tilec_kernel *k = kernel_of(w, plus_text);
    check_plus(w, k, 0, 64);
    check_plus(w, k, 4, 92);
    check_plus(w, k, 0, 61);  // a row whose size does not divide by 16 bytes
    check_plus(w, k, 1, 64);  // an array that begins at none
    tilec_kernel_destroy(k);
}

static void the_cache_needs_no_compiler(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    tilec_kernel *k = kernel_of(w, plus_text);
    check_plus(w, k, 0, 64);
    tilec_context_destroy(w->context);
    setenv("TILEC_LLVM_LIBRARY", "/nowhere", 1);
    open_device(w, "sim:sm_80:3");  // another order of warps is the same code
    k = kernel_of(w, plus_text);
    check_plus(w, k, 0, 64);
    tilec_context_destroy(w->context);
    open_device(w, "sim:sm_90");  // another target is not
    assert_int_equal(make(w, plus_text, NULL, &k), TILEC_UNAVAILABLE);
}

// LLVM's options are the whole process's, and links set them back.
static void what_was_compiled_before_changes_nothing(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    static const char text[] =
        "kernel product(f16 x[M, K], f16 y[K, N], f32 z[M, N]) grid(1) {\n"
        "    var t = zeros(f32, 64, 64);\n"
        "    for k in 0 .. K step 32 t = dot(x[0 +: 64, k +: 32], y[k +: 32, 0 +: 64], t);\n"
        "    z[0 +: 64, 0 +: 64] = t;\n"
        "}\n";
    static const char *const devices[] = {"sim:sm_80", "sim:gfx942", "cpu", "sim:sm_80"};
    for (int i = 0; i < 4; i++) {
        tilec_context_destroy(w->context);
        setenv("TILEC_CACHE_DIR", arena_printf(w->arena, "%s/%d", w->folder, i), 1);
        open_device(w, devices[i]);
        tilec_kernel_destroy(kernel_of(w, text));
    }
    assert_int_equal(system(arena_printf(w->arena, "diff -r '%s/0' '%s/3'", w->folder, w->folder)),
                     0);
}

static void a_child_compiles(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    tilec_context_destroy(w->context);
    setenv("TILEC_COMPILE_IN_CHILD", "1", 1);
    open_device(w, "sim:sm_75");
    check_plus(w, kernel_of(w, plus_text), 0, 64);
}

static void findings_fail_the_launch(void **state) {
    static const char text[] =
        "kernel far(*f32 p, const B = 64) grid(1) {\n"
        "    let x = load(p + iota(B));\n"
        "    store(p + iota(B), x + 1.0);\n"
        "}\n";
    World *w = *state;
    if (!codegen_built()) return;
    float data[N] = {0};
    tilec_buffer b = buffer_of(w, data, 32);
    tilec_kernel *k = kernel_of(w, text);
    tilec_status s = tilec_launch(k, NULL, TILEC_ARGS(tilec_arg_buffer(b, 0)));
    if (!s) s = tilec_device_synchronize(w->device);
    assert_int_equal(s, TILEC_KERNEL_FAILED);
    assert_said(w, "k.tile:2:");
    assert_said(w, "out-of-bounds");
    tilec_diagnostic d;
    assert_int_equal(tilec_diagnostic_get(w->context, 0, &d), TILEC_OK);
    assert_string_equal(d.file, "k.tile");
    assert_int_equal(d.line, 2);
    // The stream goes on, once it has said so.
    assert_int_equal(tilec_device_synchronize(w->device), TILEC_OK);
    check_plus(w, kernel_of(w, plus_text), 0, 64);
}

// The error for a pointer of the host says that it is the host's.
static void pointers_of_the_host_are_told(void **state) {
    static const char *const devices[] = {"sim:sm_80", "sim:gfx942"};
    World *w = *state;
    if (!codegen_built()) return;
    float data[N] = {0};
    for (size_t i = 0; i < 2; i++) {
        tilec_context_destroy(w->context);
        open_device(w, devices[i]);
        tilec_kernel *k = kernel_of(w, "kernel k(f32 x[M]) grid(1) { x[0 +: 16] = 1.0; }\n");
        tilec_status s = tilec_launch(k, NULL, TILEC_ARGS(tilec_view1(TILEC_F32, data, N)));
        if (!s) s = tilec_device_synchronize(w->device);
        assert_int_equal(s, TILEC_KERNEL_FAILED);
        assert_said(w, "it is a host pointer, and a GPU cannot access host memory");
    }
}

static void grids_have_limits(void **state) {
    static const char text[] = "kernel g(i64 n, f32 x[M]) grid(1, n) { x[program(1)] = 1.0; }\n";
    World *w = *state;
    if (!codegen_built()) return;
    float data[N] = {0};
    tilec_view v = tilec_buffer_view1(TILEC_F32, buffer_of(w, data, N), N);
    tilec_kernel *k = kernel_of(w, text);
    assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(tilec_arg_int(65536), v)),
                     TILEC_LAUNCH_REFUSED);
    assert_said(w, "dimension 1 has 65536 programs, GPUs have at most 65535 there");
    assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(tilec_arg_int(2), v)), TILEC_OK);
    assert_int_equal(tilec_device_synchronize(w->device), TILEC_OK);
}

// ---- remainders ---------------------------------------------------------------------------------

static uint64_t next_random(uint64_t *state) {  // xorshift
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

// Any bits; now and then special ones, and pairs that are near.
static uint64_t any_bits(uint64_t *state, unsigned width, uint64_t beside) {
    uint64_t bits = next_random(state) >> (64 - width), top = UINT64_C(1) << (width - 1);
    unsigned fraction = width == 64 ? 52 : 23;
    switch (next_random(state) % 8) {
    case 0: return bits & top;                                        // a zero
    case 1: return bits & ((UINT64_C(1) << fraction) - 1);            // a subnormal
    case 2: return (bits & top) | (top - (UINT64_C(1) << fraction));  // infinite
    case 3: return beside + (bits & 3);
    case 4: return beside & ~((UINT64_C(1) << fraction / 2) - 1);
    default: return bits;
    }
}

enum { PAIRS = 4096 };

static void check_remainders(World *w, tilec_dtype type, const uint64_t *bits, void *memory[3]) {
    size_t size = type == TILEC_F64 ? 8 : 4;
    static const char text[] =
        "kernel rest(type T, T x[M], T y[M], T z[M], const B = 256)\n"
        "    grid(cdiv(M, B)) {\n"
        "    let i = program(0) * B;\n"
        "    z[i +: B] = x[i +: B] % y[i +: B];\n"
        "}\n";
    tilec_buffer b[3];
    tilec_view v[3];
    for (int i = 0; i < 3; i++) {
        for (size_t k = 0; i < 2 && k < PAIRS; k++)
            memcpy((char *)memory[i] + k * size, &bits[2 * k + (size_t)i], size);
        assert_int_equal(tilec_buffer_create(w->device, PAIRS * size, &b[i]), TILEC_OK);
        assert_int_equal(tilec_buffer_write(w->device, NULL, b[i], 0, memory[i], PAIRS * size),
                         TILEC_OK);
        v[i] = tilec_buffer_view1(type, b[i], PAIRS);
    }
    if (tilec_launch(kernel_of(w, text), NULL, TILEC_ARGS(v[0], v[1], v[2])) ||
        tilec_device_synchronize(w->device))
        fail_msg("%s", tilec_last_error(w->context));
    assert_int_equal(tilec_buffer_read(w->device, NULL, b[2], 0, memory[2], PAIRS * size),
                     TILEC_OK);
    for (int i = 0; i < 3; i++) tilec_buffer_destroy(w->device, b[i]);
}

// As C's fmod, to the bit, whatever the numbers.
static void remainders_are_exact(void **state) {
    static double wide[3][PAIRS];
    static float narrow[3][PAIRS];
    static uint64_t bits[2 * PAIRS];
    World *w = *state;
    if (!codegen_built()) return;
    uint64_t random = 1;
    for (size_t i = 0; i < 2 * PAIRS; i++) bits[i] = any_bits(&random, 64, i ? bits[i - 1] : 1);
    check_remainders(w, TILEC_F64, bits, (void *[]){wide[0], wide[1], wide[2]});
    for (size_t i = 0; i < PAIRS; i++) {
        double want = fmod(wide[0][i], wide[1][i]);
        if (isnan(want) ? !isnan(wide[2][i]) : memcmp(&want, &wide[2][i], 8) != 0)
            fail_msg("%a %% %a is %a, not %a", wide[0][i], wide[1][i], want, wide[2][i]);
    }
    for (size_t i = 0; i < 2 * PAIRS; i++) bits[i] = any_bits(&random, 32, i ? bits[i - 1] : 1);
    check_remainders(w, TILEC_F32, bits, (void *[]){narrow[0], narrow[1], narrow[2]});
    for (size_t i = 0; i < PAIRS; i++) {
        float want = fmodf(narrow[0][i], narrow[1][i]);
        if (isnan(want) ? !isnan(narrow[2][i]) : memcmp(&want, &narrow[2][i], 4) != 0)
            fail_msg("%a %% %a is %a, not %a", (double)narrow[0][i], (double)narrow[1][i],
                     (double)want, (double)narrow[2][i]);
    }
}

static void refuse_option(World *w, const char *name, int64_t value, const char *said) {
    tilec_spec_entry e = {.kind = TILEC_SPEC_OPTION, .name = name, .value = value};
    tilec_kernel *k;
    assert_int_equal(make(w, plus_text, &(tilec_spec){1, &e}, &k), TILEC_UNSUPPORTED);
    assert_said(w, said);
}

static void what_gpus_lack_is_refused(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    refuse_option(w, "warps", 3,
                  "asks for 3 warps of 32 threads; there may be 1, 2, 4, 8, 16 or 32");
    refuse_option(w, "warps", 64, "asks for 64 warps");
    refuse_option(w, "sanitize", 1, "has no sanitize: run it on interp or cpu");
    tilec_device *other = NULL;
    static const char *const names[] = {"sim:sm_60", "sim:gfx906"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(tilec_device_open(w->context, names[i], &other), TILEC_UNAVAILABLE);
    assert_int_equal(tilec_device_open(w->context, "sim", &other), TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_device_open(w->context, "sim:sm_8", &other), TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_device_open(w->context, "sim:sm_80:x", &other), TILEC_INVALID_ARGUMENT);
    assert_said(w, "expected a number that orders the warps, found 'x'");
}

// Rows with a NaN at each place, and one row without: the greatest and the least, and both of what
// they are made of, whichever lane of a warp holds the NaN.
static const char extremes_text[] =
    "kernel extremes(f32 x[R, 256], f32 y[R, 3]) grid(R) {\n"
    "    let r = program(0);\n"
    "    let row = x[r, 0 +: 256];\n"
    "    let top = max(row);\n"
    "    y[r, 0] = top;\n"
    "    y[r, 1] = min(row);\n"
    "    y[r, 2] = max(row - top);\n"
    "}\n";

enum { EXTREME_ROWS = 257, EXTREME_WIDTH = 256 };

static void check_extremes(const char *name, const float *y) {
    for (int r = 0; r < EXTREME_ROWS; r++) {
        const float *of = y + 3 * (size_t)r;
        bool right = r < EXTREME_WIDTH ? isnan(of[0]) && isnan(of[1]) && isnan(of[2])
                                       : of[0] == 255 && of[1] == 0 && of[2] == 0;
        if (!right)
            fail_msg("%s, row %d: %g, %g, %g", name, r, (double)of[0], (double)of[1],
                     (double)of[2]);
    }
}

static void nan_of_any_lane_counts(void **state) {
    static const char *const devices[] = {"sim:sm_75", "sim:sm_80", "sim:gfx90a", "sim:gfx1100",
                                          "sim:gfx1201"};
    World *w = *state;
    if (!codegen_built()) return;
    float *x = arena_new(w->arena, float, EXTREME_ROWS *EXTREME_WIDTH);
    float *y = arena_new(w->arena, float, EXTREME_ROWS * 3);
    for (int r = 0; r < EXTREME_ROWS; r++)
        for (int c = 0; c < EXTREME_WIDTH; c++)
            x[r * EXTREME_WIDTH + c] = c == r ? NAN : (float)((c * 37 + r) % EXTREME_WIDTH);
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++)
        for (int warps = 1; warps <= 4; warps *= 4) {
            assert_int_equal(tilec_device_open(w->context, devices[d], &w->device), TILEC_OK);
            tilec_kernel *k;
            if (make(w, extremes_text, TILEC_SPEC(TILEC_OPTION("warps", warps)), &k))
                fail_msg("%s", tilec_last_error(w->context));
            tilec_buffer from = buffer_of(w, x, EXTREME_ROWS * EXTREME_WIDTH);
            tilec_buffer to = buffer_of(w, y, EXTREME_ROWS * 3);
            tilec_view vx = tilec_buffer_view2(TILEC_F32, from, EXTREME_ROWS, EXTREME_WIDTH);
            tilec_view vy = tilec_buffer_view2(TILEC_F32, to, EXTREME_ROWS, 3);
            tilec_status status = tilec_launch(k, NULL, TILEC_ARGS(vx, vy));
            if (!status) status = tilec_device_synchronize(w->device);
            if (status) fail_msg("%s", tilec_last_error(w->context));
            size_t size = EXTREME_ROWS * 3 * sizeof *y;
            assert_int_equal(tilec_buffer_read(w->device, NULL, to, 0, y, size), TILEC_OK);
            check_extremes(devices[d], y);
            tilec_buffer_destroy(w->device, from);
            tilec_buffer_destroy(w->device, to);
            tilec_kernel_destroy(k);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(both_variants_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_cache_needs_no_compiler, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_compiled_before_changes_nothing, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_child_compiles, set_up, tear_down),
        cmocka_unit_test_setup_teardown(findings_fail_the_launch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pointers_of_the_host_are_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(remainders_are_exact, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nan_of_any_lane_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(grids_have_limits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_gpus_lack_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

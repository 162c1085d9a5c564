// Arrays that overlap, are the same, or are apart, of one kind or of two: results are the
// interpreter's, whatever is loaded early.
#define _GNU_SOURCE  // setenv
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

#include "target/cpu.h"

enum { N = 900, ALL = 4 * N };

// `late`: what a step reads others have written, if the arrays are one. `slides`: steps overlap.
// `again`: an outer loop comes back to the same places, or to others. `held`: read before it goes.
static const struct {
    const char *name, *body;
    int stages;
} kernels[] = {
    {"plain", "    for k in 0 .. N step 128 y[k +: 128] = f32(x[k +: 128]) * 0.5 + 1.0;\n", 3},
    {"sums",
     "    var t = 0.0;\n"
     "    for k in 0 .. N step 128 {\n"
     "        let v = f32(x[k +: 128]);\n"
     "        t = t * 0.5 + max(v);\n"
     "        y[k +: 128] = v * 0.5 + t;\n"
     "    }\n",
     4},
    {"late", "    for k in 0 .. N step 128 y[k + 128 +: 128] = f32(x[k +: 128]) * 0.5 + 1.0;\n", 3},
    {"after",
     "    for k in 0 .. N step 128 {\n"
     "        y[k +: 128] = full(f32, 2.0, 128);\n"
     "        y[k +: 128] = f32(x[k +: 128]) * 0.5 + 1.0;\n"
     "    }\n",
     3},
    {"slides", "    for k in 0 .. N step 100 y[k +: 512] = f32(x[k +: 512]) * 0.5 + 1.0;\n", 3},
    {"scaled",
     "    for k in 0 .. cdiv(N, 128) y[k * 128 + 4 +: 128] = f32(x[k * 128 + 4 +: 128]) * 0.5 + "
     "1.0;\n",
     3},
    {"again",
     "    for j in 0 .. 3\n"
     "        for k in 0 .. N step 128 y[k +: 128] = f32(x[k +: 128]) * 0.5 + 1.0;\n",
     3},
    {"moved",
     "    for j in 0 .. 3\n"
     "        for k in j .. N step 128 y[k +: 128] = f32(x[k +: 128]) * 0.5 + 1.0;\n",
     3},
    {"held",
     "    let v = f32(x[0 +: 512]);\n"
     "    y[0 +: 512] = full(f32, 2.0, 512);\n"
     "    y[4 +: 512] = v * 0.5 + 1.0;\n",
     1},
    {"whiles",
     "    var k = i64(0);\n"
     "    while k < i64(600) {\n"
     "        y[k +: 128] = f32(x[k +: 128]) * 0.5 + 1.0;\n"
     "        k = k + i64(60);\n"
     "    }\n",
     1},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

// The begin of y, with x beginning at N: in place, disjoint, and overlapping by little and much.
static const int64_t begins[] = {N,       N + 1,   N - 1,       N + 4, N - 4,
                                 N + 128, N - 128, N + N - 130, 0,     3 * N - 1};
enum { BEGINS = sizeof begins / sizeof *begins };

// The types of x and y; both read the same 32 bits.
static const struct {
    const char *x, *y;
    tilec_dtype read;
} kinds[] = {
    {"f32", "f32", TILEC_F32},
    {"i32", "f32", TILEC_I32},
    {"strided f32", "f32", TILEC_F32},
    {"f32", "strided f32", TILEC_F32},
    {"strided i32", "strided f32", TILEC_I32},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void launch(tilec_context *c, tilec_device *device, tilec_kernel *kernel, int kind,
                   int64_t at, float *data) {
    tilec_buffer b = {0};
    for (int i = 0; i < ALL; i++) data[i] = (float)(i * 7 % 64) - 20;
    tilec_status s = tilec_buffer_create(device, ALL * sizeof *data, &b);
    if (!s) s = tilec_buffer_write(device, NULL, b, 0, data, ALL * sizeof *data);
    tilec_view x = tilec_buffer_view1(kinds[kind].read, b, N);
    tilec_view y = tilec_buffer_view1(TILEC_F32, b, N);
    x.offset = N, y.offset = at;
    if (!strncmp(kinds[kind].x, "strided", 7)) x.stride[0] = 2;
    if (!s) s = tilec_launch(kernel, NULL, TILEC_ARGS(x, y));
    if (!s) s = tilec_device_synchronize(device);
    if (!s) s = tilec_buffer_read(device, NULL, b, 0, data, ALL * sizeof *data);
    if (s) fail_msg("y begins at %lld: %s", (long long)at - N, tilec_last_error(c));
    tilec_buffer_destroy(device, b);
}

static void kernel_of(tilec_context *c, tilec_device *device, const char *text, tilec_kernel **k) {
    if (tilec_kernel_from_source(c, device, "k.tile", text, strlen(text), NULL, NULL, k))
        fail_msg("%s\n%s", text, tilec_last_error(c));
}

static void same_as_interp(const char *name, int first, int last) {
    static float wanted[ALL], found[ALL];
    tilec_context_options o = {.size = sizeof o};
    tilec_context *c;
    tilec_device *interp, *device;
    assert_int_equal(tilec_context_create(&o, &c), TILEC_OK);
    assert_int_equal(tilec_device_open(c, "interp", &interp), TILEC_OK);
    assert_int_equal(tilec_device_open(c, name, &device), TILEC_OK);
    for (int i = 0; i < KERNELS * (last - first); i++) {
        int kind = first + i / KERNELS;
        char text[512];
        int n = i % KERNELS;
        snprintf(text, sizeof text,
                 "kernel %s(%s x[N], %s y[N]) grid(1) {\n%s}\ntune %s { stages: %d; }\n",
                 kernels[n].name, kinds[kind].x, kinds[kind].y, kernels[n].body, kernels[n].name,
                 kernels[n].stages);
        tilec_kernel *reference, *compiled;
        kernel_of(c, interp, text, &reference);
        kernel_of(c, device, text, &compiled);
        for (int k = 0; k < BEGINS; k++) {
            launch(c, interp, reference, kind, begins[k], wanted);
            launch(c, device, compiled, kind, begins[k], found);
            if (memcmp(wanted, found, sizeof wanted) != 0)
                fail_msg("%s%s, y begins at %lld: other results", text, name,
                         (long long)begins[k] - N);
        }
        tilec_kernel_destroy(reference);
        tilec_kernel_destroy(compiled);
    }
    tilec_context_destroy(c);
}

static void on_processors(void **state) {
    static const char *const levels[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
    (void)state;
    for (CpuLevel level = CPU_X86_64_V2; level <= CPU_X86_64_V4; level++) {
        if (level > cpu_native().level) {
            print_message("not run: %s, which this processor is not\n", levels[level]);
            continue;
        }
        setenv("TILEC_CPU_TARGET", levels[level], 1);
        same_as_interp("cpu", 0, KINDS);
    }
    unsetenv("TILEC_CPU_TARGET");
}

static void on_simulated_gpus(void **state) {
    static const char *const devices[] = {"sim:sm_75", "sim:sm_80:7", "sim:sm_90", "sim:gfx942"};
    (void)state;
    same_as_interp("sim:sm_80", 0, KINDS);
    for (int i = 0; i < 4; i++) same_as_interp(devices[i], 0, 1);
}

static int set_up(void **state) {
    (void)state;
    return setenv("TILEC_CACHE", "off", 1);
}

int main(void) {
#ifndef TEST_CODEGEN
    print_message(
        "skipped: libtilec_llvm was not built: apt-get install llvm-22-dev liblld-22-dev\n");
    return 0;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_processors),
        cmocka_unit_test(on_simulated_gpus),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}

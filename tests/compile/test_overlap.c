// Arrays that overlap, are the same, or are apart, on simulated GPUs: results are the
// interpreter's, whatever a loop loads early.
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

enum { N = 900, ALL = 4 * N };

// `late`: what a step reads others have written, if the arrays are one. `slides`: steps overlap.
// `again`: an outer loop comes back to the same places, or to others.
static const char *const kernels[] = {
    "kernel plain(f32 x[N], f32 y[N]) grid(1) {\n"
    "    for k in 0 .. N step 128 y[k +: 128] = x[k +: 128] * 0.5 + 1.0;\n"
    "}\ntune plain { stages: 3; }\n",
    "kernel sums(f32 x[N], f32 y[N]) grid(1) {\n"
    "    var t = 0.0;\n"
    "    for k in 0 .. N step 128 {\n"
    "        let v = x[k +: 128];\n"
    "        t = t * 0.5 + max(v);\n"
    "        y[k +: 128] = v * 0.5 + t;\n"
    "    }\n"
    "}\ntune sums { stages: 4; }\n",
    "kernel late(f32 x[N], f32 y[N]) grid(1) {\n"
    "    for k in 0 .. N step 128 y[k + 128 +: 128] = x[k +: 128] * 0.5 + 1.0;\n"
    "}\ntune late { stages: 3; }\n",
    "kernel after(f32 x[N], f32 y[N]) grid(1) {\n"
    "    for k in 0 .. N step 128 {\n"
    "        y[k +: 128] = full(f32, 2.0, 128);\n"
    "        y[k +: 128] = x[k +: 128] * 0.5 + 1.0;\n"
    "    }\n"
    "}\ntune after { stages: 3; }\n",
    "kernel slides(f32 x[N], f32 y[N]) grid(1) {\n"
    "    for k in 0 .. N step 100 y[k +: 512] = x[k +: 512] * 0.5 + 1.0;\n"
    "}\ntune slides { stages: 3; }\n",
    "kernel scaled(f32 x[N], f32 y[N]) grid(1) {\n"
    "    for k in 0 .. cdiv(N, 128) y[k * 128 + 4 +: 128] = x[k * 128 + 4 +: 128] * 0.5 + 1.0;\n"
    "}\ntune scaled { stages: 3; }\n",
    "kernel again(f32 x[N], f32 y[N]) grid(1) {\n"
    "    for j in 0 .. 3\n"
    "        for k in 0 .. N step 128 y[k +: 128] = x[k +: 128] * 0.5 + 1.0;\n"
    "}\ntune again { stages: 3; }\n",
    "kernel moved(f32 x[N], f32 y[N]) grid(1) {\n"
    "    for j in 0 .. 3\n"
    "        for k in j .. N step 128 y[k +: 128] = x[k +: 128] * 0.5 + 1.0;\n"
    "}\ntune moved { stages: 3; }\n",
    "kernel whiles(f32 x[N], f32 y[N]) grid(1) {\n"
    "    var k = i64(0);\n"
    "    while k < i64(600) {\n"
    "        y[k +: 128] = x[k +: 128] * 0.5 + 1.0;\n"
    "        k = k + i64(60);\n"
    "    }\n"
    "}\n",
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

// Where y begins, x beginning at N: in place, disjoint, and over each other by little and much.
static const int64_t begins[] = {N,       N + 1,   N - 1,       N + 4, N - 4,
                                 N + 128, N - 128, N + N - 130, 0,     3 * N - 1};
enum { BEGINS = sizeof begins / sizeof *begins };

static void launch(tilec_context *c, tilec_device *device, const char *text, int64_t at,
                   float *data) {
    tilec_kernel *k = NULL;
    tilec_buffer b = {0};
    for (int i = 0; i < ALL; i++) data[i] = (float)(i * 7 % 64) - 20;
    tilec_status s =
        tilec_kernel_from_source(c, device, "k.tile", text, strlen(text), NULL, NULL, &k);
    if (!s) s = tilec_buffer_create(device, ALL * sizeof *data, &b);
    if (!s) s = tilec_buffer_write(device, NULL, b, 0, data, ALL * sizeof *data);
    tilec_view x = tilec_buffer_view1(TILEC_F32, b, N), y = x;
    x.offset = N, y.offset = at;
    if (!s) s = tilec_launch(k, NULL, TILEC_ARGS(x, y));
    if (!s) s = tilec_device_synchronize(device);
    if (!s) s = tilec_buffer_read(device, NULL, b, 0, data, ALL * sizeof *data);
    if (s) fail_msg("%s\ny begins at %lld: %s", text, (long long)at - N, tilec_last_error(c));
    tilec_buffer_destroy(device, b);
    tilec_kernel_destroy(k);
}

static void results_are_the_same(void **state) {
    static const char *const devices[] = {"sim:sm_75", "sim:sm_80", "sim:sm_80:7", "sim:sm_90"};
    static float wanted[ALL], found[ALL];
    (void)state;
    setenv("TILEC_CACHE", "off", 1);
    tilec_context_options o = {.size = sizeof o};
    tilec_context *c;
    tilec_device *interp, *device;
    assert_int_equal(tilec_context_create(&o, &c), TILEC_OK);
    assert_int_equal(tilec_device_open(c, "interp", &interp), TILEC_OK);
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
        assert_int_equal(tilec_device_open(c, devices[d], &device), TILEC_OK);
        for (size_t i = 0; i < KERNELS * BEGINS; i++) {
            const char *text = kernels[i / BEGINS];
            launch(c, interp, text, begins[i % BEGINS], wanted);
            launch(c, device, text, begins[i % BEGINS], found);
            if (memcmp(wanted, found, sizeof wanted) != 0)
                fail_msg("%s%s, y begins at %lld: other results", text, devices[d],
                         (long long)begins[i % BEGINS] - N);
        }
    }
    tilec_context_destroy(c);
}

int main(void) {
#ifndef TEST_CODEGEN
    print_message("skipped: libtilec_llvm was not built\n");
    return 0;
#endif
    const struct CMUnitTest tests[] = {cmocka_unit_test(results_are_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Kernels and contexts that go while what was launched of them still runs.
#define _POSIX_C_SOURCE 200809L  // setenv
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <tilec/tilec.h>

#include <cmocka.h>

#include "tests/support/codegen_plugin.h"

enum { COUNT = 4096, KERNELS = 3, ROUNDS = 4 };

// Long enough to be running still when its kernel goes; the assert makes the end of the launch look
// at the kernel's metadata.
static const char slow_text[] =
    "kernel slow(f32 x[N], i64 n, const B = 16) grid(cdiv(N, B))\n"
    "{\n    let i = program(0) * B;\n    var v = x[i +: B];\n    assert(n > 0);\n"
    "    for k in 0 .. n { v = v * 1.0001 + 0.001; }\n    x[i +: B] = v;\n}\n";

static tilec_context *open_context(tilec_device **device) {
    tilec_context *c = NULL;
    assert_int_equal(tilec_context_create(NULL, &c), TILEC_OK);
    assert_int_equal(tilec_device_open(c, "cpu:2", device), TILEC_OK);
    return c;
}

static tilec_kernel *make(tilec_context *c, tilec_device *d) {
    tilec_kernel *k = NULL;
    if (tilec_kernel_from_source(c, d, "slow.tile", slow_text, strlen(slow_text), NULL, NULL, &k))
        fail_msg("%s", tilec_last_error(c));
    return k;
}

static void start(tilec_context *c, tilec_kernel *k, tilec_stream *s, float *x) {
    if (tilec_launch(k, s, TILEC_ARGS(tilec_view1(TILEC_F32, x, COUNT), 20000)))
        fail_msg("%s", tilec_last_error(c));
}

static bool codegen_is_there(void) {
    if (codegen_plugin()) return true;
    print_message(
        "skipped: libtilec_llvm was not built: apt-get install llvm-22-dev liblld-22-dev\n");
    return false;
}

static void a_kernel_goes_and_its_code_stays(void **state) {
    (void)state;
    if (!codegen_is_there()) skip();
    static float x[COUNT];
    tilec_device *d;
    tilec_context *c = open_context(&d);
    for (int round = 0; round < ROUNDS; round++) {
        tilec_kernel *stays = make(c, d), *goes = make(c, d);
        start(c, goes, NULL, x);
        tilec_kernel_destroy(goes);
        tilec_kernel *next = make(c, d);  // takes memory that was freed
        assert_int_equal(tilec_device_synchronize(d), TILEC_OK);
        tilec_kernel_destroy(stays);
        tilec_kernel_destroy(next);
    }
    tilec_context_destroy(c);
}

static void a_context_goes_with_all_it_made(void **state) {
    (void)state;
    if (!codegen_is_there()) skip();
    static float x[KERNELS][COUNT];
    for (int round = 0; round < ROUNDS; round++) {
        tilec_device *d;
        tilec_context *c = open_context(&d);
        for (int i = 0; i < KERNELS; i++) {
            tilec_stream *s = NULL;
            assert_int_equal(tilec_stream_create(d, &s), TILEC_OK);
            start(c, make(c, d), s, x[i]);
        }
        tilec_context_destroy(c);
        for (int i = 0; i < KERNELS; i++) assert_true(x[i][COUNT - 1] > 0);  // all of it ran
    }
}

int main(void) {
    setenv("TILEC_CACHE", "off", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_goes_and_its_code_stays),
        cmocka_unit_test(a_context_goes_with_all_it_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

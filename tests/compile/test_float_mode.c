// The caller's float mode (rounding, subnormals, signals) changes nothing that is compiled or
// computed, and it is restored.
#define _GNU_SOURCE  // feenableexcept
#include <fenv.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <tilec/tilec.h>
// after the above, as cmocka asks
#include <cmocka.h>

enum { N = 7 };

static void mode_usual(void) {}
static void mode_upward(void) { fesetround(FE_UPWARD); }
static void mode_signals(void) { feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW); }
static void mode_downward(void) { fesetround(FE_DOWNWARD); }
static void mode_cutting(void) { fesetround(FE_TOWARDZERO); }

// Results (0x8000), operands (0x40), or both.
static void flush(unsigned bits) {
#ifdef __x86_64__
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | bits);
#else
    (void)bits;
#endif
}
static void mode_flushing(void) { flush(0x8040); }
static void mode_flushing_results(void) { flush(0x8000); }
static void mode_flushing_operands(void) { flush(0x40); }

static void compute(const char *device, void (*mode)(void), float y[N]) {
    static const char text[] =
        "kernel k(f32 x[N], f32 y[M]) grid(1) {\n"
        "    y[0] = x[0] * 1e-38;\n"
        "    y[1] = f32(1.0) / f32(3.0) + f32(1e-9);\n"
        "    y[2] = x[1] / x[2];\n"
        "    y[3] = exp(x[0]) + pow(x[0], x[2]) + sin(x[1]);\n"
        "    y[4] = x[1] / x[3];\n"
        "    y[5] = 0.1;\n"
        "    y[6] = x[4] * 1e10;\n"
        "}\n";
    float x[5] = {0.5F, 2, 3, 0, 1e-40F};
    tilec_context *context = NULL;
    tilec_device *d = NULL;
    tilec_kernel *k = NULL;
    tilec_context_options o = {.size = sizeof o, .cache_folder = ""};
    assert_int_equal(tilec_context_create(&o, &context), TILEC_OK);
    assert_int_equal(tilec_device_open(context, device, &d), TILEC_OK);
    fenv_t usual, set, left;
    fegetenv(&usual);
    mode();
    fegetenv(&set);
    tilec_status made =
        tilec_kernel_from_source(context, d, "k.tile", text, sizeof text - 1, NULL, NULL, &k);
    tilec_status ran =
        made ? made
             : tilec_launch(k, NULL,
                            TILEC_ARGS(tilec_view1(TILEC_F32, x, 5), tilec_view1(TILEC_F32, y, N)));
    if (!ran) ran = tilec_device_synchronize(d);
    fegetenv(&left);
    fesetenv(&usual);
    if (ran) fail_msg("%s: %s", device, tilec_last_error(context));
#ifdef __x86_64__
    enum { MODE = 0xffc0 };
    assert_int_equal(set.__mxcsr & MODE, left.__mxcsr & MODE);
    assert_int_equal(set.__control_word, left.__control_word);
#endif
    tilec_context_destroy(context);
}

static void of_no_mode(void **state) {
    static void (*const modes[])(void) = {
        mode_upward,           mode_downward,          mode_cutting, mode_flushing,
        mode_flushing_results, mode_flushing_operands, mode_signals};
    static const char *const devices[] = {"interp",
#ifdef TEST_CODEGEN
                                          "cpu:1", "cpu:2"
#endif
    };
    (void)state;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        float usual[N], y[N];
        compute(devices[i], mode_usual, usual);
        for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
            compute(devices[i], modes[m], y);
            if (memcmp(usual, y, sizeof y)) fail_msg("%s: mode %zu", devices[i], m);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_no_mode)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

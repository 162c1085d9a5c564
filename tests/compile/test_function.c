// Kernels as plain C functions, on every device.
#include "compile/jit/function.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/host.h"

// A library without libffi says so; then there is nothing more to test.
static bool get(Host *h, tilec_kernel *k, tilec_function_pointer *f) {
    tilec_status s = tilec_function(k, f);
    if (s == TILEC_UNAVAILABLE && strstr(tilec_last_error(h->context), "without libffi")) {
        print_message("skipped: %s\n", tilec_last_error(h->context));
        return false;
    }
    host_expect(h, TILEC_OK, "", s);
    return true;
}

static void test_views(Host *h) {
    tilec_kernel *k =
        host_kernel(h,
                    "kernel scale(f32 x[R, C], f32 y[R, C], f32 a) requires C < 100 grid(R) {\n"
                    "    let r = program(0);\n    y[r, 0 +: 8] = x[r, 0 +: 8] * a;\n}\n");
    const char *text = NULL;
    assert_int_equal(tilec_function_signature(k, &text), TILEC_OK);
    assert_string_equal(
        text, "tilec_status scale(const float *x, int64_t R, int64_t C, float *y, float a)");
    tilec_function_pointer f, again;
    if (!get(h, k, &f)) return;
    tilec_status (*scale)(const float *, int64_t, int64_t, float *, float) =
        (tilec_status(*)(const float *, int64_t, int64_t, float *, float))f;
    float x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {0};
    host_expect(h, TILEC_OK, "", scale(x, 2, 3, y, 0.5f));
    for (int i = 0; i < 6; i++) assert_true(y[i] == x[i] * 0.5f);
    host_expect(h, TILEC_LAUNCH_REFUSED, "scale requires C < 100", scale(x, 0, 100, y, 1));
    host_expect(h, TILEC_LAUNCH_REFUSED, "argument 'x' is negative (-3)", scale(x, 2, -3, y, 1));
    host_expect(h, TILEC_LAUNCH_REFUSED, "'y' has no memory", scale(x, 2, 3, NULL, 1));
    host_expect(h, TILEC_OK, "", scale(x, 2, 3, y, 2));
    assert_true(y[5] == 12);
    assert_int_equal(tilec_function(k, &again), TILEC_OK);
    assert_true(again == f);
}

static void test_scalars(Host *h) {
    tilec_kernel *k = host_kernel(
        h,
        "kernel all(bool b, i8 c, u8 d, i16 e, u16 f, i32 g, u32 h, i64 i, u64 j, f32 m,\n"
        "           f64 n, f64 out[11]) grid(1) {\n"
        "    out[0] = f64(i32(b)); out[1] = f64(c); out[2] = f64(d); out[3] = f64(e);\n"
        "    out[4] = f64(f); out[5] = f64(g); out[6] = f64(h); out[7] = f64(i);\n"
        "    out[8] = f64(j); out[9] = f64(m); out[10] = n;\n}\n");
    const char *text = NULL;
    assert_int_equal(tilec_function_signature(k, &text), TILEC_OK);
    assert_string_equal(text,
                        "tilec_status all(bool b, int8_t c, uint8_t d, int16_t e, uint16_t f, "
                        "int32_t g, uint32_t h, int64_t i, uint64_t j, float m, double n, "
                        "double *out)");
    tilec_function_pointer f;
    if (!get(h, k, &f)) return;
    typedef tilec_status All(bool, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t,
                             uint64_t, float, double, double *);
    double out[11] = {0};
    static const double expected[11] = {
        1, -128, 255, -32768, 65535, INT32_MIN, UINT32_MAX, -9007199254740992.0, 4e9, 1.5, 1e300};
    host_expect(h, TILEC_OK, "",
                ((All *)f)(true, -128, 255, -32768, 65535, INT32_MIN, UINT32_MAX, -9007199254740992,
                           4000000000u, 1.5f, 1e300, out));
    for (int i = 0; i < 11; i++)
        if (out[i] != expected[i]) fail_msg("%d: %g, expected %g", i, out[i], expected[i]);
}

// Formats that C lacks: floats by value, rounded once, and bits in memory.
static void test_narrow(Host *h) {
    tilec_kernel *k = host_kernel(
        h,
        "kernel narrow(f16 a, bf16 b, f8e4m3 c, f16 x[1], bf16 y[1], f8e4m3 z[1]) grid(1) {\n"
        "    x[0] = a; y[0] = b; z[0] = c;\n}\n");
    const char *text = NULL;
    assert_int_equal(tilec_function_signature(k, &text), TILEC_OK);
    assert_string_equal(text,
                        "tilec_status narrow(float a, float b, float c, uint16_t *x, "
                        "uint16_t *y, uint8_t *z)");
    tilec_function_pointer f;
    if (!get(h, k, &f)) return;
    typedef tilec_status Narrow(float, float, float, uint16_t *, uint16_t *, uint8_t *);
    uint16_t x = 0, y = 0;
    uint8_t z = 0;
    host_expect(h, TILEC_OK, "", ((Narrow *)f)(0.1f, 0.1f, 1e9f, &x, &y, &z));
    assert_int_equal(x, 0x2e66);
    assert_int_equal(y, 0x3dcd);
    assert_int_equal(z, 0x7e);  // the greatest there is, 448
}

// Strides, fixed extents, an extent of two arguments, raw pointers, names that C keeps for itself.
static void test_shapes(Host *h) {
    tilec_kernel *k = host_kernel(h,
                                  "kernel t(strided i16 x[N, 3], *i16 int, i16 y[3, N]) grid(N) {\n"
                                  "    let i = program(0);\n"
                                  "    for j in 0 .. 3 y[j, i] = x[i, j] + load(int);\n}\n");
    const char *text = NULL;
    assert_int_equal(tilec_function_signature(k, &text), TILEC_OK);
    assert_string_equal(text,
                        "tilec_status t(const int16_t *x, int64_t N, int64_t x_stride0, "
                        "int64_t x_stride1, const int16_t *int_, int16_t *y)");
    tilec_function_pointer f;
    if (!get(h, k, &f)) return;
    typedef tilec_status T(const int16_t *, int64_t, int64_t, int64_t, const int16_t *, int16_t *);
    int16_t x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {0}, one = 100;
    // x as the transpose of a 3 by 2 array: y is then that array again.
    host_expect(h, TILEC_OK, "", ((T *)f)(x, 2, 1, 2, &one, y));
    for (int i = 0; i < 6; i++) assert_int_equal(y[i], x[i] + 100);
}

static void test_failures(Host *h) {
    tilec_kernel *k = host_kernel(
        h, "kernel k(i32 x[N]) grid(N) {\n    assert(x[program(0)] < 2, \"too big\");\n}\n");
    tilec_function_pointer f;
    if (!get(h, k, &f)) return;
    tilec_status (*check)(const int32_t *, int64_t) = (tilec_status(*)(const int32_t *, int64_t))f;
    int32_t x[2] = {1, 2};
    host_expect(h, TILEC_KERNEL_FAILED, "too big", check(x, 2));
    host_expect(h, TILEC_OK, "", check(x, 1));
    host_expect(h, TILEC_INVALID_ARGUMENT, "pointer", tilec_function(k, NULL));
    assert_int_equal(tilec_function(NULL, &f), TILEC_INVALID_ARGUMENT);
    tilec_kernel *none = host_kernel(h, "kernel none() grid(1) { print(\"here\"); }\n");
    const char *text = NULL;
    assert_int_equal(tilec_function_signature(none, &text), TILEC_OK);
    assert_string_equal(text, "tilec_status none(void)");
    assert_true(get(h, none, &f));
    host_expect(h, TILEC_OK, "", ((tilec_status(*)(void))f)());
    assert_string_equal(h->printed, "here\n");
    tilec_kernel *open = host_kernel(h, "kernel o(type T, T x[N]) grid(1) { x[0] = x[1]; }\n");
    host_expect(h, TILEC_INVALID_ARGUMENT, "o leaves types open", tilec_function(open, &f));
}

int main(void) {
    static const HostTest tests[] = {
        {"views", test_views},   {"scalars", test_scalars},   {"narrow", test_narrow},
        {"shapes", test_shapes}, {"failures", test_failures},
    };
    return host_run(tests, sizeof tests / sizeof *tests);
}

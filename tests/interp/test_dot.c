// dot: every pair of types and accumulators, exactly on small whole numbers, within its bound on
// others.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/tir.h"

enum { B = 2, M = 4, N = 8, K = 16 };

static uint64_t random_state = 0x123456789U;
static uint64_t random_bits(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static uint64_t whole_number(Dtype t) {
    int64_t v = (int64_t)(random_bits() % 7) - (dtype_is(t, DTYPE_CLASS_UINT) ? 0 : 3);
    if (dtype_is(t, DTYPE_CLASS_ANYFLOAT)) return dtype_from_double(t, (double)v, false);
    return dtype_wrap(t, (uint64_t)v);
}

static double number(Dtype t, const void *data, uint64_t i) {
    uint64_t bits = dtype_load(t, data, i);
    return dtype_is(t, DTYPE_CLASS_ANYFLOAT) ? dtype_to_double(t, bits)
                                             : (double)dtype_to_i64(t, bits);
}

static Tir *dot_kernel(Dtype a, Dtype b, Dtype c, bool acc, const char *precision) {
    const char *x = dtype_name(a), *y = dtype_name(b), *z = dtype_name(c);
    return tir_load(
        "kernel @k(%%a: view %s[2, 4, 16], %%b: view %s[2, 16, 8], %%c: view %s[2, 4, 8], "
        "%%r: view %s[2, 4, 8]) { body {\n"
        "%%0 = const {value = 0} : i64\n"
        "%%1 = view_load %%a, _, %%0, %%0, %%0 {select = [2, 4, 16]} : %s[2,4,16]\n"
        "%%2 = view_load %%b, _, %%0, %%0, %%0 {select = [2, 16, 8]} : %s[2,16,8]\n"
        "%%3 = view_load %%c, _, %%0, %%0, %%0 {select = [2, 4, 8]} : %s[2,4,8]\n"
        "%%4 = dot %%1, %%2, %s {precision = %s} : %s[2,4,8]\n"
        "view_store %%r, %%4, _, %%0, %%0, %%0 {select = [2, 4, 8]}\n"
        "return\n} }",
        x, y, z, z, x, y, z, acc ? "%3" : "_", precision, z);
}

static void run_dot(Tir *t, void *a, void *b, void *c, void *r) {
    IrArg args[] = {tir_view(a, 3, (int64_t[]){B, M, K}), tir_view(b, 3, (int64_t[]){B, K, N}),
                    tir_view(c, 3, (int64_t[]){B, M, N}), tir_view(r, 3, (int64_t[]){B, M, N})};
    assert_int_equal(tir_run(t, args, 4, 1), IR_RUN_DONE);
}

static void check_exact(Dtype ta, Dtype tb, Dtype tc, bool acc) {
    static uint64_t a[B * M * K], b[B * K * N], c[B * M * N], r[B * M * N];
    for (uint64_t i = 0; i < B * M * K; i++) dtype_store(ta, a, i, whole_number(ta));
    for (uint64_t i = 0; i < B * K * N; i++) dtype_store(tb, b, i, whole_number(tb));
    for (uint64_t i = 0; i < B * M * N; i++) dtype_store(tc, c, i, whole_number(tc));
    Tir *t = dot_kernel(ta, tb, tc, acc, "ieee");
    run_dot(t, a, b, c, r);
    for (uint64_t i = 0; i < B * M * N; i++) {
        double want = acc ? number(tc, c, i) : 0;
        for (uint64_t k = 0; k < K; k++)
            want += number(ta, a, (i / N) * K + k) *
                    number(tb, b, (i / (M * N)) * K * N + k * N + i % N);
        uint64_t bits = dtype_is(tc, DTYPE_CLASS_ANYFLOAT)
                            ? dtype_from_double(tc, want, true)
                            : dtype_wrap(tc, (uint64_t)(int64_t)want);
        if (number(tc, r, i) != number(tc, &bits, 0))
            fail_msg("%s x %s + %s: %g, expected %g", dtype_name(ta), dtype_name(tb),
                     dtype_name(tc), number(tc, r, i), want);
    }
    tir_free(t);
}

static void every_pair_of_types(void **state) {
    (void)state;
    static const Dtype pairs[][3] = {
        {DTYPE_F16, DTYPE_F16, DTYPE_F32},
        {DTYPE_F16, DTYPE_F16, DTYPE_F16},
        {DTYPE_F16, DTYPE_F16, DTYPE_F64},
        {DTYPE_BF16, DTYPE_BF16, DTYPE_F32},
        {DTYPE_BF16, DTYPE_BF16, DTYPE_F64},
        {DTYPE_BF16, DTYPE_BF16, DTYPE_F16},
        {DTYPE_F32, DTYPE_F32, DTYPE_F32},
        {DTYPE_F64, DTYPE_F64, DTYPE_F64},
        {DTYPE_F8E4M3, DTYPE_F8E4M3, DTYPE_F32},
        {DTYPE_F8E5M2, DTYPE_F8E5M2, DTYPE_F32},
        {DTYPE_F8E4M3, DTYPE_F8E5M2, DTYPE_F32},
        {DTYPE_F8E5M2, DTYPE_F8E4M3, DTYPE_F16},
        {DTYPE_F8E4M3FNUZ, DTYPE_F8E4M3FNUZ, DTYPE_F32},
        {DTYPE_F8E5M2FNUZ, DTYPE_F8E5M2FNUZ, DTYPE_F32},
        {DTYPE_I8, DTYPE_I8, DTYPE_I32},
        {DTYPE_I8, DTYPE_U8, DTYPE_I32},
        {DTYPE_U8, DTYPE_I8, DTYPE_I32},
        {DTYPE_U8, DTYPE_U8, DTYPE_I32},
        {DTYPE_I16, DTYPE_I16, DTYPE_I16},
        {DTYPE_I32, DTYPE_I32, DTYPE_I32},
        {DTYPE_I64, DTYPE_I64, DTYPE_I64},
        {DTYPE_U32, DTYPE_U32, DTYPE_U32},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int acc = 0; acc < 2; acc++) check_exact(pairs[i][0], pairs[i][1], pairs[i][2], acc);
}

// 127 * 127 * 16 leaves 16 bits; the extremes of i8 and u8 too.
static void bytes_multiply_exactly(void **state) {
    (void)state;
    int8_t a[B * M * K];
    uint8_t b[B * K * N];
    int32_t c[B * M * N], r[B * M * N];
    memset(a, -128, sizeof a);
    memset(b, 255, sizeof b);
    for (int i = 0; i < B * M * N; i++) c[i] = INT32_MIN;
    Tir *t = dot_kernel(DTYPE_I8, DTYPE_U8, DTYPE_I32, true, "ieee");
    run_dot(t, a, b, c, r);
    int64_t want = (int64_t)INT32_MIN - 128 * 255 * K + (INT64_C(1) << 32);
    for (int i = 0; i < B * M * N; i++) assert_int_equal(r[i], want);
    tir_free(t);
}

// Error and |A||B| of each element against double, for one precision.
static double worst_error(const char *precision) {
    static float a[B * M * K], b[B * K * N], c[B * M * N], r[B * M * N];
    for (int i = 0; i < B * M * K; i++)
        a[i] = (float)((double)(random_bits() >> 11) * 0x1p-53 - 0.5);
    for (int i = 0; i < B * K * N; i++)
        b[i] = (float)((double)(random_bits() >> 11) * 0x1p-53 - 0.5);
    Tir *t = dot_kernel(DTYPE_F32, DTYPE_F32, DTYPE_F32, false, precision);
    run_dot(t, a, b, c, r);
    double worst = 0;
    for (int i = 0; i < B * M * N; i++) {
        double exact = 0, magnitude = 0;
        for (int k = 0; k < K; k++) {
            double p =
                (double)a[(i / N) * K + k] * (double)b[(i / (M * N)) * K * N + k * N + i % N];
            exact += p;
            magnitude += fabs(p);
        }
        worst = fmax(worst, fabs((double)r[i] - exact) / magnitude);
    }
    tir_free(t);
    return worst;
}

// Each within its bound, and each really different from the next better one.
static void precisions_keep_their_bounds(void **state) {
    (void)state;
    double u = 0x1p-24, ieee = 0, tf32 = 0, tf32x3 = 0, bf16x3 = 0;
    for (int round = 0; round < 20; round++) {
        ieee = fmax(ieee, worst_error("ieee"));
        tf32 = fmax(tf32, worst_error("tf32"));
        tf32x3 = fmax(tf32x3, worst_error("tf32x3"));
        bf16x3 = fmax(bf16x3, worst_error("bf16x3"));
    }
    assert_true(ieee <= 2 * (K + 2) * u);
    assert_true(tf32 <= 2 * (K + 2) * u + 0x1p-10 + 0x1p-22);
    assert_true(tf32x3 <= 2 * (3 * K + 2) * u + 3 * 0x1p-22);
    assert_true(bf16x3 <= 2 * (3 * K + 2) * u + 3 * 0x1p-16);
    assert_true(tf32 > 0x1p-14);
    assert_true(tf32x3 < 0x1p-20);
    assert_true(bf16x3 > 0x1p-21 && bf16x3 < 0x1p-15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_of_types),
        cmocka_unit_test(bytes_multiply_exactly),
        cmocka_unit_test(precisions_keep_their_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

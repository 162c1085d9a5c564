// Random kernels on special values: the same bits on every target, the sign of zero included. A few
// in each slice; 20,000 of them with TILEC_TEST_WHOLE=1.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/gen/gen_run.h"

static void test_targets(void **state) {
    (void)state;
    gen_run_targets(4000000, 20000);
}

// Selects that look like min or max are none: zeros of two signs, signaling NaNs.
static void test_choices(void **state) {
    (void)state;
    gen_run_found("choices");
}

// Two programs change neighbours within one word.
static void test_bytes(void **state) {
    (void)state;
    gen_run_found("bytes");
}

// The zeros of 0 - x and x + 0.
static void test_zeros(void **state) {
    (void)state;
    gen_run_found("zeros");
}

// The sign and payload of NaN: on NVIDIA's GPUs negation and magnitude lose them.
static void test_nans(void **state) {
    (void)state;
    gen_run_found("nans");
}

// Signs that are shifted in, put together with other bytes.
static void test_shifts(void **state) {
    (void)state;
    gen_run_found("shifts");
}

// Products of 64 bits of what other lanes hold.
static void test_rows(void **state) {
    (void)state;
    gen_run_found("rows");
}

// Subnormal quotients of f64 that are halfway between two numbers.
static void test_quotients(void **state) {
    (void)state;
    gen_run_found("quotients");
}

// minnum and maxnum of one NaN and one number that cannot be NaN.
static void test_numbers(void **state) {
    (void)state;
    gen_run_found("numbers");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets), cmocka_unit_test(test_choices),
        cmocka_unit_test(test_bytes),   cmocka_unit_test(test_zeros),
        cmocka_unit_test(test_nans),    cmocka_unit_test(test_shifts),
        cmocka_unit_test(test_rows),    cmocka_unit_test(test_quotients),
        cmocka_unit_test(test_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

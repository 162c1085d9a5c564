// Mutants of random kernels through every kind of back end, and mutants of their code on the warp
// machine: a few in each slice; 10,000 of each with TILEC_TEST_WHOLE=1. They are for the
// sanitizers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/gen/gen_run.h"

static void test_kernels(void **state) {
    (void)state;
    gen_run_mutants(5000000, 10000);
}

static void test_code(void **state) {
    (void)state;
    gen_run_code_mutants(6000000, 10000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels), cmocka_unit_test(test_code)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

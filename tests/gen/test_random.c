// A slice of the random programs, chosen by hash; all of them with TILEC_TEST_WHOLE=1
// (long_random).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/gen/gen.h"
#include "tests/gen/gen_run.h"

static void test_kernels(void **state) {
    (void)state;
    gen_run_kernels(0, 60);
}

static void test_code(void **state) {
    (void)state;
    gen_run_code(0, 150);
}

static void test_opcodes(void **state) {
    (void)state;
    gen_run_coverage(300);
}

static void test_sources(void **state) {
    (void)state;
    gen_run_sources(0, 200);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_code),
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_opcodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Random kernels as code of processors that this machine is not.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/gen/gen_run.h"

static void test_aarch64(void **state) {
    (void)state;
    gen_run_foreign("aarch64", 3000000, 100);
}

static void test_v4(void **state) {
    (void)state;
    gen_run_foreign("v4", 5000000, 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_aarch64), cmocka_unit_test(test_v4)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Random kernels as code of AArch64.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/gen/gen_run.h"

static void test_foreign(void **state) {
    (void)state;
    gen_run_foreign(3000000, 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_foreign)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

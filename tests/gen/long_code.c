// Random kernels as code of every target; 100,000 of them with TILEC_TEST_WHOLE=1.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/gen/gen_run.h"

static void test_code(void **state) {
    (void)state;
    gen_run_code(2000000, 3125);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_code)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

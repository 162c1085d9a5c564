// Many random kernels: other ones than those of test_random.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/gen/gen_run.h"

static void test_kernels(void **state) {
    (void)state;
    gen_run_kernels(1000000, 500);
}

static void test_sources(void **state) {
    (void)state;
    gen_run_sources(1000000, 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels),
                                       cmocka_unit_test(test_sources)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

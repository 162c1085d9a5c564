// The matrix on every device of the table: a slice chosen by hash that holds every (op, element
// type) at least once, or the whole where TILEC_TEST_WHOLE is set. TILEC_TEST_OP names one op.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/matrix/matrix.h"

static void every_cell_agrees_with_its_reference(void **state) {
    (void)state;
    const char *whole = getenv("TILEC_TEST_WHOLE");
    matrix_check(whole && *whole && *whole != '0');
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell_agrees_with_its_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

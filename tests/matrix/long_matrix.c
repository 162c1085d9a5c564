// The whole matrix, every cell, on every device of the table.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/matrix/matrix.h"

static void every_cell_agrees_with_its_reference(void **state) {
    (void)state;
    matrix_check(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell_agrees_with_its_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

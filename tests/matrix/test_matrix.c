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

// A matrix in which nothing ran misses every cell but those that have a row of unsupported.def.
static void a_missing_cell_is_red(void **state) {
    (void)state;
    Matrix *m = matrix_create(false);
    uint32_t owed = 0;
    for (int code = 0; code < IR_OPCODES; code++)
        for (int column = 0; column < COLUMNS; column++)
            owed += column_allowed(matrix_classes((IrOpcode)code), column);
    assert_int_equal(matrix_missing(m) + matrix_unsupported_count(), owed);
    assert_int_equal(m->failures + matrix_unsupported_count(), owed);
    matrix_destroy(m);
}

// The comparison must accept what counts as equal, and reject anything else.
static void a_wrong_answer_is_red(void **state) {
    (void)state;
    assert_true(answer_fits(DTYPE_F16, answer_value(0x7e00), 0xfe01));    // any NaN
    assert_false(answer_fits(DTYPE_F16, answer_bits(0x7e00), 0xfe01));    // not in a move
    assert_false(answer_fits(DTYPE_F32, answer_value(0), 0x80000000));    // the sign of zero
    assert_true(answer_fits(DTYPE_F32, answer_bound(0, 0), 0x80000000));  // but for bounds
    assert_false(answer_fits(DTYPE_F32, answer_bound(1, 0x1p-24L), 0x3f800001));
    assert_true(answer_fits(DTYPE_F32, answer_bound(1, 0x1p-23L), 0x3f800001));
    assert_false(answer_fits(DTYPE_F32, answer_bound(1, 1), 0x7f800000));
    assert_false(answer_fits(DTYPE_I32, (Answer){ANSWER_NONE, 1, 0, 0}, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_answer_is_red),
        cmocka_unit_test(a_missing_cell_is_red),
        cmocka_unit_test(every_cell_agrees_with_its_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// The test itself, for the slice and for the whole.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/matrix/matrix.h"

void matrix_check(bool whole) {
    const char *only = getenv("TILEC_TEST_OP");
    Matrix *m = matrix_create(whole);
    IrOpcode one = IR_OPCODES;
    if (only) assert_true(ir_op_from_text(str(only), &one));
    for (int code = 0; code < IR_OPCODES; code++)
        if (!only || (IrOpcode)code == one) matrix_run_op(m, (IrOpcode)code);
    uint32_t missing = only ? 0 : matrix_missing(m);
    uint64_t failures = m->failures;
    print_message("matrix: %llu of %llu cells ran on %u device(s), %llu failed, %u missing\n",
                  (unsigned long long)m->ran, (unsigned long long)m->cells, matrix_device_count,
                  (unsigned long long)failures, missing);
    if (failures) print_error("%s", m->failed.text);
    matrix_destroy(m);
    assert_int_equal(missing, 0);
    assert_int_equal(failures, 0);
}

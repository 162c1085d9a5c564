// The test itself, for the slice and for the whole.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/matrix/matrix.h"

static void print_devices(const Matrix *m) {
    for (uint32_t d = 0; d < matrix_device_count; d++) {
        const Device *device = &matrix_devices[d];
        const char *why = device->compiled ? matrix_not_compiled(device) : NULL;
        print_message(
            "  %-11s %llu cells, %llu left out (sanitize, thread.*, cpu.*, shared memory)%s%s\n",
            device->name, (unsigned long long)m->runs[d], (unsigned long long)m->left_out[d],
            why ? ": skipped, " : "", why ? why : "");
    }
}

void matrix_check(bool whole) {
    const char *only = getenv("TILEC_TEST_OP");
    Matrix *m = matrix_create(whole);
    IrOpcode one = IR_OPCODES;
    if (only) assert_true(ir_op_from_text(str(only), &one));
    for (int code = 0; code < IR_OPCODES; code++)
        if (!only || (IrOpcode)code == one) matrix_run_op(m, (IrOpcode)code);
    uint32_t missing = only ? 0 : matrix_missing(m);
    uint64_t failures = m->failures;
    print_message("matrix: %llu of %llu cells ran, %llu failed, %u missing\n",
                  (unsigned long long)m->ran, (unsigned long long)m->cells,
                  (unsigned long long)failures, missing);
    print_devices(m);
    if (failures) fputs(m->failed.text, stderr);  // print_error cuts it
    matrix_destroy(m);
    assert_int_equal(missing, 0);
    assert_int_equal(failures, 0);
}

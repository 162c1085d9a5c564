// The matrix on simulated GPUs, every cell: TILEC_TEST_CHOICES (1) times with other GPUs, numbers
// of warps, facts and orders of warps. 20 times are each cell on every GPU and in every order, 44
// times on every GPU with every number of warps.
#define _GNU_SOURCE  // setenv
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/matrix/matrix.h"

static void every_cell_agrees_with_its_reference(void **state) {
    const char *choices = getenv("TILEC_TEST_CHOICES");
    (void)state;
    setenv("TILEC_TEST_DEVICE", "sim", 1);
    setenv("TILEC_TEST_WHOLE", "1", 1);
    for (int i = 0; i < (choices ? atoi(choices) : 1); i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        setenv("TILEC_TEST_CHOICE", number, 1);
        matrix_check(true);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell_agrees_with_its_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Making a failing kernel small keeps it within its buffers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/edit.h"
#include "ir/verify/verify.h"
#include "tests/gen/gen.h"
#include "tests/support/tir.h"

// The first op of a code in the kernel.
static IrOp *first(const Tir *t, IrOpcode code) {
    IrOp *op = ir_body(t->module->funcs.data[0])->first;
    while (op && op->code != code) op = op->next;
    assert_non_null(op);
    return op;
}

static void addresses_stay(void **state) {
    (void)state;
    Tir *t = tir_load(
        "kernel @k(%%p: *i32, %%r: view i32[1]) { body {\n"
        "%%0 = const {value = 0} : i64\n%%1 = const {value = 3} : i32\n"
        "%%2 = bitcast %%p : u64\n%%3 = bitcast %%2 : *i32\n%%4 = load %%3, _, _ : i32\n"
        "%%5 = add %%4, %%1 : i32\nview_store %%r, %%5, _, %%0 {select = [0]}\nreturn\n} }\n");
    IrOp *number = first(t, IR_BITCAST), *sum = first(t, IR_ADD);
    assert_false(gen_drop(number));
    assert_false(gen_drop(number->next));
    assert_true(ir_result(number, 0)->uses != NULL);
    assert_true(gen_drop(sum));
    ir_erase(sum);
    assert_true(ir_verify(t->module, t->diags));
    tir_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(addresses_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

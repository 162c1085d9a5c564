// The analysis of a function is kept from pass to pass, until one changes the function; a pass that
// changes it and does not say so is found.
#include "passes/pass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/tir.h"

// Nothing is proven of the load, so bounds asks and changes nothing.
static Tir *load(void) {
    return tir_load(
        "kernel @k(%%x: view f32[N], %%y: view f32[N]) { body {\n"
        "%%0 = program {dim = 0} : i64\n"
        "%%1 = const {value = 32} : i64\n"
        "%%2 = mul %%0, %%1 : i64\n"
        "%%3 = view_load %%x, _, %%2 {select = [32]} : f32[32]\n"
        "view_store %%y, %%3, _, %%2 {select = [32]}\n"
        "return } }");
}

static bool run(Tir *t, PassAnalyses *a, PassId pass) {
    PassStep step = {pass, "for this test"};
    PassOptions options = {.verify = true, .analyses = a};
    return passes_run(t->module, &step, 1, &options, t->diags);
}

static void is_kept_until_a_change(void **state) {
    (void)state;
    Tir *t = load();
    const IrFunc *f = t->module->funcs.data[0];
    PassAnalyses *a = pass_analyses_create();
    assert_null(pass_analyses_ranges(a, f));
    assert_true(run(t, a, PASS_BOUNDS));
    const IrRanges *ranges = pass_analyses_ranges(a, f);
    assert_non_null(ranges);
    assert_true(run(t, a, PASS_CSE));
    assert_true(run(t, a, PASS_BOUNDS));
    assert_ptr_equal(pass_analyses_ranges(a, f), ranges);
    assert_true(run(t, a, PASS_GPU_LAYOUT));
    assert_null(pass_analyses_ranges(a, f));
    pass_analyses_destroy(a);
    tir_free(t);
}

// One of two functions changes.
static void is_kept_for_each_function(void **state) {
    (void)state;
    Tir *t = load(), *u = load();
    const IrFunc *f = t->module->funcs.data[0], *g = u->module->funcs.data[0];
    PassAnalyses *a = pass_analyses_create();
    assert_true(run(t, a, PASS_BOUNDS) && run(u, a, PASS_BOUNDS));
    pass_analyses_drop(a, f);
    assert_null(pass_analyses_ranges(a, f));
    assert_non_null(pass_analyses_ranges(a, g));
    pass_analyses_destroy(a);
    tir_free(t);
    tir_free(u);
}

static void a_hidden_change_is_found(void **state) {
    (void)state;
    Tir *t = load();
    IrFunc *f = t->module->funcs.data[0];
    PassAnalyses *a = pass_analyses_create();
    assert_true(run(t, a, PASS_BOUNDS));
    IrOp *number = ir_body(f)->first->next;
    assert_int_equal(number->code, IR_CONST);
    ir_attr_set_int(number, IR_ATTR_VALUE, 48);
    assert_false(run(t, a, PASS_CSE));
    assert_true(tir_reported(t, "defect: 'cse' changed what is known of values in 'k'"));
    pass_analyses_destroy(a);
    tir_free(t);
}

static void what_is_kept_is_compared(void **state) {
    (void)state;
    Tir *t = load();
    IrFunc *f = t->module->funcs.data[0];
    IrRanges *first = ir_ranges(t->arena, f, IR_TRUST_CHECKED);
    assert_true(ir_ranges_same(first, ir_ranges(t->arena, f, IR_TRUST_CHECKED)));
    assert_false(ir_ranges_same(first, ir_ranges(t->arena, f, IR_TRUST_ASSUMED)));
    f->extents.data[0].facts.has_range = true;
    f->extents.data[0].facts.max = 1000;
    assert_false(ir_ranges_same(first, ir_ranges(t->arena, f, IR_TRUST_CHECKED)));
    tir_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_kept_until_a_change),
        cmocka_unit_test(is_kept_for_each_function),
        cmocka_unit_test(a_hidden_change_is_found),
        cmocka_unit_test(what_is_kept_is_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// The options of compilation: one table for all who name them.
#include "ir/option.h"

#include <stdio.h>
#include <string.h>

#include "tests/ir/support.h"

static void all_have_fields_of_their_own(void **state) {
    (void)state;
    Fixture f = fixture_create();
    IrModule *m = fixture_parse_str(&f, STR("kernel @k() {\n}\n"));
    assert_non_null(m);
    IrFunc *k = m->funcs.data[0];
    for (int i = 0; i < IR_OPTIONS; i++) {
        const IrOption *o = &ir_options[i];
        assert_ptr_equal(ir_option_find(str(o->name)), o);
        assert_int_equal(ir_option_value(k, o), 0);
        *ir_option_of(k, o) = i + 1;
    }
    for (int i = 0; i < IR_OPTIONS; i++)
        assert_int_equal(ir_option_value(k, &ir_options[i]), i + 1);
    assert_int_equal(k->stages, IR_OPTION_stages + 1);
    const IrFunc *copy = ir_func_clone(k, fixture_name(&f, "copy"));
    for (int i = 0; i < IR_OPTIONS; i++)
        assert_int_equal(ir_option_value(copy, &ir_options[i]), i + 1);
    assert_null(ir_option_find(STR("warp")));
    assert_null(ir_option_find(STR("")));
    fixture_destroy(&f);
}

static void ranges_hold(void **state) {
    (void)state;
    for (int i = 0; i < IR_OPTIONS; i++) {
        const IrOption *o = &ir_options[i];
        assert_true(o->min >= -1 && o->max >= o->min);
        assert_false(ir_option_allows(o, (int64_t)o->min - 1));
        assert_true(ir_option_allows(o, o->min) && ir_option_allows(o, o->max));
        assert_false(ir_option_allows(o, (int64_t)o->max + 1));
        assert_false(ir_option_allows(o, INT64_MIN) || ir_option_allows(o, INT64_MAX));
    }
}

// The greatest value of each goes through a text; one more is refused with the range.
static void texts_have_them(void **state) {
    (void)state;
    for (int i = 0; i < IR_OPTIONS; i++) {
        const IrOption *o = &ir_options[i];
        Fixture f = fixture_create();
        char text[80], said[80];
        snprintf(text, sizeof text, "kernel @k() {%s = %d} {\n}\n", o->name, o->max);
        IrModule *m = fixture_parse(&f, text);
        if (!m) fail_msg("%s%s", text, fixture_messages(&f));
        assert_int_equal(ir_option_value(m->funcs.data[0], o), o->max);
        assert_string_equal(fixture_print(&f, m), text);
        snprintf(text, sizeof text, "kernel @k() {%s = %d} {\n}\n", o->name, o->max + 1);
        snprintf(said, sizeof said, "expected a number from %d to %d, found %d", o->min, o->max,
                 o->max + 1);
        assert_null(fixture_parse(&f, text));
        assert_non_null(strstr(fixture_messages(&f), said));
        fixture_destroy(&f);
    }
}

static void they_are_listed(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Str list = ir_option_list(arena, ", ", " and ");
    assert_true(str_equal(list, STR("warps, stages, ctas, chiplets, turns, direct and producers")));
    arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_have_fields_of_their_own),
        cmocka_unit_test(ranges_hold),
        cmocka_unit_test(texts_have_them),
        cmocka_unit_test(they_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

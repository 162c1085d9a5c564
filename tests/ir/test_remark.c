// Remarks: kept once, counted, sorted; their texts name every number of the table.
#include "ir/remark.h"

#include <string.h>

#include "tests/ir/support.h"

static void equal_ones_are_counted(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Remarks *r = remarks_create(arena);
    Span late = {9, 12}, early = {3, 4};
    remark(r, late, REASON_ACCESS_POINTER, "load", REMARK(4));
    remark(r, late, REASON_ACCESS_POINTER, "load", REMARK(4));
    remark(r, late, REASON_ACCESS_POINTER, "load", REMARK(8));
    remark(r, late, REASON_ACCESS_POINTER, "store", REMARK(4));
    remark(r, early, REASON_DOT_REPEATED, NULL, REMARK(2));
    assert_int_equal(remarks_count(r), 4);
    assert_int_equal(remarks_get(r, 0)->times, 2);
    remarks_sort(r);
    assert_int_equal(remarks_get(r, 0)->reason, REASON_DOT_REPEATED);
    assert_string_equal(remarks_get(r, 0)->what, "");
    assert_int_equal(remarks_get(r, 1)->numbers.of[0], 4);
    assert_string_equal(remarks_get(r, 3)->what, "store");
    arena_destroy(arena);
}

static void nobody_asks(void **state) {
    (void)state;
    remark(NULL, (Span){0}, REASON_ACCESS_POINTER, "load", REMARK(4));
}

static void the_text_has_the_numbers(void **state) {
    (void)state;
    Arena *arena = arena_create();
    StrBuf out = strbuf(arena);
    Remark r = {.reason = REASON_DOT_PADDED, .what = "", .numbers = REMARK(4, 8, 16, 8)};
    remark_text(&r, &out);
    assert_string_equal(out.text, "dot of 4 by 8 is padded to the instruction's 16 by 8");
    Str name;
    assert_true(reason_number_name(REASON_DOT_PADDED, 2, &name));
    assert_true(str_equal(name, STR("rows")));
    assert_false(reason_number_name(REASON_DOT_PADDED, 4, &name));
    arena_destroy(arena);
}

// Slugs are names for scripts; what was missed says what to change; numbers fit a remark.
static void the_table_is_sound(void **state) {
    (void)state;
    for (int i = 0; i < REASONS; i++) {
        const ReasonInfo *info = reason_info((Reason)i);
        Reason again;
        Str name;
        assert_true(reason_from_slug(str(info->slug), &again));
        assert_int_equal(again, i);
        assert_int_equal(strspn(info->slug, "abcdefghijklmnopqrstuvwxyz0123456789-"),
                         strlen(info->slug));
        assert_int_equal(info->help[0] != '\0', info->kind == REASON_MISSED);
        assert_false(reason_number_name((Reason)i, REMARK_NUMBERS, &name));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_ones_are_counted),
        cmocka_unit_test(nobody_asks),
        cmocka_unit_test(the_text_has_the_numbers),
        cmocka_unit_test(the_table_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// StrBuf: growth, shortest numbers, quoted texts.
#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"

static void grows_and_stays_terminated(void **state) {
    (void)state;
    Arena *a = arena_create();
    StrBuf b = strbuf(a);
    assert_string_equal(b.text, "");
    StrBuf other = strbuf(a);  // stands in the way of growing in place
    for (int i = 0; i < 5000; i++) {
        strbuf_printf(&b, "%d,", i % 10);
        strbuf_char(&other, 'x');
        assert_int_equal(b.text[b.size], 0);
    }
    assert_int_equal(b.size, 10000);
    assert_int_equal(strlen(b.text), 10000);
    assert_int_equal(memcmp(b.text + 9990, "5,6,7,8,9,", 10), 0);
    strbuf_printf(&b, "%*d", 100000, 1);
    assert_int_equal(strbuf_str(&b).size, 110000);
    strbuf_add(&b, (Str){NULL, 0});
    assert_int_equal(strlen(b.text), 110000);
    arena_destroy(a);
}

static void check_double(Arena *a, double value, bool single, const char *expected) {
    StrBuf b = strbuf(a);
    strbuf_double(&b, value, single);
    assert_string_equal(b.text, expected);
}

static void shortest_doubles(void **state) {
    (void)state;
    Arena *a = arena_create();
    check_double(a, 0.1, false, "0.1");
    check_double(a, (double)0.1f, true, "0.1");
    check_double(a, (double)0.1f, false, "0.10000000149011612");
    check_double(a, 1.0 / 3, false, "0.3333333333333333");
    check_double(a, 100, false, "100.0");
    check_double(a, -0.0, false, "-0.0");
    check_double(a, 1e22, false, "1e+22");
    check_double(a, 0x1p24, true, "16777216.0");
    check_double(a, DBL_MAX, false, "1.7976931348623157e+308");
    check_double(a, 5e-324, false, "5e-324");
    check_double(a, (double)INFINITY, false, "inf");
    check_double(a, -(double)INFINITY, true, "-inf");
    check_double(a, -(double)NAN, false, "nan");
    arena_destroy(a);
}

static void doubles_read_back(void **state) {
    (void)state;
    Arena *a = arena_create();
    StrBuf b = strbuf(a);
    uint64_t bits = 1;
    for (int i = 0; i < 20000; i++) {
        bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        double value = 0;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        b.size = 0;
        strbuf_double(&b, value, false);
        assert_true(strtod(b.text, NULL) == value);
        float narrow = (float)value;
        if (!isfinite(narrow)) continue;
        b.size = 0;
        strbuf_double(&b, (double)narrow, true);
        assert_true(strtof(b.text, NULL) == narrow);
    }
    arena_destroy(a);
}

static void digits(void **state) {
    (void)state;
    Arena *a = arena_create();
    StrBuf b = strbuf(a);
    strbuf_digits(&b, 3.14159, 3);
    strbuf_char(&b, ' ');
    strbuf_digits(&b, 3, 5);
    strbuf_char(&b, ' ');
    strbuf_digits(&b, 1e-7, 2);
    assert_string_equal(b.text, "3.14 3.0 1e-07");
    arena_destroy(a);
}

static void no_locale_matters(void **state) {
    (void)state;
    const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "fr_FR"};
    bool set = false;
    for (int i = 0; i < 5 && !set; i++) set = setlocale(LC_ALL, commas[i]) != NULL;
    if (!set) {
        print_message("skipped: no locale with a decimal comma is installed here\n");
        skip();
    }
    Arena *a = arena_create();
    check_double(a, 1.5, false, "1.5");
    double value = 0;
    assert_true(str_to_double(STR("1.2345678901234567890"), &value));
    assert_true(value == 1.2345678901234567890);
    setlocale(LC_ALL, "C");
    arena_destroy(a);
}

static void quotes(void **state) {
    (void)state;
    Arena *a = arena_create();
    StrBuf b = strbuf(a);
    strbuf_quoted(&b, STR("a\"b\\c\n\t\r\x01\x7F\0\xC3\xA9\xFF"));
    assert_string_equal(b.text, "\"a\\\"b\\\\c\\n\\t\\r\\u0001\\u007f\\u0000\xC3\xA9\\u00ff\"");
    arena_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_and_stays_terminated), cmocka_unit_test(shortest_doubles),
        cmocka_unit_test(doubles_read_back),          cmocka_unit_test(digits),
        cmocka_unit_test(no_locale_matters),          cmocka_unit_test(quotes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Str, distances, UTF-8 and the interner.
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void compares(void **state) {
    (void)state;
    assert_true(str_equal(STR("ab"), str("ab")));
    assert_false(str_equal(STR("ab"), STR("abc")));
    assert_true(str_equal((Str){NULL, 0}, STR("")));
    assert_int_equal(str(NULL).size, 0);
    assert_true(str_starts(STR("abc"), STR("ab")) && str_starts(STR("abc"), STR("")));
    assert_false(str_starts(STR("a"), STR("ab")));
    assert_true(str_ends(STR("abc"), STR("bc")) && str_ends((Str){NULL, 0}, STR("")));
    assert_false(str_ends(STR("abc"), STR("ab")));
    assert_true(str_compare(STR("a"), STR("ab")) < 0 && str_compare(STR("b"), STR("ab")) > 0);
    assert_int_equal(str_compare(STR("ab"), STR("ab")), 0);
    assert_true(str_compare(STR("\x7f"), STR("\x80")) < 0);
}

static void finds_words(void **state) {
    (void)state;
    assert_true(str_is_identifier(STR("_a9Z")) && str_is_identifier(STR("x")));
    assert_false(str_is_identifier(STR("")) || str_is_identifier(STR("9a")) ||
                 str_is_identifier(STR("a-b")) || str_is_identifier(STR("\xc3\xa9")));
    assert_true(str_has_word(STR("N % BM == 0"), STR("BM")) && str_has_word(STR("BM"), STR("BM")) &&
                str_has_word(STR("ABM, BM"), STR("BM")));
    assert_false(str_has_word(STR("BM_"), STR("BM")) || str_has_word(STR("1BM"), STR("BM")) ||
                 str_has_word(STR("B"), STR("BM")) || str_has_word(STR(""), STR("BM")));
}

static void takes_apart(void **state) {
    (void)state;
    assert_true(str_equal(str_trim(STR(" \t a b\r\n")), STR("a b")));
    assert_int_equal(str_trim(STR(" \n ")).size, 0);
    Str rest = {0};
    assert_true(str_equal(str_cut(STR("a=b=c"), '=', &rest), STR("a")));
    assert_true(str_equal(rest, STR("b=c")));
    assert_true(str_equal(str_cut(STR("abc"), '=', &rest), STR("abc")));
    assert_int_equal(rest.size, 0);
    assert_true(str_equal(str_cut(STR("abc="), '=', &rest), STR("abc")));
    assert_int_equal(rest.size, 0);
}

static void hashes_depend_on_every_byte(void **state) {
    (void)state;
    char text[40] = "a name that is longer than a few words";
    for (size_t size = 0; size < sizeof text; size++) {
        uint64_t hash = str_hash((Str){text, size});
        assert_true(hash == str_hash((Str){text, size}));
        assert_true(hash != str_hash((Str){text, size + 1 < sizeof text ? size + 1 : 0}));
        for (size_t i = 0; i < size; i++) {
            text[i] ^= 1;
            assert_true(hash != str_hash((Str){text, size}));
            text[i] ^= 1;
        }
    }
}

static void distances(void **state) {
    (void)state;
    assert_int_equal(str_distance(STR("softmax"), STR("sofmax"), 10), 1);
    assert_int_equal(str_distance(STR("retrun"), STR("return"), 10), 1);
    assert_int_equal(str_distance(STR("kitten"), STR("sitting"), 10), 3);
    assert_int_equal(str_distance(STR(""), STR("abc"), 10), 3);
    assert_int_equal(str_distance(STR("abc"), STR("abc"), 10), 0);
    assert_int_equal(str_distance(STR("kitten"), STR("sitting"), 2), 2);
    assert_int_equal(str_distance(STR("abc"), STR("xyz"), 0), 0);
    char large[4096];
    memset(large, 'x', sizeof large);
    assert_int_equal(str_distance((Str){large, 4096}, (Str){large, 4095}, 9), 9);
    assert_int_equal(str_distance((Str){large, 4096}, (Str){large, 4096}, 9), 0);
}

static void the_nearest_name(void **state) {
    (void)state;
    const Str names[] = {STR("sigmoid"), STR("softmax"), STR("sum"), STR("sums")};
    assert_true(str_equal(str_nearest(STR("sofmax"), names, 4), STR("softmax")));
    assert_true(str_equal(str_nearest(STR("summ"), names, 4), STR("sum")));
    assert_int_equal(str_nearest(STR("gather"), names, 4).size, 0);
    assert_int_equal(str_nearest(STR("x"), names, 4).size, 0);
    assert_int_equal(str_nearest(STR("x"), NULL, 0).size, 0);
}

static void utf8(void **state) {
    (void)state;
    const struct {
        Str text;
        size_t size;
        uint32_t point;
    } cases[] = {
        {STR("a"), 1, 'a'},
        {STR("\xC3\xA9z"), 2, 0xE9},
        {STR("\xE2\x80\xA6"), 3, 0x2026},
        {STR("\xF0\x9F\x98\x80"), 4, 0x1F600},
        {STR("\x00"), 1, 0},
        {STR("\x80"), 0, 0},              // a continuation alone
        {STR("\xC3"), 0, 0},              // cut off
        {STR("\xC0\x80"), 0, 0},          // overlong
        {STR("\xE0\x80\x80"), 0, 0},      // overlong
        {STR("\xED\xA0\x80"), 0, 0},      // surrogate
        {STR("\xF4\x90\x80\x80"), 0, 0},  // above U+10FFFF
        {STR("\xFF\xFF\xFF\xFF"), 0, 0},
        {STR("\xE2\x80z"), 0, 0},
        {STR(""), 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t point = 0;
        assert_int_equal(str_utf8(cases[i].text, &point), cases[i].size);
        assert_int_equal(point, cases[i].point);
    }
}

static void interns_one_copy_of_each(void **state) {
    (void)state;
    enum { COUNT = 5000 };
    static Symbol symbols[COUNT];
    Arena *a = arena_create();
    Interner *names = interner_create(a);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++) {
            char text[32];
            int size = snprintf(text, sizeof text, "name_%d", i);
            Symbol s = intern(names, (Str){text, (size_t)size});
            if (round) assert_ptr_equal(s, symbols[i]);
            symbols[i] = s;
            assert_string_equal(s, text);
            assert_int_equal(symbol_size(s), size);
        }
    }
    assert_ptr_not_equal(symbols[1], symbols[10]);
    assert_int_equal(symbol_size(intern(names, STR(""))), 0);
    assert_ptr_equal(intern(names, (Str){NULL, 0}), intern(names, STR("")));
    Symbol nul = intern(names, STR("a\0b"));
    assert_int_equal(symbol_size(nul), 3);
    assert_ptr_not_equal(nul, intern(names, STR("a")));
    arena_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compares),    cmocka_unit_test(finds_words),
        cmocka_unit_test(takes_apart), cmocka_unit_test(hashes_depend_on_every_byte),
        cmocka_unit_test(distances),   cmocka_unit_test(the_nearest_name),
        cmocka_unit_test(utf8),        cmocka_unit_test(interns_one_copy_of_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

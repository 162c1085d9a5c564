// Source: positions to lines, against a plain count from the beginning.
#include "base/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_position(const Sources *s, const SourceFile *f, size_t offset) {
    const char *text = f->text.text;
    size_t begin = 0;
    uint32_t line = 1;
    for (size_t i = 0; i < offset; i++) {
        if (text[i] != '\n') continue;
        line++;
        begin = i + 1;
    }
    size_t end = begin;
    while (end < f->text.size && text[end] != '\n') end++;
    if (end > begin && end < f->text.size && text[end - 1] == '\r') end--;
    SourceLine at = source_line(s, f->base + (uint32_t)offset);
    assert_ptr_equal(at.file, f);
    assert_int_equal(at.line, line);
    assert_int_equal(at.column, offset - begin + 1);
    assert_ptr_equal(at.text.text, text + begin);
    assert_int_equal(at.text.size, end - begin);
}

static void every_position_of_small_texts(void **state) {
    (void)state;
    Arena *a = arena_create();
    Sources *s = sources_create(a);
    const Str texts[] = {STR(""),           STR("\n"),      STR("a"),      STR("ab\ncd"),
                         STR("ab\r\n\r\n"), STR("\n\n\nx"), STR("a\rb\r"), STR("a\0b\n")};
    for (int i = 0; i < 8; i++) {
        const SourceFile *f = source_add(s, STR("x"), texts[i]);
        assert_non_null(f);
        assert_true(str_equal(f->text, texts[i]));
        assert_int_equal(f->text.text[f->text.size], 0);
        for (size_t k = 0; k <= texts[i].size; k++) check_position(s, f, k);
    }
    arena_destroy(a);
}

// Line lengths from none to many blocks, with line ends on the borders of blocks.
static void positions_of_long_texts(void **state) {
    (void)state;
    const size_t gaps[] = {4096, 4095, 1, 4097, 13, 9000, 50000};
    for (int i = 0; i < 7; i++) {
        Arena *a = arena_create();
        Sources *s = sources_create(a);
        enum { SIZE = 40960 };
        char *text = malloc(SIZE);
        assert_non_null(text);
        for (size_t k = 0; k < SIZE; k++) text[k] = (k + 1) % gaps[i] == 0 ? '\n' : 'x';
        const SourceFile *f = source_add(s, STR("long"), (Str){text, SIZE});
        free(text);
        for (size_t k = 0; k <= SIZE; k += k % 4096 > 4090 || k % 4096 < 5 ? 1 : 97) {
            check_position(s, f, k);
        }
        check_position(s, f, SIZE);
        arena_destroy(a);
    }
}

static void several_files(void **state) {
    (void)state;
    Arena *a = arena_create();
    Sources *s = sources_create(a);
    char path[] = "a.tile";
    const SourceFile *first = source_add(s, str(path), STR("one\ntwo"));
    path[0] = 'b';
    const SourceFile *second = source_add(s, str(path), STR(""));
    path[0] = 'c';
    const SourceFile *third = source_add(s, str(path), STR("three"));
    assert_ptr_equal(source_find(s, STR("a.tile")), first);
    assert_ptr_equal(source_find(s, STR("c.tile")), third);
    assert_null(source_find(s, STR("d.tile")));
    assert_ptr_equal(source_line(s, second->base).file, second);
    assert_ptr_equal(source_line(s, first->base + 7).file, first);
    assert_ptr_equal(source_line(s, third->base + 5).file, third);
    assert_null(source_line(s, third->base + 6).file);
    assert_null(source_line(s, 0).file);
    assert_null(source_line(s, UINT32_MAX).file);
    Span two = {first->base + 4, first->base + 7};
    assert_true(str_equal(source_text(s, two), STR("two")));
    two.end = first->base + 100;
    assert_true(str_equal(source_text(s, two), STR("two")));
    assert_int_equal(source_text(s, (Span){0}).size, 0);
    assert_int_equal(source_text(s, (Span){5, 3}).size, 0);
    arena_destroy(a);
}

static void refuses_what_is_too_large(void **state) {
    (void)state;
    Arena *a = arena_create();
    Sources *s = sources_create(a);
    char *text = calloc(1, SOURCE_MAX + 1);
    assert_non_null(text);
    assert_null(source_add(s, STR("x"), (Str){text, SOURCE_MAX + 1}));
    const SourceFile *f = source_add(s, STR("x"), (Str){text, SOURCE_MAX});
    assert_non_null(f);
    assert_int_equal(source_line(s, f->base + SOURCE_MAX).column, SOURCE_MAX + 1);
    free(text);
    arena_destroy(a);
}

static void spans_join(void **state) {
    (void)state;
    Span a = {3, 5};
    Span b = {4, 9};
    Span both = span_join(b, a);
    assert_true(both.begin == 3 && both.end == 9);
    assert_true(span_join(a, (Span){0}).end == 5 && span_join((Span){0}, b).begin == 4);
    assert_false(span_known(span_join((Span){0}, (Span){0})));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_position_of_small_texts),
        cmocka_unit_test(positions_of_long_texts),
        cmocka_unit_test(several_files),
        cmocka_unit_test(refuses_what_is_too_large),
        cmocka_unit_test(spans_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

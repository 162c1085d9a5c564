// Diagnostics: collecting, and their two forms.
#include "base/diag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"

typedef struct World {
    Arena *arena;
    Sources *sources;
    Diags *d;
    const SourceFile *file;
} World;

static World world(Str text) {
    World w = {.arena = arena_create()};
    w.sources = sources_create(w.arena);
    w.file = source_add(w.sources, STR("k.tile"), text);
    w.d = diags_create(w.arena, w.sources);
    return w;
}

static Span at(const World *w, size_t begin, size_t end) {
    return (Span){w->file->base + (uint32_t)begin, w->file->base + (uint32_t)end};
}

static const char *text_of(const World *w, DiagStyle style) {
    StrBuf b = strbuf(w->arena);
    diags_text(w->d, style, &b);
    return b.text;
}

// One error over [begin, end) of `source`, as text.
static void check_excerpt(Str source, size_t begin, size_t end, const char *expected) {
    World w = world(source);
    diag_error(w.d, at(&w, begin, end), DIAG_TYPE, "x");
    const char *text = text_of(&w, (DiagStyle){0});
    const char *line = strchr(text, '\n');
    assert_non_null(line);
    assert_string_equal(line + 1, expected);
    arena_destroy(w.arena);
}

static void the_example_of_the_header(void **state) {
    (void)state;
    World w = world(STR("fn softmax(x) {\n}\nlet v = sofmax(x);\n"));
    diag_error(w.d, at(&w, 26, 32), DIAG_UNKNOWN_NAME, "unknown name '%s'", "sofmax");
    diag_note(w.d, at(&w, 3, 10), "'%s' is declared here", "softmax");
    diag_note(w.d, (Span){0}, "names are looked up from the inside out");
    diag_help(w.d, "did you mean '%s'?", "softmax");
    assert_string_equal(text_of(&w, (DiagStyle){0}),
                        "k.tile:3:9: error: unknown name 'sofmax' [unknown-name]\n"
                        "    let v = sofmax(x);\n"
                        "            ^~~~~~\n"
                        "k.tile:1:4: note: 'softmax' is declared here\n"
                        "    fn softmax(x) {\n"
                        "       ^~~~~~~\n"
                        "note: names are looked up from the inside out\n"
                        "help: did you mean 'softmax'?\n");
    assert_int_equal(diags_errors(w.d), 1);
    assert_int_equal(diags_warnings(w.d), 0);
    arena_destroy(w.arena);
}

static void without_a_place(void **state) {
    (void)state;
    World w = world(STR(""));
    diag_error(w.d, (Span){0}, DIAG_USAGE, "no kernel '%s'", "f");
    diag_error(w.d, (Span){0}, DIAG_USAGE, "no kernel '%s'", "g");
    assert_string_equal(text_of(&w, (DiagStyle){0}),
                        "tilec: error: no kernel 'f' [usage]\n"
                        "tilec: error: no kernel 'g' [usage]\n");
    arena_destroy(w.arena);
}

static void carets(void **state) {
    (void)state;
    check_excerpt(STR("ab"), 0, 0, "    ab\n    ^\n");
    check_excerpt(STR("ab"), 0, 2, "    ab\n    ^~\n");
    check_excerpt(STR("ab\ncd\n"), 1, 5, "    ab\n     ^\n");  // ends with its first line
    check_excerpt(STR("abc\ncd\n"), 1, 6, "    abc\n     ^~\n");
    check_excerpt(STR("ab\r\ncd\n"), 1, 6, "    ab\n     ^\n");
    check_excerpt(STR("ab"), 2, 2, "    ab\n      ^\n");    // the end of the text
    check_excerpt(STR("ab\n"), 2, 3, "    ab\n      ^\n");  // the line end
    check_excerpt(STR("ab\r\n"), 3, 4, "    ab\n      ^\n");
    check_excerpt(STR(""), 0, 0, "    \n    ^\n");
    check_excerpt(STR("\tab\tcd"), 4, 6, "    \tab\tcd\n    \t  \t^~\n");
    check_excerpt(STR("\xC3\xA9\xC3\xA9 ab"), 5, 7, "    \xC3\xA9\xC3\xA9 ab\n       ^~\n");
    check_excerpt(STR("\xC3\xA9\xC3\xA9"), 0, 4, "    \xC3\xA9\xC3\xA9\n    ^~\n");
}

#define BAD "\xEF\xBF\xBD"

static void hostile_bytes_are_harmless(void **state) {
    (void)state;
    check_excerpt(STR("a\0\x1B[31m\x7F\xFF z"), 10, 11,
                  "    a" BAD BAD "[31m" BAD BAD " z\n              ^\n");
    check_excerpt(STR("\xC2\x9B x"), 3, 4, "    " BAD " x\n      ^\n");      // C1 control
    check_excerpt(STR("\xE2\x80\xAE x"), 4, 5, "    " BAD " x\n      ^\n");  // right to left
    World w = world(STR("x"));
    diag_error(w.d, at(&w, 0, 1), DIAG_TYPE, "a\x1B[0m");
    assert_null(strchr(text_of(&w, (DiagStyle){0}), '\x1B'));
    arena_destroy(w.arena);
}

static void long_lines_are_cut(void **state) {
    (void)state;
    enum { SIZE = 1 << 20 };
    World w = {0};
    for (int kind = 0; kind < 3; kind++) {
        static char line[SIZE];
        const char *const fill[] = {"x", "\xC3\xA9", "\x80"};
        for (size_t i = 0; i < SIZE; i++) line[i] = fill[kind][i % strlen(fill[kind])];
        for (size_t caret = 0; caret <= SIZE; caret += SIZE / 4) {
            w = world((Str){line, SIZE});
            diag_error(w.d, at(&w, caret, SIZE), DIAG_TYPE, "x");
            const char *first = strchr(text_of(&w, (DiagStyle){0}), '\n') + 1;
            size_t size = strcspn(first, "\n");
            const char *below = first + size + 1;
            assert_true(size > 50 && size < 130 * 3);
            assert_int_equal(memcmp(first, "    \xE2\x80\xA6", 7) == 0, caret > 0);
            assert_int_equal(memcmp(first + size - 3, "\xE2\x80\xA6", 3) == 0, caret + 60 < SIZE);
            assert_int_equal(strcspn(below, "^"), caret ? 65 : 4);
            arena_destroy(w.arena);
        }
    }
    Str line = {"0123456789012345678901234567890123456789012345678901234567890123456789", 70};
    w = world(line);
    diag_error(w.d, at(&w, 69, 70), DIAG_TYPE, "x");
    assert_non_null(strstr(text_of(&w, (DiagStyle){0}),
                           "    \xE2\x80\xA6"
                           "90123"));
    arena_destroy(w.arena);
}

static void repeated_ones_are_dropped(void **state) {
    (void)state;
    World w = world(STR("abcdef"));
    for (int i = 0; i < 3; i++) {
        diag_error(w.d, at(&w, 1, 2), DIAG_TYPE, "text %d", i);
        diag_note(w.d, (Span){0}, "note %d", i);
        diag_help(w.d, "help %d", i);
    }
    assert_int_equal(diags_count(w.d), 1);
    assert_true(str_equal(diags_get(w.d, 0)->help, STR("help 0")));
    assert_null(diags_get(w.d, 0)->notes->next);
    diag_error(w.d, at(&w, 1, 2), DIAG_SHAPE, "another code");
    diag_error(w.d, at(&w, 1, 3), DIAG_TYPE, "another end");
    diag_warning(w.d, at(&w, 1, 2), DIAG_TYPE, "another severity");
    diag_error(w.d, at(&w, 1, 2), DIAG_TYPE, "again");
    assert_int_equal(diags_count(w.d), 4);
    assert_int_equal(diags_errors(w.d), 3);
    assert_int_equal(diags_warnings(w.d), 1);
    arena_destroy(w.arena);
}

static void truncation_forgets(void **state) {
    (void)state;
    World w = world(STR("abcdef"));
    diag_error(w.d, at(&w, 5, 6), DIAG_TYPE, "kept");
    diag_warning(w.d, at(&w, 1, 2), DIAG_UNUSED, "dropped");
    diag_error(w.d, at(&w, 1, 2), DIAG_TYPE, "dropped");
    diag_error(w.d, at(&w, 1, 2), DIAG_SHAPE, "dropped");
    diags_truncate(w.d, 1);
    diag_note(w.d, (Span){0}, "belongs to nothing");
    assert_int_equal(diags_count(w.d), 1);
    assert_int_equal(diags_errors(w.d), 1);
    assert_int_equal(diags_warnings(w.d), 0);
    assert_null(diags_get(w.d, 0)->notes);
    diag_error(w.d, at(&w, 2, 3), DIAG_TYPE, "takes the place");
    diag_error(w.d, at(&w, 1, 2), DIAG_TYPE, "reported anew");
    diag_error(w.d, at(&w, 1, 2), DIAG_SHAPE, "reported anew");
    diag_error(w.d, at(&w, 5, 6), DIAG_TYPE, "known still");
    assert_int_equal(diags_count(w.d), 4);
    diags_sort(w.d);
    diags_truncate(w.d, 2);  // both errors at (1, 2) come first
    assert_int_equal(diags_get(w.d, 1)->code, DIAG_SHAPE);
    diag_error(w.d, at(&w, 1, 2), DIAG_SHAPE, "known still");
    assert_int_equal(diags_count(w.d), 2);
    arena_destroy(w.arena);
}

static void sorting_is_by_place_then_report(void **state) {
    (void)state;
    World w = world(STR("abcdef"));
    diag_error(w.d, at(&w, 4, 5), DIAG_TYPE, "third");
    diag_warning(w.d, at(&w, 1, 3), DIAG_UNUSED, "first");
    diag_error(w.d, at(&w, 1, 2), DIAG_TYPE, "second");
    diag_error(w.d, (Span){0}, DIAG_IO, "nowhere");
    diags_sort(w.d);
    const char *const order[] = {"nowhere", "first", "second", "third"};
    for (size_t i = 0; i < 4; i++) assert_true(str_equal(diags_get(w.d, i)->text, str(order[i])));
    arena_destroy(w.arena);
}

static void a_limit_for_errors_and_for_warnings(void **state) {
    (void)state;
    World w = world(STR("x"));
    for (int i = 0; i < DIAGS_MAX + 5; i++) diag_warning(w.d, (Span){0}, DIAG_UNUSED, "w");
    for (int i = 0; i < DIAGS_MAX + 1; i++) diag_error(w.d, (Span){0}, DIAG_TYPE, "e");
    assert_int_equal(diags_count(w.d), 2 * DIAGS_MAX);
    assert_int_equal(diags_errors(w.d), DIAGS_MAX + 1);
    assert_int_equal(diags_warnings(w.d), DIAGS_MAX + 5);
    const char *rows = strstr(text_of(&w, (DiagStyle){0}), "tilec: error: 1 more");
    assert_string_equal(rows,
                        "tilec: error: 1 more error [too-many]\n"
                        "tilec: warning: 5 more warnings [too-many]\n");
    assert_null(strstr(text_of(&w, (DiagStyle){.quiet = true}), "warning"));
    StrBuf b = strbuf(w.arena);
    diags_json(w.d, &b);
    assert_non_null(strstr(b.text, "\"code\":\"too-many\",\"message\":\"5 more warnings\""));
    diags_truncate(w.d, 3);
    assert_int_equal(diags_warnings(w.d), 3);
    assert_int_equal(diags_errors(w.d), 0);
    arena_destroy(w.arena);
}

static void styles(void **state) {
    (void)state;
    World w = world(STR("ab"));
    diag_warning(w.d, at(&w, 0, 1), DIAG_UNUSED, "w");
    diag_error(w.d, at(&w, 1, 2), DIAG_TYPE, "e");
    assert_string_equal(text_of(&w, (DiagStyle){.quiet = true}),
                        "k.tile:1:2: error: e [type]\n    ab\n     ^\n");
    const char *colored = text_of(&w, (DiagStyle){.color = true});
    assert_non_null(strstr(colored, "\033[1;31merror\033[0m: e [type]"));
    assert_non_null(strstr(colored, "\033[1;35m^\033[0m\n"));
    arena_destroy(w.arena);
}

static void as_json(void **state) {
    (void)state;
    World w = world(STR("ab\ncd\n"));
    diag_error(w.d, at(&w, 1, 5), DIAG_TYPE, "a \"quoted\" text");
    diag_note(w.d, at(&w, 0, 1), "here");
    diag_help(w.d, "mend it");
    diag_warning(w.d, (Span){0}, DIAG_UNUSED, "w");
    StrBuf b = strbuf(w.arena);
    diags_json(w.d, &b);
    assert_string_equal(
        b.text,
        "[{\"severity\":\"error\",\"code\":\"type\",\"message\":\"a \\\"quoted\\\" text\","
        "\"file\":\"k.tile\",\"line\":1,\"column\":2,\"endLine\":2,\"endColumn\":3,"
        "\"help\":\"mend it\",\"notes\":[{\"message\":\"here\",\"file\":\"k.tile\",\"line\":1,"
        "\"column\":1,\"endLine\":1,\"endColumn\":2}]},"
        "{\"severity\":\"warning\",\"code\":\"unused\",\"message\":\"w\",\"notes\":[]}]");
    assert_non_null(json_parse(w.arena, strbuf_str(&b), NULL));
    arena_destroy(w.arena);
}

static void codes_have_their_own_slugs(void **state) {
    (void)state;
    for (int i = 0; i < DIAG_CODES; i++) {
        DiagCode code = DIAG_CODES;
        assert_true(diag_code_from_slug(str(diag_slug((DiagCode)i)), &code));
        assert_int_equal(code, i);
    }
    DiagCode code = DIAG_CODES;
    assert_false(diag_code_from_slug(STR("no-such-code"), &code));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_the_header),
        cmocka_unit_test(without_a_place),
        cmocka_unit_test(carets),
        cmocka_unit_test(hostile_bytes_are_harmless),
        cmocka_unit_test(long_lines_are_cut),
        cmocka_unit_test(repeated_ones_are_dropped),
        cmocka_unit_test(truncation_forgets),
        cmocka_unit_test(sorting_is_by_place_then_report),
        cmocka_unit_test(a_limit_for_errors_and_for_warnings),
        cmocka_unit_test(styles),
        cmocka_unit_test(as_json),
        cmocka_unit_test(codes_have_their_own_slugs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

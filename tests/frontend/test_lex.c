#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/tile/lex.h"

typedef struct Text {
    Arena *arena;
    Diags *diags;
    const SourceFile *file;
    Lexer lexer;
} Text;

static Text begin(Str source) {
    Text t = {.arena = arena_create()};
    Sources *sources = sources_create(t.arena);
    t.diags = diags_create(t.arena, sources);
    t.file = source_add(sources, STR("t"), source);
    lex_begin(&t.lexer, t.arena, interner_create(t.arena), t.diags, t.file);
    return t;
}

static Token first_token(Text *t, const char *source) {
    *t = begin(str(source));
    return lex_next(&t->lexer);
}

static void test_every_written_token(void **state) {
    (void)state;
    for (int kind = TOK_STRING + 1; kind < TOK_COUNT; kind++) {
        Text t;
        const char *text = token_text((TokenKind)kind);
        Token token = first_token(&t, text);
        assert_int_equal(token.kind, kind);
        assert_int_equal(token.span.begin, t.file->base);
        assert_int_equal(token.span.end - token.span.begin, strlen(text));
        assert_int_equal(lex_next(&t.lexer).kind, TOK_END);
        assert_int_equal(lex_next(&t.lexer).kind, TOK_END);
        assert_int_equal(diags_count(t.diags), 0);
        arena_destroy(t.arena);
    }
}

static void test_types_and_names(void **state) {
    (void)state;
    for (int type = 0; type < DTYPES; type++) {
        Text t;
        Token token = first_token(&t, dtype_name((Dtype)type));
        assert_int_equal(token.kind, TOK_TYPE);
        assert_int_equal(token.dtype, type);
        arena_destroy(t.arena);
    }
    Text t = begin(STR("kernels f322 _x a9 kernels"));
    const char *names[] = {"kernels", "f322", "_x", "a9"};
    Symbol first = NULL;
    for (size_t i = 0; i < 4; i++) {
        Token token = lex_next(&t.lexer);
        assert_int_equal(token.kind, TOK_NAME);
        assert_string_equal(token.u.name, names[i]);
        if (i == 0) first = token.u.name;
    }
    assert_ptr_equal(lex_next(&t.lexer).u.name, first);
    arena_destroy(t.arena);
}

static void test_many_names_stay_apart(void **state) {
    (void)state;
    enum { NAMES = 3000 };
    Arena *arena = arena_create();
    StrBuf text = strbuf(arena);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < NAMES; i++) strbuf_printf(&text, "n%d ", i);
    Text t = begin(strbuf_str(&text));
    static Symbol symbols[NAMES];
    for (int i = 0; i < 2 * NAMES; i++) {
        Token token = lex_next(&t.lexer);
        if (i < NAMES) symbols[i] = token.u.name;
        assert_ptr_equal(token.u.name, symbols[i % NAMES]);
        assert_int_equal(atoi(token.u.name + 1), i % NAMES);
    }
    arena_destroy(t.arena);
    arena_destroy(arena);
}

static void test_integers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } cases[] = {
        {"0", 0},
        {"7", 7},
        {"1_000_000", 1000000},
        {"0x0", 0},
        {"0xFf_0a", 0xff0a},
        {"0X10", 16},
        {"0b1011", 11},
        {"0b1111_0000", 240},
        {"18446744073709551615", UINT64_MAX},
        {"0xffffffffffffffff", UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text t;
        Token token = first_token(&t, cases[i].text);
        assert_int_equal(token.kind, TOK_INT);
        assert_true(token.u.integer == cases[i].value);
        assert_int_equal(diags_count(t.diags), 0);
        assert_int_equal(lex_next(&t.lexer).kind, TOK_END);
        arena_destroy(t.arena);
    }
}

static void test_reals(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"0.5", 0.5},
        {"1.0", 1.0},
        {"0.1", 0.1},
        {"1e5", 1e5},
        {"1e-5", 1e-5},
        {"2.5E+3", 2500},
        {"0x1.8p3", 12},
        {"0x1p-1", 0.5},
        {"1_000.000_1", 1000.0001},
        {"1.7976931348623157e308", 1.7976931348623157e308},
        {"0.70710678118654752440084436210485", 0.70710678118654752440084436210485},
        {"1e-400", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text t;
        Token token = first_token(&t, cases[i].text);
        assert_int_equal(token.kind, TOK_FLOAT);
        assert_true(token.u.real == cases[i].value);
        assert_int_equal(diags_count(t.diags), 0);
        assert_int_equal(lex_next(&t.lexer).kind, TOK_END);
        arena_destroy(t.arena);
    }
}

static void test_ranges_are_no_fractions(void **state) {
    (void)state;
    Text t = begin(STR("0..N 0x1..2 1 .. 2"));
    const TokenKind kinds[] = {TOK_INT, TOK_RANGE, TOK_NAME,  TOK_INT, TOK_RANGE,
                               TOK_INT, TOK_INT,   TOK_RANGE, TOK_INT, TOK_END};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        assert_int_equal(lex_next(&t.lexer).kind, kinds[i]);
    assert_int_equal(diags_count(t.diags), 0);
    arena_destroy(t.arena);
}

static void test_bad_numbers_report_once(void **state) {
    (void)state;
    static const struct {
        const char *text;
        DiagCode code;
        uint32_t offset;
    } cases[] = {
        {"1.", DIAG_BAD_NUMBER, 0},
        {".5", DIAG_BAD_NUMBER, 0},
        {"1.0f", DIAG_BAD_NUMBER, 3},
        {"12abc", DIAG_BAD_NUMBER, 2},
        {"0x", DIAG_BAD_NUMBER, 0},
        {"0b2", DIAG_BAD_NUMBER, 2},
        {"1e", DIAG_BAD_NUMBER, 0},
        {"1e+", DIAG_BAD_NUMBER, 0},
        {"00", DIAG_BAD_NUMBER, 0},
        {"1__2", DIAG_BAD_NUMBER, 2},
        {"1_", DIAG_BAD_NUMBER, 1},
        {"0x1.8", DIAG_BAD_NUMBER, 0},
        {"0x_1", DIAG_BAD_NUMBER, 0},
        {"1e999", DIAG_LITERAL_RANGE, 0},
        {"18446744073709551616", DIAG_LITERAL_RANGE, 0},
        {"99999999999999999999999999", DIAG_LITERAL_RANGE, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text t;
        Token token = first_token(&t, cases[i].text);
        assert_true(token.kind == TOK_INT || token.kind == TOK_FLOAT);
        assert_int_equal(lex_next(&t.lexer).kind, TOK_END);
        assert_int_equal(diags_errors(t.diags), 1);
        assert_int_equal(diags_get(t.diags, 0)->code, cases[i].code);
        assert_int_equal(diags_get(t.diags, 0)->span.begin - t.file->base, cases[i].offset);
        arena_destroy(t.arena);
    }
}

static void test_texts(void **state) {
    (void)state;
    Text t = begin(STR("\"a\\n\\t\\\\\\\"\\x41\\0é\" \"\" \"open\nx"));
    Token token = lex_next(&t.lexer);
    assert_int_equal(token.kind, TOK_STRING);
    assert_int_equal(token.u.text.size, 9);
    assert_memory_equal(token.u.text.text, "a\n\t\\\"A\0é", 9);
    token = lex_next(&t.lexer);
    assert_int_equal(token.kind, TOK_STRING);
    assert_int_equal(token.u.text.size, 0);
    assert_int_equal(diags_count(t.diags), 0);
    assert_int_equal(lex_next(&t.lexer).kind, TOK_BAD);
    assert_int_equal(diags_get(t.diags, 0)->code, DIAG_BAD_STRING);
    token = lex_next(&t.lexer);
    assert_int_equal(token.kind, TOK_NAME);
    assert_true(token.first);
    arena_destroy(t.arena);
}

static void test_a_run_of_bad_bytes_is_one_error(void **state) {
    (void)state;
    Text t = begin((Str){"a \x00\x01@\xff b é", 10});
    assert_int_equal(lex_next(&t.lexer).kind, TOK_NAME);
    assert_int_equal(lex_next(&t.lexer).kind, TOK_BAD);
    assert_int_equal(lex_next(&t.lexer).kind, TOK_NAME);
    assert_int_equal(lex_next(&t.lexer).kind, TOK_BAD);
    assert_int_equal(lex_next(&t.lexer).kind, TOK_END);
    assert_int_equal(diags_errors(t.diags), 2);
    assert_int_equal(diags_get(t.diags, 0)->span.end - diags_get(t.diags, 0)->span.begin, 4);
    arena_destroy(t.arena);
}

static void test_space_and_comments(void **state) {
    (void)state;
    Text t = begin(STR("\xEF\xBB\xBF a // é\n\t\r/* * / \n */ b /**/ c\v\f"));
    Token a = lex_next(&t.lexer), b = lex_next(&t.lexer), c = lex_next(&t.lexer);
    assert_string_equal(a.u.name, "a");
    assert_true(b.first);
    assert_false(c.first);
    assert_string_equal(c.u.name, "c");
    assert_int_equal(lex_next(&t.lexer).kind, TOK_END);
    assert_int_equal(diags_count(t.diags), 0);
    arena_destroy(t.arena);
    t = begin(STR("a /* b"));
    lex_next(&t.lexer);
    assert_int_equal(lex_next(&t.lexer).kind, TOK_END);
    assert_int_equal(diags_get(t.diags, 0)->code, DIAG_OPEN_COMMENT);
    assert_int_equal(diags_get(t.diags, 0)->span.begin - t.file->base, 2);
    arena_destroy(t.arena);
}

static void check_comment(const char *source, const char *expected) {
    Text t = begin(str(source));
    Token token;
    do token = lex_next(&t.lexer);
    while (token.kind != TOK_END);
    assert_int_equal(t.lexer.kernel_comment.size, strlen(expected));
    if (*expected) assert_memory_equal(t.lexer.kernel_comment.text, expected, strlen(expected));
    arena_destroy(t.arena);
}

static void test_comment_before_a_kernel(void **state) {
    (void)state;
    check_comment("// a\nkernel", "// a");
    check_comment("// a\n// b\nkernel", "// a\n// b");
    check_comment("// a\n\n// b\nkernel", "// b");
    check_comment("// a\n\nkernel", "");
    check_comment("}  // a\nkernel", "");
    check_comment("} // a\n/* b */ kernel", "/* b */");
    check_comment("kernel // a", "");
}

// For any bytes, tokens follow each other, inside the text, and end.
static void test_random_bytes(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int round = 0; round < 500; round++) {
        char text[200];
        for (size_t i = 0; i < sizeof text; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            text[i] = round % 2 ? (char)(seed >> 56)
                                : "ab01.xe_+-*/\"\\\n'#{;\xc3\xa9"[(seed >> 33) % 21];
        }
        Text t = begin((Str){text, sizeof text});
        uint32_t last = t.file->base;
        for (size_t count = 0;; count++) {
            Token token = lex_next(&t.lexer);
            assert_true(token.span.begin >= last);
            assert_true(token.span.end <= t.file->base + sizeof text);
            assert_true(count <= sizeof text);
            if (token.kind == TOK_END) break;
            assert_true(token.span.end > token.span.begin);
            last = token.span.end;
        }
        arena_destroy(t.arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_written_token),
        cmocka_unit_test(test_types_and_names),
        cmocka_unit_test(test_many_names_stay_apart),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_reals),
        cmocka_unit_test(test_ranges_are_no_fractions),
        cmocka_unit_test(test_bad_numbers_report_once),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_a_run_of_bad_bytes_is_one_error),
        cmocka_unit_test(test_space_and_comments),
        cmocka_unit_test(test_comment_before_a_kernel),
        cmocka_unit_test(test_random_bytes),
    };
    return cmocka_run_group_tests_name("frontend/lex", tests, NULL, NULL);
}

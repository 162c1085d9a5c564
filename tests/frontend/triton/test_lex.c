// Tokens: their kinds and places, lines and blocks, and that nothing breaks the lexer.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/triton/syntax/lex.h"

typedef struct LexText {
    Arena *arena;
    Diags *diags;
    const SourceFile *file;
    PyLexer lexer;
} LexText;

static LexText lex_text(Str text) {
    LexText t = {.arena = arena_create()};
    Sources *sources = sources_create(t.arena);
    t.diags = diags_create(t.arena, sources);
    t.file = source_add(sources, STR("test.py"), text);
    py_lex_begin(&t.lexer, t.arena, interner_create(t.arena), t.diags, t.file);
    return t;
}

static void lex_free(LexText *t) { arena_destroy(t->arena); }

// The tokens as a text: their source, or the name of the kind where it has none.
static const char *tokens_of(LexText *t) {
    StrBuf out = strbuf(t->arena);
    for (PyToken token = py_lex(&t->lexer); token.kind != TOK_END; token = py_lex(&t->lexer)) {
        if (out.size) strbuf_char(&out, ' ');
        const char *begin = t->file->text.text + (token.span.begin - t->file->base);
        size_t size = token.span.end - token.span.begin;
        switch (token.kind) {
        case TOK_NEWLINE: strbuf_printf(&out, "|"); break;
        case TOK_INDENT: strbuf_printf(&out, ">"); break;
        case TOK_DEDENT: strbuf_printf(&out, "<"); break;
        case TOK_BAD: strbuf_printf(&out, "BAD"); break;
        default: strbuf_add(&out, (Str){begin, size}); break;
        }
    }
    return arena_text(t->arena, out.size ? out.text : "", out.size);
}

typedef struct TokenCase {
    const char *text;
    const char *tokens;
} TokenCase;

static void check_tokens(const TokenCase *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        LexText t = lex_text(str(cases[i].text));
        assert_string_equal(tokens_of(&t), cases[i].tokens);
        assert_int_equal(diags_errors(t.diags), 0);
        lex_free(&t);
    }
}

static void test_lines(void **state) {
    (void)state;
    static const TokenCase cases[] = {
        {"", ""},
        {"\n\n  \n# note\n", ""},
        {"a", "a |"},
        {"a\n", "a |"},
        {"a\r\nb\rc\n", "a | b | c |"},
        {"a # note\nb", "a | b |"},
        {"if a:\n  b\nc", "if a : | > b | < c |"},
        {"if a:\n  if b:\n    c\nd", "if a : | > if b : | > c | < < d |"},
        {"if a:\n  b", "if a : | > b | <"},
        {"if a:\n  b\n\n      # note\n\n  c", "if a : | > b | c | <"},
        {"if a:\n\tb\n\tc", "if a : | > b | c | <"},
        {"(a\n  b)\nc", "( a b ) | c |"},
        {"[\n# note\n]", "[ ] |"},
        {"a \\\n  b", "a b |"},
        {"\\\n  a", "> a | <"},
        {"  \\\na", "> a | <"},
        {"\f a", "> a | <"},
        {"  \fa", "a |"},
        {"\xEF\xBB\xBF"
         "a",
         "a |"},
        {"# -*- coding: latin-1 -*-\na", "a |"},
        {"a;b", "a ; b |"},
    };
    check_tokens(cases, sizeof cases / sizeof *cases);
    // The indentation of these lines does not agree: an error, but the tokens are right.
    LexText t = lex_text(STR("if a:\n    \tb\n\tc"));
    assert_string_equal(tokens_of(&t), "if a : | > b | c | <");
    assert_int_equal(diags_errors(t.diags), 1);
    lex_free(&t);
}

static void test_punctuation(void **state) {
    (void)state;
    static const TokenCase cases[] = {
        {"()[]{}", "( ) [ ] { } |"},
        {"+ - * / // % @ ** & | ^ ~ << >>", "+ - * / // % @ ** & | ^ ~ << >> |"},
        {"+=-=*=/=//=%=@=**=&=|=^=<<=>>=", "+= -= *= /= //= %= @= **= &= |= ^= <<= >>= |"},
        {"<<=>==!=<>", "<<= >= = != < > |"},
        {":=:,;.....->", ":= : , ; ... . . -> |"},
        {"a.b..c", "a . b . . c |"},
        {"a.5", "a .5 |"},
        {"1..a", "1. . a |"},
    };
    check_tokens(cases, sizeof cases / sizeof *cases);
}

static void test_names(void **state) {
    (void)state;
    static const TokenCase cases[] = {
        {"a _ _1 aB9", "a _ _1 aB9 |"},
        {"\303\251t\303\251 \316\261 x\302\267y", "\303\251t\303\251 \316\261 x\302\267y |"},
        {"rb bR f u fr b", "rb bR f u fr b |"},
        {"r'a' bR'b' u\"c\" Rb'''d'''", "r'a' bR'b' u\"c\" Rb'''d''' |"},
    };
    check_tokens(cases, sizeof cases / sizeof *cases);
    LexText t = lex_text(STR("match async is notin"));
    assert_int_equal(py_lex(&t.lexer).kind, TOK_NAME);
    assert_int_equal(py_lex(&t.lexer).kind, TOK_ASYNC);
    assert_int_equal(py_lex(&t.lexer).kind, TOK_IS);
    PyToken last = py_lex(&t.lexer);
    assert_int_equal(last.kind, TOK_NAME);
    assert_string_equal(last.u.name, "notin");
    lex_free(&t);
}

// More names than the table has room for at first: each has one symbol.
static void test_many_names(void **state) {
    (void)state;
    enum { NAMES = 2000 };
    static Symbol symbols[NAMES];
    Arena *arena = arena_create();
    StrBuf text = strbuf(arena);
    for (int i = 0; i < 2 * NAMES; i++) strbuf_printf(&text, "n%d ", i % NAMES);
    LexText t = lex_text(strbuf_str(&text));
    for (int i = 0; i < 2 * NAMES; i++) {
        PyToken token = py_lex(&t.lexer);
        assert_int_equal(token.kind, TOK_NAME);
        if (i < NAMES) symbols[i] = token.u.name;
        assert_ptr_equal(token.u.name, symbols[i % NAMES]);
    }
    lex_free(&t);
    arena_destroy(arena);
}

static void test_fstrings(void **state) {
    (void)state;
    static const TokenCase cases[] = {
        {"f'a'", "f' a ' |"},
        {"f'{a}b'", "f' { a } b ' |"},
        {"f'{{a}}'", "f' {{a}} ' |"},
        {"f'{a:>{b}c}'", "f' { a : > { b } c } ' |"},
        {"f'{a!r}'", "f' { a ! r } ' |"},
        {"f'{a!=b}{c:=d}{(e:=1)}'", "f' { a != b } { c : =d } { ( e := 1 ) } ' |"},
        {"f'{ {a: b}[c:d] }'", "f' { { a : b } [ c : d ] } ' |"},
        {"f'{f'{a}'}'", "f' { f' { a } ' } ' |"},
        {"f'''{\na # b\n}\n'''", "f''' { a } \n ''' |"},
        {"rf'\\{a}'", "rf' \\ { a } ' |"},
        {"f'\\N{DASH}{a}'", "f' \\N{DASH} { a } ' |"},
        {"f''", "f' ' |"},
    };
    check_tokens(cases, sizeof cases / sizeof *cases);
}

static void test_first(void **state) {
    (void)state;
    LexText t = lex_text(STR("a b\n  c (\n  d\n) e\nf"));
    static const struct {
        PyTokenKind kind;
        bool first;
    } expected[] = {
        {TOK_NAME, true},     {TOK_NAME, false},    {TOK_NEWLINE, false}, {TOK_INDENT, false},
        {TOK_NAME, true},     {TOK_LPAREN, false},  {TOK_NAME, true},     {TOK_RPAREN, true},
        {TOK_NAME, false},    {TOK_NEWLINE, false}, {TOK_DEDENT, false},  {TOK_NAME, true},
        {TOK_NEWLINE, false},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        PyToken token = py_lex(&t.lexer);
        assert_int_equal(token.kind, expected[i].kind);
        assert_int_equal(token.first, expected[i].first);
    }
    assert_int_equal(py_lex(&t.lexer).kind, TOK_END);
    assert_int_equal(py_lex(&t.lexer).kind, TOK_END);
    lex_free(&t);
}

// After an error in brackets the lexer goes on at a line, as if nothing were open.
static void test_resume(void **state) {
    (void)state;
    LexText t = lex_text(STR("if a:\n  f(b,\n  c = 1\nd"));
    PyToken token = py_lex(&t.lexer);
    while (token.kind != TOK_ASSIGN) token = py_lex(&t.lexer);
    assert_int_equal(t.lexer.open.count, 1);
    assert_int_equal(py_lex_column(&t.lexer, token.span.begin), 2);
    py_lex_resume(&t.lexer, token.span.begin);
    assert_string_equal(tokens_of(&t), "c = 1 | < d |");
    lex_free(&t);
}

static void test_texts(void **state) {
    (void)state;
    assert_string_equal(py_token_text(TOK_POW_ASSIGN), "**=");
    assert_string_equal(py_token_text(TOK_NEWLINE), "the end of the line");
    assert_true(py_token_is_keyword(TOK_YIELD));
    assert_false(py_token_is_keyword(TOK_NAME));
}

// Each token is in the text and begins after the one before, whatever the bytes.
static void test_any_bytes(void **state) {
    (void)state;
    static const char letters[] = "ab01.xe_+-*/\"'\\\n\r\t #{}[]():;=!fFrb\xc3\xa9\xff";
    uint64_t seed = 1;
    for (int round = 0; round < 3000; round++) {
        char text[80];
        for (size_t i = 0; i < sizeof text; i++) {
            seed = seed * 6364136223846793005U + 1442695040888963407U;
            text[i] = round % 4 ? letters[(seed >> 33) % (sizeof letters - 1)] : (char)(seed >> 56);
        }
        LexText t = lex_text((Str){text, sizeof text});
        uint32_t end = t.file->base;
        for (PyToken token = py_lex(&t.lexer); token.kind != TOK_END; token = py_lex(&t.lexer)) {
            assert_true(token.span.begin >= end && token.span.end >= token.span.begin);
            assert_true(token.span.end <= t.file->base + sizeof text);
            end = token.span.end;
        }
        lex_free(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),     cmocka_unit_test(test_punctuation),
        cmocka_unit_test(test_names),     cmocka_unit_test(test_many_names),
        cmocka_unit_test(test_fstrings),  cmocka_unit_test(test_first),
        cmocka_unit_test(test_resume),    cmocka_unit_test(test_texts),
        cmocka_unit_test(test_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

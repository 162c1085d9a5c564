// Depth and length: long chains are read, deep nesting is one error, and neither takes much time.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/py_tree.h"
#include "tests/support/py_walk.h"

enum { LONG = 5000 };

// `before`, `count` times `middle`, and `after`.
static Str repeated(Arena *arena, const char *before, const char *middle, int count,
                    const char *after) {
    StrBuf out = strbuf(arena);
    strbuf_add(&out, str(before));
    for (int i = 0; i < count; i++) strbuf_add(&out, str(middle));
    strbuf_add(&out, str(after));
    return strbuf_str(&out);
}

typedef struct Repeated {
    const char *before, *middle, *after;
} Repeated;

// These have the height of a few nodes however long they are.
static void test_chains(void **state) {
    (void)state;
    static const Repeated cases[] = {
        {"x = a", " + a", "\n"},
        {"x = a", " * b - c", "\n"},
        {"x = a", ".b().c[1]", "\n"},
        {"x = a", " and b", "\n"},
        {"x = a", " < b", "\n"},
        {"a", " = a", "\n"},
        {"x = (a", ", a", ")\n"},
        {"x = [a", ", a", "]\n"},
        {"x = {a: b", ", a: b", "}\n"},
        {"f(a", ", a", ")\n"},
        {"x = ('a'", " 'b'", ")\n"},
        {"x = f'", "{a}b", "'\n"},
        {"if a: b\n", "elif a: b\n", "else: c\n"},
        {"try: a\n", "except b: c\n", ""},
        {"", "a\n", ""},
        {"", "a; ", "\n"},
        {"def f(a", ", b", "): c\n"},
        {"x = [a", " for a in b if c", "]\n"},
        {"", "@a\n", "def f(): b\n"},
        {"match a:\n", "    case b: c\n", ""},
        {"match a:\n    case b", " | b", ": c\n"},
        {"", "def f(a):\n    return a\n", ""},
        {"", "#\n", "a\n"},
        {"a ", "\\\n", "\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena *arena = arena_create();
        PyText t =
            py_text_bytes(repeated(arena, cases[i].before, cases[i].middle, LONG, cases[i].after));
        assert_string_equal(py_text_diags(&t), "");
        const char *problem = py_walk(t.tree, t.source);
        if (problem) fail_msg("%s: %s", cases[i].middle, problem);
        for (const Py *s = t.tree->list; s; s = s->next) assert_true(s->height < 10);
        py_text_free(&t);
        arena_destroy(arena);
    }
}

static void check_deep(const Repeated *c, int count) {
    Arena *arena = arena_create();
    PyText t = py_text_bytes(repeated(arena, c->before, c->middle, count, c->after));
    size_t deep = 0;
    for (size_t i = 0; i < diags_count(t.diags); i++)
        deep += diags_get(t.diags, i)->code == DIAG_TOO_DEEP;
    if (deep != 1 && count > PY_MAX_DEPTH)
        fail_msg("%s: %zu errors of depth\n%s", c->middle, deep, py_text_diags(&t));
    const char *problem = py_walk(t.tree, t.source);
    if (problem) fail_msg("%s: %s", c->middle, problem);
    py_text_free(&t);
    arena_destroy(arena);
}

static void test_depth(void **state) {
    (void)state;
    static const Repeated cases[] = {
        {"x = ", "(", "\n"},
        {"x = ", "[", "\n"},
        {"x = ", "{a: ", "\n"},
        {"x = ", "f(", "\n"},
        {"x = ", "a[", "\n"},
        {"x = ", "-", "1\n"},
        {"x = ", "not ", "a\n"},
        {"x = ", "a ** ", "1\n"},
        {"x = ", "a if b else ", "c\n"},
        {"x = ", "lambda: ", "a\n"},
        {"x = ", "f'{", "\n"},
        {"x = ", "a and (b or not c < [", "\n"},
        {"match a:\n    case ", "[", "\n"},
        {"match a:\n    case ", "A(", "\n"},
        {"match a:\n    case ", "{1: ", "\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_deep(&cases[i], PY_MAX_DEPTH / 2);
        check_deep(&cases[i], PY_MAX_DEPTH + 1);
        check_deep(&cases[i], 20000);
    }
}

// Statements in statements; the lines after the block that is too deep are still read.
static void test_deep_blocks(void **state) {
    (void)state;
    static const char *const heads[] = {"if a:\n",   "while a:\n",    "def f():\n", "class A:\n",
                                        "with a:\n", "for a in b:\n", "match a:\n"};
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++) {
        Arena *arena = arena_create();
        StrBuf out = strbuf(arena);
        for (int i = 0; i < 300; i++) {
            strbuf_printf(&out, "%*s%s", i * 2, "", heads[h]);
            if (heads[h][0] == 'm') strbuf_printf(&out, "%*scase b:\n", i * 2 + 1, "");
        }
        strbuf_printf(&out, "%*sc\nd e\n", 600, "");
        PyText t = py_text_bytes(strbuf_str(&out));
        const char *problem = py_walk(t.tree, t.source);
        if (problem) fail_msg("%s: %s", heads[h], problem);
        assert_int_equal(diags_errors(t.diags), 2);
        assert_int_equal(diags_get(t.diags, 0)->code, DIAG_TOO_DEEP);
        assert_int_equal(diags_get(t.diags, 1)->code, DIAG_SYNTAX);
        py_text_free(&t);
        arena_destroy(arena);
    }
}

// Texts with an error on every line, or with much to look ahead for, take no more than linear time.
static void test_linear(void **state) {
    (void)state;
    static const Repeated cases[] = {
        {"", "match (\n", ""},        {"", "with (a\n", ""}, {"", "x = (\n", ""},
        {"", "x = 1 1\n", ""},        {"", "f(a, 'x\n", ""}, {"", "if (a:\n", ""},
        {"f'''", "\\N{", ""},         {"'''", "\\N{", ""},   {"", "f\"{", ""},
        {"", "    match (a b\n", ""}, {"x = ", "(]", "\n"},  {"x = (", "\n a b", "\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena *arena = arena_create();
        PyText t =
            py_text_bytes(repeated(arena, cases[i].before, cases[i].middle, 20000, cases[i].after));
        assert_true(diags_errors(t.diags) > 0);
        assert_null(py_walk(t.tree, t.source));
        py_text_free(&t);
        arena_destroy(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_deep_blocks),
        cmocka_unit_test(test_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

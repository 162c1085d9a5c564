// Files with tokens dropped, doubled, exchanged: nothing crashes, trees keep their invariants, and
// one mistake gives few errors. Deterministic; the number of mutants of each file is MUTANTS.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/os/os.h"
#include "tests/support/py_tree.h"
#include "tests/support/py_walk.h"
#include "tests/support/token_mutator.h"

enum { MUTANTS = 400, TEXT_MAX = 1 << 15 };

// Words, and each other character alone; line ends and spaces count.
static void find_tokens(TokenMutator *m) {
    m->count = 0;
    for (size_t i = 0; i < m->size;) {
        size_t begin = i++;
        while (str_word_char(m->text[begin]) && i < m->size && str_word_char(m->text[i])) i++;
        token_mutator_add(m, begin, i);
    }
}

static const char *const words[] = {
    "(",     ")",     "[",      "]",       "{",      "}",        ":",      ",",      ";",
    "=",     "==",    ":=",     "*",       "**",     "->",       ".",      "if",     "else",
    "elif",  "for",   "in",     "not",     "is",     "and",      "lambda", "yield",  "def",
    "class", "with",  "as",     "try",     "except", "match",    "case",   "return", "import",
    "from",  "async", "await",  "1.5",     "0x",     "'",        "\"\"\"", "f'{",    "}'",
    "b'a'",  "\n",    "\n    ", "\n\t",    "\\\n",   "#",        "\\",     "!",      "\xc3\xa9",
    "\xff",  "$",     "None",   "print x", "type X", "global a",
};

static void mutate(TokenMutator *m) {
    const TokenChange change = {words, sizeof words / sizeof *words, 6, "", false};
    find_tokens(m);
    token_mutator_change(m, &change);
}

// Returns the number of errors.
static size_t try_mutant(const TokenMutator *m, const char *path) {
    PyText t = py_text_bytes((Str){m->text, m->size});
    const char *problem = py_walk(t.tree, t.source);
    if (problem) fail_msg("%s: %s:\n%s", path, problem, m->text);
    StrBuf out = strbuf(t.arena);
    diags_text(t.diags, (DiagStyle){0}, &out);
    size_t errors = diags_errors(t.diags);
    py_text_free(&t);
    return errors;
}

static void mutate_file(const char *path, bool good) {
    Arena *arena = arena_create();
    Str text;
    OsError error;
    assert_true(os_read_file(arena, path, TEXT_MAX, &text, &error));
    assert_true(text.size < TEXT_MAX / 2);
    TokenMutator *m = token_mutator(arena, TEXT_MAX);
    size_t broken = 0, errors = 0;
    for (uint64_t i = 0; i < MUTANTS; i++) {
        token_mutator_begin(m, text, 0x9e3779b97f4a7c15ull * (i + 1) ^ str_hash(str(path)));
        if (i) mutate(m);  // the first is as it is
        size_t found = try_mutant(m, path);
        if (!i && good) assert_int_equal(found, 0);
        broken += found > 0;
        errors += found;
    }
    if (good) print_message("%s: %zu errors in %zu files\n", path, errors, broken);
    if (good) assert_true(errors * 2 < broken * 3);  // 1.5 for each mistake
    arena_destroy(arena);
}

static void test_mutants(void **state) {
    (void)state;
    mutate_file("tests/fuzz/corpus/python/kernels.py", true);
    mutate_file("tests/fuzz/corpus/python/grammar.py", true);
    mutate_file("tests/fuzz/corpus/python/errors_expressions.py", false);
    mutate_file("tests/fuzz/corpus/python/errors_compound.py", false);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mutants)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

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

enum { MUTANTS = 400, TEXT_MAX = 1 << 15, TOKENS_MAX = 1 << 13 };

typedef struct Mutator {
    uint64_t state;
    char *text;
    size_t size;
    struct {
        size_t begin, end;
    } tokens[TOKENS_MAX];
    size_t count;
} Mutator;

static size_t pick(Mutator *m, size_t below) {
    m->state ^= m->state << 13;
    m->state ^= m->state >> 7;
    m->state ^= m->state << 17;
    return (size_t)(m->state % below);
}

// Words, and each other character alone; line ends and spaces count.
static void find_tokens(Mutator *m) {
    m->count = 0;
    for (size_t i = 0; i < m->size && m->count < TOKENS_MAX;) {
        size_t begin = i++;
        while (str_word_char(m->text[begin]) && i < m->size && str_word_char(m->text[i])) i++;
        m->tokens[m->count].begin = begin;
        m->tokens[m->count++].end = i;
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

// One token is dropped, replaced, or gets a neighbour.
static void mutate(Mutator *m) {
    find_tokens(m);
    if (!m->count) return;
    size_t at = pick(m, m->count), other = pick(m, m->count), how = pick(m, 6);
    size_t begin = m->tokens[at].begin, end = how >= 4 ? begin : m->tokens[at].end;
    char piece[256];
    const char *word = words[pick(m, sizeof words / sizeof *words)];
    int size = how == 0  ? 0
               : how % 2 ? snprintf(piece, sizeof piece, "%s", word)
                         : snprintf(piece, sizeof piece, "%.*s",
                                    (int)(m->tokens[other].end - m->tokens[other].begin),
                                    m->text + m->tokens[other].begin);
    size_t length = size < (int)sizeof piece ? (size_t)size : sizeof piece - 1;
    if (m->size + length + 1 > TEXT_MAX) return;
    memmove(m->text + begin + length, m->text + end, m->size - end);
    memcpy(m->text + begin, piece, length);
    m->size = m->size - (end - begin) + length;
    m->text[m->size] = 0;
}

// Returns the number of errors.
static size_t try_mutant(const Mutator *m, const char *path) {
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
    Mutator *m = arena_new(arena, Mutator, 1);
    m->text = arena_new(arena, char, TEXT_MAX);
    size_t broken = 0, errors = 0;
    for (uint64_t i = 0; i < MUTANTS; i++) {
        m->state = 0x9e3779b97f4a7c15ull * (i + 1) ^ str_hash(str(path));
        memcpy(m->text, text.text, text.size + 1);
        m->size = text.size;
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

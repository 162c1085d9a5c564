// The trees of real files, compared with those of CPython (python_trees.py): a slice of its
// standard library, with every place. Needs python3.
//
// TEST_PYTHON names another interpreter, TEST_PYTHON_BYTES the size of the slice (0: all files).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/os/os.h"
#include "tests/support/process.h"
#include "tests/support/py_tree.h"

enum { SECONDS = 600, SKIPPED = 77, NO_COMMAND = 127, SHOWN = 200, BEFORE = 60 };
static const uint64_t limit = (uint64_t)1 << 30;

// Hides the names of characters in \N{…}, as python_trees.py does.
static Str hide_names(Arena *arena, Str text) {
    char *copy = arena_text(arena, text.text, text.size);
    for (size_t i = 0; i + 2 < text.size; i++) {
        if (memcmp(copy + i, "\\N{", 3) != 0) continue;
        char *close = memchr(copy + i, '}', text.size - i);
        if (!close) break;
        copy[i + 1] = 'n';
        copy[i + 2] = *close = '_';
        i = (size_t)(close - copy);
    }
    return (Str){copy, text.size};
}

// Removes the places: "@12-34" outside of quotes.
static void remove_places(char *text) {
    char *out = text;
    bool quoted = false;
    for (const char *p = text; *p; p++) {
        if (*p == '"') quoted = !quoted;
        if (!quoted && *p == '@' && p[1] >= '0' && p[1] <= '9') {
            while ((p[1] >= '0' && p[1] <= '9') || p[1] == '-') p++;
            if (p[0] == '-') p--;
        } else {
            *out++ = *p;
        }
    }
    *out = 0;
}

static void compare_line(const PyText *t, const Py *statement, Str expected, Str path, bool spans) {
    StrBuf out = strbuf(t->arena);
    py_tree_write(&out, statement, t->source);
    if (!spans) remove_places(out.text);
    if (str_equal(str(out.text), expected)) return;
    size_t i = 0;
    while (i < expected.size && out.text[i] == expected.text[i]) i++;
    size_t from = i > BEFORE ? i - BEFORE : 0;
    fail_msg("%.*s:\n   ours: %.*s\nCPython: %.*s", STR_ARG(path), SHOWN, out.text + from,
             (int)(expected.size - from < SHOWN ? expected.size - from : SHOWN),
             expected.text + from);
}

// Compares a file with the lines at *lines, which it takes; returns the number of its statements.
static size_t compare_file(Str path, Str *lines, bool spans) {
    Arena *arena = arena_create();
    Str text;
    OsError error;
    assert_true(os_read_file(arena, arena_text(arena, path.text, path.size), limit, &text, &error));
    PyText t = py_text_bytes(hide_names(arena, text));
    const char *diags = py_text_diags(&t);
    if (*diags) fail_msg("%.*s: %s", STR_ARG(path), diags);
    size_t count = 0;
    const Py *statement = t.tree->list;
    while (lines->size && !str_starts(*lines, STR("FILE "))) {
        Str line = str_cut(*lines, '\n', lines);
        if (!statement) fail_msg("%.*s: statements are missing", STR_ARG(path));
        compare_line(&t, statement, line, path, spans);
        statement = statement->next;
        count++;
    }
    if (statement) fail_msg("%.*s: more statements than CPython finds", STR_ARG(path));
    py_text_free(&t);
    arena_destroy(arena);
    return count;
}

static void test_trees(void **state) {
    (void)state;
    Arena *arena = arena_create();
    const char *python = os_env("TEST_PYTHON"), *bytes = os_env("TEST_PYTHON_BYTES");
    const char *file = TEST_BINARY_DIR "/python_trees.txt";
    const char *command =
        arena_printf(arena, "%s tests/frontend/triton/python_trees.py --bytes %s >'%s'",
                     python ? python : "python3", bytes ? bytes : "200000", file);
    ProcessResult r;
    assert_true(process_run(arena, &(Process){command, ".", TEST_BINARY_DIR, SECONDS, false}, &r));
    if (r.status == SKIPPED || r.status == NO_COMMAND) {
        print_message("skipped: no python3 from 3.8 on here: apt-get install python3\n");
        arena_destroy(arena);
        skip();
    }
    if (r.status != 0) fail_msg("%s: %.*s", command, STR_ARG(r.output));
    Str lines;
    OsError error;
    assert_true(os_read_file(arena, file, limit, &lines, &error));
    bool spans = str_equal(str_cut(lines, '\n', &lines), STR("spans"));
    size_t files = 0, statements = 0;
    while (lines.size) {
        Str path = str_cut(lines, '\n', &lines);
        path = (Str){path.text + 5, path.size - 5};
        statements += compare_file(path, &lines, spans);
        files++;
    }
    print_message("%zu files, %zu statements%s\n", files, statements,
                  spans ? ", with their places" : "");
    assert_true(files > 10);
    arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_trees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

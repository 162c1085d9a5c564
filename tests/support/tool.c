#define _DEFAULT_SOURCE  // readdir
#include "tests/support/tool.h"

#include <dirent.h>
#include <setjmp.h>  // cmocka.h needs these four
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
//
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "base/vec.h"

enum { SECONDS = 120 };  // generous: machines that run tests are busy

static bool has(Str text, const char *part) {
    size_t size = strlen(part);
    for (size_t i = 0; i + size <= text.size; i++)
        if (memcmp(text.text + i, part, size) == 0) return true;
    return false;
}

static void shell(Tool *t, const char *command) {
    const char *line = arena_printf(t->arena, "S='%s'; %s", TEST_SOURCE_DIR, command);
    Process p = {line, t->folder, TEST_BINARY_DIR, SECONDS, true};
    assert_true(process_run(t->arena, &p, &t->last));
}

static void show(const Tool *t, const char *command, const char *why) {
    print_error("%s\n  command: %s\n  status: %d%s\n  output: %.*s\n  errors: %.*s\n", why, command,
                t->last.status, t->last.timed_out ? " (timeout)" : "", STR_ARG(t->last.output),
                STR_ARG(t->last.errors));
}

#define EXPECT(condition, why)       \
    do {                             \
        if (!(condition)) {          \
            show(t, command, (why)); \
            fail();                  \
        }                            \
    } while (0)

static void run(Tool *t, int status, const char *command) {
    shell(t, command);
    EXPECT(!t->last.timed_out, "it does not end");
    EXPECT(t->last.status == status,
           arena_printf(t->arena, "expected status %d, found %d", status, t->last.status));
}

#define FORMATTED(command, format)            \
    StrBuf formatted = strbuf(t->arena);      \
    va_list list;                             \
    va_start(list, format);                   \
    strbuf_vprintf(&formatted, format, list); \
    va_end(list);                             \
    const char *command = formatted.text

Tool *tool_open(void) {
    Arena *arena = arena_create();
    Tool *t = arena_new(arena, Tool, 1);
    t->arena = arena;
    t->folder = TEST_BINARY_DIR;
    shell(t, "mktemp -d \"${TMPDIR:-/tmp}/tilec-test-XXXXXX\"");
    Str folder = str_trim(t->last.output);
    assert_true(folder.size > 0);
    t->folder = arena_text(arena, folder.text, folder.size);
    return t;
}

void tool_close(Tool *t) {
    shell(t, "chmod -R u+w . && rm -rf -- \"$PWD\"");
    arena_destroy(t->arena);
}

static const char *path_of(Tool *t, const char *name) {
    return arena_printf(t->arena, "%s/%s", t->folder, name);
}

void tool_file(Tool *t, const char *name, Str bytes) {
    OsError error;
    assert_true(os_write_file(t->arena, path_of(t, name), bytes, &error));
}

Str tool_read(Tool *t, const char *name) {
    Str bytes;
    OsError error;
    if (!os_read_file(t->arena, path_of(t, name), 1 << 30, &bytes, &error))
        fail_msg("%s: %s", name, error.text);
    return bytes;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *tool_list(Tool *t) {
    VEC(const char *) names = {0};
    DIR *folder = opendir(t->folder);
    assert_non_null(folder);
    for (const struct dirent *d; (d = readdir(folder)) != NULL;)
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
            vec_push(t->arena, &names, arena_text(t->arena, d->d_name, strlen(d->d_name)));
    closedir(folder);
    if (names.count) qsort(names.data, names.count, sizeof *names.data, by_name);
    StrBuf list = strbuf(t->arena);
    for (size_t i = 0; i < names.count; i++)
        strbuf_printf(&list, "%s%s", i ? " " : "", names.data[i]);
    return list.text ? list.text : "";
}

void tool_run(Tool *t, int status, const char *format, ...) {
    FORMATTED(command, format);
    run(t, status, command);
}

void tool_prints(Tool *t, const char *output, const char *format, ...) {
    FORMATTED(command, format);
    run(t, 0, command);
    EXPECT(t->last.errors.size == 0, "expected nothing on standard error");
    EXPECT(has(t->last.output, output), arena_printf(t->arena, "the output lacks: %s", output));
}

void tool_fails(Tool *t, int status, const char *error, const char *format, ...) {
    FORMATTED(command, format);
    const char *before = tool_list(t);
    run(t, status, command);
    EXPECT(has(t->last.errors, error), arena_printf(t->arena, "the errors lack: %s", error));
    EXPECT(t->last.output.size == 0, "expected nothing on standard output");
    const char *after = tool_list(t);
    EXPECT(strcmp(before, after) == 0,
           arena_printf(t->arena, "files before: %s\nfiles after: %s", before, after));
}

const JsonValue *tool_json(Tool *t, int status, const char *format, ...) {
    static const char *const words[] = {"ok", "input", "usage", "failed", "unavailable"};
    FORMATTED(command, format);
    run(t, status, command);
    EXPECT(t->last.errors.size == 0, "expected nothing on standard error");
    const JsonValue *j = json_parse(t->arena, t->last.output, NULL);
    EXPECT(j && j->kind == JSON_OBJECT, "expected one JSON object");
    const JsonValue *word = json_get(j, "status"), *rows = json_get(j, "diagnostics");
    EXPECT(word && str_equal(word->string, str(words[status])), "expected the status as a word");
    EXPECT(rows && rows->kind == JSON_ARRAY, "expected an array of diagnostics");
    size_t errors = 0, warnings = 0;
    for (const JsonValue *d = rows->first; d; d = d->next) {
        const JsonValue *severity = json_get(d, "severity");
        EXPECT(severity && json_get(d, "code") && json_get(d, "message"), "a row is not complete");
        errors += str_equal(severity->string, STR("error"));
        warnings += str_equal(severity->string, STR("warning"));
    }
    EXPECT(errors == (size_t)tool_at(j, "errors")->number, "the count of errors is wrong");
    EXPECT(warnings == (size_t)tool_at(j, "warnings")->number, "the count of warnings is wrong");
    EXPECT((errors > 0) == (status != 0), "errors and status disagree");
    return j;
}

bool tool_output_has(const Tool *t, const char *text) {
    return has(t->last.output, text) || has(t->last.errors, text);
}

const JsonValue *tool_at(const JsonValue *value, const char *path) {
    const JsonValue *at = value;
    for (Str rest = str(path); at && rest.size;) {
        Str name = str_cut(rest, '.', &rest);
        uint64_t index;
        bool overflow = false;
        if (at->kind == JSON_ARRAY && str_to_u64(name, &index, &overflow)) {
            at = at->first;
            while (at && index--) at = at->next;
        } else {
            const JsonValue *member = at->kind == JSON_OBJECT ? at->first : NULL;
            while (member && !str_equal(member->key, name)) member = member->next;
            at = member;
        }
    }
    if (!at) fail_msg("there is no member %s", path);
    return at;
}

void tool_text_at(const JsonValue *value, const char *path, const char *expected) {
    const JsonValue *at = tool_at(value, path);
    if (at->kind != JSON_STRING || !str_equal(at->string, str(expected)))
        fail_msg("%s: expected \"%s\", found \"%.*s\"", path, expected, STR_ARG(at->string));
}

void tool_number_at(const JsonValue *value, const char *path, double expected) {
    const JsonValue *at = tool_at(value, path);
    if (at->kind != JSON_NUMBER || at->number != expected)
        fail_msg("%s: expected %.17g, found %.17g", path, expected, at->number);
}

size_t tool_count(const JsonValue *array) {
    size_t n = 0;
    for (const JsonValue *v = array->first; v; v = v->next) n++;
    return n;
}

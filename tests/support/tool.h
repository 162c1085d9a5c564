// Tool: runs the built `tilec` in a folder of its own and checks its output, status and files.
//
// Invariants: a command is a shell command (pipes, redirections and `cd` work; `tilec` is the built
// one; $S is the root of the sources); it never ends by a signal, a sanitizer, status 70 or more,
// or the time limit, else the test fails and shows what it said. An expected text must occur in it.
// Ownership: tool_close removes the folder.
//
//     Tool *t = tool_open();
//     tool_file(t, "k.tile", STR("kernel k() grid(1) { }"));
//     tool_fails(t, 2, "nothing named 'Q'", "tilec run k.tile --set Q=%d", 1);
//     JsonValue *j = tool_json(t, 0, "tilec run k.tile --json");
//     tool_close(t);
#ifndef TILEC_TESTS_SUPPORT_TOOL_H
#define TILEC_TESTS_SUPPORT_TOOL_H

#include "base/json.h"
#include "tests/support/process.h"

typedef struct Tool {
    Arena *arena;
    const char *folder;
    ProcessResult last;
} Tool;

Tool *tool_open(void);
void tool_close(Tool *t);

void tool_file(Tool *t, const char *name, Str bytes);
// The bytes of a file; the test fails when there is none.
Str tool_read(Tool *t, const char *name);
// The names of all files in the folder, sorted, with blanks between.
const char *tool_list(Tool *t);

// Runs and expects this status; what it said is in t->last.
void tool_run(Tool *t, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Expects that nothing is on standard error, and this on standard output.
void tool_prints(Tool *t, const char *output, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Expects this text on standard error, nothing on standard output, and that no file came or went.
void tool_fails(Tool *t, int status, const char *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// Expects one JSON object on standard output with the members that every object has, in agreement
// with the status, and nothing on standard error.
const JsonValue *tool_json(Tool *t, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

bool tool_output_has(const Tool *t, const char *text);  // on either stream
// A member that must be there; of a path such as "arrays.0.name".
const JsonValue *tool_at(const JsonValue *value, const char *path);
void tool_text_at(const JsonValue *value, const char *path, const char *expected);
void tool_number_at(const JsonValue *value, const char *path, double expected);
size_t tool_count(const JsonValue *array);

#endif

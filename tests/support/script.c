#include "tests/support/script.h"

#include <string.h>

typedef struct Reader {
    Arena *arena;
    Script script;
    Str text;
    Str comment;  // "//", or "#" in Python
    size_t at;
    uint32_t line;
    size_t pending;  // the first expectation that waits for the next line of code
} Reader;

static void problem(Reader *r, const char *text) {
    vec_push(r->arena, &r->script.problems, ((ScriptProblem){r->line, text}));
}

static Str after(Str s, size_t count) { return (Str){s.text + count, s.size - count}; }

// The next line, without its end.
static bool next_line(Reader *r, Str *line) {
    if (r->at >= r->text.size) return false;
    Str rest = after(r->text, r->at);
    const char *end = memchr(rest.text, '\n', rest.size);
    *line = (Str){rest.text, end ? (size_t)(end - rest.text) : rest.size};
    r->at += line->size + (end ? 1 : 0);
    r->line++;
    return true;
}

// "// RUN: …" for the name "RUN:"
static bool directive(const Reader *r, Str line, Str name, Str *argument) {
    Str trimmed = str_trim(line);
    if (!str_starts(trimmed, r->comment)) return false;
    trimmed = after(trimmed, r->comment.size);
    if (!str_starts(trimmed, STR(" ")) || !str_starts(after(trimmed, 1), name)) return false;
    *argument = str_trim(after(trimmed, name.size + 1));
    return true;
}

// "//|" or "#!": the comment sign and another.
static Str sign(const Reader *r, char second) {
    return str(arena_printf(r->arena, "%.*s%c", STR_ARG(r->comment), second));
}

static bool read_number(Str s, uint32_t *value) {
    uint64_t wide = 0;
    bool overflow = false;
    if (!str_to_u64(s, &wide, &overflow) || overflow || wide > UINT32_MAX) return false;
    *value = (uint32_t)wide;
    return true;
}

// The block of a run: OUT, output lines, EXIT. Stops before the first line of another kind.
static void read_block(Reader *r, ScriptRun *run) {
    StrBuf expected = strbuf(r->arena);
    Str mark = sign(r, '|');
    run->block_begin = run->block_end = r->at;
    for (;;) {
        Reader before = *r;
        Str line, argument;
        uint32_t status = 0;
        if (!next_line(r, &line)) break;
        if (directive(r, line, STR("OUT:"), &argument)) {
            run->has_block = true;
        } else if (run->has_block && str_starts(line, mark)) {
            size_t skip = mark.size + (str_starts(after(line, mark.size), STR(" ")) ? 1 : 0);
            strbuf_add(&expected, after(line, skip));
            strbuf_char(&expected, '\n');
        } else if (directive(r, line, STR("EXIT:"), &argument)) {
            if (!read_number(argument, &status)) problem(r, "EXIT wants a number");
            run->status = (int)(status & 255);
            run->has_status = run->has_block = true;
        } else {
            r->at = before.at;
            r->line = before.line;
            break;
        }
        run->block_end = r->at;
    }
    run->expected = strbuf_str(&expected);
}

static void read_run(Reader *r, Str command, ScriptKind kind) {
    ScriptRun run = {.line = r->line, .kind = kind, .command = command};
    bool passes = kind == SCRIPT_PASSES;
    if (command.size == 0)
        problem(r, passes ? "RUN-PASSES wants a list of passes" : "RUN wants a command");
    read_block(r, &run);
    if (passes && run.has_status) problem(r, "RUN-PASSES has no exit status");
    vec_push(r->arena, &r->script.runs, run);
}

static bool find(Str s, Str what, size_t *at) {
    for (size_t i = 0; i + what.size <= s.size; i++)
        if (memcmp(s.text + i, what.text, what.size) == 0) return *at = i, true;
    return false;
}

static bool find_last(Str s, char c, size_t *at) {
    for (size_t i = s.size; i > 0; i--)
        if (s.text[i - 1] == c) return *at = i - 1, true;
    return false;
}

// "error: FRAGMENT [CODE] @COLUMN"
static bool read_expectation(Str s, ScriptExpectation *e) {
    size_t at, open;
    Str rest;
    if (!find_last(s, '@', &at)) return false;
    Str column = str_trim(after(s, at + 1));
    if (!str_equal(column, STR("-")) && (!read_number(column, &e->column) || e->column == 0))
        return false;
    Str body = str_trim((Str){s.text, at});
    if (!str_ends(body, STR("]")) || !find_last(body, '[', &open)) return false;
    e->code = (Str){body.text + open + 1, body.size - open - 2};
    e->severity = str_trim(str_cut((Str){body.text, open}, ':', &rest));
    e->fragment = str_trim(rest);
    return e->code.size > 0 && e->fragment.size > 0 &&
           (str_equal(e->severity, STR("error")) || str_equal(e->severity, STR("warning")) ||
            str_equal(e->severity, STR("info")));
}

// Every `//!` of a line. Those alone on their line wait for the next line of code.
static void read_expectations(Reader *r, Str line) {
    size_t mark;
    Str wanted = sign(r, '!');
    bool code = !find(line, wanted, &mark) || str_trim((Str){line.text, mark}).size > 0;
    if (code) {
        while (r->pending < r->script.expectations.count) {
            ScriptExpectation *e = &r->script.expectations.data[r->pending++];
            if (e->column > 0) e->line = r->line;
        }
    }
    while (find(line, wanted, &mark)) {
        line = after(line, mark + wanted.size);
        size_t end;
        Str one = find(line, wanted, &end) ? (Str){line.text, end} : line;
        ScriptExpectation e = {0};
        if (!read_expectation(one, &e)) {
            problem(r, "expected '//! error|warning|info: FRAGMENT [CODE] @COLUMN'");
            continue;
        }
        if (e.column > 0) e.line = r->line;
        vec_push(r->arena, &r->script.expectations, e);
        if (code) r->pending = r->script.expectations.count;
    }
}

Script script_read(Arena *arena, Str text, Str comment) {
    Reader r = {.arena = arena, .text = text, .comment = comment};
    Str line, argument;
    while (next_line(&r, &line)) {
        if (directive(&r, line, STR("RUN-ERRORS:"), &argument))
            read_run(&r, argument, SCRIPT_ERRORS);
        else if (directive(&r, line, STR("RUN-PASSES:"), &argument))
            read_run(&r, argument, SCRIPT_PASSES);
        else if (directive(&r, line, STR("RUN:"), &argument))
            read_run(&r, argument, SCRIPT_OUTPUT);
        else if (str_starts(str_trim(line), sign(&r, '|')) ||
                 directive(&r, line, STR("OUT:"), &argument) ||
                 directive(&r, line, STR("EXIT:"), &argument))
            problem(&r, "a block that follows no RUN");
        else
            read_expectations(&r, line);
    }
    if (r.script.runs.count == 0) problem(&r, "no RUN, RUN-ERRORS or RUN-PASSES line");
    bool errors = false;
    for (size_t i = 0; i < r.script.runs.count; i++)
        errors |= r.script.runs.data[i].kind == SCRIPT_ERRORS;
    if (!errors && r.script.expectations.count > 0)
        problem(&r, "expectations ('//!') without a RUN-ERRORS line");
    return r.script;
}

#include "tests/support/case.h"

#include <string.h>

#include "base/os/os.h"
#include "tests/support/diff.h"
#include "tests/support/match.h"
#include "tests/support/pass_check.h"
#include "tests/support/process.h"

enum { BLESS_ROUNDS = 3, SOURCE_LIMIT = 64 << 20 };

typedef struct Case {
    Arena *arena;
    const CaseOptions *options;
    const char *folder;
    const char *name;       // bare
    Str text;               // the file's
    const char *temporary;  // %t
    StrBuf *report;
} Case;

// How a comment begins in a file of this name.
static Str comment_of(const char *name) {
    return str_ends(str(name), STR(".py")) ? STR("#") : STR("//");
}

// `text` with every `from` replaced.
static Str replace(Arena *arena, Str text, Str from, Str to) {
    StrBuf out = strbuf(arena);
    size_t at = 0;
    while (at < text.size) {
        bool hit = at + from.size <= text.size && memcmp(text.text + at, from.text, from.size) == 0;
        if (hit)
            strbuf_add(&out, to);
        else
            strbuf_char(&out, text.text[at]);
        at += hit ? from.size : 1;
    }
    return strbuf_str(&out);
}

static bool execute(Case *c, const ScriptRun *run, ProcessResult *result) {
    Str command = replace(c->arena, run->command, STR("%s"), str(c->name));
    command = replace(c->arena, command, STR("%t"), str(c->temporary));
    Process process = {.command = arena_text(c->arena, command.text, command.size),
                       .folder = c->folder,
                       .tool_folder = c->options->tool_folder,
                       .seconds = c->options->seconds,
                       .separate = run->kind == SCRIPT_ERRORS};
    if (!process_run(c->arena, &process, result)) {
        strbuf_printf(c->report, "  line %u: no process could be started\n", run->line);
        return false;
    }
    result->output = replace(c->arena, result->output, str(c->temporary), STR("%t"));
    if (result->timed_out) {
        strbuf_printf(c->report, "  line %u: still running after %u s: %.*s\n", run->line,
                      c->options->seconds, STR_ARG(run->command));
        return false;
    }
    if (result->status >= PROCESS_DEFECT) {
        strbuf_printf(c->report, "  line %u: ended with status %d%s: %.*s\n%.*s%.*s", run->line,
                      result->status, result->status == PROCESS_SANITIZER ? " (sanitizer)" : "",
                      STR_ARG(run->command), STR_ARG(result->output), STR_ARG(result->errors));
        return false;
    }
    return true;
}

// Lines of output end in '\n', the last one too.
static Str whole_lines(Arena *arena, Str s) {
    if (s.size == 0 || s.text[s.size - 1] == '\n') return s;
    StrBuf out = strbuf(arena);
    strbuf_add(&out, s);
    strbuf_char(&out, '\n');
    return strbuf_str(&out);
}

static bool check_status(Case *c, const ScriptRun *run, int wanted, int found) {
    if (wanted == found) return true;
    strbuf_printf(c->report, "  line %u: exit status %d, expected %d: %.*s\n", run->line, found,
                  wanted, STR_ARG(run->command));
    return false;
}

static bool check_block(Case *c, const ScriptRun *run, Str found) {
    if (!run->has_block) {
        strbuf_printf(c->report, "  line %u: no blessed output yet; see --bless: %.*s\n", run->line,
                      STR_ARG(run->command));
        return false;
    }
    if (str_equal(found, run->expected)) return true;
    strbuf_printf(c->report, "  line %u: other output: %.*s\n--- expected\n+++ found\n", run->line,
                  STR_ARG(run->command));
    diff_unified(c->arena, run->expected, found, c->report);
    return false;
}

static bool check_output(Case *c, const ScriptRun *run) {
    ProcessResult result;
    if (!execute(c, run, &result)) return false;
    bool same = check_block(c, run, whole_lines(c->arena, result.output));
    return check_status(c, run, run->has_block ? run->status : result.status, result.status) &&
           same;
}

static bool run_passes(Case *c, const ScriptRun *run, Str *printed) {
    PassCheck check = {.file = c->name, .text = c->text, .passes = run->command};
    StrBuf report = strbuf(c->arena);
    bool ok = pass_check(c->arena, &check, &report);
    *printed = check.printed;
    if (ok) return true;
    strbuf_printf(c->report, "  line %u: RUN-PASSES: %.*s\n%.*s", run->line, STR_ARG(run->command),
                  STR_ARG(strbuf_str(&report)));
    return false;
}

static bool check_passes(Case *c, const ScriptRun *run) {
    Str printed;
    bool ok = run_passes(c, run, &printed);
    if (!ok && printed.size == 0) return false;
    return check_block(c, run, printed) && ok;
}

static bool check_errors(Case *c, const ScriptRun *run, Script *script) {
    ProcessResult result;
    if (!execute(c, run, &result)) return false;
    int wanted = run->has_status ? run->status : match_errors_expected(script) > 0;
    bool ok = match_diagnostics(c->arena, result.output, str(c->name), script, c->report);
    if (!ok && result.errors.size > 0)
        strbuf_printf(c->report, "  standard error:\n%.*s\n", STR_ARG(result.errors));
    return check_status(c, run, wanted, result.status) && ok;
}

static bool check_all(Case *c, Script *script) {
    bool ok = true;
    for (size_t i = 0; i < script->runs.count; i++) {
        const ScriptRun *run = &script->runs.data[i];
        switch (run->kind) {
        case SCRIPT_OUTPUT: ok &= check_output(c, run); break;
        case SCRIPT_ERRORS: ok &= check_errors(c, run, script); break;
        case SCRIPT_PASSES: ok &= check_passes(c, run); break;
        }
    }
    return ok;
}

static void write_block(StrBuf *out, Str comment, Str output, int status) {
    strbuf_printf(out, "%.*s OUT:\n", STR_ARG(comment));
    while (output.size > 0) {
        Str rest;
        Str line = str_cut(output, '\n', &rest);
        strbuf_printf(out, line.size > 0 ? "%.*s| " : "%.*s|", STR_ARG(comment));
        strbuf_add(out, line);
        strbuf_char(out, '\n');
        output = rest;
    }
    if (status != 0) strbuf_printf(out, "%.*s EXIT: %d\n", STR_ARG(comment), status);
}

// The file's text with every block rewritten by what its command wrote now, or its passes made.
static bool blessed(Case *c, const Script *script, StrBuf *out) {
    Str text = c->text;
    size_t at = 0;
    for (size_t i = 0; i < script->runs.count; i++) {
        const ScriptRun *run = &script->runs.data[i];
        ProcessResult result = {0};
        if (run->kind == SCRIPT_ERRORS) continue;
        bool ok = run->kind == SCRIPT_PASSES ? run_passes(c, run, &result.output)
                                             : execute(c, run, &result);
        if (!ok) return false;
        strbuf_add(out, (Str){text.text + at, run->block_begin - at});
        if (out->size > 0 && out->text[out->size - 1] != '\n') strbuf_char(out, '\n');
        write_block(out, comment_of(c->name), whole_lines(c->arena, result.output), result.status);
        at = run->block_end;
    }
    strbuf_add(out, (Str){text.text + at, text.size - at});
    return true;
}

// Blocks may move the lines that later output names, so the file is blessed until it stays as it
// is.
static bool bless(Case *c, const char *path, Script *script) {
    for (int round = 0; round < BLESS_ROUNDS; round++) {
        StrBuf out = strbuf(c->arena);
        OsError error;
        if (!blessed(c, script, &out)) return false;
        Str now = strbuf_str(&out);
        if (str_equal(now, c->text)) return true;
        if (!os_write_file(c->arena, path, now, &error)) {
            strbuf_printf(c->report, "  cannot write: %s\n", error.text);
            return false;
        }
        c->text = now;
        *script = script_read(c->arena, now, comment_of(c->name));
    }
    return true;  // what still differs, the comparison that follows shows
}

bool case_run(Arena *arena, const CaseOptions *options, const char *path, StrBuf *report) {
    const char *slash = strrchr(path, '/');
    Case c = {.arena = arena, .options = options, .report = report};
    c.name = slash ? slash + 1 : path;
    c.folder = slash ? arena_text(arena, path, (size_t)(slash - path)) : ".";
    Str flat = replace(arena, str(path), STR("/"), STR("_"));  // unique, as files run side by side
    c.temporary = arena_printf(arena, "%s/%.*s.tmp", options->scratch, STR_ARG(flat));
    OsError error;
    if (!os_read_file(arena, path, SOURCE_LIMIT, &c.text, &error)) {
        strbuf_printf(report, "  cannot read: %s\n", error.text);
        return false;
    }
    Script script = script_read(arena, c.text, comment_of(c.name));
    bool ok = script.problems.count == 0;
    for (size_t i = 0; i < script.problems.count; i++)
        strbuf_printf(report, "  line %u: %s\n", script.problems.data[i].line,
                      script.problems.data[i].text);
    if (ok && options->bless) ok = bless(&c, path, &script);
    return ok && check_all(&c, &script);
}

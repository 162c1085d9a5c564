// Diagnostics as text for people and as JSON.
//
// All text shown may come from hostile input. So control characters, stray bytes and marks that
// change the direction of text are replaced, and long lines are cut to a window around the caret.
#include <string.h>

#include "base/diag.h"
#include "base/json.h"

enum {
    LINE_COLUMNS = 120,  // columns of a source line that are shown
    CARET_COLUMN = 60,   // the caret's column when the beginning of its line is cut off
};

static const char *const severities[] = {"error", "warning", "note"};

static bool is_harmful(uint32_t point) {
    return point < 0x20 || (point >= 0x7F && point < 0xA0) ||
           (point >= 0x200E && point <= 0x200F) || (point >= 0x2028 && point <= 0x202E) ||
           (point >= 0x2066 && point <= 0x2069);
}

// The size in bytes of the character at the beginning of `s`; sets *shown if it may be shown as it
// is.
static size_t next_cell(Str s, bool *shown) {
    uint32_t point = 0;
    size_t size = str_utf8(s, &point);
    *shown = size != 0 && !is_harmful(point);
    return size ? size : 1;
}

static void add_cell(StrBuf *out, Str s, size_t size, bool shown) {
    strbuf_add(out, shown ? (Str){s.text, size} : STR("\xEF\xBF\xBD"));
}

static void add_safe(StrBuf *out, Str s) {
    while (s.size) {
        bool shown = false;
        size_t size = next_cell(s, &shown);
        add_cell(out, s, size, shown);
        s = (Str){s.text + size, s.size - size};
    }
}

static const char *color_of(DiagSeverity severity) {
    switch (severity) {
    case DIAG_ERROR: return "\033[1;31m";
    case DIAG_WARNING: return "\033[1;35m";
    case DIAG_INFO: return "\033[1;36m";
    }
    return "";
}

static void add_colored(StrBuf *out, DiagStyle style, const char *color, const char *text) {
    if (style.color) strbuf_add(out, str(color));
    strbuf_add(out, str(text));
    if (style.color) strbuf_add(out, STR("\033[0m"));
}

void diag_show_place(const Sources *sources, Span span, DiagStyle style, StrBuf *out) {
    SourceLine at = source_line(sources, span.begin);
    if (!at.file) return;
    if (style.color) strbuf_add(out, STR("\033[1m"));
    add_safe(out, at.file->path);
    strbuf_printf(out, ":%u:%u: ", at.line, at.column);
    if (style.color) strbuf_add(out, STR("\033[0m"));
}

// The offset at which the shown part of a line begins; the caret is within that part.
static size_t window_begin(Str line, size_t caret) {
    size_t begin = caret;
    for (int cells = 0; begin && cells < CARET_COLUMN; cells++) {
        size_t step = 1;  // over continuation bytes, at most three
        while (step < 4 && step < begin && (line.text[begin - step] & 0xC0) == 0x80) step++;
        uint32_t point = 0;
        size_t size = str_utf8((Str){line.text + begin - step, step}, &point);
        begin -= size == step ? step : 1;
    }
    return begin;
}

// Adds the line's window; below it blanks up to `caret`, then the mark up to `end`.
static void add_window(StrBuf *out, Arena *arena, Str line, size_t caret, size_t end,
                       DiagStyle style, DiagSeverity severity) {
    StrBuf below = strbuf(arena);
    size_t at = window_begin(line, caret);
    strbuf_add(out, at ? STR("    \xE2\x80\xA6") : STR("    "));
    strbuf_add(&below, at ? STR("     ") : STR("    "));
    StrBuf mark = strbuf(arena);
    for (int cells = 0; at < line.size && cells < LINE_COLUMNS; cells++) {
        Str rest = {line.text + at, line.size - at};
        bool shown = false;
        bool tab = rest.text[0] == '\t';
        size_t size = next_cell(rest, &shown);
        add_cell(out, rest, size, shown || tab);
        if (at < caret) strbuf_char(&below, tab ? '\t' : ' ');
        if (at >= caret && (at < end || at == caret)) strbuf_char(&mark, at == caret ? '^' : '~');
        at += size;
    }
    if (at < line.size) strbuf_add(out, STR("\xE2\x80\xA6"));
    if (!mark.size) strbuf_char(&mark, '^');
    strbuf_char(out, '\n');
    strbuf_add(out, strbuf_str(&below));
    add_colored(out, style, color_of(severity), mark.text);
    strbuf_char(out, '\n');
}

void diag_show_source(const Sources *sources, Span span, DiagSeverity severity, DiagStyle style,
                      StrBuf *out) {
    SourceLine at = source_line(sources, span.begin);
    if (!at.file) return;
    size_t caret = at.column - 1;
    if (caret > at.text.size) caret = at.text.size;
    size_t size = span.end > span.begin ? span.end - span.begin : 0;
    add_window(out, out->arena, at.text, caret, caret + size, style, severity);
}

// Is the note on a line that is not shown already?
static bool is_elsewhere(const Sources *sources, Span note, Span shown) {
    SourceLine a = source_line(sources, note.begin), b = source_line(sources, shown.begin);
    return a.file && (a.file != b.file || a.line != b.line);
}

static void add_diag(const Diags *d, const Diag *diag, DiagStyle style, StrBuf *out) {
    if (!span_known(diag->span)) strbuf_add(out, STR("tilec: "));
    diag_show_place(diags_sources(d), diag->span, style, out);
    add_colored(out, style, color_of(diag->severity), severities[diag->severity]);
    strbuf_add(out, STR(": "));
    add_safe(out, diag->text);
    strbuf_printf(out, " [%s]\n", diag_slug(diag->code));
    diag_show_source(diags_sources(d), diag->span, diag->severity, style, out);
    for (const DiagNote *note = diag->notes; note; note = note->next) {
        diag_show_place(diags_sources(d), note->span, style, out);
        add_colored(out, style, "\033[1;36m", "note");
        strbuf_add(out, STR(": "));
        add_safe(out, note->text);
        strbuf_char(out, '\n');
        if (is_elsewhere(diags_sources(d), note->span, diag->span))
            diag_show_source(diags_sources(d), note->span, DIAG_INFO, style, out);
    }
    if (!diag->help.size) return;
    add_colored(out, style, "\033[1;32m", "help");
    strbuf_add(out, STR(": "));
    add_safe(out, diag->help);
    strbuf_char(out, '\n');
}

// Counts the errors, and the other diagnostics, that came in after the list was full.
static void count_beyond(const Diags *d, size_t beyond[2]) {
    beyond[0] = diags_errors(d);
    beyond[1] = diags_warnings(d);
    for (size_t i = 0; i < diags_count(d); i++) {
        beyond[diags_get(d, i)->severity == DIAG_ERROR ? 0 : 1]--;
    }
}

void diags_text(const Diags *d, DiagStyle style, StrBuf *out) {
    for (size_t i = 0; i < diags_count(d); i++) {
        const Diag *diag = diags_get(d, i);
        if (!style.quiet || diag->severity == DIAG_ERROR) add_diag(d, diag, style, out);
    }
    size_t beyond[2];
    count_beyond(d, beyond);
    for (int i = 0; i < (style.quiet ? 1 : 2); i++) {
        if (!beyond[i]) continue;
        strbuf_add(out, STR("tilec: "));
        add_colored(out, style, color_of((DiagSeverity)i), severities[i]);
        strbuf_printf(out, ": %zu more %s%s [%s]\n", beyond[i], severities[i],
                      beyond[i] == 1 ? "" : "s", diag_slug(DIAG_TOO_MANY));
    }
}

// ---- JSON ----

static void json_place(Json *j, const Diags *d, Span span) {
    SourceLine at = source_line(diags_sources(d), span.begin);
    if (!at.file) return;
    SourceLine end = source_line(diags_sources(d), span.end);
    if (end.file != at.file) end = at;
    json_key(j, "file");
    json_str(j, at.file->path);
    json_key(j, "line");
    json_uint(j, at.line);
    json_key(j, "column");
    json_uint(j, at.column);
    json_key(j, "endLine");
    json_uint(j, end.line);
    json_key(j, "endColumn");
    json_uint(j, end.column);
}

static void json_diag(Json *j, const Diags *d, const Diag *diag) {
    json_open(j, '{');
    json_key(j, "severity");
    json_str(j, str(severities[diag->severity]));
    json_key(j, "code");
    json_str(j, str(diag_slug(diag->code)));
    json_key(j, "message");
    json_str(j, diag->text);
    json_place(j, d, diag->span);
    if (diag->help.size) {
        json_key(j, "help");
        json_str(j, diag->help);
    }
    json_key(j, "notes");
    json_open(j, '[');
    for (const DiagNote *note = diag->notes; note; note = note->next) {
        json_open(j, '{');
        json_key(j, "message");
        json_str(j, note->text);
        json_place(j, d, note->span);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

void diags_json(const Diags *d, StrBuf *out) {
    Json j = json_begin(out);
    json_open(&j, '[');
    for (size_t i = 0; i < diags_count(d); i++) json_diag(&j, d, diags_get(d, i));
    size_t beyond[2];
    count_beyond(d, beyond);
    for (int i = 0; i < 2; i++) {
        if (!beyond[i]) continue;
        Diag more = {.severity = (DiagSeverity)i, .code = DIAG_TOO_MANY};
        char *text = arena_printf(out->arena, "%zu more %s%s", beyond[i], severities[i],
                                  beyond[i] == 1 ? "" : "s");
        more.text = str(text);
        json_diag(&j, d, &more);
    }
    json_close(&j, ']');
}

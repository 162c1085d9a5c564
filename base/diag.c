#include "base/diag.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/map.h"
#include "base/vec.h"

static const char *const slugs[] = {
#define DIAG(code, slug) slug,
#include "base/diag.def"
#undef DIAG
};

struct Diags {
    Arena *arena;
    const Sources *sources;
    VEC(Diag) list;
    Map seen;         // (position, code) of errors → 1
    DiagNote **tail;  // where the last diagnostic's next note goes; NULL: it was dropped
    size_t errors, warnings, more;
};

Diags *diags_create(Arena *arena, const Sources *sources) {
    Diags *d = arena_new(arena, Diags, 1);
    d->arena = arena;
    d->sources = sources;
    return d;
}

const char *diag_slug(DiagCode code) { return slugs[code]; }

bool diag_code_from_slug(Str slug, DiagCode *code) {
    for (int i = 0; i < DIAG_CODES; i++)
        if (str_equal(slug, str(slugs[i]))) {
            *code = (DiagCode)i;
            return true;
        }
    return false;
}

__attribute__((format(printf, 2, 0))) static Str format_text(Diags *d, const char *format,
                                                             va_list args) {
    StrBuf b = strbuf(d->arena);
    strbuf_vprintf(&b, format, args);
    return strbuf_str(&b);
}

// The last row of a full list says how many did not fit.
static void count_more(Diags *d, DiagSeverity severity) {
    d->more++;
    d->errors += severity == DIAG_ERROR;
    d->warnings += severity == DIAG_WARNING;
    Diag *last = &vec_last(&d->list);
    if (d->more == 1) {
        Diag row = {.severity = DIAG_INFO, .code = last->code, .text = STR(""), .help = STR("")};
        vec_push(d->arena, &d->list, row);
        last = &vec_last(&d->list);
    }
    StrBuf b = strbuf(d->arena);
    strbuf_printf(&b, "%zu more diagnostics", d->more);
    last->text = strbuf_str(&b);
}

__attribute__((format(printf, 5, 0))) static void add(Diags *d, DiagSeverity severity, Span span,
                                                      DiagCode code, const char *format,
                                                      va_list args) {
    d->tail = NULL;
    if (severity == DIAG_ERROR && span_known(span)) {
        uint64_t *seen = map_at(d->arena, &d->seen, (uint64_t)span.begin << 8 | (uint64_t)code);
        if (*seen && *seen <= d->list.count) return;
        *seen = d->list.count + 1;
    }
    if (d->list.count >= DIAGS_MAX) {
        count_more(d, severity);
        return;
    }
    Diag row = {.severity = severity, .code = code, .span = span, .help = STR("")};
    row.text = format_text(d, format, args);
    vec_push(d->arena, &d->list, row);
    d->errors += severity == DIAG_ERROR;
    d->warnings += severity == DIAG_WARNING;
    d->tail = &vec_last(&d->list).notes;
}

void diag_error(Diags *d, Span span, DiagCode code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add(d, DIAG_ERROR, span, code, format, args);
    va_end(args);
}

void diag_warning(Diags *d, Span span, DiagCode code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add(d, DIAG_WARNING, span, code, format, args);
    va_end(args);
}

void diag_note(Diags *d, Span span, const char *format, ...) {
    if (!d->tail) return;
    va_list args;
    va_start(args, format);
    DiagNote *n = arena_new(d->arena, DiagNote, 1);
    n->span = span;
    n->text = format_text(d, format, args);
    va_end(args);
    // The list may have moved since: find the end of the last diagnostic's notes anew.
    DiagNote **tail = &vec_last(&d->list).notes;
    while (*tail) tail = &(*tail)->next;
    *tail = n;
}

void diag_help(Diags *d, const char *format, ...) {
    if (!d->tail) return;
    va_list args;
    va_start(args, format);
    vec_last(&d->list).help = format_text(d, format, args);
    va_end(args);
}

size_t diags_count(const Diags *d) { return d->list.count; }
size_t diags_errors(const Diags *d) { return d->errors; }
size_t diags_warnings(const Diags *d) { return d->warnings; }
const Diag *diags_get(const Diags *d, size_t i) { return &d->list.data[i]; }
const Sources *diags_sources(const Diags *d) { return d->sources; }

static bool before(const Diag *a, const Diag *b) {
    return a->severity != DIAG_INFO && a->span.begin < b->span.begin;
}

// Merge sort: stable, so that diagnostics of one place keep their order of report.
static void sort(Diag *list, Diag *spare, size_t n) {
    if (n < 2) return;
    size_t half = n / 2, i = 0, j = half, k = 0;
    sort(list, spare, half);
    sort(list + half, spare, n - half);
    while (i < half && j < n) spare[k++] = before(&list[j], &list[i]) ? list[j++] : list[i++];
    while (i < half) spare[k++] = list[i++];
    while (j < n) spare[k++] = list[j++];
    memcpy(list, spare, n * sizeof *list);
}

void diags_sort(Diags *d) {
    d->tail = NULL;
    sort(d->list.data, arena_new(d->arena, Diag, d->list.count + 1), d->list.count);
    // Places of the list changed: duplicates are found by being in the map at all.
    for (uint32_t i = 0; i < d->seen.count; i++)
        if (d->seen.entries[i].value) d->seen.entries[i].value = 1;
}

void diags_truncate(Diags *d, size_t count) {
    d->tail = NULL;
    if (count >= d->list.count) return;
    d->errors = d->warnings = d->more = 0;
    d->list.count = count;
    for (size_t i = 0; i < count; i++) {
        d->errors += d->list.data[i].severity == DIAG_ERROR;
        d->warnings += d->list.data[i].severity == DIAG_WARNING;
    }
}

// ---- Text --------------------------------------------------------------------------------------

static const char *severity_text(DiagSeverity s) {
    static const char *const texts[] = {"error", "warning", "note"};
    return texts[s];
}

static const char *severity_color(DiagSeverity s) {
    static const char *const colors[] = {"\033[1;31m", "\033[1;35m", "\033[1;36m"};
    return colors[s];
}

static void place(const SourceLine *at, bool color, StrBuf *out) {
    if (!at->file) return;
    if (color) strbuf_add(out, STR("\033[1m"));
    strbuf_printf(out, "%.*s:%u:%u: ", STR_ARG(at->file->path), at->line, at->column);
    if (color) strbuf_add(out, STR("\033[0m"));
}

enum { WINDOW = 120 };

static void clean_char(char c, StrBuf *out) {
    unsigned char u = (unsigned char)c;
    strbuf_char(out, u < 32 && c != '\t' ? '?' : u == 127 ? '?' : c);
}

// The line, windowed around the caret when it is long, and the caret under it.
static void excerpt(const SourceLine *at, Span span, bool color, const char *tint, StrBuf *out) {
    size_t column = at->column - 1, begin = 0, size = at->text.size;
    if (size > WINDOW) {
        begin = column > WINDOW / 2 ? column - WINDOW / 2 : 0;
        if (begin + WINDOW > size) begin = size - WINDOW;
        size = WINDOW;
    }
    // Never begin or end within a UTF-8 sequence.
    while (begin > 0 && ((unsigned char)at->text.text[begin] & 0xc0) == 0x80) begin--, size++;
    bool cut = begin + size < at->text.size;
    strbuf_add(out, begin ? STR("    …") : STR("    "));
    for (size_t i = begin; i < begin + size; i++) clean_char(at->text.text[i], out);
    strbuf_add(out, cut ? STR("…\n") : STR("\n"));
    strbuf_add(out, begin ? STR("     ") : STR("    "));
    for (size_t i = begin; i < column; i++) {
        unsigned char u = i < at->text.size ? (unsigned char)at->text.text[i] : ' ';
        if ((u & 0xc0) != 0x80) strbuf_char(out, u == '\t' ? '\t' : ' ');
    }
    if (color) strbuf_add(out, str(tint));
    strbuf_char(out, '^');
    size_t length = span.end > span.begin ? span.end - span.begin : 1, end = column + length;
    if (end > begin + size) end = begin + size;
    for (size_t i = column + 1; i < end; i++)
        if (((unsigned char)at->text.text[i] & 0xc0) != 0x80) strbuf_char(out, '~');
    if (color) strbuf_add(out, STR("\033[0m"));
    strbuf_char(out, '\n');
}

static void one_text(const Diags *d, const Diag *x, bool color, StrBuf *out) {
    SourceLine at = source_line(d->sources, x->span.begin);
    if (!span_known(x->span)) at.file = NULL;
    place(&at, color, out);
    if (!at.file && x->severity != DIAG_INFO) strbuf_add(out, STR("tilec: "));
    if (color) strbuf_add(out, str(severity_color(x->severity)));
    strbuf_printf(out, "%s:", severity_text(x->severity));
    if (color) strbuf_add(out, STR("\033[0m"));
    strbuf_printf(out, " %.*s [%s]\n", STR_ARG(x->text), slugs[x->code]);
    if (at.file) excerpt(&at, x->span, color, "\033[1;32m", out);
    for (const DiagNote *n = x->notes; n; n = n->next) {
        SourceLine where = source_line(d->sources, n->span.begin);
        if (!span_known(n->span)) where.file = NULL;
        place(&where, color, out);
        strbuf_printf(out, "note: %.*s\n", STR_ARG(n->text));
    }
    if (x->help.size) strbuf_printf(out, "help: %.*s\n", STR_ARG(x->help));
}

void diags_text(const Diags *d, DiagStyle style, StrBuf *out) {
    for (size_t i = 0; i < d->list.count; i++) {
        const Diag *x = &d->list.data[i];
        if (style.quiet && x->severity == DIAG_WARNING) continue;
        one_text(d, x, style.color, out);
    }
}

// ---- JSON --------------------------------------------------------------------------------------

static void place_json(const Diags *d, Span span, Json *j) {
    SourceLine begin = source_line(d->sources, span.begin), end = source_line(d->sources, span.end);
    if (!span_known(span) || !begin.file) return;
    json_key(j, "file"), json_str(j, begin.file->path);
    json_key(j, "line"), json_uint(j, begin.line);
    json_key(j, "column"), json_uint(j, begin.column);
    json_key(j, "endLine"), json_uint(j, end.line);
    json_key(j, "endColumn"), json_uint(j, end.column);
}

void diags_json(const Diags *d, StrBuf *out) {
    Json j = json_begin(out);
    json_open(&j, '[');
    for (size_t i = 0; i < d->list.count; i++) {
        const Diag *x = &d->list.data[i];
        json_open(&j, '{');
        json_key(&j, "severity"), json_str(&j, str(severity_text(x->severity)));
        json_key(&j, "code"), json_str(&j, str(slugs[x->code]));
        json_key(&j, "message"), json_str(&j, x->text);
        place_json(d, x->span, &j);
        if (x->help.size) json_key(&j, "help"), json_str(&j, x->help);
        json_key(&j, "notes"), json_open(&j, '[');
        for (const DiagNote *n = x->notes; n; n = n->next) {
            json_open(&j, '{');
            json_key(&j, "message"), json_str(&j, n->text);
            place_json(d, n->span, &j);
            json_close(&j, '}');
        }
        json_close(&j, ']');
        json_close(&j, '}');
    }
    json_close(&j, ']');
}

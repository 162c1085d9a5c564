// Collecting diagnostics; diag_text.c shows them.
#include "base/diag.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/os/os.h"
#include "base/vec.h"

// `same_span` chains the entries of one span: at most one for each code and severity.
typedef struct DiagEntry {
    Diag diag;
    size_t serial;
    DiagNote **last_note;
    struct DiagEntry *same_span;
} DiagEntry;

struct Diags {
    Arena *arena;
    const Sources *sources;
    VEC(DiagEntry *) entries;
    Map at_span;       // span to the Entry reported last there
    DiagEntry *last;   // NULL when the one reported last was dropped
    size_t kept[2];    // errors, others
    size_t beyond[2];  // the same, over DIAGS_MAX
    size_t serial;
};

Diags *diags_create(Arena *arena, const Sources *sources) {
    Diags *d = arena_new(arena, Diags, 1);
    d->arena = arena;
    d->sources = sources;
    return d;
}

static size_t kind_of(DiagSeverity severity) { return severity == DIAG_ERROR ? 0 : 1; }

static uint64_t span_key(Span span) { return (uint64_t)span.begin << 32 | span.end; }

static DiagEntry *entry_of(uint64_t value) { return (DiagEntry *)(uintptr_t)value; }

static bool is_duplicate(const Diags *d, DiagSeverity severity, Span span, DiagCode code) {
    uint64_t *first = span_known(span) ? map_find(&d->at_span, span_key(span)) : NULL;
    for (const DiagEntry *e = first ? entry_of(*first) : NULL; e; e = e->same_span) {
        if (e->diag.code == code && e->diag.severity == severity) return true;
    }
    return false;
}

__attribute__((format(printf, 2, 0))) static Str format_text(Arena *arena, const char *format,
                                                             va_list args) {
    StrBuf b = strbuf(arena);
    strbuf_vprintf(&b, format, args);
    return strbuf_str(&b);
}

__attribute__((format(printf, 5, 0))) static void report(Diags *d, DiagSeverity severity, Span span,
                                                         DiagCode code, const char *format,
                                                         va_list args) {
    d->last = NULL;
    if (is_duplicate(d, severity, span, code)) return;
    if (d->kept[kind_of(severity)] == DIAGS_MAX) {
        d->beyond[kind_of(severity)]++;
        return;
    }
    DiagEntry *entry = arena_new(d->arena, DiagEntry, 1);
    entry->diag = (Diag){.severity = severity, .code = code, .span = span};
    entry->diag.text = format_text(d->arena, format, args);
    entry->diag.help = STR("");
    entry->serial = d->serial++;
    entry->last_note = &entry->diag.notes;
    if (span_known(span)) {
        uint64_t *first = map_at(d->arena, &d->at_span, span_key(span));
        entry->same_span = entry_of(*first);
        *first = map_key(entry);
    }
    vec_push(d->arena, &d->entries, entry);
    d->kept[kind_of(severity)]++;
    d->last = entry;
}

void diag_error(Diags *d, Span span, DiagCode code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    report(d, DIAG_ERROR, span, code, format, args);
    va_end(args);
}

void diag_warning(Diags *d, Span span, DiagCode code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    report(d, DIAG_WARNING, span, code, format, args);
    va_end(args);
}

void diag_note(Diags *d, Span span, const char *format, ...) {
    if (!d->last) return;
    va_list args;
    va_start(args, format);
    DiagNote *note = arena_new(d->arena, DiagNote, 1);
    note->span = span;
    note->text = format_text(d->arena, format, args);
    *d->last->last_note = note;
    d->last->last_note = &note->next;
    va_end(args);
}

void diag_help(Diags *d, const char *format, ...) {
    if (!d->last) return;
    va_list args;
    va_start(args, format);
    d->last->diag.help = format_text(d->arena, format, args);
    va_end(args);
}

size_t diags_count(const Diags *d) { return d->entries.count; }
size_t diags_errors(const Diags *d) { return d->kept[0] + d->beyond[0]; }
size_t diags_warnings(const Diags *d) { return d->kept[1] + d->beyond[1]; }
const Sources *diags_sources(const Diags *d) { return d->sources; }

const Diag *diags_get(const Diags *d, size_t i) {
    CHECK(i < d->entries.count, "diagnostic %zu of %zu", i, d->entries.count);
    return &d->entries.data[i]->diag;
}

static int compare_entries(const void *left, const void *right) {
    const DiagEntry *a = *(DiagEntry *const *)left;
    const DiagEntry *b = *(DiagEntry *const *)right;
    if (a->diag.span.begin != b->diag.span.begin) {
        return a->diag.span.begin < b->diag.span.begin ? -1 : 1;
    }
    return a->serial < b->serial ? -1 : a->serial > b->serial;
}

void diags_sort(Diags *d) {
    if (d->entries.count < 2) return;
    qsort(d->entries.data, d->entries.count, sizeof *d->entries.data, compare_entries);
}

static void forget(Diags *d, DiagEntry *entry) {
    d->kept[kind_of(entry->diag.severity)]--;
    if (!span_known(entry->diag.span)) return;
    uint64_t *first = map_find(&d->at_span, span_key(entry->diag.span));
    if (entry_of(*first) == entry) {
        *first = map_key(entry->same_span);
        return;
    }
    DiagEntry *before = entry_of(*first);
    while (before->same_span != entry) before = before->same_span;
    before->same_span = entry->same_span;
}

void diag_copy(Diags *d, const Diag *from) {
    if (from->severity == DIAG_ERROR)
        diag_error(d, from->span, from->code, "%.*s", STR_ARG(from->text));
    else
        diag_warning(d, from->span, from->code, "%.*s", STR_ARG(from->text));
    if (from->help.size) diag_help(d, "%.*s", STR_ARG(from->help));
    for (const DiagNote *n = from->notes; n; n = n->next)
        diag_note(d, n->span, "%.*s", STR_ARG(n->text));
}

void diags_truncate(Diags *d, size_t count) {
    if (count >= d->entries.count) return;
    while (d->entries.count > count) forget(d, vec_pop(&d->entries));
    // The entries beyond the limit were reported last, so truncation drops them first.
    d->beyond[0] = d->beyond[1] = 0;
    d->last = NULL;
}

static const char *const slugs[] = {
#define DIAG(code, slug) slug,
#include "base/diag.def"
#undef DIAG
};

const char *diag_slug(DiagCode code) { return slugs[code]; }

bool diag_code_from_slug(Str slug, DiagCode *code) {
    for (int i = 0; i < DIAG_CODES; i++) {
        if (!str_equal(slug, str(slugs[i]))) continue;
        *code = (DiagCode)i;
        return true;
    }
    return false;
}

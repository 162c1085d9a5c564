#include "runtime/report.h"

#include "base/recover.h"

// Used when there is no memory for the real text.
RtReport rt_report_no_memory(void) { return (RtReport){.text = STR("out of memory")}; }

RtReport rt_report_forked(void) {
    return (RtReport){.text = STR("the process forked while work was on this stream: it goes on in "
                                  "the parent only; synchronise before you fork")};
}

RtReport rt_report_text(const char *format, va_list args) {
    Recovery recovery;
    if (RECOVER_FAILED(&recovery)) return rt_report_no_memory();
    RtReport r = {.arena = arena_create()};
    StrBuf b = strbuf(r.arena);
    strbuf_vprintf(&b, format, args);
    r.text = strbuf_str(&b);
    arena_keep(r.arena);
    recover_end(&recovery);
    return r;
}

void rt_report_free(RtReport *report) {
    arena_destroy(report->arena);
    *report = (RtReport){0};
}

static const char *copy_text(RtReport *r, Str s) { return arena_text(r->arena, s.text, s.size); }

static void keep_place(RtReport *r, const Sources *sources, Span span, tilec_diagnostic *d) {
    d->file = "";
    if (!span_known(span)) return;
    SourceLine begin = source_line(sources, span.begin), end = source_line(sources, span.end);
    if (!begin.file) return;
    d->file = copy_text(r, begin.file->path);
    d->line = begin.line, d->column = begin.column;
    d->end_line = end.line, d->end_column = end.column;
}

static void keep_one(RtReport *r, const Sources *sources, const Diag *from) {
    tilec_diagnostic d = {.code = diag_slug(from->code)};
    d.severity = from->severity == DIAG_ERROR ? TILEC_ERROR : TILEC_WARNING;
    d.message = copy_text(r, from->text);
    d.help = copy_text(r, from->help);
    keep_place(r, sources, from->span, &d);
    vec_push(r->arena, &r->diagnostics, d);
    for (const DiagNote *n = from->notes; n; n = n->next) {
        tilec_diagnostic note = {.severity = TILEC_NOTE, .code = d.code, .help = ""};
        note.message = copy_text(r, n->text);
        keep_place(r, sources, n->span, &note);
        vec_push(r->arena, &r->diagnostics, note);
    }
}

static RtReport report_of(const Diags *diags) {
    RtReport r = {.arena = arena_create()};
    StrBuf b = strbuf(r.arena);
    diags_text(diags, (DiagStyle){0}, &b);
    r.text = strbuf_str(&b);
    for (size_t i = 0; i < diags_count(diags); i++)
        keep_one(&r, diags_sources(diags), diags_get(diags, i));
    return r;
}

RtReport rt_report_of(const Diags *diags) {
    Recovery recovery;
    if (RECOVER_FAILED(&recovery)) return rt_report_no_memory();
    RtReport r = report_of(diags);
    arena_keep(r.arena);
    recover_end(&recovery);
    return r;
}

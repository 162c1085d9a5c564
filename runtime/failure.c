#include "runtime/failure.h"

#include "base/recover.h"

enum { SOURCE_LINES_MAX = 1 << 20 };  // beyond it, a place is reported without its source line

// Sources with the one known line, at its place; *span is the site in it.
static Sources *sources_of(Arena *arena, const MetaSite *site, Span *span) {
    Sources *sources = sources_create(arena);
    bool known = site && site->line && site->line <= SOURCE_LINES_MAX && site->column &&
                 site->column <= site->source.size + 1;
    if (!known) return sources;
    StrBuf text = strbuf(arena);
    for (uint32_t i = 1; i < site->line; i++) strbuf_char(&text, '\n');
    uint32_t begin = (uint32_t)text.size + site->column - 1;
    strbuf_add(&text, site->source);
    const SourceFile *file = source_add(sources, site->file, strbuf_str(&text));
    if (!file) return sources;
    uint32_t size = (uint32_t)site->source.size - (site->column - 1);
    bool same_line = site->end_line == site->line && site->end_column > site->column;
    if (same_line && site->end_column - site->column < size) size = site->end_column - site->column;
    *span = (Span){file->base + begin, file->base + begin + size};
    return sources;
}

static void name_place(RtReport *r, const MetaSite *site) {
    tilec_diagnostic *d = &r->diagnostics.data[0];
    d->file = arena_text(r->arena, site->file.text, site->file.size);
    d->line = site->line, d->column = site->column;
    d->end_line = site->end_line, d->end_column = site->end_column;
}

static const MetaSite *find_site(const MetaVariant *v, uint32_t site) {
    if (site >= v->site_count || v->sites[site].kind != META_SITE_ASSERT) return NULL;
    return &v->sites[site];
}

static RtReport report_assert(const MetaVariant *variant, const RtFailure *failure) {
    const MetaSite *site = find_site(variant, failure->site);
    Arena *arena = arena_create();
    Span span = {0, 0};
    Sources *sources = sources_of(arena, site, &span);
    Diags *diags = diags_create(arena, sources);
    StrBuf quoted = strbuf(arena);
    strbuf_quoted(&quoted, site && site->text_count ? site->texts[0] : STR(""));
    diag_error(diags, span, DIAG_ASSERT,
               "assertion failed: %s in program (%lld, %lld, %lld), lane %lld", quoted.text,
               (long long)failure->place[0], (long long)failure->place[1],
               (long long)failure->place[2], (long long)failure->lane);
    if (failure->note) diag_note(diags, (Span){0, 0}, "%s", failure->note);
    RtReport report = rt_report_of(diags);
    if (report.arena && site && site->line) {
        name_place(&report, site);
        if (!span_known(span)) {
            StrBuf text = strbuf(report.arena);
            strbuf_printf(&text, "%.*s:%u:%u: error: %s [%s]\n", STR_ARG(site->file), site->line,
                          site->column, report.diagnostics.data[0].message, diag_slug(DIAG_ASSERT));
            if (failure->note) strbuf_printf(&text, "note: %s\n", failure->note);
            report.text = strbuf_str(&text);
        }
    }
    arena_destroy(arena);
    return report;
}

// A kernel may have overwritten the report, so it may contain anything: check that the grid has at
// least one program.
bool rt_failure_read(const GpuReport *left, RtFailure *failure) {
    if (!left->launch) return false;
    uint64_t what = 0, program = left->lowest[0] >> GPU_PIECE_BITS;
    for (unsigned i = 0; i < GPU_PIECES; i++)
        what |= (left->lowest[i] & ((1 << GPU_PIECE_BITS) - 1)) << i * GPU_PIECE_BITS;
    uint64_t rows = left->rows > 0 ? (uint64_t)left->rows : 1;
    uint64_t columns = left->columns > 0 ? (uint64_t)left->columns : 1;
    *failure = (RtFailure){.site = (uint32_t)(what >> GPU_LANE_BITS),
                           .place = {(int64_t)(program % rows), (int64_t)(program / rows % columns),
                                     (int64_t)(program / rows / columns)},
                           .lane = (int64_t)(what & ((1 << GPU_LANE_BITS) - 1))};
    return true;
}

RtReport rt_report_assert(const MetaVariant *variant, const RtFailure *failure) {
    Recovery recovery;
    if (RECOVER_FAILED(&recovery)) return rt_report_no_memory();
    RtReport report = report_assert(variant, failure);
    recover_end(&recovery);
    return report;
}

// What kernels have to say: failed asserts as reports, prints as lines; in the words that the
// interpreter has for them (ir/interp/report.c).
#include <stdio.h>
#include <string.h>

#include "runtime/cpu/pool.h"

RtReport report_words(const char *format, ...) {
    va_list args;
    va_start(args, format);
    RtReport report = rt_report_text(format, args);
    va_end(args);
    return report;
}

static const MetaSite *find_site(const Grid *g, uint32_t site, MetaSiteKind kind) {
    const MetaVariant *v = &g->launch.meta->variants[g->launch.variant];
    if (site >= v->site_count || v->sites[site].kind != kind) return NULL;
    return &v->sites[site];
}

// ---- assert -------------------------------------------------------------------------------------

enum { SOURCE_LINES_MAX = 1 << 20 };  // a place beyond is told without its line

// A source that has the one line we know, at its place; the span of the site within.
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

RtReport report_assert(const Grid *grid) {
    const MetaSite *site = find_site(grid, grid->failed_site, META_SITE_ASSERT);
    Arena *arena = arena_create();
    Span span = {0, 0};
    Sources *sources = sources_of(arena, site, &span);
    Diags *diags = diags_create(arena, sources);
    StrBuf quoted = strbuf(arena);
    strbuf_quoted(&quoted, site && site->text_count ? site->texts[0] : STR(""));
    int64_t p = atomic_load(&grid->failed);
    const int64_t *g = grid->launch.grid;
    diag_error(diags, span, DIAG_ASSERT,
               "assertion failed: %s in program (%lld, %lld, %lld), lane %lld", quoted.text,
               (long long)(p % g[0]), (long long)(p / g[0] % g[1]), (long long)(p / g[0] / g[1]),
               (long long)grid->failed_lane);
    // How many would fail is not known: the taking of programs ended (grid.c).
    static const char rest[] =
        "the programs after it were given up; device interp runs all, and counts those that fail";
    bool more = p + 1 < grid->total;
    if (more) diag_note(diags, (Span){0, 0}, "%s", rest);
    RtReport report = rt_report_of(diags);
    if (site && site->line) {
        name_place(&report, site);
        if (!span_known(span)) {
            StrBuf text = strbuf(report.arena);
            strbuf_printf(&text, "%.*s:%u:%u: error: %s [%s]\n", STR_ARG(site->file), site->line,
                          site->column, report.diagnostics.data[0].message, diag_slug(DIAG_ASSERT));
            if (more) strbuf_printf(&text, "note: %s\n", rest);
            report.text = strbuf_str(&text);
        }
    }
    arena_destroy(arena);
    return report;
}

// ---- print --------------------------------------------------------------------------------------

static void print_element(const MetaValue *v, const void *data, uint64_t i, StrBuf *out) {
    if (v->pointer) {
        uint64_t address;
        memcpy(&address, (const char *)data + 8 * i, 8);
        strbuf_printf(out, "0x%llx", (unsigned long long)address);
    } else {
        dtype_text(v->dtype, dtype_load(v->dtype, data, i), out);
    }
}

// `first` is where the tile's dimensions from d on begin.
static void print_tile(const MetaValue *v, const void *data, uint32_t d, uint64_t first,
                       StrBuf *out) {
    if (d == v->rank) {
        print_element(v, data, first, out);
        return;
    }
    uint64_t step = 1;
    for (uint32_t k = d + 1; k < v->rank; k++) step *= v->shape[k];
    strbuf_char(out, '[');
    for (uint32_t k = 0; k < v->shape[d]; k++) {
        if (k) strbuf_add(out, STR(", "));
        print_tile(v, data, d + 1, first + k * step, out);
    }
    strbuf_char(out, ']');
}

void report_print(const Grid *grid, uint32_t site, const void *const *values) {
    const MetaSite *s = find_site(grid, site, META_SITE_PRINT);
    if (!s) return;
    Arena *arena = arena_create();
    StrBuf line = strbuf(arena);
    for (uint32_t i = 0; i < s->text_count || i < s->value_count; i++) {
        if (i < s->text_count) strbuf_add(&line, s->texts[i]);
        if (i < s->value_count) print_tile(&s->values[i], values[i], 0, 0, &line);
    }
    const tilec_context_options *options = &grid->device->context->options;
    os_mutex_lock(grid->pool->print_lock);
    if (options->print)
        options->print(options->user, line.text, line.size);
    else
        printf("%.*s\n", STR_ARG(strbuf_str(&line)));
    os_mutex_unlock(grid->pool->print_lock);
    arena_destroy(arena);
}

// What kernels have to say: failed asserts as reports, prints as lines; in the words that the
// interpreter has for them (ir/interp/report.c).
#include <stdio.h>
#include <string.h>

#include "base/recover.h"
#include "runtime/cpu/pool.h"
#include "runtime/failure.h"

RtReport report_words(const char *format, ...) {
    va_list args;
    va_start(args, format);
    RtReport report = rt_report_text(format, args);
    va_end(args);
    return report;
}

RtReport report_assert(const Grid *grid) {
    int64_t p = atomic_load(&grid->failed);
    const int64_t *g = grid->launch.grid;
    RtFailure failure = {.site = grid->failed_site,
                         .place = {p % g[0], p / g[0] % g[1], p / g[0] / g[1]},
                         .lane = grid->failed_lane};
    // How many would fail is not known: the taking of programs ended (grid.c).
    if (p + 1 < grid->total)
        failure.note =
            "the programs after it were given up; device interp runs all, and counts "
            "those that fail";
    return rt_report_assert(&grid->launch.meta->variants[grid->launch.variant], &failure);
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

static void print_line(const Grid *grid, Str line) {
    const tilec_context_options *options = &grid->device->context->options;
    os_mutex_lock(grid->pool->print_lock);
    if (options->print)
        options->print(options->user, line.text, line.size);
    else
        printf("%.*s\n", STR_ARG(line));
    os_mutex_unlock(grid->pool->print_lock);
}

static void print_site(const Grid *grid, uint32_t site, const void *const *values) {
    const MetaVariant *v = &grid->launch.meta->variants[grid->launch.variant];
    if (site >= v->site_count || v->sites[site].kind != META_SITE_PRINT) return;
    const MetaSite *s = &v->sites[site];
    Arena *arena = arena_create();
    StrBuf line = strbuf(arena);
    for (uint32_t i = 0; i < s->text_count || i < s->value_count; i++) {
        if (i < s->text_count) strbuf_add(&line, s->texts[i]);
        if (i < s->value_count) print_tile(&s->values[i], values[i], 0, 0, &line);
    }
    print_line(grid, strbuf_str(&line));
    arena_destroy(arena);
}

// A kernel goes on without memory for its words, and says that they are missing.
void report_print(const Grid *grid, uint32_t site, const void *const *values) {
    Recovery r;
    if (RECOVER_FAILED(&r)) {
        print_line(grid, STR("(out of memory: a line of print is lost)"));
        return;
    }
    print_site(grid, site, values);
    recover_end(&r);
}

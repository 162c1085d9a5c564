#include "runtime/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/recover.h"
#include "runtime/context.h"

enum { PRINT_BYTES = 1 << 20, ALIGN = 8 };

// ---- lines --------------------------------------------------------------------------------------

static void print_element(const MetaValue *v, const void *data, uint64_t i, StrBuf *out) {
    if (v->pointer) {
        uint64_t address;
        memcpy(&address, (const char *)data + 8 * i, 8);
        strbuf_printf(out, "0x%llx", (unsigned long long)address);
    } else {
        dtype_text(v->dtype, dtype_load(v->dtype, data, i), out);
    }
}

// `first` is the index at which the dimensions from d on begin.
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

static const MetaSite *print_site(const MetaVariant *v, uint32_t site) {
    bool is_print = site < v->site_count && v->sites[site].kind == META_SITE_PRINT;
    return is_print ? &v->sites[site] : NULL;
}

bool rt_print_line(const MetaVariant *variant, uint32_t site, const void *const *values,
                   StrBuf *line) {
    const MetaSite *s = print_site(variant, site);
    if (!s) return false;
    for (uint32_t i = 0; i < s->text_count || i < s->value_count; i++) {
        if (i < s->text_count) strbuf_add(line, s->texts[i]);
        if (i < s->value_count) print_tile(&s->values[i], values[i], 0, 0, line);
    }
    return true;
}

void rt_print_write(const tilec_context *context, Str line) {
    const tilec_context_options *options = &context->options;
    if (options->print)
        options->print(options->user, line.text, line.size);
    else
        printf("%.*s\n", STR_ARG(line));
}

// ---- reports of GPUs ----------------------------------------------------------------------------

uint64_t rt_gpu_report_size(const MetaVariant *variant) {
    bool prints = false;
    for (uint32_t i = 0; i < variant->site_count; i++)
        prints |= variant->sites[i].kind == META_SITE_PRINT;
    return sizeof(GpuReport) + (prints ? PRINT_BYTES : 0);
}

void rt_gpu_report_clear(GpuReport *report, uint64_t size) {
    *report = (GpuReport){.capacity = size - sizeof *report};
    memset(report->lowest, 0xff, sizeof report->lowest);
}

typedef struct PrintFound {
    GpuRecord head;
    const uint8_t *values;
    uint32_t number;
} PrintFound;

typedef VEC(PrintFound) FoundList;

static int by_place(const void *x, const void *y) {
    const PrintFound *a = x, *b = y;
    for (int d = 3; d-- > 0;)
        if (a->head.place[d] != b->head.place[d])
            return a->head.place[d] < b->head.place[d] ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

static uint64_t value_bytes(const MetaValue *v) {
    uint64_t count = 1, size = v->pointer ? ALIGN : dtype_size(v->dtype);
    for (uint32_t d = 0; d < v->rank; d++) count *= v->shape[d];
    return (count * size + ALIGN - 1) / ALIGN * ALIGN;
}

static uint64_t record_bytes(const MetaSite *s) {
    uint64_t bytes = sizeof(GpuRecord);
    for (uint32_t i = 0; i < s->value_count; i++) bytes += value_bytes(&s->values[i]);
    return bytes;
}

// An invalid record ends the list: a kernel may have overwritten this memory.
static void find_records(Arena *arena, const GpuReport *report, const MetaVariant *variant,
                         FoundList *found) {
    const uint8_t *first = (const uint8_t *)(report + 1);
    uint64_t end = report->used < report->capacity ? report->used : report->capacity, at = 0;
    while (end - at >= sizeof(GpuRecord)) {
        PrintFound f = {.values = first + at + sizeof(GpuRecord), .number = (uint32_t)found->count};
        memcpy(&f.head, first + at, sizeof f.head);
        const MetaSite *s = print_site(variant, f.head.site);
        if (!s || f.head.bytes != record_bytes(s) || f.head.bytes > end - at) return;
        vec_push(arena, found, f);
        at += f.head.bytes;
    }
}

static Str line_of(Arena *arena, const MetaVariant *variant, const PrintFound *f) {
    const MetaSite *s = &variant->sites[f->head.site];
    const void **values = arena_new(arena, const void *, s->value_count + 1);
    const uint8_t *at = f->values;
    for (uint32_t i = 0; i < s->value_count; at += value_bytes(&s->values[i++])) values[i] = at;
    StrBuf line = strbuf(arena);
    rt_print_line(variant, f->head.site, values, &line);
    return strbuf_str(&line);
}

// The prints of one report.
struct RtPrintBatch {
    Arena *arena;
    VEC(Str) lines;
    RtPrintBatch *next;
};

static RtPrintBatch *batch_of(const GpuReport *report, const MetaVariant *variant,
                              bool by_program) {
    Arena *arena = arena_create();
    RtPrintBatch *batch = arena_new(arena, RtPrintBatch, 1);
    batch->arena = arena;
    FoundList found = {0};
    find_records(arena, report, variant, &found);
    if (by_program && found.count) qsort(found.data, found.count, sizeof(PrintFound), by_place);
    for (size_t i = 0; i < found.count; i++)
        vec_push(arena, &batch->lines, line_of(arena, variant, &found.data[i]));
    if (report->used <= report->capacity) return batch;
    StrBuf rest = strbuf(arena);
    strbuf_printf(&rest, "(print: there is room for %llu bytes, the lines of %llu are lost)",
                  (unsigned long long)report->capacity,
                  (unsigned long long)(report->used - report->capacity));
    vec_push(arena, &batch->lines, strbuf_str(&rest));
    return batch;
}

void rt_prints_take(const GpuReport *report, const MetaVariant *variant, bool by_program,
                    RtPrints *prints) {
    if (!report->used) return;
    Recovery r;
    if (RECOVER_FAILED(&r)) {
        prints->lost = true;
        return;
    }
    RtPrintBatch *batch = batch_of(report, variant, by_program);
    recover_end(&r);
    *(prints->last ? &prints->last->next : &prints->first) = batch;
    prints->last = batch;
}

void rt_prints_flush(const tilec_context *context, RtPrints *prints) {
    RtPrintBatch *next;
    for (RtPrintBatch *b = prints->first; b; b = next) {
        next = b->next;
        for (size_t i = 0; i < b->lines.count; i++) rt_print_write(context, b->lines.data[i]);
        arena_destroy(b->arena);
    }
    if (prints->lost) rt_print_write(context, STR(RT_PRINT_LOST));
    *prints = (RtPrints){0};
}

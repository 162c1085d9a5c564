#include "runtime/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What one thread was last told. Diagnostics are copied out of the compiler's arenas, because those
// go when the call ends.
struct RtError {
    uint64_t thread;
    Arena *arena;
    Str text;
    VEC(tilec_diagnostic) diagnostics;
    struct RtError *next;
};

tilec_status rt_context_create(const tilec_context_options *options, const RtDeviceApi *const *apis,
                               size_t api_count, tilec_context **context) {
    if (!context) return TILEC_INVALID_ARGUMENT;
    if (options && options->size != sizeof *options) return TILEC_INVALID_ARGUMENT;
    tilec_context *c = calloc(1, sizeof *c);
    if (!c) return TILEC_OUT_OF_MEMORY;
    c->lock = os_mutex_create();
    if (options) c->options = *options;
    c->apis = apis;
    c->api_count = api_count;
    *context = c;
    return TILEC_OK;
}

void tilec_context_destroy(tilec_context *context) {
    if (!context) return;
    while (context->devices) tilec_device_close(context->devices);
    if (context->jit) context->jit_destroy(context->jit);
    for (RtError *e = context->errors, *next; e; e = next) {
        next = e->next;
        arena_destroy(e->arena);
        free(e);
    }
    free(context->buffers);
    os_mutex_destroy(context->lock);
    free(context);
}

// The calling thread's record; NULL if it has none and `create` is false.
static RtError *error_record(tilec_context *c, bool create) {
    uint64_t thread = os_thread_id();
    os_mutex_lock(c->lock);
    RtError *e = c->errors;
    while (e && e->thread != thread) e = e->next;
    if (!e && create && (e = calloc(1, sizeof *e))) {
        e->thread = thread;
        e->arena = arena_create();
        e->text = STR("");
        e->next = c->errors;
        c->errors = e;
    }
    os_mutex_unlock(c->lock);
    return e;
}

static void error_clear(RtError *e) {
    arena_destroy(e->arena);
    e->arena = arena_create();
    e->text = STR("");
    memset(&e->diagnostics, 0, sizeof e->diagnostics);
}

void rt_begin(tilec_context *context) {
    RtError *e = error_record(context, false);
    if (e && (e->text.size || e->diagnostics.count)) error_clear(e);
}

tilec_status rt_fail(tilec_context *context, tilec_status status, const char *format, ...) {
    RtError *e = error_record(context, true);
    if (!e) return TILEC_OUT_OF_MEMORY;
    error_clear(e);
    StrBuf b = strbuf(e->arena);
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&b, format, args);
    va_end(args);
    e->text = strbuf_str(&b);
    return status;
}

static const char *keep(RtError *e, Str s) { return arena_text(e->arena, s.text, s.size); }

static void keep_place(RtError *e, const Sources *sources, Span span, tilec_diagnostic *d) {
    d->file = "";
    if (!span_known(span)) return;
    SourceLine begin = source_line(sources, span.begin), end = source_line(sources, span.end);
    if (!begin.file) return;
    d->file = keep(e, begin.file->path);
    d->line = begin.line, d->column = begin.column;
    d->end_line = end.line, d->end_column = end.column;
}

static void keep_all(RtError *e, const Diags *diags) {
    const Sources *sources = diags_sources(diags);
    for (size_t i = 0; i < diags_count(diags); i++) {
        const Diag *from = diags_get(diags, i);
        tilec_diagnostic d = {0};
        d.severity = from->severity == DIAG_ERROR ? TILEC_ERROR : TILEC_WARNING;
        d.code = diag_slug(from->code);
        d.message = keep(e, from->text);
        d.help = keep(e, from->help);
        keep_place(e, sources, from->span, &d);
        vec_push(e->arena, &e->diagnostics, d);
        for (const DiagNote *n = from->notes; n; n = n->next) {
            tilec_diagnostic note = {.severity = TILEC_NOTE, .code = d.code, .help = ""};
            note.message = keep(e, n->text);
            keep_place(e, sources, n->span, &note);
            vec_push(e->arena, &e->diagnostics, note);
        }
    }
}

tilec_status rt_fail_diags(tilec_context *context, tilec_status status, const Diags *diags) {
    RtError *e = error_record(context, true);
    if (!e) return TILEC_OUT_OF_MEMORY;
    error_clear(e);
    StrBuf b = strbuf(e->arena);
    diags_text(diags, (DiagStyle){0}, &b);
    e->text = strbuf_str(&b);
    keep_all(e, diags);
    return status;
}

void rt_keep_diags(tilec_context *context, const Diags *diags) {
    if (!diags_count(diags)) return;
    RtError *e = error_record(context, true);
    if (!e) return;
    error_clear(e);
    keep_all(e, diags);
}

const char *tilec_last_error(tilec_context *context) {
    if (!context) return "";
    RtError *e = error_record(context, false);
    return e && e->text.size ? e->text.text : "";
}

size_t tilec_diagnostic_count(tilec_context *context) {
    RtError *e = context ? error_record(context, false) : NULL;
    return e ? e->diagnostics.count : 0;
}

tilec_status tilec_diagnostic_get(tilec_context *context, size_t index,
                                  tilec_diagnostic *diagnostic) {
    if (!context || !diagnostic) return TILEC_INVALID_ARGUMENT;
    RtError *e = error_record(context, false);
    if (!e || index >= e->diagnostics.count) return TILEC_INVALID_ARGUMENT;
    *diagnostic = e->diagnostics.data[index];
    return TILEC_OK;
}

void rt_device_kinds(const tilec_context *context, StrBuf *out) {
    for (size_t i = 0; i < context->api_count; i++)
        strbuf_printf(out, "%s%s", i ? ", " : "", context->apis[i]->kind);
}

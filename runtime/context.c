#include "runtime/context.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/os_fork.h"
#include "base/recover.h"

// The last error of one thread.
struct RtError {
    RtOwned owned;
    tilec_context *context;
    uint32_t generation;  // os_fork_generation at its creation
    RtReport report;
};

void rt_own(tilec_context *context, RtOwned **list, RtOwned *thing) {
    os_mutex_lock(context->lock);
    thing->next = *list;
    thing->link = list;
    if (*list) (*list)->link = &thing->next;
    *list = thing;
    os_mutex_unlock(context->lock);
}

void rt_disown(tilec_context *context, RtOwned *thing) {
    os_mutex_lock(context->lock);
    if (thing->link) {
        *thing->link = thing->next;
        if (thing->next) thing->next->link = thing->link;
        thing->link = NULL;
    }
    os_mutex_unlock(context->lock);
}

// The calling thread's record, or NULL; c->lost if there was no memory for a record.
static RtError *error_record(tilec_context *c) { return os_thread_key_get(c->thread); }

static void error_free(RtError *e) {
    rt_report_free(&e->report);
    free(e);
}

// Called when a thread with a record ends.
static void thread_ended(void *error) {
    RtError *e = error;
    if (e == e->context->lost) return;
    rt_disown(e->context, &e->owned);
    error_free(e);
}

// Copies the caller's options as far as its version of the struct goes, and zeroes the rest.
// Members that only a newer header has must be zero: then ignoring them changes nothing.
static bool take_options(tilec_context *c, const tilec_context_options *from) {
    c->options.size = sizeof c->options;
    if (!from) return true;
    size_t known = from->size < sizeof *from ? from->size : sizeof *from;
    if (known < offsetof(tilec_context_options, log)) return false;
    const char *bytes = (const char *)from;
    for (size_t i = known; i < from->size; i++)
        if (bytes[i]) return false;
    memcpy(&c->options, from, known);
    c->options.size = sizeof c->options;
    const tilec_allocator *a = &c->options.allocator;
    return !a->allocate == !a->release;
}

// Replaces a text of the options by the context's own copy.
static void copy_text(const char **text, char **own) {
    if (!*text) return;
    size_t size = strlen(*text) + 1;
    char *copy = recover_new(size);
    memcpy(copy, *text, size);
    *text = *own = copy;
}

static tilec_status create_parts(tilec_context *c) {
    copy_text(&c->options.cache_folder, &c->cache_folder);
    copy_text(&c->options.compiler_library, &c->compiler_library);
    copy_text(&c->options.ptx_compiler, &c->ptx_compiler);
    c->thread = os_thread_key_create(thread_ended);
    if (!c->thread) return TILEC_OUT_OF_MEMORY;
    c->lock = os_mutex_create();
    c->lost = recover_new(sizeof *c->lost);
    c->lost->context = c;
    c->lost->report = rt_report_no_memory();
    return TILEC_OK;
}

tilec_status rt_context_create(const tilec_context_options *options, const RtDeviceApi *const *apis,
                               size_t api_count, tilec_context **context) {
    if (!context) return TILEC_INVALID_ARGUMENT;
    tilec_context *c = recover_new(sizeof *c);
    tilec_status s = take_options(c, options) ? create_parts(c) : TILEC_INVALID_ARGUMENT;
    if (s) {
        recover_free(c->cache_folder);
        recover_free(c->compiler_library);
        recover_free(c->ptx_compiler);
        recover_free(c);
        return s;
    }
    c->apis = apis;
    c->api_count = api_count;
    c->best = api_count ? apis[0] : NULL;
    c->first_generation = (uint32_t)(os_time_ns() * 0x9e3779b97f4a7c15u >> 32);
    *context = c;
    return TILEC_OK;
}

// Frees the records. A fork may have interrupted another thread while it changed its record.
static void free_errors(tilec_context *context) {
    const RtError *own = error_record(context);
    while (context->errors) {
        RtError *e = (RtError *)context->errors;
        rt_disown(context, &e->owned);
        if (e == own || e->generation == os_fork_generation()) error_free(e);
    }
}

void tilec_context_destroy(tilec_context *context) {
    if (!context) return;
    while (context->devices) tilec_device_close(context->devices);
    if (context->compiler) context->compiler_destroy(context);
    free_errors(context);
    os_thread_key_destroy(context->thread);
    free(context->buffers);
    recover_free(context->cache_folder);
    recover_free(context->compiler_library);
    recover_free(context->ptx_compiler);
    os_mutex_destroy(context->lock);
    recover_free(context->lost);
    recover_free(context);
}

static RtError *error_make(tilec_context *c) {
    RtError *e = error_record(c);
    if (e && e != c->lost) return e;
    e = calloc(1, sizeof *e);
    if (e) *e = (RtError){.context = c, .generation = os_fork_generation()};
    if (!e || !os_thread_key_set(c->thread, e)) {
        free(e);
        // Threads share this record, which says "out of memory" and never changes.
        os_thread_key_set(c->thread, c->lost);
        return NULL;
    }
    rt_own(c, &c->errors, &e->owned);
    return e;
}

void rt_begin(tilec_context *context) {
    RtError *e = error_record(context);
    if (e && e == context->lost)
        os_thread_key_set(context->thread, NULL);
    else if (e)
        rt_report_free(&e->report);
}

tilec_status rt_fail_report(tilec_context *context, tilec_status status, RtReport report) {
    RtError *e = error_make(context);
    if (!e) {
        rt_report_free(&report);
        return status;
    }
    rt_report_free(&e->report);
    arena_keep(report.arena);
    e->report = report;
    return status;
}

tilec_status rt_no_memory(tilec_context *context) {
    return rt_fail_report(context, TILEC_OUT_OF_MEMORY, rt_report_no_memory());
}

tilec_status rt_fail(tilec_context *context, tilec_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    RtReport report = rt_report_text(format, args);
    va_end(args);
    return rt_fail_report(context, status, report);
}

tilec_status rt_fail_diags(tilec_context *context, tilec_status status, const Diags *diags) {
    return rt_fail_report(context, status, rt_report_of(diags));
}

void rt_keep_diags(tilec_context *context, const Diags *diags) {
    if (!diags_count(diags)) return;
    RtReport report = rt_report_of(diags);
    report.text = STR("");  // no call failed
    rt_fail_report(context, TILEC_OK, report);
}

// The C library's aligned_alloc requires a size that is a multiple of the alignment.
static void *plain_allocate(size_t size, size_t alignment) {
    if (size > SIZE_MAX - alignment) return NULL;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

// The program's callbacks may wait for a thread that forks, so they must not run inside the gate of
// forks.
static void check_unheld(void) {
    CHECK(!os_fork_is_blocked(),
          "a callback of the program would run where a fork waits for the thread");
}

tilec_status rt_allocate(tilec_context *context, size_t size, size_t alignment, void **memory) {
    const tilec_allocator *a = &context->options.allocator;
    if (a->allocate) check_unheld();
    size_t wanted = size ? size : 1;
    void *found =
        a->allocate ? a->allocate(a->user, wanted, alignment) : plain_allocate(wanted, alignment);
    const char *whose = a->allocate ? "the context's allocator" : "the system";
    if (!found)
        return rt_fail(context, TILEC_OUT_OF_MEMORY, "out of memory: %s has no %zu bytes", whose,
                       size);
    if ((uintptr_t)found % alignment) {
        rt_release(context, found, size);
        return rt_fail(context, TILEC_INVALID_ARGUMENT,
                       "%s gave memory that is not aligned to %zu bytes", whose, alignment);
    }
    *memory = found;
    return TILEC_OK;
}

void rt_release(tilec_context *context, void *memory, size_t size) {
    const tilec_allocator *a = &context->options.allocator;
    if (!memory) return;
    if (!a->release) {
        free(memory);
        return;
    }
    check_unheld();
    a->release(a->user, memory, size ? size : 1);
}

void rt_log(tilec_context *context, tilec_severity severity, const char *format, ...) {
    if (!context->options.log) return;
    check_unheld();
    va_list args;
    va_start(args, format);
    RtReport report = rt_report_text(format, args);
    va_end(args);
    context->options.log(context->options.user, severity, report.text.text);
    rt_report_free(&report);
}

const char *tilec_last_error(tilec_context *context) {
    RtError *e = context ? error_record(context) : NULL;
    return e && e->report.text.size ? e->report.text.text : "";
}

size_t tilec_diagnostic_count(tilec_context *context) {
    RtError *e = context ? error_record(context) : NULL;
    return e ? e->report.diagnostics.count : 0;
}

tilec_status tilec_diagnostic_get(tilec_context *context, size_t index,
                                  tilec_diagnostic *diagnostic) {
    if (!context || !diagnostic) return TILEC_INVALID_ARGUMENT;
    RtError *e = error_record(context);
    if (!e || index >= e->report.diagnostics.count) return TILEC_INVALID_ARGUMENT;
    *diagnostic = e->report.diagnostics.data[index];
    return TILEC_OK;
}

void rt_device_kinds(const tilec_context *context, StrBuf *out) {
    for (size_t i = 0; i < context->api_count; i++)
        strbuf_printf(out, "%s%s", i ? ", " : "", context->apis[i]->kind);
}

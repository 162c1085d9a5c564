// Calls of a library's functions. Every launch runs this file's code, and library.c's only once, so
// this file is compiled for speed and that one for size.
#include "runtime/context.h"
#include "runtime/library/library.h"

static tilec_status not_loaded(tilec_stream *stream, const struct tilec_archive *data) {
    tilec_context *c = stream->device->context;
    Archive archive;
    rt_begin(c);
    tilec_status s = library_open_archive(c, data, &archive);
    if (s) return s;
    return rt_fail(c, TILEC_INVALID_ARGUMENT,
                   "library %.*s is not loaded on device %s: call %.*s_load for it first",
                   STR_ARG(archive.name), stream->device->name, STR_ARG(archive.name));
}

static tilec_status call(tilec_library *library, uint32_t number, tilec_stream *stream,
                         const void *const *values) {
    LibraryFunction *f = atomic_load_explicit(&library->functions[number], memory_order_acquire);
    if (!f) {
        rt_begin(library->device->context);
        tilec_status s = library_function(library, number, &f);
        if (s) return s;
    }
    return rt_kernel_call(&f->kernel, stream, values);
}

tilec_status tilec_archive_call(const tilec_archive *data, uint32_t function, tilec_stream *stream,
                                const void *const *values) {
    if (!stream) return TILEC_INVALID_ARGUMENT;
    // An unloaded library has no archive; looking up NULL would find it.
    tilec_library *l = data ? library_find(stream->device, data) : NULL;
    if (!l) return not_loaded(stream, data);
    if (function < l->archive.function_count) return call(l, function, stream, values);
    rt_begin(l->device->context);
    return rt_fail(l->device->context, TILEC_INVALID_ARGUMENT,
                   "library %s has no function with number %u", l->name, function);
}

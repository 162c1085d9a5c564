// Contexts: devices, buffers and the calling threads' last errors.
//
// Invariants: one mutex guards the lists; it is never held while a device works. A buffer's handle
// is (slot + 1) | generation << 32; destroying a buffer bumps its slot's generation. An error
// record belongs to one thread; its texts live until that thread's next call that fails or
// rt_begin. Ownership: the context owns all it made. `jit` is compile/'s own state, freed through
// jit_destroy.
//
//     rt_begin(ctx);
//     if (!path) return rt_fail(ctx, TILEC_INVALID_ARGUMENT, "the path is NULL");
#ifndef TILEC_RUNTIME_CONTEXT_H
#define TILEC_RUNTIME_CONTEXT_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/vec.h"
#include "runtime/device.h"

typedef struct RtBuffer {
    tilec_device *device;  // NULL: free slot
    void *address;
    size_t size;
    uint32_t generation;
} RtBuffer;

typedef struct RtError RtError;

struct tilec_context {
    OsMutex *lock;
    tilec_context_options options;
    const RtDeviceApi *const *apis;
    size_t api_count;
    tilec_device *devices;
    RtBuffer *buffers;
    uint32_t buffer_count, buffer_capacity;
    RtError *errors;  // one for each thread that failed
    void *jit;
    void (*jit_destroy)(void *jit);
};

tilec_status rt_context_create(const tilec_context_options *options, const RtDeviceApi *const *apis,
                               size_t api_count, tilec_context **context);

// Forgets the calling thread's last error; the first line of every public function that can fail.
void rt_begin(tilec_context *context);
// Keeps the text (and diagnostics) as the calling thread's last error and returns `status`.
tilec_status rt_fail(tilec_context *context, tilec_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
tilec_status rt_fail_diags(tilec_context *context, tilec_status status, const Diags *diags);
// Warnings of a call that succeeded: kept as diagnostics.
void rt_keep_diags(tilec_context *context, const Diags *diags);

// The live buffer of a handle, copied out; false when there is none (any more).
bool rt_buffer_find(tilec_context *context, tilec_buffer buffer, RtBuffer *found);
// The kinds of devices there are, for messages: "interp, cpu".
void rt_device_kinds(const tilec_context *context, StrBuf *out);

#endif

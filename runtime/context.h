// Contexts: devices, buffers and the calling threads' last errors.
//
// Invariants: one mutex guards the lists; it is never held while a device works. A buffer's handle
// is (slot + 1) | generation << 32; destroying a buffer bumps its slot's generation; generations
// begin at a number of the context's own, so that a handle of another context is refused. An error
// record belongs to one thread, lives until that thread's next call that fails or rt_begin, and
// goes with the thread. Ownership: the context owns all it made; what a device made goes with the
// device.
//
// What a device needs of the host's memory comes from rt_allocate; what somebody should hear of
// though nothing failed goes to rt_log. Neither is called under the context's mutex.
//
// Memory of tilec's own: a public function that may run out of it in an arena does its work in a
// region of recovery (base/recover.h). What tells of a failure may always be called: without memory
// for the words it says "out of memory", and the status stays.
//
//     rt_begin(ctx);
//     if (!path) return rt_fail(ctx, TILEC_INVALID_ARGUMENT, "the path is NULL");
#ifndef TILEC_RUNTIME_CONTEXT_H
#define TILEC_RUNTIME_CONTEXT_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/os/os.h"
#include "base/os/os_mutex.h"
#include "runtime/device.h"
#include "runtime/report.h"

typedef struct RtBuffer {
    tilec_device *device;  // NULL: free slot
    void *address;
    size_t size;
    uint32_t generation;
    uint32_t holds;  // tensors of other libraries that share the memory
    bool destroyed;  // but held: no handle finds it any more
} RtBuffer;

typedef struct RtError RtError;

struct tilec_context {
    OsMutex *lock;
    OsThreadKey *thread;            // the calling thread's RtError
    RtError *lost;                  // of threads for whose own there was no memory
    tilec_context_options options;  // whole, whatever the caller knew of it; texts are copies
    char *cache_folder;             // what options.cache_folder points at
    char *compiler_library;         // and options.compiler_library
    char *ptx_compiler;             // and options.ptx_compiler
    const RtDeviceApi *const *apis;
    size_t api_count;
    const RtDeviceApi *best;  // what "auto" stands for: on the host's memory
    tilec_device *devices;
    uint32_t devices_opened;
    RtBuffer *buffers;
    uint32_t buffer_count, buffer_capacity;
    uint32_t first_generation;
    _Atomic(uint64_t) buffers_gone;  // how many were destroyed
    RtOwned *errors;                 // one for each thread that failed
    // What compile/ keeps for the context; NULL without a compiler.
    void *compiler;
    void (*compiler_destroy)(void *compiler);
};

// In a region of recovery.
tilec_status rt_context_create(const tilec_context_options *options, const RtDeviceApi *const *apis,
                               size_t api_count, tilec_context **context);

// Forgets the calling thread's last error; the first line of every public function that can fail.
void rt_begin(tilec_context *context);
// Keeps the text as the calling thread's last error and returns `status`, memory or not.
tilec_status rt_fail(tilec_context *context, tilec_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// The failure of a region of recovery: TILEC_OUT_OF_MEMORY.
tilec_status rt_no_memory(tilec_context *context);
// Takes the report over.
tilec_status rt_fail_report(tilec_context *context, tilec_status status, RtReport report);
tilec_status rt_fail_diags(tilec_context *context, tilec_status status, const Diags *diags);
// Warnings of a call that succeeded: kept as diagnostics.
void rt_keep_diags(tilec_context *context, const Diags *diags);

// Memory of the user's allocator, not zeroed; `alignment` is a power of two. Reports what is
// missing and gives TILEC_OUT_OF_MEMORY; an empty size has an address of its own, too. Released
// with the same size.
tilec_status rt_allocate(tilec_context *context, size_t size, size_t alignment, void **memory);
void rt_release(tilec_context *context, void *memory, size_t size);
// Hands the text to the user's log callback, if there is one.
void rt_log(tilec_context *context, tilec_severity severity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Things in a list of their owner; the context's mutex guards all such lists.
void rt_own(tilec_context *context, RtOwned **list, RtOwned *thing);
void rt_disown(tilec_context *context, RtOwned *thing);

// The live buffer of a handle, copied out; false when there is none (any more).
bool rt_buffer_find(tilec_context *context, tilec_buffer buffer, RtBuffer *found);
// Keeps a live buffer's memory beyond tilec_buffer_destroy, until it is let go; false: not live.
bool rt_buffer_hold(tilec_context *context, tilec_buffer buffer);
void rt_buffer_let_go(tilec_context *context, tilec_buffer buffer);
// The kinds of devices there are, for messages: "interp, cpu".
void rt_device_kinds(const tilec_context *context, StrBuf *out);

#endif

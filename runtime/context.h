// Contexts: devices, buffers and the calling threads' last errors.
//
// Invariants: one mutex guards the lists; it is never held while a device works. A buffer's handle
// is (slot + 1) | generation << 32. Destroying a buffer increments the generation of its slot.
// Generations start at a number that differs between contexts, so that a handle of another context
// is refused. An error record belongs to one thread and lives until that thread's next call that
// fails or rt_begin; it is freed when the thread ends.
// Ownership: the context owns everything it made; objects of a device are freed with the device.
//
// A device allocates host memory with rt_allocate; warnings that do not fail a call go to rt_log.
// Neither is called under the context's mutex.
//
// Memory for tilec's own data: a public function that may run out of arena memory works in a region
// of recovery (base/recover.h). Functions that report a failure may always be called: without
// memory for the text they say "out of memory", and the status stays.
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

// A copy of another device that uses a buffer: done when the event of that device is reached.
typedef struct RtPeer {
    tilec_device *device;
    void *event;
    struct RtPeer *next;
} RtPeer;

typedef struct RtBuffer {
    tilec_device *device;  // NULL: free slot
    void *address;
    size_t size;
    uint32_t generation;
    uint32_t holds;  // number of tensors of other libraries that share the memory
    bool destroyed;  // but still held; no handle finds it any more
    RtPeer *peers;   // newest first
    RtBlock *block;  // of the pool; NULL: memory of its own
} RtBuffer;

typedef struct RtError RtError;

struct tilec_context {
    OsMutex *lock;
    OsThreadKey *thread;            // the calling thread's RtError
    RtError *lost;                  // shared by threads for whose own record there was no memory
    tilec_context_options options;  // all members, even if the caller's struct was shorter; texts
                                    // are copies
    char *cache_folder;             // the copy that options.cache_folder points to
    char *compiler_library;         // the same for options.compiler_library
    char *ptx_compiler;             // the same for options.ptx_compiler
    const RtDeviceApi *const *apis;
    size_t api_count;
    const RtDeviceApi *best;  // the device kind that "auto" stands for; it uses the host's memory
    tilec_device *devices;
    uint32_t devices_opened;
    RtBuffer *buffers;
    uint32_t buffer_count, buffer_capacity;
    uint32_t first_generation;
    _Atomic(uint64_t) buffers_gone;  // number of buffers destroyed
    RtOwned *errors;                 // one for each thread that failed
    RtOwned *sources;                // that the program has open; the compiler closes them
    // The compiler's data for the context; NULL without a compiler.
    void *compiler;
    void (*compiler_destroy)(tilec_context *context);
};

// Must be called in a region of recovery.
tilec_status rt_context_create(const tilec_context_options *options, const RtDeviceApi *const *apis,
                               size_t api_count, tilec_context **context);

// Clears the calling thread's last error; the first line of every public function that can fail.
void rt_begin(tilec_context *context);
// Stores the text as the calling thread's last error and returns `status`, even without memory.
tilec_status rt_fail(tilec_context *context, tilec_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Called when a region of recovery failed: returns TILEC_OUT_OF_MEMORY.
tilec_status rt_no_memory(tilec_context *context);
// Stores the report, and takes over its ownership.
tilec_status rt_fail_report(tilec_context *context, tilec_status status, RtReport report);
tilec_status rt_fail_diags(tilec_context *context, tilec_status status, const Diags *diags);
// Stores warnings of a call that succeeded as diagnostics.
void rt_keep_diags(tilec_context *context, const Diags *diags);

// Memory from the user's allocator, not zeroed; `alignment` is a power of two. If there is none,
// reports it and returns TILEC_OUT_OF_MEMORY. A block of size 0 has its own address, too. Release
// it with the same size.
tilec_status rt_allocate(tilec_context *context, size_t size, size_t alignment, void **memory);
void rt_release(tilec_context *context, void *memory, size_t size);
// Passes the text to the user's log callback, if there is one.
void rt_log(tilec_context *context, tilec_severity severity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Adds a thing to its owner's list; the context's mutex guards all these lists.
void rt_own(tilec_context *context, RtOwned **list, RtOwned *thing);
void rt_disown(tilec_context *context, RtOwned *thing);

// Copies out the live buffer of a handle; false when it does not exist (any more).
bool rt_buffer_find(tilec_context *context, tilec_buffer buffer, RtBuffer *found);
// Keeps a live buffer's memory past tilec_buffer_destroy, until it is released; false: not live.
bool rt_buffer_retain(tilec_context *context, tilec_buffer buffer);
void rt_buffer_release(tilec_context *context, tilec_buffer buffer);
// Frees the memory of a buffer that was taken off the list, without the context's mutex. Waits for
// copies of other devices.
void rt_buffer_free(const RtBuffer *taken);
// Notes a copy of `device` that uses a buffer of another device; takes over the event, recorded
// after it. When the buffer is gone, waits for the event.
tilec_status rt_buffer_used(tilec_device *device, tilec_buffer buffer, void *event);
// NULL becomes the device's first stream; refuses a stream of another device.
tilec_status rt_find_stream(tilec_device *device, tilec_stream **stream);
// Refuses a buffer that belongs to another device (`owner`) or does not exist any more (NULL).
tilec_status rt_not_of(const tilec_device *device, const tilec_device *owner);
tilec_status rt_null_memory(tilec_context *context);
// Forgets the device's copies that use buffers of other devices. They are done.
void rt_buffers_forget(const tilec_device *device);
// The row of a kind of devices, or of "auto"; NULL: unknown.
const RtDeviceApi *rt_device_api(const tilec_context *context, Str kind);
// Refuses an unknown kind, the part of `name` before ':'. Must be called in a region of recovery.
tilec_status rt_device_unknown(tilec_context *context, const char *name, Str kind);
// The device kinds of this build, for messages: "interp, cpu".
void rt_device_kinds(const tilec_context *context, StrBuf *out);

#endif

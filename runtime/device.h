// Devices: one table of functions for each kind, and what they pass around.
//
// A device is {table, state}. The runtime checks everything a user can get wrong before it calls
// the table; the table's functions see valid handles only. `interp`, `sim:*` and JIT are added by
// compile/, `cpu`, `cuda`, `hip` live in the runtime: all are rows in the table given to
// rt_context_create. Invariants: work given to one stream completes in order; failures of
// asynchronous work are sticky on the stream until `synchronize` reports them; functions report
// errors through rt_fail on the context. Ownership: `open` makes the state, `close` frees it;
// modules, streams and events likewise.
//
//     tilec_status s = device->api->launch(device, stream, &launch);
#ifndef TILEC_RUNTIME_DEVICE_H
#define TILEC_RUNTIME_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <tilec/library.h>

#include "base/gpu_code.h"
#include "base/str.h"
#include "runtime/meta.h"
#include "target/gpu.h"

struct SimObserver;
typedef struct RtModule RtModule;  // a loaded image; each device kind has its own

// What codegen made, or the IR for the interpreter; `kind` says for which kind of device.
typedef enum RtImageKind {
    RT_IMAGE_IR,
    RT_IMAGE_CPU,        // RtCpuImage (runtime/cpu/device.h), and the next two
    RT_IMAGE_CPU_ENTRY,  // RtCpuFunction: an entry that is linked in already
    RT_IMAGE_HOST,       // RtHostImage: a function of the host, for the device cpu
    RT_IMAGE_PTX,        // RtPtxImage
    RT_IMAGE_CUBIN,
    RT_IMAGE_HSACO
} RtImageKind;
typedef struct RtImage {
    RtImageKind kind;
    const void *data;
    size_t size;
} RtImage;

// Of a kernel that takes the launch's block of arguments, by value, and behind it a GpuTail
// (base/gpu_abi.h).
typedef struct RtPtxImage {
    Str text;
    Str entry;
    // For tests of the warp machine: steps of a launch, 0: its own limit; and who else watches.
    uint64_t step_limit;
    const struct SimObserver *watcher;
    GpuDisassembler disassemble;  // of AMD's code; none: the context's compiler library's
} RtPtxImage;

// Where a pointer or view argument points: for checks under sanitize. size 0: unknown.
typedef struct RtRange {
    void *base;
    uint64_t size;
} RtRange;

typedef struct RtLaunch {
    RtModule *module;
    const MetaKernel *meta;
    uint32_t variant;
    int64_t grid[3];
    const void *block;      // packed arguments, meta->size bytes
    const RtRange *ranges;  // one for each argument
} RtLaunch;

enum { RT_HOST_MEMORY = 1 };

typedef struct RtDeviceApi {
    const char *kind;  // "interp": what stands before ':' in a device's name
    tilec_status (*open)(tilec_context *context, Str instance, void **state);
    void (*close)(void *state);
    GpuTarget (*gpu)(const tilec_device *device);  // what code must be for; NULL: it is no GPU
    bool simulated;                                // a GPU of which times on it say nothing
    bool (*takes)(Str instance);                   // can "sim:INSTANCE" be opened? Of `sim` alone
    // What a GPU of hardware is: its target, its name, its driver. NULL: the kind says all.
    void (*describe)(const tilec_device *device, StrBuf *out);
    // The newest version of AMD's code objects that its driver reads; NULL: all that are made.
    uint32_t (*object_newest)(const tilec_device *device);
    // The DLPack number of its kind of memory (tilec/dlpack.h); RT_HOST_MEMORY is the host's; 0:
    // other libraries cannot share it.
    int32_t memory;
    int32_t memory_also[2];  // kinds of memory that all devices of this kind reach; 0: none
    int32_t (*memory_number)(const tilec_device *device);  // of the device there; NULL: 0
    tilec_status (*alloc)(tilec_device *device, size_t size, void **address);
    void (*free)(tilec_device *device, void *address, size_t size);
    tilec_status (*stream_create)(tilec_device *device, void **stream);
    // A stream around one that others made, and what a stream is to them; NULL: there is no such
    // thing.
    tilec_status (*stream_wrap)(tilec_device *device, void *native, void **stream);
    void *(*stream_native)(void *stream);
    void (*stream_destroy)(tilec_device *device, void *stream);
    tilec_status (*stream_synchronize)(tilec_device *device, void *stream);
    tilec_status (*stream_wait)(tilec_device *device, void *stream, void *event);
    tilec_status (*event_create)(tilec_device *device, void **event);
    void (*event_destroy)(tilec_device *device, void *event);
    tilec_status (*event_record)(tilec_device *device, void *event, void *stream);
    tilec_status (*event_synchronize)(tilec_device *device, void *event);
    tilec_status (*event_query)(tilec_device *device, void *event, bool *done);
    tilec_status (*event_elapsed)(tilec_device *device, void *begin, void *end, uint64_t *ns);
    // Any of the two may be host memory; ordered on the stream; host memory is free on return.
    tilec_status (*copy)(tilec_device *device, void *stream, void *to, const void *from,
                         size_t size);
    tilec_status (*module_load)(tilec_device *device, const RtImage *image, RtModule **module);
    void (*module_unload)(tilec_device *device, RtModule *module);
    // Waits until no launch of the module is queued or runs, as module_unload does; NULL: launches
    // are done when `launch` returns.
    void (*module_finish)(tilec_device *device, RtModule *module);
    // Makes what this launch needs beyond its arguments, for this and later ones on the stream;
    // NULL when nothing ever is needed. After it such a launch allocates nothing.
    tilec_status (*prepare)(tilec_device *device, void *stream, const RtLaunch *launch);
    tilec_status (*launch)(tilec_device *device, void *stream, const RtLaunch *launch);
} RtDeviceApi;

// A thing that its owner destroys with itself: first member of the struct it is in.
typedef struct RtOwned {
    struct RtOwned *next;
    struct RtOwned **link;  // what points at this one
} RtOwned;

struct tilec_device {
    tilec_context *context;
    const RtDeviceApi *api;
    void *state;
    char *name;
    tilec_stream *first;  // what a NULL stream stands for
    RtOwned *streams, *events, *kernels;
    _Atomic(tilec_library *) libraries;  // runtime/library.h
    struct tilec_device *next;
    uint32_t number;  // of those that the context opened, from 1
};
// Its name, for a message about both; of two with one name, which of them it is.
typedef struct RtDeviceText {
    char text[128];
} RtDeviceText;
const char *rt_device_told(const tilec_device *d, const tilec_device *other, RtDeviceText *text);

struct tilec_stream {
    RtOwned owned;
    tilec_device *device;
    void *state;
    uint32_t holds;  // its owner's, and of those who wait for the device: the last one frees it
};
struct tilec_event {
    RtOwned owned;
    tilec_device *device;
    void *state;
    _Atomic bool recorded;
};

#endif

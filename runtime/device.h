// Devices: one table of functions for each kind, and the data they pass.
//
// A device is {table, state}. The runtime checks everything that a user can get wrong before it
// calls the table, so the table's functions see valid handles only. compile/ adds `interp`, `sim:*`
// and the JIT; `cpu`, `cuda` and `hip` are part of the runtime. All are rows of the table given to
// rt_context_create.
// Invariants: work on one stream completes in order. Failures of asynchronous work stay on the
// stream until `synchronize` reports them. Functions report errors with rt_fail on the context.
// Ownership: `open` makes the state, `close` frees it; modules, streams and events likewise.
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
#include "target/gpu_map.h"

struct SimObserver;
typedef struct RtModule RtModule;  // a loaded image; each device kind has its own

// The output of codegen, or the IR for the interpreter; `kind` says for which kind of device.
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

// For a kernel that takes the argument block of the launch by value, followed by a GpuTail and by
// tensor maps (base/gpu_abi.h).
typedef struct RtPtxImage {
    Str text;
    Str entry;
    // For tests of the warp machine: the step limit of a launch (0: the default), and another
    // observer.
    uint64_t step_limit;
    const struct SimObserver *watcher;
    GpuDisassembler disassemble;  // for AMD code; none: the one in the context's compiler library
} RtPtxImage;

// The memory of a pointer or view argument, for checks under sanitize. size 0: unknown.
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
    const uint8_t *maps;    // those of the variant, GPU_MAP_BYTES each (runtime/launch_maps.h)
} RtLaunch;

// The facts of tilec_device_describe. Zeroed members are unknown.
typedef struct RtDeviceInfo {
    char name[256], target[64], driver[64], bus[32];
    uint64_t memory, shared_memory;
    uint32_t multiprocessors, warp, clock_khz;
} RtDeviceInfo;

// An operation on memory that the host does not wait for (runtime/move.h does it for devices that
// use the host's memory). For WRITE and READ one side is host memory, which stays valid until the
// stream has passed the operation.
typedef enum RtMoveKind {
    RT_MOVE_WRITE,
    RT_MOVE_READ,
    RT_MOVE_WITHIN,
    RT_MOVE_BETWEEN,  // two devices of one kind
    RT_MOVE_FILL
} RtMoveKind;
typedef struct RtMove {
    RtMoveKind kind;
    void *to;
    const void *from;  // FILL: NULL
    size_t size;       // bytes, more than 0
    // FILL: the low `unit` bytes of `pattern`, again and again; `unit` is 1, 2, 4 or 8, and divides
    // the address and the size.
    uint64_t pattern;
    uint32_t unit;
    const tilec_device *to_device, *from_device;  // BETWEEN
} RtMove;

enum { RT_HOST_MEMORY = 1 };

typedef struct RtDeviceApi {
    const char *kind;  // "interp": the part of a device name before ':'
    tilec_status (*open)(tilec_context *context, Str instance, void **state);
    void (*close)(void *state);
    GpuTarget (*gpu)(const tilec_device *device);  // the target for code; NULL: not a GPU
    bool simulated;                                // a GPU whose times mean nothing
    bool (*takes)(Str instance);                   // can "sim:INSTANCE" be opened? Only for `sim`
    // How many devices of this kind there are; NULL: one. Without a driver or device: 0.
    tilec_status (*count)(tilec_context *context, uint32_t *count);
    tilec_status (*info)(tilec_device *device, RtDeviceInfo *info);
    // Describes a hardware GPU: its target, name and driver. NULL: the kind says all.
    void (*describe)(const tilec_device *device, StrBuf *out);
    // The newest version of AMD code objects that the driver reads; NULL: all versions that we
    // make.
    uint32_t (*object_newest)(const tilec_device *device);
    // The DLPack number of its kind of memory (tilec/dlpack.h); RT_HOST_MEMORY for host memory; 0:
    // other libraries cannot share it.
    int32_t memory;
    int32_t memory_also[2];  // kinds of memory that all devices of this kind can access; 0: none
    int32_t (*memory_number)(const tilec_device *device);  // DLPack's number of the device; NULL: 0
    // `free` waits for the device's work.
    tilec_status (*alloc)(tilec_device *device, size_t size, void **address);
    void (*free)(tilec_device *device, void *address, size_t size);
    bool fresh;  // a new buffer always gets new memory, so that reads of undefined memory are found
    // The same for host memory that copies of the device reach without a detour; NULL: the device's
    // own memory is the host's.
    tilec_status (*host_alloc)(tilec_device *device, size_t size, void **memory);
    void (*host_free)(tilec_device *device, void *memory, size_t size);
    tilec_status (*stream_create)(tilec_device *device, void **stream);
    // Wraps a stream made by another library, and unwraps a stream for other libraries; NULL:
    // unsupported.
    tilec_status (*stream_wrap)(tilec_device *device, void *native, void **stream);
    void *(*stream_native)(void *stream);
    void (*stream_destroy)(tilec_device *device, void *stream);
    tilec_status (*stream_synchronize)(tilec_device *device, void *stream);
    tilec_status (*stream_wait)(tilec_device *device, void *stream, void *event);
    // Is the stream captured into a graph? NULL: never.
    bool (*captured)(tilec_device *device, void *stream);
    tilec_status (*event_create)(tilec_device *device, void **event);
    void (*event_destroy)(tilec_device *device, void *event);
    tilec_status (*event_record)(tilec_device *device, void *event, void *stream);
    tilec_status (*event_synchronize)(tilec_device *device, void *event);
    tilec_status (*event_query)(tilec_device *device, void *event, bool *done);
    tilec_status (*event_elapsed)(tilec_device *device, void *begin, void *end, uint64_t *ns);
    // Either may be host memory. Runs in stream order; host memory may be reused on return.
    tilec_status (*copy)(tilec_device *device, void *stream, void *to, const void *from,
                         size_t size);
    // Runs in stream order, and does not wait for the stream, which keeps later failures.
    tilec_status (*move)(tilec_device *device, void *stream, const RtMove *move);
    tilec_status (*module_load)(tilec_device *device, const RtImage *image, RtModule **module);
    void (*module_unload)(tilec_device *device, RtModule *module);
    // Waits until no launch of the module is queued or running, as module_unload does; NULL:
    // launches are complete when `launch` returns.
    void (*module_finish)(tilec_device *device, RtModule *module);
    // How many programs of the launch's module and variant run at once (no other member is set);
    // NULL: one.
    tilec_status (*units)(tilec_device *device, const RtLaunch *launch, uint64_t *units);
    // Prepares everything that this launch needs beyond its arguments, for this and later launches
    // on the stream; NULL when nothing is needed. After it such a launch allocates nothing.
    tilec_status (*prepare)(tilec_device *device, void *stream, const RtLaunch *launch);
    tilec_status (*launch)(tilec_device *device, void *stream, const RtLaunch *launch);
    // Does the device make tensor maps? NULL: it does not.
    bool (*has_maps)(const tilec_device *device);
    // Writes the GPU_MAP_BYTES of a map to an address that is a multiple of GPU_MAP_ALIGN.
    tilec_status (*encode_map)(tilec_device *device, const GpuMapFacts *facts, void *map);
} RtDeviceApi;

// An object that its owner destroys with itself; the first member of its struct.
typedef struct RtOwned {
    struct RtOwned *next;
    struct RtOwned **link;  // the pointer that points at this one
} RtOwned;

typedef struct RtBlock RtBlock;

// runtime/memory/pool.h
typedef struct RtPool {
    size_t limit;       // of `total`
    size_t total;       // bytes of all blocks
    size_t free_bytes;  // bytes of free ones
    RtBlock *free;
} RtPool;

// Memory of tilec_host_alloc.
typedef struct RtHostMemory {
    void *memory;
    size_t size;
    struct RtHostMemory *next;
} RtHostMemory;

struct tilec_device {
    tilec_context *context;
    const RtDeviceApi *api;
    void *state;
    char *name;
    tilec_stream *first;  // the stream that NULL stands for
    RtOwned *streams, *events, *kernels;
    RtHostMemory *host;
    RtPool pool;
    _Atomic(RtDeviceInfo *) info;        // NULL: not asked yet
    _Atomic(tilec_library *) libraries;  // runtime/library/library.h
    struct tilec_device *next;
    _Atomic(bool) maps_missed;  // it was logged that it has no tensor maps
    uint32_t number;            // among the devices that the context opened, from 1
};
// The device's name for a message that names two devices; if both have the same name, it says which
// is which.
typedef struct RtDeviceText {
    char text[128];
} RtDeviceText;
const char *rt_device_label(const tilec_device *d, const tilec_device *other, RtDeviceText *text);

void rt_host_free_all(tilec_device *device);

struct tilec_stream {
    RtOwned owned;
    tilec_device *device;
    void *state;
    bool foreign;    // made by another library
    uint32_t holds;  // held by its owner, and by threads that wait for the device: the last one
                     // frees it
};
struct tilec_event {
    RtOwned owned;
    tilec_device *device;
    void *state;
    _Atomic bool recorded;
};

#endif

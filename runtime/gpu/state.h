// Devices that run through a vendor's driver: declarations shared by runtime/gpu, and the interface
// that a vendor implements.
//
// The two drivers mirror each other, so one implementation of streams, events, buffers, reports and
// launches serves both devices, `cuda` and `hip`. The differences are in a GpuBackend: names,
// numbers, error codes, how a device becomes the calling thread's current one, and how code is
// loaded.
// Invariants: `lock` guards the list of streams, their report slots and their stored failures; it
// may be held while the driver is called. Every driver call, except those for opening, is between
// gpu_enter and gpu_leave, and its result goes through gpu_result. So the caller's thread keeps its
// current device, and our failures do not stay as the thread's last HIP error.
// Ownership: the device owns the list of its streams; streams own their report slots.
//
//     GpuSavedDevice saved;
//     tilec_status s = gpu_enter(device, &saved);
//     if (s) return s;
//     GpuResult r = GPU_DO(d, mem_alloc, &at, size);
//     gpu_leave(d, saved);
//     return r ? gpu_fail(device, GPU_CALL_mem_alloc, r) : TILEC_OK;
#ifndef TILEC_RUNTIME_GPU_STATE_H
#define TILEC_RUNTIME_GPU_STATE_H

#include <stdatomic.h>

#include "base/os/os.h"
#include "base/os/os_mutex.h"
#include "runtime/context.h"
#include "runtime/failure.h"
#include "runtime/gpu/driver.h"
#include "runtime/print.h"

typedef struct GpuStream GpuStream;
typedef struct GpuDevice GpuDevice;

// The kind of an error code of the driver.
typedef enum GpuErrorKind {
    GPU_ERROR_NONE,
    GPU_ERROR_NOT_READY,      // not a failure: not yet
    GPU_ERROR_NO_DEVICE,      // the device cannot be used here
    GPU_ERROR_OUT_OF_MEMORY,  // out of memory
    GPU_ERROR_UNSUPPORTED,    // the device or driver cannot do what was asked
    GPU_ERROR_LAUNCH,         // a launch that does not fit the device
    GPU_ERROR_LOST,  // a kernel or the machine failed: the process cannot use the device any more
    GPU_ERROR_INTERNAL  // a call that is our mistake
} GpuErrorKind;
typedef struct GpuErrorInfo {
    const char *name;  // "CUDA_ERROR_NO_DEVICE"; NULL: unknown
    GpuErrorKind kind;
    const char *help;  // "" when there is none
} GpuErrorInfo;
tilec_status gpu_error_status(GpuErrorKind kind);

// The call that failed; code 0: none.
typedef struct GpuFailed {
    GpuCall call;
    GpuResult code;
} GpuFailed;

// The place of an address. The driver does not know the host's pages.
typedef enum GpuMemory { GPU_MEMORY_DEVICE, GPU_MEMORY_PINNED, GPU_MEMORY_PAGES } GpuMemory;

// The calling thread's previous device, for gpu_leave.
typedef struct GpuSavedDevice {
    int device;
    bool changed;
} GpuSavedDevice;

// Constants of the driver that differ between vendors.
typedef struct GpuNumbers {
    GpuAttribute threads_max, shared_max, multiprocessors, warp, clock;
    unsigned host_flags;  // flags for host memory that the device can access
    unsigned stream_flags;
    uintptr_t param_end, param_buffer, param_size;  // keys for the argument block of a launch
    // Error codes that are handled separately, because they are not failures or have other
    // messages.
    GpuResult invalid_value, not_found, not_ready, no_device;
    bool shared_declared;  // the code declares all shared memory, and a launch adds none
    uint32_t params_max;   // bytes of a kernel's parameters that every driver accepts
    uint64_t threads_row;  // the most threads of a grid along its first dimension; 0: no limit
} GpuNumbers;

// A kernel's parameters, as one of both; the other is NULL.
typedef struct GpuParams {
    void **list;   // the address of each
    void **extra;  // a buffer of all
} GpuParams;

typedef struct GpuBackend {
    GpuVendor vendor;
    const char *kind;              // "cuda": the kind of its devices
    const char *owned;             // "NVIDIA's driver"
    const char *variable;          // environment variable that names the library
    const char *const *libraries;  // tried in this order; NULL ends them
    const char *install;           // help for a missing library: "install it"
    GpuNumbers numbers;
    GpuErrorInfo (*code)(GpuResult code);
    // The driver's text or name for a code; NULL: it has none.
    const char *(*words)(const GpuDriver *driver, GpuResult code, bool name);
    // Adds the reason why there is no such device to the driver's text, or nothing. NULL: never
    // adds any.
    void (*missing)(const GpuDevice *d, GpuFailed failed, StrBuf *out);
    // Fills in target, version and the vendor's own data for a device whose number is known.
    tilec_status (*find)(tilec_context *context, GpuDevice *d);
    void (*release)(GpuDevice *d);
    GpuFailed (*enter)(const GpuDevice *d, GpuSavedDevice *saved);
    void (*leave)(const GpuDevice *d, GpuSavedDevice saved);
    GpuFailed (*find_memory)(const GpuDevice *d, GpuAddress address, GpuMemory *memory);
    // A copy on the stream, whose device is current.
    GpuFailed (*copy_between)(const GpuDevice *to_device, const GpuDevice *from_device,
                              const RtMove *move, GpuStreamHandle stream);
    // Refuses another library's stream that belongs to another device.
    tilec_status (*check_stream)(const tilec_device *device, GpuStreamHandle handle);
    tilec_status (*load)(tilec_device *device, Arena *arena, const RtImage *image,
                         RtModule *module);
    // Does once what a launch needs in addition to the report; NULL: nothing.
    tilec_status (*allow)(const tilec_device *device, const RtLaunch *launch);
    tilec_status (*launch)(const tilec_device *device, const RtLaunch *launch,
                           GpuLaunchConfig *config, GpuParams params);
    const char *drives;                                     // "a driver for ", before the version
    void (*version)(int version, char *text, size_t size);  // "CUDA 12.2"
} GpuBackend;

struct GpuDevice {
    const GpuBackend *backend;
    GpuDriver driver;
    GpuNumber number;
    GpuContext context;  // for NVIDIA
    int ordinal;
    GpuTarget target;
    int version;      // the driver's number: CUDA's 12020, HIP's 60200000
    int threads_max;  // the most threads in a block
    int shared_max;   // the most shared memory of a block, in bytes
    _Atomic(GpuResult) lost;
    OsMutex *lock;
    GpuStream *streams;
};

// The report of one module's launches on one stream, which holds the first failure. It is in host
// memory that the device can access.
typedef struct GpuReportSlot {
    const RtModule *module;
    MetaVariant variant;  // its texts live as long as the module
    int64_t programs;     // programs of the last launch
    uint32_t launches;    // launches since the report was last collected
    uint64_t last;        // the number of the last launch
    uint64_t size;        // size of the report
    GpuReport *report;
    GpuAddress address;
    struct GpuReportSlot *next;
} GpuReportSlot;

// A copy between pages of the host and a stream's stage: a thread of the driver's makes it.
typedef struct GpuStageCopy {
    void *to;
    const void *from;
    size_t size;
    _Atomic bool done;
    struct GpuStageCopy *next;
} GpuStageCopy;

struct GpuStream {
    GpuStreamHandle handle;
    bool foreign;  // made by another library, which destroys it
    GpuReportSlot *report_slots;
    void *stage;           // pinned memory, through which pages are copied; NULL: not needed yet
    GpuStageCopy *copies;  // that were asked for, done ones among them
    tilec_status status;   // kept until the stream is synchronised
    RtReport failure;
    RtPrints prints;
    GpuStream *next;
};

struct RtModule {
    GpuModule handle;
    void *image;  // bytes that the driver may read while the module lives; NULL: none
    GpuFunction function;
    _Atomic(uint64_t) units;   // programs that run at once; 0: not asked yet
    _Atomic(uint32_t) shared;  // dynamic shared memory in bytes that the function is allowed
};

// error.c
// Calls an entry point of the device's driver.
#define GPU_DO(d, call, ...) gpu_result(d, (d)->driver.call(__VA_ARGS__))
// Returns the code. HIP keeps a thread's last failure for later queries, so this clears it: our
// failures are already reported.
static inline GpuResult gpu_result(const GpuDevice *d, GpuResult code) {
    if (code && d->driver.forget_error) d->driver.forget_error();
    return code;
}
tilec_status gpu_enter(const tilec_device *device, GpuSavedDevice *saved);
void gpu_leave(const GpuDevice *d, GpuSavedDevice saved);
// Reports what failed, and remembers that a device is lost.
tilec_status gpu_fail(const tilec_device *device, GpuCall call, GpuResult code);
// The same, with " (more)" after the text: the subject of the call.
tilec_status gpu_fail_about(const tilec_device *device, GpuCall call, GpuResult code,
                            const char *about);
// For a call on a device that was lost before.
tilec_status gpu_fail_lost(const tilec_device *device, GpuResult code);
tilec_status gpu_fail_open(tilec_context *context, const GpuDevice *d, GpuCall call,
                           GpuResult code);
// Adds the code's name and the driver's text; the second one adds everything known about it.
void gpu_code_name(const GpuDevice *d, GpuResult code, StrBuf *out);
void gpu_code_text(const GpuDevice *d, GpuResult code, StrBuf *out);
tilec_status gpu_code_status(const GpuDevice *d, GpuResult code);

#define GPU_TRY_OPEN(call, ...)                                                  \
    do {                                                                         \
        GpuResult result_ = GPU_DO(d, call, __VA_ARGS__);                        \
        if (result_) return gpu_fail_open(context, d, GPU_CALL_##call, result_); \
    } while (0)

// device.c
tilec_status gpu_device_open(tilec_context *context, const GpuBackend *backend, Str instance,
                             void **state);
void gpu_device_close(void *state);
GpuTarget gpu_device_target(const tilec_device *device);
tilec_status gpu_device_count(tilec_context *context, const GpuBackend *backend, uint32_t *count);
tilec_status gpu_device_info(tilec_device *device, RtDeviceInfo *info);
void gpu_device_describe(const tilec_device *device, StrBuf *out);
int32_t gpu_memory_number(const tilec_device *device);
tilec_status gpu_alloc(tilec_device *device, size_t size, void **address);
void gpu_free(tilec_device *device, void *address, size_t size);
tilec_status gpu_host_alloc(tilec_device *device, size_t size, void **memory);
void gpu_host_free(tilec_device *device, void *memory, size_t size);

// memory.c
tilec_status gpu_copy(tilec_device *device, void *stream, void *to, const void *from, size_t size);
tilec_status gpu_move(tilec_device *device, void *stream, const RtMove *move);
// Frees the stream's stage when it has passed everything, or passes nothing any more; with the lock
// held. Not `inside` the device's context: what a thread of the driver's may still use is left.
void gpu_stage_free(const GpuDevice *d, GpuStream *stream, bool inside);

// stream.c
tilec_status gpu_stream_create(tilec_device *device, void **stream);
tilec_status gpu_stream_wrap(tilec_device *device, void *native, void **stream);
void *gpu_stream_native(void *stream);
void gpu_stream_destroy(tilec_device *device, void *stream);
tilec_status gpu_stream_synchronize(tilec_device *device, void *stream);
tilec_status gpu_stream_wait(tilec_device *device, void *stream, void *event);
bool gpu_stream_captured(tilec_device *device, void *stream);
tilec_status gpu_event_create(tilec_device *device, void **event);
void gpu_event_destroy(tilec_device *device, void *event);
tilec_status gpu_event_record(tilec_device *device, void *event, void *stream);
tilec_status gpu_event_synchronize(tilec_device *device, void *event);
tilec_status gpu_event_query(tilec_device *device, void *event, bool *done);
tilec_status gpu_event_elapsed(tilec_device *device, void *begin, void *end, uint64_t *ns);

// module.c
tilec_status gpu_module_load(tilec_device *device, const RtImage *image, RtModule **module);
void gpu_module_unload(tilec_device *device, RtModule *module);
// Finds the kernel of a module that was loaded; unloads the module on failure.
tilec_status gpu_module_function(tilec_device *device, Arena *arena, RtModule *module, Str entry);
// "device D does not take the code: …", with the code's help if `help` is NULL; the caller may add
// more.
Diags *gpu_bad_code(const tilec_device *device, Arena *arena, Sources *sources, GpuResult code,
                    const char *help);

// launch.c
tilec_status gpu_prepare(tilec_device *device, void *stream, const RtLaunch *launch);
tilec_status gpu_launch(tilec_device *device, void *stream, const RtLaunch *launch);
tilec_status gpu_units(tilec_device *device, const RtLaunch *launch, uint64_t *units);
// For GpuBackend.launch: the launch call that both drivers have.
tilec_status gpu_launch_plain(const tilec_device *device, const RtLaunch *launch,
                              const GpuLaunchConfig *config, GpuParams params);
// Moves the failure and prints of the stream's kernels to the stream. The device must be idle and
// the lock held.
void gpu_report_slots_collect(GpuStream *stream);
// Frees the report slots of a module, or (NULL) all. Call it in the device's context, with the lock
// held.
void gpu_report_slots_free(const GpuDevice *d, GpuStream *stream, const RtModule *module);

// A device's table without its kind, the number of its memory, and `open`.
#define GPU_DEVICE_FUNCTIONS                                                                    \
    .close = gpu_device_close, .gpu = gpu_device_target, .describe = gpu_device_describe,       \
    .info = gpu_device_info, .memory_number = gpu_memory_number, .alloc = gpu_alloc,            \
    .free = gpu_free, .host_alloc = gpu_host_alloc, .host_free = gpu_host_free,                 \
    .stream_create = gpu_stream_create, .stream_wrap = gpu_stream_wrap,                         \
    .stream_native = gpu_stream_native, .stream_destroy = gpu_stream_destroy,                   \
    .stream_synchronize = gpu_stream_synchronize, .stream_wait = gpu_stream_wait,               \
    .captured = gpu_stream_captured, .event_create = gpu_event_create,                          \
    .event_destroy = gpu_event_destroy, .event_record = gpu_event_record,                       \
    .event_synchronize = gpu_event_synchronize, .event_query = gpu_event_query,                 \
    .event_elapsed = gpu_event_elapsed, .copy = gpu_copy, .move = gpu_move,                     \
    .module_load = gpu_module_load, .module_unload = gpu_module_unload, .prepare = gpu_prepare, \
    .units = gpu_units, .launch = gpu_launch

#endif

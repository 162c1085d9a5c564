// What the files of the device `cuda` share.
//
// Invariants: `lock` guards the list of streams, their spots and kept failures; it may be held
// while the driver is called. Every call of the driver but those of opening stands between
// cuda_enter and cuda_leave. Ownership: the device owns its streams' list, streams own their spots.
//
//     tilec_status s = cuda_enter(device);
//     if (s) return s;
//     CUresult r = d->driver.mem_alloc(&at, size);
//     cuda_leave(d);
//     return r ? cuda_fail(device, CUDA_CALL_mem_alloc, r) : TILEC_OK;
#ifndef TILEC_RUNTIME_CUDA_STATE_H
#define TILEC_RUNTIME_CUDA_STATE_H

#include <stdatomic.h>

#include "base/os.h"
#include "runtime/context.h"
#include "runtime/cuda/driver.h"
#include "runtime/failure.h"
#include "runtime/print.h"

typedef struct CudaStream CudaStream;

typedef struct CudaDevice {
    CudaDriver driver;
    CUdevice number;
    CUcontext context;
    int ordinal;
    GpuTarget target;
    int version;      // of CUDA, as the driver says: 12020
    int threads_max;  // of a block
    int shared_max;   // bytes of a block
    _Atomic(CUresult) lost;
    OsMutex *lock;
    CudaStream *streams;
} CudaDevice;

// Where one module's launches on one stream leave their first failed assert: memory of the host
// that the device sees.
typedef struct CudaSpot {
    const RtModule *module;
    MetaVariant variant;  // texts live as long as the module
    int64_t programs;     // of the last launch
    uint32_t launches;    // since what was left was collected
    uint64_t size;        // of the report
    GpuReport *report;
    CUdeviceptr address;
    struct CudaSpot *next;
} CudaSpot;

struct CudaStream {
    CUstream handle;
    bool foreign;  // made by others, who destroy it
    CudaSpot *spots;
    tilec_status status;  // kept until the stream is synchronised
    RtReport failure;
    RtPrints prints;
    CudaStream *next;
};

struct RtModule {
    CUmodule handle;
    CUfunction function;
    _Atomic(uint32_t) shared;  // dynamic bytes that the function may have
};

tilec_status cuda_enter(const tilec_device *device);
void cuda_leave(const CudaDevice *d);
// What failed, in words; a lost device is remembered.
tilec_status cuda_fail(const tilec_device *device, CudaCall call, CUresult code);
// " (more)" behind the words: what the call was about.
tilec_status cuda_fail_about(const tilec_device *device, CudaCall call, CUresult code,
                             const char *about);
// The code's name and what else is known of it.
void cuda_code_text(const CudaDriver *driver, CUresult code, StrBuf *out);

// stream.c
tilec_status cuda_stream_create(tilec_device *device, void **stream);
tilec_status cuda_stream_wrap(tilec_device *device, void *native, void **stream);
void *cuda_stream_native(void *stream);
void cuda_stream_destroy(tilec_device *device, void *stream);
tilec_status cuda_stream_synchronize(tilec_device *device, void *stream);
tilec_status cuda_stream_wait(tilec_device *device, void *stream, void *event);
tilec_status cuda_event_create(tilec_device *device, void **event);
void cuda_event_destroy(tilec_device *device, void *event);
tilec_status cuda_event_record(tilec_device *device, void *event, void *stream);
tilec_status cuda_event_synchronize(tilec_device *device, void *event);
tilec_status cuda_event_query(tilec_device *device, void *event, bool *done);
tilec_status cuda_event_elapsed(tilec_device *device, void *begin, void *end, uint64_t *ns);

// module.c
tilec_status cuda_module_load(tilec_device *device, const RtImage *image, RtModule **module);
void cuda_module_unload(tilec_device *device, RtModule *module);

// launch.c
tilec_status cuda_prepare(tilec_device *device, void *stream, const RtLaunch *launch);
tilec_status cuda_launch(tilec_device *device, void *stream, const RtLaunch *launch);
// What the stream's kernels left: kept as its failure and its prints. The device has done all; the
// lock is held.
void cuda_spots_collect(CudaStream *stream);
// Frees the spots of a module, or (NULL) all. In the device's context; the lock is held.
void cuda_spots_free(const CudaDevice *d, CudaStream *stream, const RtModule *module);

#endif

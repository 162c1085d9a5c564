// A GPU vendor's driver, loaded on first use: a table of its entry points.
//
// The file is the one named by the vendor's environment variable (state.h), else the first of the
// vendor's library names that can be opened.
// Invariants: an opened table has all entry points of driver.def that the vendor has, except those
// marked as missing in older drivers. The driver stays loaded until the process ends, since its own
// threads may be running.
// Ownership: the caller's, a plain struct.
//
//     GpuDriver driver;
//     tilec_status s = gpu_driver_open(context, &cuda_backend, &driver);
//     if (!s && driver.init(0) == 0) …
#ifndef TILEC_RUNTIME_GPU_DRIVER_H
#define TILEC_RUNTIME_GPU_DRIVER_H

#include <tilec/tilec.h>

#include "runtime/gpu/types.h"
#include "target/gpu.h"

#define GPU_CALL(name, cuda, hip, params) GpuResult(*name) params;
#define CUDA_CALL(name, symbol, params) GpuResult(*name) params;
#define HIP_CALL(name, symbol, params) GpuResult(*name) params;
#define HIP_CALL_TEXT(name, symbol, params) const char *(*name)params;
typedef struct GpuDriver {
#include "runtime/gpu/driver.def"
} GpuDriver;
#undef GPU_CALL
#undef CUDA_CALL
#undef HIP_CALL

// Numbers for entry points, so that messages can name the one that failed.
#define GPU_CALL(name, cuda, hip, params) GPU_CALL_##name,
#define CUDA_CALL(name, symbol, params) GPU_CALL_##name,
#define HIP_CALL(name, symbol, params) GPU_CALL_##name,
typedef enum GpuCall {
#include "runtime/gpu/driver.def"
    GPU_CALLS
} GpuCall;
#undef GPU_CALL
#undef CUDA_CALL
#undef HIP_CALL

// NULL: the vendor's driver does not have it.
const char *gpu_call_symbol(GpuVendor vendor, GpuCall call);

struct GpuBackend;
tilec_status gpu_driver_open(tilec_context *context, const struct GpuBackend *backend,
                             GpuDriver *driver);

#endif

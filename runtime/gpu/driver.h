// A GPU vendor's driver, opened when it is needed: a table of its entry points.
//
// The file is the first of the vendor's names that can be opened, or what the vendor's variable of
// the environment names (state.h). Invariants: a table has all entry points of driver.def that the
// vendor has (but those that say that older drivers lack them), or it was not opened; the driver
// stays loaded until the process ends, as threads of its own may run. Ownership: the caller's, a
// plain struct.
//
//     GpuDriver driver;
//     tilec_status s = gpu_driver_open(context, &cuda_side, &driver);
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

// For messages: which entry point failed.
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

// NULL: the vendor's driver has no such entry point.
const char *gpu_call_symbol(GpuVendor vendor, GpuCall call);

struct GpuSide;
tilec_status gpu_driver_open(tilec_context *context, const struct GpuSide *side, GpuDriver *driver);

#endif

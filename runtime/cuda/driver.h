// NVIDIA's driver, opened when it is needed: a table of its entry points.
//
// The file is libcuda.so.1, or what TILEC_CUDA_LIBRARY names. Invariants: a table has all entry
// points of driver.def (but those that say that older drivers lack them), or it was not opened; the
// driver stays loaded until the process ends, as threads of its own may run. Ownership: the
// caller's, a plain struct.
//
//     CudaDriver driver;
//     tilec_status s = cuda_driver_open(context, &driver);
//     if (!s && driver.init(0) == CUDA_SUCCESS) …
#ifndef TILEC_RUNTIME_CUDA_DRIVER_H
#define TILEC_RUNTIME_CUDA_DRIVER_H

#include <tilec/tilec.h>

#include "runtime/cuda/types.h"

typedef struct CudaDriver {
#define CUDA_CALL(name, symbol, params) CUresult(*name) params;
#include "runtime/cuda/driver.def"
#undef CUDA_CALL
} CudaDriver;

// For messages: which entry point failed.
typedef enum CudaCall {
#define CUDA_CALL(name, symbol, params) CUDA_CALL_##name,
#include "runtime/cuda/driver.def"
#undef CUDA_CALL
    CUDA_CALLS
} CudaCall;
const char *cuda_call_symbol(CudaCall call);

tilec_status cuda_driver_open(tilec_context *context, CudaDriver *driver);

typedef enum CudaWay {
    CUDA_WAY_FINE,
    CUDA_WAY_LATER,
    CUDA_WAY_ABSENT,
    CUDA_WAY_MEMORY,
    CUDA_WAY_UNABLE,
    CUDA_WAY_REFUSED,
    CUDA_WAY_LOST,
    CUDA_WAY_DEFECT
} CudaWay;
typedef struct CudaCode {
    const char *name;  // "CUDA_ERROR_NO_DEVICE"; NULL: one we do not know
    CudaWay way;
    const char *help;  // "" when there is none
} CudaCode;
CudaCode cuda_code(CUresult code);
tilec_status cuda_code_status(CUresult code);

#endif

#include "runtime/cuda/driver.h"

#include <stdbool.h>
#include <string.h>

#include "base/os_dl.h"
#include "runtime/context.h"

// One row for each entry point, in the order of CudaDriver's members.
static const char *const symbols[] = {
#define CUDA_CALL(name, symbol, params) #symbol,
#include "runtime/cuda/driver.def"
#undef CUDA_CALL
};
static const bool newer[] = {
#define CUDA_CALL(name, symbol, params) false,
#define CUDA_CALL_NEWER(name, symbol, params) true,
#include "runtime/cuda/driver.def"
#undef CUDA_CALL
};
_Static_assert(sizeof(CudaDriver) == CUDA_CALLS * sizeof(void *), "pointers and nothing else");

const char *cuda_call_symbol(CudaCall call) { return symbols[call]; }

static tilec_status no_library(tilec_context *context, const OsError *error) {
    return rt_fail(context, TILEC_UNAVAILABLE,
                   "NVIDIA's driver cannot be opened: %s; install it, or name its "
                   "library in TILEC_CUDA_LIBRARY",
                   error->text);
}

tilec_status cuda_driver_open(tilec_context *context, CudaDriver *driver) {
    const char *wanted = os_env("TILEC_CUDA_LIBRARY");
    const char *path = wanted && *wanted ? wanted : "libcuda.so.1";
    OsError error;
    OsLibrary *library = os_library_open(path, &error);
    if (!library) return no_library(context, &error);
    void *found[CUDA_CALLS];
    for (int i = 0; i < CUDA_CALLS; i++) {
        found[i] = os_library_symbol(library, symbols[i]);
        if (found[i] || newer[i]) continue;
        os_library_close(library);
        return rt_fail(context, TILEC_UNAVAILABLE,
                       "NVIDIA's driver %s is too old: it has no %s; update it", path, symbols[i]);
    }
    memcpy(driver, found, sizeof *driver);
    os_library_keep(library);
    return TILEC_OK;
}

CudaCode cuda_code(CUresult code) {
    switch (code) {
#define CUDA_CODE(name, value, way, help) \
    case value:                           \
        return (CudaCode){"CUDA_" #name, CUDA_WAY_##way, help};
#include "runtime/cuda/code.def"
#undef CUDA_CODE
    }
    return (CudaCode){NULL, CUDA_WAY_ABSENT, ""};
}

tilec_status cuda_code_status(CUresult code) {
    switch (cuda_code(code).way) {
    case CUDA_WAY_FINE: return TILEC_OK;
    case CUDA_WAY_LATER: return TILEC_INVALID_ARGUMENT;
    case CUDA_WAY_ABSENT: return TILEC_UNAVAILABLE;
    case CUDA_WAY_MEMORY: return TILEC_OUT_OF_MEMORY;
    case CUDA_WAY_UNABLE: return TILEC_UNSUPPORTED;
    case CUDA_WAY_REFUSED: return TILEC_LAUNCH_REFUSED;
    case CUDA_WAY_LOST: return TILEC_KERNEL_FAILED;
    case CUDA_WAY_DEFECT: break;
    }
    return TILEC_INTERNAL;
}

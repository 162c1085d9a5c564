#include "runtime/gpu/driver.h"

#include <stdbool.h>
#include <string.h>

#include "base/os/os_dl.h"
#include "runtime/context.h"
#include "runtime/gpu/state.h"

// One row for each entry point, in the order of GpuDriver's members.
typedef struct CallRow {
    const char *cuda, *hip;  // symbols; NULL: it does not exist
    bool newer;              // absent from the oldest supported driver
} CallRow;
static const CallRow rows[] = {
#define GPU_CALL(name, cuda, hip, params) {#cuda, #hip, false},
#define GPU_CALL_NEWER(name, cuda, hip, params) {#cuda, #hip, true},
#define CUDA_CALL(name, symbol, params) {#symbol, NULL, false},
#define HIP_CALL(name, symbol, params) {NULL, #symbol, false},
#define CUDA_CALL_NEWER(name, symbol, params) {#symbol, NULL, true},
#define HIP_CALL_NEWER(name, symbol, params) {NULL, #symbol, true},
#include "runtime/gpu/driver.def"
#undef GPU_CALL
#undef CUDA_CALL
#undef HIP_CALL
};
_Static_assert(sizeof(GpuDriver) == GPU_CALLS * sizeof(void *), "pointers and nothing else");

const char *gpu_call_symbol(GpuVendor vendor, GpuCall call) {
    return vendor == GPU_NVIDIA ? rows[call].cuda : rows[call].hip;
}

// Opens the first library that can be opened; the error is that of the first name.
static OsLibrary *open_any(const char *const *names, const char **path, OsError *error) {
    OsLibrary *library = os_library_open(*path = names[0], error);
    for (size_t i = 1; !library && names[i]; i++) {
        OsError later;
        library = os_library_open(*path = names[i], &later);
    }
    return library;
}

tilec_status gpu_driver_open(tilec_context *context, const GpuBackend *backend, GpuDriver *driver) {
    const char *wanted = os_env(backend->variable), *path = NULL;
    const char *const named[] = {wanted, NULL};
    OsError error;
    OsLibrary *library = open_any(wanted && *wanted ? named : backend->libraries, &path, &error);
    if (!library)
        return rt_fail(context, TILEC_UNAVAILABLE,
                       "%s cannot be opened: %s; %s, or name its "
                       "library in %s",
                       backend->owned, error.text, backend->install, backend->variable);
    void *found[GPU_CALLS];
    for (int i = 0; i < GPU_CALLS; i++) {
        const char *symbol = gpu_call_symbol(backend->vendor, (GpuCall)i);
        found[i] = symbol ? os_library_symbol(library, symbol) : NULL;
        if (found[i] || !symbol || rows[i].newer) continue;
        os_library_close(library);
        if (i == 0)
            return rt_fail(context, TILEC_UNAVAILABLE,
                           "%s is not %s: it has no %s; name its library in %s", path,
                           backend->owned, symbol, backend->variable);
        return rt_fail(context, TILEC_UNAVAILABLE, "%s %s is too old: it has no %s; update it",
                       backend->owned, path, symbol);
    }
    memcpy(driver, found, sizeof *driver);
    os_library_keep(library);
    return TILEC_OK;
}

tilec_status gpu_error_status(GpuErrorKind kind) {
    switch (kind) {
    case GPU_ERROR_NONE: return TILEC_OK;
    case GPU_ERROR_NOT_READY: return TILEC_INVALID_ARGUMENT;
    case GPU_ERROR_NO_DEVICE: return TILEC_UNAVAILABLE;
    case GPU_ERROR_OUT_OF_MEMORY: return TILEC_OUT_OF_MEMORY;
    case GPU_ERROR_UNSUPPORTED: return TILEC_UNSUPPORTED;
    case GPU_ERROR_LAUNCH: return TILEC_LAUNCH_REFUSED;
    case GPU_ERROR_LOST: return TILEC_KERNEL_FAILED;
    case GPU_ERROR_INTERNAL: break;
    }
    return TILEC_INTERNAL;
}

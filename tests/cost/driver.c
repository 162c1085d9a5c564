// A bare driver of NVIDIA's: one device of compute capability 8.0 on which everything succeeds at
// once and nothing is done. The remaining cost of a launch is tilec's own.
#include <stddef.h>

#include "runtime/cuda/numbers.h"
#include "runtime/gpu/types.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define GPU_CALL(name, cuda, hip, params) GpuResult cuda params;
#define CUDA_CALL(name, symbol, params) GpuResult symbol params;
#define HIP_CALL(name, symbol, params)
#include "runtime/gpu/driver.def"
#undef GPU_CALL
#undef CUDA_CALL
#undef HIP_CALL

GpuResult cuInit(unsigned flags) { return 0; }
GpuResult cuDriverGetVersion(int *version) { return *version = 12020, 0; }
GpuResult cuGetErrorName(GpuResult code, const char **name) { return *name = "error", 0; }
GpuResult cuGetErrorString(GpuResult code, const char **text) { return *text = "an error", 0; }
GpuResult cuDeviceGetCount(int *count) { return *count = 1, 0; }
GpuResult cuDeviceGet(GpuNumber *device, int ordinal) { return *device = 0, 0; }
GpuResult cuDeviceGetName(char *name, int size, GpuNumber device) { return name[0] = 0, 0; }

GpuResult cuDeviceTotalMem_v2(size_t *bytes, GpuNumber device) { return *bytes = 1 << 30, 0; }
GpuResult cuDeviceGetPCIBusId(char *bus, int size, GpuNumber device) { return bus[0] = 0, 0; }

GpuResult cuDeviceGetAttribute(int *value, GpuAttribute attribute, GpuNumber device) {
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = 8; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = 0; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = 160 << 10; break;
    default: *value = 1024;
    }
    return 0;
}

GpuResult cuDevicePrimaryCtxRetain(GpuContext *context, GpuNumber device) {
    return *context = NULL, 0;
}
GpuResult cuDevicePrimaryCtxRelease_v2(GpuNumber device) { return 0; }
GpuResult cuCtxPushCurrent_v2(GpuContext context) { return 0; }
GpuResult cuCtxPopCurrent_v2(GpuContext *context) { return *context = NULL, 0; }
GpuResult cuCtxSynchronize(void) { return 0; }
GpuResult cuMemAlloc_v2(GpuAddress *address, size_t size) {
    static GpuAddress next = 1 << 30;
    *address = next;
    next += (size + 255) / 256 * 256;
    return 0;
}
GpuResult cuMemFree_v2(GpuAddress address) { return 0; }
GpuResult cuMemHostAlloc(void **memory, size_t size, unsigned flags) { return 2; }
GpuResult cuMemFreeHost(void *memory) { return 0; }
GpuResult cuMemHostGetDevicePointer_v2(GpuAddress *address, void *memory, unsigned flags) {
    return 2;
}
GpuResult cuPointerGetAttributes(unsigned count, GpuPointerAttribute *attributes, void **values,
                                 GpuAddress pointer) {
    return *(unsigned *)values[0] = 0, 0;
}
GpuResult cuMemcpyHtoDAsync_v2(GpuAddress to, const void *from, size_t size, GpuStreamHandle s) {
    return 0;
}
GpuResult cuMemcpyDtoHAsync_v2(void *to, GpuAddress from, size_t size, GpuStreamHandle s) {
    return 0;
}
GpuResult cuMemcpyDtoDAsync_v2(GpuAddress to, GpuAddress from, size_t size, GpuStreamHandle s) {
    return 0;
}
GpuResult cuMemcpyPeerAsync(GpuAddress to, GpuContext there, GpuAddress from, GpuContext here,
                            size_t size, GpuStreamHandle s) {
    return 0;
}
GpuResult cuLaunchHostFunc(GpuStreamHandle stream, GpuHostFunction function, void *data) {
    return 0;
}
GpuResult cuMemsetD8Async(GpuAddress to, unsigned char x, size_t count, GpuStreamHandle s) {
    return 0;
}
GpuResult cuMemsetD16Async(GpuAddress to, unsigned short x, size_t count, GpuStreamHandle s) {
    return 0;
}
GpuResult cuMemsetD32Async(GpuAddress to, unsigned x, size_t count, GpuStreamHandle s) { return 0; }
GpuResult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, GpuFunction function, int size,
                                                      size_t shared) {
    return *blocks = 1, 0;
}
GpuResult cuStreamCreate(GpuStreamHandle *stream, unsigned flags) { return *stream = NULL, 0; }
GpuResult cuStreamDestroy_v2(GpuStreamHandle stream) { return 0; }
GpuResult cuStreamSynchronize(GpuStreamHandle stream) { return 0; }
GpuResult cuStreamWaitEvent(GpuStreamHandle stream, GpuEvent event, unsigned flags) { return 0; }
GpuResult cuStreamGetCtx(GpuStreamHandle stream, GpuContext *context) { return *context = NULL, 0; }
GpuResult cuEventCreate(GpuEvent *event, unsigned flags) { return *event = NULL, 0; }
GpuResult cuEventDestroy_v2(GpuEvent event) { return 0; }
GpuResult cuEventRecord(GpuEvent event, GpuStreamHandle stream) { return 0; }
GpuResult cuEventSynchronize(GpuEvent event) { return 0; }
GpuResult cuEventQuery(GpuEvent event) { return 0; }
GpuResult cuEventElapsedTime(float *ms, GpuEvent begin, GpuEvent end) { return *ms = 0, 0; }
GpuResult cuModuleLoadDataEx(GpuModule *module, const void *image, unsigned count,
                             GpuJitOption *options, void **values) {
    return *module = NULL, 0;
}
GpuResult cuModuleUnload(GpuModule module) { return 0; }
GpuResult cuModuleGetFunction(GpuFunction *function, GpuModule module, const char *name) {
    return *function = NULL, 0;
}
GpuResult cuFuncSetAttribute(GpuFunction function, GpuFunctionAttribute attribute, int value) {
    return 0;
}
GpuResult cuLaunchKernel(GpuFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                         unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                         GpuStreamHandle stream, void **params, void **extra) {
    return 0;
}
GpuResult cuLaunchKernelEx(const GpuLaunchConfig *config, GpuFunction function, void **params,
                           void **extra) {
    return 0;
}

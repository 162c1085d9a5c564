// The device `cuda`: the parts that are specific to NVIDIA.
#include "runtime/cuda/device.h"

#include <stdio.h>
#include <tilec/dlpack.h>

#include "runtime/cuda/state.h"

enum { OLDEST = 75 };  // oldest architecture that code is made for

// ---- Codes ----

GpuErrorInfo cuda_code(GpuResult code) {
    switch (code) {
#define GPU_CODE(name, value, kind, help) \
    case value:                           \
        return (GpuErrorInfo){#name, GPU_ERROR_##kind, help};
#include "runtime/cuda/code.def"
#undef GPU_CODE
    }
    return (GpuErrorInfo){NULL, GPU_ERROR_NO_DEVICE, ""};
}

static const char *words(const GpuDriver *driver, GpuResult code, bool name) {
    const char *text = NULL;
    GpuResult r =
        name ? driver->get_error_name(code, &text) : driver->get_error_string(code, &text);
    return r ? NULL : text;
}

// ---- Open, close ----

// The newest architecture that the device runs and that code can be made for.
static GpuTarget newest_target(uint32_t number) {
    GpuTarget target = {0};
    char name[GPU_NAME_MAX];
    for (; number >= OLDEST; number--) {
        snprintf(name, sizeof name, "sm_%u", number);
        if (gpu_target_parse(str(name), &target)) return target;
    }
    return target;
}

// A device has exactly one architecture, and runs code for its own form; libraries choose their
// code the same way. sm_90a needs PTX 8.0; where others have a form of their own, any PTX version
// that knows them has it.
static GpuTarget own_target(GpuTarget plain, uint32_t number, int version) {
    enum { CUDA_OF_PTX_8_0 = 12000 };
    char name[GPU_NAME_MAX];
    GpuTarget own;
    snprintf(name, sizeof name, "sm_%ua", number);
    bool known = plain.number == number && gpu_target_parse(str(name), &own);
    return known && version >= CUDA_OF_PTX_8_0 ? own : plain;
}

static tilec_status find(tilec_context *context, GpuDevice *d) {
    int major = 0, minor = 0;
    GPU_TRY_OPEN(device_get_attribute, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                 d->number);
    GPU_TRY_OPEN(device_get_attribute, &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                 d->number);
    if (major >= 0 && major < 100 && minor >= 0 && minor < 10) {
        uint32_t number = (uint32_t)(major * 10 + minor);
        d->target = own_target(newest_target(number), number, d->version);
    }
    if (d->target.vendor != GPU_NVIDIA)
        return rt_fail(
            context, TILEC_UNAVAILABLE,
            "device cuda:%d is of architecture sm_%d%d; code is made for sm_%d and later",
            d->ordinal, major, minor, OLDEST);
    GPU_TRY_OPEN(primary_retain, &d->context, d->number);
    return TILEC_OK;
}

static void release(GpuDevice *d) { GPU_DO(d, primary_release, d->number); }

static void version_text(int version, char *text, size_t size) {
    snprintf(text, size, "CUDA %d.%d", version / 1000, version % 1000 / 10);
}

// ---- The calling thread's context: the driver has a stack of them ----

static GpuFailed enter(const GpuDevice *d, GpuSavedDevice *saved) {
    *saved = (GpuSavedDevice){0};
    return (GpuFailed){GPU_CALL_push_current, GPU_DO(d, push_current, d->context)};
}

static void leave(const GpuDevice *d, GpuSavedDevice saved) {
    GpuContext ours;
    (void)saved;
    GPU_DO(d, pop_current, &ours);
}

// cuPointerGetAttribute would fail for memory that the driver does not know, and tools such as
// compute-sanitizer would report each such failure.
static GpuFailed find_memory(const GpuDevice *d, GpuAddress address, GpuMemory *memory) {
    GpuPointerAttribute attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    unsigned type = 0;
    void *value = &type;
    GpuResult r = GPU_DO(d, pointer_get_attributes, 1, &attribute, &value, address);
    *memory = type == 0                    ? GPU_MEMORY_PAGES
              : type == CU_MEMORYTYPE_HOST ? GPU_MEMORY_PINNED
                                           : GPU_MEMORY_DEVICE;
    return (GpuFailed){GPU_CALL_pointer_get_attributes, r};
}

static GpuFailed copy_between(const GpuDevice *to, const GpuDevice *from, const RtMove *m,
                              GpuStreamHandle stream) {
    const GpuDevice *d = to;
    GpuResult r = GPU_DO(d, copy_contexts, (GpuAddress)(uintptr_t)m->to, to->context,
                         (GpuAddress)(uintptr_t)m->from, from->context, m->size, stream);
    return (GpuFailed){GPU_CALL_copy_contexts, r};
}

// The driver accepts modules and streams of one context only.
static tilec_status check_stream(const tilec_device *device, GpuStreamHandle handle) {
    const GpuDevice *d = device->state;
    GpuContext context = NULL;
    GpuResult r = GPU_DO(d, stream_context, handle, &context);
    if (r) return gpu_fail(device, GPU_CALL_stream_context, r);
    if (context == d->context) return TILEC_OK;
    return rt_fail(
        device->context, TILEC_INVALID_ARGUMENT,
        "the stream belongs to another device or context; device %s works in the primary "
        "context of its GPU",
        device->name);
}

// ---- Tables ----

static const char *const libraries[] = {"libcuda.so.1", NULL};

const GpuBackend cuda_backend = {
    .vendor = GPU_NVIDIA,
    .kind = "cuda",
    .owned = "NVIDIA's driver",
    .variable = "TILEC_CUDA_LIBRARY",
    .libraries = libraries,
    .install = "install it",
    .numbers = {.threads_max = CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                .shared_max = CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                .multiprocessors = CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                .warp = CU_DEVICE_ATTRIBUTE_WARP_SIZE,
                .clock = CU_DEVICE_ATTRIBUTE_CLOCK_RATE,
                .host_flags = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP,
                .stream_flags = CU_STREAM_NON_BLOCKING,
                .param_end = CU_LAUNCH_PARAM_END_AS_INT,
                .param_buffer = CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT,
                .param_size = CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT,
                .invalid_value = CUDA_ERROR_INVALID_VALUE,
                .not_found = CUDA_ERROR_NOT_FOUND,
                .not_ready = CUDA_ERROR_NOT_READY,
                .no_device = CUDA_ERROR_NO_DEVICE,
                .params_max = 4096},
    .code = cuda_code,
    .words = words,
    .find = find,
    .release = release,
    .enter = enter,
    .leave = leave,
    .find_memory = find_memory,
    .copy_between = copy_between,
    .check_stream = check_stream,
    .load = cuda_load,
    .allow = cuda_allow,
    .launch = cuda_launch,
    .version = version_text,
    .drives = "a driver for ",
};

static tilec_status device_open(tilec_context *context, Str instance, void **state) {
    return gpu_device_open(context, &cuda_backend, instance, state);
}

static tilec_status count(tilec_context *context, uint32_t *count) {
    return gpu_device_count(context, &cuda_backend, count);
}

const RtDeviceApi cuda_device_api = {
    .kind = "cuda",
    .open = device_open,
    .count = count,
    .memory = TILEC_DL_CUDA,
    .memory_also = {TILEC_DL_CUDA_MANAGED, TILEC_DL_CUDA_HOST},
    .has_maps = cuda_has_maps,
    .encode_map = cuda_encode_map,
    GPU_DEVICE_FUNCTIONS,
};

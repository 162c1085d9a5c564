// The device `hip`: the parts that are specific to AMD.
#include "runtime/hip/device.h"

#include <stdio.h>
#include <string.h>
#include <tilec/dlpack.h>

#include "runtime/hip/missing.h"
#include "runtime/hip/state.h"

// ---- Codes ----

GpuErrorInfo hip_code(GpuResult code) {
    switch (code) {
#define GPU_CODE(name, value, kind, help) \
    case value:                           \
        return (GpuErrorInfo){#name, GPU_ERROR_##kind, help};
#include "runtime/hip/code.def"
#undef GPU_CODE
    }
    return (GpuErrorInfo){NULL, GPU_ERROR_NO_DEVICE, ""};
}

static const char *words(const GpuDriver *driver, GpuResult code, bool name) {
    return name ? driver->error_name(code) : driver->error_text(code);
}

static void version_text(int version, char *text, size_t size) {
    snprintf(text, size, "HIP %d.%d.%d", version / 10000000, version / 100000 % 100,
             version % 100000);
}

void hip_version_text(int version, StrBuf *out) {
    char text[64];
    version_text(version, text, sizeof text);
    strbuf_add(out, str(text));
}

// ---- Open ----

static void missing(const GpuDevice *d, GpuFailed failed, StrBuf *out) {
    bool counted = failed.call == GPU_CALL_init || failed.call == GPU_CALL_device_get_count;
    if (!counted || (failed.code != hipErrorNoDevice && failed.code != hipErrorInvalidDevice))
        return;
    static const HipPlaces places = {"/dev/kfd", "/dev/dri", "/sys/class/kfd/kfd/topology/nodes"};
    HipSystem s = hip_probe(&places);
    strbuf_add(out, STR("; "));
    hip_version_text(d->version, out);
    strbuf_add(out, STR(" finds no GPU: "));
    hip_missing_text(&s, out);
}

// Only the properties have the processor's name (the attribute that HIP 5 added was never
// answered), and their layout changed in HIP 6. The symbol says which layout is used: libraries of
// HIP 6 and later keep R0600 with its layout, and in earlier libraries the plain name has the only
// layout of that time. The features after the name ("gfx90a:sramecc+:xnack-") do not matter for our
// code.
static tilec_status read_name(tilec_context *context, GpuDevice *d, char *name) {
    _Alignas(16) char properties[HIP_PROPERTIES_BYTES_MAX] = {0};
    size_t at = HIP_PROPERTIES_NAME_6;
    if (d->driver.properties_6) {
        GPU_TRY_OPEN(properties_6, properties, d->ordinal);
    } else {
        at = HIP_PROPERTIES_NAME_5;
        GPU_TRY_OPEN(properties, properties, d->ordinal);
    }
    memcpy(name, properties + at, HIP_PROPERTIES_NAME_SIZE);
    name[HIP_PROPERTIES_NAME_SIZE - 1] = 0;
    return TILEC_OK;
}

static tilec_status no_code(tilec_context *context, const GpuDevice *d, Str name) {
    uint64_t number = 0;
    uint32_t becomes = 0;
    const char *value = NULL;
    for (size_t i = 3; i < name.size && i < 8; i++) {
        char c = name.text[i];
        bool digit = c >= '0' && c <= '9', letter = c >= 'a' && c <= 'f';
        number = number << 4 | (uint64_t)(digit ? c - '0' : letter ? c - 'a' + 10 : 0);
    }
    if (str_starts(name, STR("gfx"))) value = hip_override((uint32_t)number, &becomes);
    if (value)
        return rt_fail(context, TILEC_UNAVAILABLE,
                       "device hip:%d is a %.*s, which is not supported; it may run code of a "
                       "gfx%x: set HSA_OVERRIDE_GFX_VERSION=%s",
                       d->ordinal, STR_ARG(name), becomes, value);
    return rt_fail(context, TILEC_UNAVAILABLE, "device hip:%d is a %.*s, which is not supported",
                   d->ordinal, STR_ARG(name));
}

static tilec_status find(tilec_context *context, GpuDevice *d) {
    char text[HIP_PROPERTIES_NAME_SIZE];
    tilec_status s = read_name(context, d, text);
    if (s) return s;
    Str features, name = str_cut(str(text), ':', &features);
    if (!gpu_target_parse(name, &d->target) || d->target.vendor != GPU_AMD)
        return no_code(context, d, name);
    return TILEC_OK;
}

// ---- The calling thread's device: each thread has one ----

static GpuFailed enter(const GpuDevice *d, GpuSavedDevice *saved) {
    *saved = (GpuSavedDevice){0};
    GpuResult r = GPU_DO(d, get_current, &saved->device);
    if (r) return (GpuFailed){GPU_CALL_get_current, r};
    if (saved->device == d->number) return (GpuFailed){0};
    r = GPU_DO(d, set_current, d->number);
    saved->changed = !r;
    return (GpuFailed){GPU_CALL_set_current, r};
}

static void leave(const GpuDevice *d, GpuSavedDevice saved) {
    if (saved.changed) GPU_DO(d, set_current, saved.device);
}

// HIP 6 renumbered the kinds of memory as NVIDIA does: 0 is memory unknown to HIP, 1 is host
// memory. Before, 0 was host memory and 1 device memory.
static GpuMemory memory_of(const GpuDevice *d, unsigned type) {
    unsigned host = d->version < 60000000 ? 0 : 1;
    if (type < host) return GPU_MEMORY_PAGES;
    return type == host ? GPU_MEMORY_PINNED : GPU_MEMORY_DEVICE;
}

// HIP fails for memory that it does not know.
static GpuFailed find_memory(const GpuDevice *d, GpuAddress address, GpuMemory *memory) {
    unsigned type = 0;
    GpuResult r =
        GPU_DO(d, pointer_get_attribute, &type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
    *memory = r ? GPU_MEMORY_PAGES : memory_of(d, type);
    return (GpuFailed){GPU_CALL_pointer_get_attribute, r == hipErrorInvalidValue ? 0 : r};
}

static GpuFailed copy_between(const GpuDevice *to, const GpuDevice *from, const RtMove *m,
                              GpuStreamHandle stream) {
    const GpuDevice *d = to;
    GpuResult r = GPU_DO(d, copy_devices, (GpuAddress)(uintptr_t)m->to, to->number,
                         (GpuAddress)(uintptr_t)m->from, from->number, m->size, stream);
    return (GpuFailed){GPU_CALL_copy_devices, r};
}

// Older versions cannot report a stream's device, so the caller is trusted.
static tilec_status check_stream(const tilec_device *device, GpuStreamHandle handle) {
    const GpuDevice *d = device->state;
    GpuNumber number = d->number;
    GpuResult r = d->driver.stream_device ? GPU_DO(d, stream_device, handle, &number) : hipSuccess;
    if (r) return gpu_fail(device, GPU_CALL_stream_device, r);
    if (number == d->number) return TILEC_OK;
    return rt_fail(device->context, TILEC_INVALID_ARGUMENT,
                   "the stream belongs to device hip:%d, not to device %s", number, device->name);
}

// All shared memory of a kernel is declared in its code, so the driver call needs no size.
static tilec_status launch(const tilec_device *device, const RtLaunch *l, GpuLaunchConfig *config,
                           GpuParams params) {
    config->sharedMemBytes = 0;
    return gpu_launch_plain(device, l, config, params);
}

// ---- Tables ----

// The newest first; the plain name comes from packages for developers.
static const char *const libraries[] = {
    "libamdhip64.so.7",
    "libamdhip64.so.6",
    "libamdhip64.so.5",
    "libamdhip64.so",
    "/opt/rocm/lib/libamdhip64.so",
    NULL,
};

const GpuBackend hip_backend = {
    .vendor = GPU_AMD,
    .kind = "hip",
    .owned = "AMD's HIP",
    .variable = "TILEC_HIP_LIBRARY",
    .libraries = libraries,
    .install = "install ROCm (Debian, Ubuntu: apt-get install libamdhip64-5)",
    // Device atomics write reports, and the host reads them while other kernels run. So they are in
    // memory that neither side caches.
    .numbers = {.threads_max = hipDeviceAttributeMaxThreadsPerBlock,
                .shared_max = hipDeviceAttributeMaxSharedMemoryPerBlock,
                .multiprocessors = hipDeviceAttributeMultiprocessorCount,
                .warp = hipDeviceAttributeWarpSize,
                .clock = hipDeviceAttributeClockRate,
                .host_flags = hipHostMallocPortable | hipHostMallocMapped | hipHostMallocCoherent,
                .stream_flags = hipStreamNonBlocking,
                .param_end = HIP_LAUNCH_PARAM_END,
                .param_buffer = HIP_LAUNCH_PARAM_BUFFER_POINTER,
                .param_size = HIP_LAUNCH_PARAM_BUFFER_SIZE,
                .invalid_value = hipErrorInvalidValue,
                .not_found = hipErrorNotFound,
                .not_ready = hipErrorNotReady,
                .no_device = hipErrorNoDevice,
                .shared_declared = true,
                .threads_row = UINT32_MAX},
    .code = hip_code,
    .words = words,
    .missing = missing,
    .find = find,
    .enter = enter,
    .leave = leave,
    .find_memory = find_memory,
    .copy_between = copy_between,
    .check_stream = check_stream,
    .load = hip_load,
    .launch = launch,
    .version = version_text,
    .drives = "",
};

static tilec_status device_open(tilec_context *context, Str instance, void **state) {
    return gpu_device_open(context, &hip_backend, instance, state);
}

static tilec_status count(tilec_context *context, uint32_t *count) {
    return gpu_device_count(context, &hip_backend, count);
}

static uint32_t object_newest(const tilec_device *device) {
    return hip_object_newest(((const GpuDevice *)device->state)->version);
}

const RtDeviceApi hip_device_api = {
    .kind = "hip",
    .open = device_open,
    .count = count,
    .object_newest = object_newest,
    .memory = TILEC_DL_ROCM,
    .memory_also = {TILEC_DL_ROCM_HOST},
    GPU_DEVICE_FUNCTIONS,
};

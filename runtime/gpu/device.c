// Devices of a GPU driver: open, close, memory.
#include <stdio.h>
#include <stdlib.h>

#include "base/recover.h"
#include "runtime/gpu/state.h"

// ---- Open, close ----

static tilec_status find_device(tilec_context *context, GpuDevice *d) {
    const GpuNumbers *n = &d->backend->numbers;
    int count = 0;
    GPU_TRY_OPEN(get_version, &d->version);
    GPU_TRY_OPEN(init, 0);
    GPU_TRY_OPEN(device_get_count, &count);
    if (!count) return gpu_fail_open(context, d, GPU_CALL_device_get_count, n->no_device);
    if (d->ordinal >= count)
        return rt_fail(context, TILEC_UNAVAILABLE,
                       "there is no device %s:%d; the driver has %d, numbered from 0",
                       d->backend->kind, d->ordinal, count);
    GPU_TRY_OPEN(device_get, &d->number, d->ordinal);
    GPU_TRY_OPEN(device_get_attribute, &d->threads_max, n->threads_max, d->number);
    GPU_TRY_OPEN(device_get_attribute, &d->shared_max, n->shared_max, d->number);
    return d->backend->find(context, d);
}

static tilec_status read_ordinal(tilec_context *context, GpuDevice *d, Str instance) {
    uint64_t n = 0;
    if (instance.size && (!str_to_u64(instance, &n, NULL) || n > 1000))
        return rt_fail(context, TILEC_INVALID_ARGUMENT,
                       "device %s: expected the number of a device, found '%.*s'", d->backend->kind,
                       STR_ARG(instance));
    d->ordinal = (int)n;
    return TILEC_OK;
}

tilec_status gpu_device_open(tilec_context *context, const GpuBackend *backend, Str instance,
                             void **state) {
    GpuDevice *d = recover_new(sizeof *d);
    d->backend = backend;
    d->lock = os_mutex_create_long();
    tilec_status s = read_ordinal(context, d, instance);
    if (!s) s = gpu_driver_open(context, backend, &d->driver);
    if (!s) s = find_device(context, d);
    if (s) {
        os_mutex_destroy(d->lock);
        recover_free(d);
        return s;
    }
    *state = d;
    return TILEC_OK;
}

void gpu_device_close(void *state) {
    GpuDevice *d = state;
    if (d->backend->release) d->backend->release(d);
    os_mutex_destroy(d->lock);
    recover_free(d);
}

GpuTarget gpu_device_target(const tilec_device *device) {
    return ((const GpuDevice *)device->state)->target;
}

void gpu_device_describe(const tilec_device *device, StrBuf *out) {
    const GpuDevice *d = device->state;
    char name[256] = "", target[GPU_NAME_MAX];
    strbuf_printf(out, "%s", gpu_target_name(d->target, target));
    if (!GPU_DO(d, device_get_name, name, sizeof name - 1, d->number) && name[0])
        strbuf_printf(out, ", %s", name);
    strbuf_add(out, STR(", "));
    char version[64];
    d->backend->version(d->version, version, sizeof version);
    strbuf_printf(out, "%s%s", d->backend->drives, version);
}

// ---- Facts ----

// No driver and no device are an answer, not a failure.
static tilec_status count_devices(tilec_context *context, const GpuDevice *d, uint32_t *count) {
    int found = 0;
    GPU_TRY_OPEN(init, 0);
    GPU_TRY_OPEN(device_get_count, &found);
    *count = (uint32_t)found;
    return TILEC_OK;
}

tilec_status gpu_device_count(tilec_context *context, const GpuBackend *backend, uint32_t *count) {
    GpuDevice d = {.backend = backend};
    tilec_status s = gpu_driver_open(context, backend, &d.driver);
    if (!s) s = count_devices(context, &d, count);
    if (s != TILEC_UNAVAILABLE) return s;
    rt_begin(context);
    *count = 0;
    return TILEC_OK;
}

#define GPU_TRY_INFO(call, ...)                                         \
    do {                                                                \
        GpuResult result_ = GPU_DO(d, call, __VA_ARGS__);               \
        if (result_) return gpu_fail(device, GPU_CALL_##call, result_); \
    } while (0)

static uint32_t natural(int value) { return value > 0 ? (uint32_t)value : 0; }

tilec_status gpu_device_info(tilec_device *device, RtDeviceInfo *info) {
    const GpuDevice *d = device->state;
    const GpuNumbers *n = &d->backend->numbers;
    size_t memory = 0;
    int multiprocessors = 0, warp = 0, clock = 0;
    gpu_target_name(d->target, info->target);
    d->backend->version(d->version, info->driver, sizeof info->driver);
    GPU_TRY_INFO(device_get_name, info->name, sizeof info->name - 1, d->number);
    GPU_TRY_INFO(device_get_bus, info->bus, sizeof info->bus - 1, d->number);
    GPU_TRY_INFO(device_get_memory, &memory, d->number);
    GPU_TRY_INFO(device_get_attribute, &multiprocessors, n->multiprocessors, d->number);
    GPU_TRY_INFO(device_get_attribute, &warp, n->warp, d->number);
    GPU_TRY_INFO(device_get_attribute, &clock, n->clock, d->number);
    info->memory = memory;
    info->shared_memory = natural(d->shared_max);
    info->multiprocessors = natural(multiprocessors);
    info->warp = natural(warp);
    info->clock_khz = natural(clock);
    return TILEC_OK;
}

// ---- Memory ----

int32_t gpu_memory_number(const tilec_device *device) {
    return ((const GpuDevice *)device->state)->ordinal;
}

static GpuAddress number_of(const void *address) { return (GpuAddress)(uintptr_t)address; }

tilec_status gpu_alloc(tilec_device *device, size_t size, void **address) {
    const GpuDevice *d = device->state;
    GpuAddress at = 0;
    GpuSavedDevice saved;
    tilec_status s = gpu_enter(device, &saved);
    if (s) return s;
    GpuResult r = GPU_DO(d, mem_alloc, &at, size ? size : 1);
    gpu_leave(d, saved);
    char about[48];
    snprintf(about, sizeof about, " of %zu bytes", size);
    if (r) return gpu_fail_about(device, GPU_CALL_mem_alloc, r, about);
    *address = (void *)(uintptr_t)at;
    return TILEC_OK;
}

// The driver waits for the work that uses it.
void gpu_free(tilec_device *device, void *address, size_t size) {
    const GpuDevice *d = device->state;
    GpuSavedDevice saved;
    (void)size;
    if (d->backend->enter(d, &saved).code) return;
    GPU_DO(d, mem_free, number_of(address));
    gpu_leave(d, saved);
}

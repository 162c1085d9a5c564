// The table of the device `cuda`: open, close, memory.
#include "runtime/cuda/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <tilec/dlpack.h>

#include "base/recover.h"
#include "runtime/cuda/state.h"

enum { OLDEST = 75 };  // of the architectures that code is made for

// ---- Open, close ----

static tilec_status fail_open(tilec_context *context, const CudaDevice *d, CudaCall call,
                              CUresult code) {
    Recovery r;
    if (RECOVER_FAILED(&r)) return rt_no_memory(context);
    tilec_status s = cuda_code_status(code);
    Arena *arena = arena_create();
    StrBuf text = strbuf(arena);
    cuda_code_text(&d->driver, code, &text);
    s = rt_fail(context, s == TILEC_OUT_OF_MEMORY ? s : TILEC_UNAVAILABLE, "device cuda:%d: %s: %s",
                d->ordinal, cuda_call_symbol(call), text.text);
    arena_destroy(arena);
    recover_end(&r);
    return s;
}

#define TRY_OPEN(call, ...)                                                   \
    do {                                                                      \
        CUresult result_ = d->driver.call(__VA_ARGS__);                       \
        if (result_) return fail_open(context, d, CUDA_CALL_##call, result_); \
    } while (0)

// The newest architecture that code can be made for and that the device runs.
static GpuTarget newest_target(uint32_t number) {
    GpuTarget target = {0};
    char name[GPU_NAME_MAX];
    for (; number >= OLDEST; number--) {
        snprintf(name, sizeof name, "sm_%u", number);
        if (gpu_target_parse(str(name), &target)) return target;
    }
    return target;
}

static tilec_status find_architecture(tilec_context *context, CudaDevice *d) {
    int major = 0, minor = 0;
    TRY_OPEN(device_get_attribute, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, d->number);
    TRY_OPEN(device_get_attribute, &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, d->number);
    if (major >= 0 && major < 100 && minor >= 0 && minor < 10)
        d->target = newest_target((uint32_t)(major * 10 + minor));
    if (d->target.vendor == GPU_NVIDIA) return TILEC_OK;
    return rt_fail(context, TILEC_UNAVAILABLE,
                   "device cuda:%d is of architecture sm_%d%d; code is made for sm_%d and later",
                   d->ordinal, major, minor, OLDEST);
}

static tilec_status find_device(tilec_context *context, CudaDevice *d) {
    int count = 0;
    TRY_OPEN(init, 0);
    TRY_OPEN(driver_get_version, &d->version);
    TRY_OPEN(device_get_count, &count);
    if (!count) return fail_open(context, d, CUDA_CALL_device_get_count, CUDA_ERROR_NO_DEVICE);
    if (d->ordinal >= count)
        return rt_fail(context, TILEC_UNAVAILABLE,
                       "there is no device cuda:%d; the driver has %d, numbered from 0", d->ordinal,
                       count);
    TRY_OPEN(device_get, &d->number, d->ordinal);
    TRY_OPEN(device_get_attribute, &d->threads_max, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
             d->number);
    TRY_OPEN(device_get_attribute, &d->shared_max,
             CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, d->number);
    tilec_status s = find_architecture(context, d);
    if (s) return s;
    TRY_OPEN(primary_retain, &d->context, d->number);
    return TILEC_OK;
}

static tilec_status read_ordinal(tilec_context *context, Str instance, int *ordinal) {
    uint64_t n = 0;
    if (instance.size && (!str_to_u64(instance, &n, NULL) || n > 1000))
        return rt_fail(context, TILEC_INVALID_ARGUMENT,
                       "device cuda: expected the number of a device, found '%.*s'",
                       STR_ARG(instance));
    *ordinal = (int)n;
    return TILEC_OK;
}

static tilec_status device_open(tilec_context *context, Str instance, void **state) {
    CudaDevice *d = recover_new(sizeof *d);
    d->lock = os_mutex_create();
    tilec_status s = read_ordinal(context, instance, &d->ordinal);
    if (!s) s = cuda_driver_open(context, &d->driver);
    if (!s) s = find_device(context, d);
    if (s) {
        os_mutex_destroy(d->lock);
        recover_free(d);
        return s;
    }
    *state = d;
    return TILEC_OK;
}

static void device_close(void *state) {
    CudaDevice *d = state;
    d->driver.primary_release(d->number);
    os_mutex_destroy(d->lock);
    recover_free(d);
}

static GpuTarget device_gpu(const tilec_device *device) {
    return ((const CudaDevice *)device->state)->target;
}

// ---- Memory ----

static int32_t memory_number(const tilec_device *device) {
    return ((const CudaDevice *)device->state)->ordinal;
}

static CUdeviceptr number_of(const void *address) { return (CUdeviceptr)(uintptr_t)address; }

static tilec_status device_alloc(tilec_device *device, size_t size, void **address) {
    CudaDevice *d = device->state;
    CUdeviceptr at = 0;
    tilec_status s = cuda_enter(device);
    if (s) return s;
    CUresult r = d->driver.mem_alloc(&at, size ? size : 1);
    cuda_leave(d);
    char about[48];
    snprintf(about, sizeof about, " of %zu bytes", size);
    if (r) return cuda_fail_about(device, CUDA_CALL_mem_alloc, r, about);
    *address = (void *)(uintptr_t)at;
    return TILEC_OK;
}

// Waits for what uses it: the driver does.
static void device_free(tilec_device *device, void *address, size_t size) {
    CudaDevice *d = device->state;
    (void)size;
    if (d->driver.push_current(d->context)) return;
    d->driver.mem_free(number_of(address));
    cuda_leave(d);
}

// Memory that the driver knows nothing of is the host's.
static tilec_status find_side(tilec_device *device, const void *address, bool *host) {
    const CudaDevice *d = device->state;
    unsigned type = CU_MEMORYTYPE_HOST;
    CUresult r = d->driver.pointer_get_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                 number_of(address));
    *host = r || type == CU_MEMORYTYPE_HOST;
    if (!r || r == CUDA_ERROR_INVALID_VALUE) return TILEC_OK;
    return cuda_fail(device, CUDA_CALL_pointer_get_attribute, r);
}

// The host's memory is free on return: the copy has ended then.
static tilec_status copy_host(tilec_device *device, const CudaStream *s, void *to, const void *from,
                              size_t size, bool to_host) {
    const CudaDevice *d = device->state;
    CUresult r = to_host ? d->driver.copy_to_host(to, number_of(from), size, s->handle)
                         : d->driver.copy_to_device(number_of(to), from, size, s->handle);
    if (r) return cuda_fail(device, to_host ? CUDA_CALL_copy_to_host : CUDA_CALL_copy_to_device, r);
    r = d->driver.stream_synchronize(s->handle);
    return r ? cuda_fail(device, CUDA_CALL_stream_synchronize, r) : TILEC_OK;
}

static tilec_status copy_any(tilec_device *device, const CudaStream *s, void *to, const void *from,
                             size_t size) {
    const CudaDevice *d = device->state;
    bool to_host, from_host;
    tilec_status found = find_side(device, to, &to_host);
    if (!found) found = find_side(device, from, &from_host);
    if (found) return found;
    if (to_host && from_host)
        return rt_fail(device->context, TILEC_INVALID_ARGUMENT,
                       "device %s: a copy from the host's memory to the host's", device->name);
    if (to_host || from_host) return copy_host(device, s, to, from, size, to_host);
    CUresult r = d->driver.copy_within(number_of(to), number_of(from), size, s->handle);
    return r ? cuda_fail(device, CUDA_CALL_copy_within, r) : TILEC_OK;
}

static tilec_status device_copy(tilec_device *device, void *stream, void *to, const void *from,
                                size_t size) {
    if (!size) return TILEC_OK;
    tilec_status s = cuda_enter(device);
    if (s) return s;
    s = copy_any(device, stream, to, from, size);
    cuda_leave(device->state);
    return s;
}

const RtDeviceApi cuda_device_api = {
    .kind = "cuda",
    .open = device_open,
    .close = device_close,
    .gpu = device_gpu,
    .memory = TILEC_DL_CUDA,
    .memory_also = {TILEC_DL_CUDA_MANAGED, TILEC_DL_CUDA_HOST},
    .memory_number = memory_number,
    .alloc = device_alloc,
    .free = device_free,
    .stream_create = cuda_stream_create,
    .stream_wrap = cuda_stream_wrap,
    .stream_native = cuda_stream_native,
    .stream_destroy = cuda_stream_destroy,
    .stream_synchronize = cuda_stream_synchronize,
    .stream_wait = cuda_stream_wait,
    .event_create = cuda_event_create,
    .event_destroy = cuda_event_destroy,
    .event_record = cuda_event_record,
    .event_synchronize = cuda_event_synchronize,
    .event_query = cuda_event_query,
    .event_elapsed = cuda_event_elapsed,
    .copy = device_copy,
    .module_load = cuda_module_load,
    .module_unload = cuda_module_unload,
    .prepare = cuda_prepare,
    .launch = cuda_launch,
};

// Launches of the device `cuda`.
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/state.h"

enum {
    PARAMS_MAX = 4096,   // bytes of a kernel's parameters, on every driver
    ACROSS_MAX = 65535,  // programs along the second and third dimension
    SHARED_PLAIN = 48 * 1024,
    CLUSTERS_FROM = 90,  // architectures
    CLUSTER_MAX = 8      // programs of one, everywhere
};

#define REFUSE(...) rt_fail(device->context, TILEC_LAUNCH_REFUSED, __VA_ARGS__)

// ---- Spots ----

static void collect_failure(CudaStream *stream, const CudaSpot *s) {
    const GpuReport *left = s->report;
    if (!left->site || stream->status) return;  // the first is told
    RtFailure f = {.site = left->site - 1, .lane = left->lane};
    memcpy(f.place, left->place, sizeof f.place);
    if (s->programs > 1) f.note = "others may have failed, too: device interp counts them";
    stream->status = TILEC_KERNEL_FAILED;
    stream->failure = rt_report_assert(&s->variant, &f);
}

void cuda_spots_collect(CudaStream *stream) {
    for (CudaSpot *s = stream->spots; s; s = s->next) {
        if (!s->report->site && !s->report->used) continue;
        collect_failure(stream, s);
        rt_prints_take(s->report, &s->variant, s->launches == 1, &stream->prints);
        rt_gpu_report_clear(s->report, s->size);
        s->launches = 0;
    }
}

void cuda_spots_free(const CudaDevice *d, CudaStream *stream, const RtModule *module) {
    CudaSpot **link = &stream->spots;
    while (*link) {
        CudaSpot *s = *link;
        if (module && s->module != module) {
            link = &s->next;
            continue;
        }
        *link = s->next;
        d->driver.host_free(s->report);
        free(s);
    }
}

static tilec_status make_spot(tilec_device *device, CudaSpot *spot) {
    const CudaDevice *d = device->state;
    void *memory = NULL;
    unsigned flags = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP;
    spot->size = rt_gpu_report_size(&spot->variant);
    CUresult r = d->driver.host_alloc(&memory, (size_t)spot->size, flags);
    if (r) return cuda_fail(device, CUDA_CALL_host_alloc, r);
    r = d->driver.host_address(&spot->address, memory, 0);
    if (r) {
        d->driver.host_free(memory);
        return cuda_fail(device, CUDA_CALL_host_address, r);
    }
    spot->report = memory;
    rt_gpu_report_clear(spot->report, spot->size);
    return TILEC_OK;
}

static CudaSpot *find_spot(const CudaStream *stream, const RtModule *module) {
    CudaSpot *s = stream->spots;
    while (s && s->module != module) s = s->next;
    return s;
}

// Where this launch leaves its failed assert and prints, made when it is the first on its stream; 0
// for kernels that have none. In the device's context.
static tilec_status take_spot(tilec_device *device, CudaStream *stream, const RtLaunch *l,
                              uint32_t launches, CUdeviceptr *address) {
    CudaDevice *d = device->state;
    const MetaVariant *v = &l->meta->variants[l->variant];
    *address = 0;
    if (!v->site_count) return TILEC_OK;
    os_mutex_lock(d->lock);
    CudaSpot *s = find_spot(stream, l->module);
    tilec_status status = TILEC_OK;
    if (!s) {
        s = calloc(1, sizeof *s);
        if (s) s->variant = *v;
        status = s ? make_spot(device, s)
                   : rt_fail(device->context, TILEC_OUT_OF_MEMORY, "out of memory");
        if (status) {
            free(s);
        } else {
            s->module = l->module;
            s->next = stream->spots;
            stream->spots = s;
        }
    }
    if (!status) s->programs = l->grid[0] * l->grid[1] * l->grid[2];
    if (!status) s->launches += launches;
    if (!status) *address = s->address;
    os_mutex_unlock(d->lock);
    return status;
}

// ---- Checks ----

static tilec_status check_grid(const tilec_device *device, const RtLaunch *l) {
    for (int i = 1; i < 3; i++)
        if (l->grid[i] > ACROSS_MAX)
            return REFUSE(
                "%.*s: the grid's dimension %d has %lld programs, GPUs have at most %d there: make "
                "the first dimension the long one",
                STR_ARG(l->meta->name), i, (long long)l->grid[i], ACROSS_MAX);
    if (l->grid[0] <= INT32_MAX) return TILEC_OK;
    return REFUSE(
        "%.*s: the grid's first dimension has %lld programs, GPUs have at most %d there: "
        "launch it in parts",
        STR_ARG(l->meta->name), (long long)l->grid[0], INT32_MAX);
}

static tilec_status check_fits(const tilec_device *device, const RtLaunch *l) {
    const CudaDevice *d = device->state;
    const MetaVariant *v = &l->meta->variants[l->variant];
    uint64_t threads = (uint64_t)v->block[0] * (v->block[1] ? v->block[1] : 1);
    threads *= v->block[2] ? v->block[2] : 1;
    if (!threads || threads > (uint64_t)d->threads_max)
        return REFUSE(
            "%.*s: its programs have %llu threads, device %s has at most %d: use fewer "
            "warps",
            STR_ARG(l->meta->name), (unsigned long long)threads, device->name, d->threads_max);
    if (v->shared_bytes > (uint64_t)d->shared_max)
        return REFUSE(
            "%.*s: its programs need %u bytes of shared memory, device %s has %d: smaller "
            "tiles or fewer stages need less",
            STR_ARG(l->meta->name), v->shared_bytes, device->name, d->shared_max);
    if (l->meta->size + sizeof(CUdeviceptr) > PARAMS_MAX)
        return REFUSE("%.*s: its arguments take %u bytes, GPUs have room for %d",
                      STR_ARG(l->meta->name), l->meta->size, PARAMS_MAX - (int)sizeof(CUdeviceptr));
    return TILEC_OK;
}

// More shared memory than all devices have is asked for once.
static tilec_status allow_shared(const tilec_device *device, const RtLaunch *l) {
    const CudaDevice *d = device->state;
    uint32_t wanted = l->meta->variants[l->variant].shared_bytes;
    if (wanted <= SHARED_PLAIN || wanted <= atomic_load(&l->module->shared)) return TILEC_OK;
    CUresult r = d->driver.function_set(
        l->module->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)wanted);
    if (r) return cuda_fail(device, CUDA_CALL_function_set, r);
    atomic_store(&l->module->shared, wanted);
    return TILEC_OK;
}

static bool is_empty(const RtLaunch *l) {
    return l->grid[0] <= 0 || l->grid[1] <= 0 || l->grid[2] <= 0;
}

// ---- Prepare, launch ----

tilec_status cuda_prepare(tilec_device *device, void *stream, const RtLaunch *l) {
    CUdeviceptr spot;
    if (is_empty(l)) return TILEC_OK;
    tilec_status s = check_grid(device, l);
    if (!s) s = check_fits(device, l);
    if (!s) s = cuda_enter(device);
    if (s) return s;
    s = allow_shared(device, l);
    if (!s) s = take_spot(device, stream, l, 0, &spot);
    cuda_leave(device->state);
    return s;
}

// The option `ctas` asks that so many programs run at once beside each other: a wish, which devices
// and drivers that know no clusters, and grids that cannot be cut so, leave unfulfilled.
static bool has_clusters(const CudaDevice *d, const RtLaunch *l) {
    int32_t ctas = l->meta->variants[l->variant].ctas;
    return ctas > 1 && ctas <= CLUSTER_MAX && d->target.number >= CLUSTERS_FROM &&
           d->driver.launch_kernel_ex && l->grid[0] % ctas == 0;
}

static tilec_status launch_clusters(tilec_device *device, const RtLaunch *l, CUlaunchConfig *config,
                                    void **extra) {
    const CudaDevice *d = device->state;
    CUlaunchAttribute cluster = {
        .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        .value.cluster = {(unsigned)l->meta->variants[l->variant].ctas, 1, 1}};
    config->attrs = &cluster;
    config->numAttrs = 1;
    CUresult r = d->driver.launch_kernel_ex(config, l->module->function, NULL, extra);
    return r ? cuda_fail(device, CUDA_CALL_launch_kernel_ex, r) : TILEC_OK;
}

// The block is copied by the driver before the call returns; its size is told, so that a kernel
// that takes more is refused.
static tilec_status launch_here(tilec_device *device, const CudaStream *stream, const RtLaunch *l,
                                CUdeviceptr spot) {
    const CudaDevice *d = device->state;
    const MetaVariant *v = &l->meta->variants[l->variant];
    uint8_t params[PARAMS_MAX] __attribute__((aligned(16)));
    size_t size = l->meta->size + sizeof spot;
    if (l->meta->size) memcpy(params, l->block, l->meta->size);
    memcpy(params + l->meta->size, &spot, sizeof spot);
    void *extra[] = {(void *)CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT, params,
                     (void *)CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT, &size,
                     (void *)CU_LAUNCH_PARAM_END_AS_INT};
    CUlaunchConfig c = {.gridDimX = (unsigned)l->grid[0],
                        .gridDimY = (unsigned)l->grid[1],
                        .gridDimZ = (unsigned)l->grid[2],
                        .blockDimX = v->block[0],
                        .blockDimY = v->block[1] ? v->block[1] : 1,
                        .blockDimZ = v->block[2] ? v->block[2] : 1,
                        .sharedMemBytes = v->shared_bytes,
                        .hStream = stream->handle};
    if (has_clusters(d, l)) return launch_clusters(device, l, &c, extra);
    CUresult r = d->driver.launch_kernel(l->module->function, c.gridDimX, c.gridDimY, c.gridDimZ,
                                         c.blockDimX, c.blockDimY, c.blockDimZ, c.sharedMemBytes,
                                         c.hStream, NULL, extra);
    return r ? cuda_fail(device, CUDA_CALL_launch_kernel, r) : TILEC_OK;
}

tilec_status cuda_launch(tilec_device *device, void *stream, const RtLaunch *l) {
    CUdeviceptr spot = 0;
    if (is_empty(l)) return TILEC_OK;
    tilec_status s = check_grid(device, l);
    if (!s) s = check_fits(device, l);
    if (!s) s = cuda_enter(device);
    if (s) return s;
    s = allow_shared(device, l);
    if (!s) s = take_spot(device, stream, l, 1, &spot);
    if (!s) s = launch_here(device, stream, l, spot);
    cuda_leave(device->state);
    return s;
}

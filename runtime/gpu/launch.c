// Launches on a GPU driver.
#include <stdlib.h>
#include <string.h>

#include "runtime/gpu/state.h"
#include "runtime/launch.h"

enum {
    ACROSS_MAX = 65535,  // the most programs along the second and third dimension
    PARAMS_BYTES = sizeof(((LaunchBuffers *)NULL)->block) + sizeof(GpuTail)
};

_Static_assert((int)PARAMS_BYTES >= (int)GPU_PARAMS, "maps fit");

#define REFUSE(...) rt_fail(device->context, TILEC_LAUNCH_REFUSED, __VA_ARGS__)

// ---- Spots ----

static void collect_failure(GpuStream *stream, const GpuReportSlot *s) {
    RtFailure f;
    if (stream->status || !rt_failure_read(s->report, &f)) return;  // the first one is reported
    if (s->programs > 1) f.note = "others may have failed, too: device interp counts them";
    stream->status = TILEC_KERNEL_FAILED;
    stream->failure = rt_report_assert(&s->variant, &f);
}

void gpu_report_slots_collect(GpuStream *stream) {
    for (GpuReportSlot *s = stream->report_slots; s; s = s->next) {
        if (!s->report->launch && !s->report->used) continue;
        collect_failure(stream, s);
        rt_prints_take(s->report, &s->variant, s->launches == 1, &stream->prints);
        rt_gpu_report_clear(s->report, s->size);
        s->launches = 0;
    }
}

void gpu_report_slots_free(const GpuDevice *d, GpuStream *stream, const RtModule *module) {
    GpuReportSlot **link = &stream->report_slots;
    while (*link) {
        GpuReportSlot *s = *link;
        if (module && s->module != module) {
            link = &s->next;
            continue;
        }
        *link = s->next;
        GPU_DO(d, host_free, s->report);
        free(s);
    }
}

static tilec_status make_slot(tilec_device *device, GpuReportSlot *slot) {
    const GpuDevice *d = device->state;
    void *memory = NULL;
    slot->size = rt_gpu_report_size(&slot->variant);
    GpuResult r =
        GPU_DO(d, host_alloc, &memory, (size_t)slot->size, d->backend->numbers.host_flags);
    if (r) return gpu_fail(device, GPU_CALL_host_alloc, r);
    r = GPU_DO(d, host_address, &slot->address, memory, 0);
    if (r) {
        GPU_DO(d, host_free, memory);
        return gpu_fail(device, GPU_CALL_host_address, r);
    }
    slot->report = memory;
    rt_gpu_report_clear(slot->report, slot->size);
    return TILEC_OK;
}

static GpuReportSlot *find_slot(const GpuStream *stream, const RtModule *module) {
    GpuReportSlot *s = stream->report_slots;
    while (s && s->module != module) s = s->next;
    return s;
}

// The report for this launch's failed asserts and prints. It is made at the first launch on its
// stream; 0 for kernels that have none. Call it in the device's context.
static tilec_status take_slot(tilec_device *device, GpuStream *stream, const RtLaunch *l,
                              uint32_t launches, GpuTail *tail) {
    GpuDevice *d = device->state;
    const MetaVariant *v = &l->meta->variants[l->variant];
    *tail = (GpuTail){0};
    if (!v->site_count) return TILEC_OK;
    os_mutex_lock(d->lock);
    GpuReportSlot *s = find_slot(stream, l->module);
    tilec_status status = TILEC_OK;
    if (!s) {
        s = calloc(1, sizeof *s);
        if (s) s->variant = *v;
        status = s ? make_slot(device, s)
                   : rt_fail(device->context, TILEC_OUT_OF_MEMORY, "out of memory");
        if (status) {
            free(s);
        } else {
            s->module = l->module;
            s->next = stream->report_slots;
            stream->report_slots = s;
        }
    }
    if (!status) s->programs = l->grid[0] * l->grid[1] * l->grid[2];
    if (!status) s->launches += launches, s->last += launches;
    if (!status) *tail = (GpuTail){s->address, s->last};
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
    if (l->grid[0] <= INT32_MAX && l->grid[0] * l->grid[1] > UINT32_MAX)  // ir.h: IrFunc.group
        return REFUSE(
            "%.*s: the grid's first two dimensions have %lld programs together, GPUs have at most "
            "%u there: launch it in parts",
            STR_ARG(l->meta->name), (long long)(l->grid[0] * l->grid[1]), UINT32_MAX);
    if (l->grid[0] <= INT32_MAX) return TILEC_OK;
    return REFUSE(
        "%.*s: the grid's first dimension has %lld programs, GPUs have at most %d there: "
        "launch it in parts",
        STR_ARG(l->meta->name), (long long)l->grid[0], INT32_MAX);
}

static uint64_t threads_of(const MetaVariant *v) {
    uint64_t threads = (uint64_t)v->block[0] * (v->block[1] ? v->block[1] : 1);
    return threads * (v->block[2] ? v->block[2] : 1);
}

static tilec_status check_params(const tilec_device *device, const RtLaunch *l) {
    const GpuDevice *d = device->state;
    uint32_t most = d->backend->numbers.params_max, maps = l->meta->variants[l->variant].map_count;
    if (!most || most > PARAMS_BYTES) most = PARAMS_BYTES;
    if (maps && !l->maps)
        return REFUSE("%.*s: its tensor maps are missing", STR_ARG(l->meta->name));
    if (gpu_params_size(l->meta->size, maps) <= most) return TILEC_OK;
    if (maps)
        return REFUSE(
            "%.*s: its arguments and %u tensor maps take %u bytes, device %s has room for %u",
            STR_ARG(l->meta->name), maps, gpu_params_size(l->meta->size, maps), device->name, most);
    return REFUSE("%.*s: its arguments take %u bytes, device %s has room for %d",
                  STR_ARG(l->meta->name), l->meta->size, device->name,
                  (int)(most - sizeof(GpuTail)));
}

static tilec_status check_fits(const tilec_device *device, const RtLaunch *l) {
    const GpuDevice *d = device->state;
    const MetaVariant *v = &l->meta->variants[l->variant];
    uint64_t threads = threads_of(v), row = d->backend->numbers.threads_row;
    if (!threads || threads > (uint64_t)d->threads_max)
        return REFUSE(
            "%.*s: its programs have %llu threads, device %s has at most %d: use fewer "
            "warps",
            STR_ARG(l->meta->name), (unsigned long long)threads, device->name, d->threads_max);
    if (row && (uint64_t)l->grid[0] > row / threads)
        return REFUSE(
            "%.*s: the grid's first dimension has %lld programs, device %s has at most %llu of "
            "%llu threads there: launch it in parts",
            STR_ARG(l->meta->name), (long long)l->grid[0], device->name,
            (unsigned long long)(row / threads), (unsigned long long)threads);
    if (v->shared_bytes > (uint64_t)d->shared_max)
        return REFUSE(
            "%.*s: its programs need %u bytes of shared memory, device %s has %d: smaller "
            "tiles or fewer stages need less",
            STR_ARG(l->meta->name), v->shared_bytes, device->name, d->shared_max);
    return check_params(device, l);
}

static bool is_empty(const RtLaunch *l) {
    return l->grid[0] <= 0 || l->grid[1] <= 0 || l->grid[2] <= 0;
}

// ---- Prepare, launch ----

static tilec_status allow(const tilec_device *device, const RtLaunch *l) {
    const GpuDevice *d = device->state;
    return d->backend->allow ? d->backend->allow(device, l) : TILEC_OK;
}

tilec_status gpu_launch_plain(const tilec_device *device, const RtLaunch *l,
                              const GpuLaunchConfig *c, GpuParams params) {
    const GpuDevice *d = device->state;
    GpuResult r = GPU_DO(d, launch_kernel, l->module->function, c->gridDimX, c->gridDimY,
                         c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ, c->sharedMemBytes,
                         c->hStream, params.list, params.extra);
    return r ? gpu_fail(device, GPU_CALL_launch_kernel, r) : TILEC_OK;
}

// Writes the parameters; returns their size.
static size_t write_params(const RtLaunch *l, GpuTail tail, uint8_t *params) {
    uint32_t block = l->meta->size, end = block + (uint32_t)sizeof tail;
    uint32_t maps = l->meta->variants[l->variant].map_count, size = gpu_params_size(block, maps);
    if (block) memcpy(params, l->block, block);
    memcpy(params + block, &tail, sizeof tail);
    if (!maps) return size;
    memset(params + end, 0, gpu_maps_offset(block) - end);
    memcpy(params + gpu_maps_offset(block), l->maps, (size_t)maps * GPU_MAP_BYTES);
    return size;
}

// The driver copies the parameters before the call returns. The size of a buffer is passed, so that
// the driver refuses a kernel that takes more. In a buffer, parameters are where ptxas puts them,
// which is not at its beginning if they are aligned to more than 16 bytes, as maps are; those are
// given as a list, which the driver places itself.
static tilec_status launch_here(const tilec_device *device, const GpuStream *stream,
                                const RtLaunch *l, GpuTail tail) {
    const GpuDevice *d = device->state;
    const GpuNumbers *n = &d->backend->numbers;
    const MetaVariant *v = &l->meta->variants[l->variant];
    uint8_t params[PARAMS_BYTES] __attribute__((aligned(16)));
    size_t size = write_params(l, tail, params);
    void *extra[] = {(void *)n->param_buffer, params, (void *)n->param_size, &size,
                     (void *)n->param_end};
    void *list[] = {params};
    GpuParams all = v->map_count ? (GpuParams){.list = list} : (GpuParams){.extra = extra};
    GpuLaunchConfig c = {.gridDimX = (unsigned)l->grid[0],
                         .gridDimY = (unsigned)l->grid[1],
                         .gridDimZ = (unsigned)l->grid[2],
                         .blockDimX = v->block[0],
                         .blockDimY = v->block[1] ? v->block[1] : 1,
                         .blockDimZ = v->block[2] ? v->block[2] : 1,
                         .sharedMemBytes = v->shared_bytes,
                         .hStream = stream->handle};
    return d->backend->launch(device, l, &c, all);
}

// Prepares everything that a launch needs and, unless this is a rehearsal, launches.
static tilec_status start(tilec_device *device, GpuStream *stream, const RtLaunch *l,
                          bool rehearsal) {
    GpuTail tail = {0};
    GpuSavedDevice saved;
    if (is_empty(l)) return TILEC_OK;
    tilec_status s = check_grid(device, l);
    if (!s) s = check_fits(device, l);
    if (!s) s = gpu_enter(device, &saved);
    if (s) return s;
    s = allow(device, l);
    if (!s) s = take_slot(device, stream, l, !rehearsal, &tail);
    if (!s && !rehearsal) s = launch_here(device, stream, l, tail);
    gpu_leave(device->state, saved);
    return s;
}

static tilec_status ask_units(const tilec_device *device, const RtLaunch *l, uint64_t *units) {
    const GpuDevice *d = device->state;
    const GpuNumbers *n = &d->backend->numbers;
    const MetaVariant *v = &l->meta->variants[l->variant];
    size_t shared = n->shared_declared ? 0 : v->shared_bytes;
    int blocks = 0, multiprocessors = 0;
    tilec_status s = allow(device, l);
    if (s) return s;
    GpuResult r = GPU_DO(d, occupancy, &blocks, l->module->function, (int)threads_of(v), shared);
    if (r) return gpu_fail(device, GPU_CALL_occupancy, r);
    r = GPU_DO(d, device_get_attribute, &multiprocessors, n->multiprocessors, d->number);
    if (r) return gpu_fail(device, GPU_CALL_device_get_attribute, r);
    // A program that does not fit is refused by its launch, which says why.
    *units = blocks > 0 && multiprocessors > 0 ? (uint64_t)blocks * (uint64_t)multiprocessors : 1;
    return TILEC_OK;
}

tilec_status gpu_units(tilec_device *device, const RtLaunch *l, uint64_t *units) {
    GpuSavedDevice saved;
    uint64_t known = atomic_load_explicit(&l->module->units, memory_order_relaxed);
    *units = known;
    if (known) return TILEC_OK;
    tilec_status s = gpu_enter(device, &saved);
    if (s) return s;
    s = ask_units(device, l, units);
    gpu_leave(device->state, saved);
    if (!s) atomic_store_explicit(&l->module->units, *units, memory_order_relaxed);
    return s;
}

tilec_status gpu_prepare(tilec_device *device, void *stream, const RtLaunch *l) {
    return start(device, stream, l, true);
}

tilec_status gpu_launch(tilec_device *device, void *stream, const RtLaunch *l) {
    return start(device, stream, l, false);
}

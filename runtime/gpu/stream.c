// Streams and events of a GPU driver.
#include <stdlib.h>

#include "runtime/gpu/state.h"

// ---- Streams ----

static tilec_status own_handle(const tilec_device *device, GpuStream *stream) {
    const GpuDevice *d = device->state;
    GpuResult r = GPU_DO(d, stream_create, &stream->handle, d->backend->numbers.stream_flags);
    return r ? gpu_fail(device, GPU_CALL_stream_create, r) : TILEC_OK;
}

static tilec_status add_stream(tilec_device *device, GpuStream from, void **stream) {
    GpuDevice *d = device->state;
    GpuStream *made = calloc(1, sizeof *made);
    if (!made) return rt_fail(device->context, TILEC_OUT_OF_MEMORY, "out of memory");
    *made = from;
    GpuSavedDevice saved;
    tilec_status s = gpu_enter(device, &saved);
    if (!s) {
        s = made->foreign ? d->backend->check_stream(device, made->handle)
                          : own_handle(device, made);
        gpu_leave(d, saved);
    }
    if (s) {
        free(made);
        return s;
    }
    os_mutex_lock(d->lock);
    made->next = d->streams;
    d->streams = made;
    os_mutex_unlock(d->lock);
    *stream = made;
    return TILEC_OK;
}

tilec_status gpu_stream_create(tilec_device *device, void **stream) {
    return add_stream(device, (GpuStream){0}, stream);
}

tilec_status gpu_stream_wrap(tilec_device *device, void *native, void **stream) {
    return add_stream(device, (GpuStream){.handle = native, .foreign = true}, stream);
}

void *gpu_stream_native(void *stream) { return ((GpuStream *)stream)->handle; }

void gpu_stream_destroy(tilec_device *device, void *stream) {
    GpuDevice *d = device->state;
    GpuStream *s = stream;
    os_mutex_lock(d->lock);
    GpuStream **link = &d->streams;
    while (*link != s) link = &(*link)->next;
    *link = s->next;
    os_mutex_unlock(d->lock);
    GpuSavedDevice saved;
    bool inside = !d->backend->enter(d, &saved).code;
    // No kernel writes to its report slots any more, and no copy uses its stage. A foreign stream
    // may be in a capture, which we must not end.
    bool done = inside && (!s->foreign || s->report_slots || s->stage);
    if (done)
        done = !GPU_DO(d, stream_synchronize, s->handle) || !gpu_result(d, d->driver.synchronize());
    if (inside && !s->foreign) GPU_DO(d, stream_destroy, s->handle);
    os_mutex_lock(d->lock);
    if (done) gpu_report_slots_collect(s);
    gpu_report_slots_free(d, s, NULL);
    gpu_stage_free(d, s, inside);
    os_mutex_unlock(d->lock);
    if (inside) gpu_leave(d, saved);
    rt_prints_flush(device->context, &s->prints);
    rt_report_free(&s->failure);
    free(s);
}

static tilec_status report_kept(tilec_device *device, GpuStream *s) {
    GpuDevice *d = device->state;
    os_mutex_lock(d->lock);
    gpu_report_slots_collect(s);
    tilec_status status = s->status;
    RtReport failure = s->failure;
    s->status = TILEC_OK;
    s->failure = (RtReport){0};
    RtPrints prints = s->prints;
    s->prints = (RtPrints){0};
    os_mutex_unlock(d->lock);
    rt_prints_flush(device->context, &prints);
    return status ? rt_fail_report(device->context, status, failure) : TILEC_OK;
}

// Waits even on a device that was lost before, in case something still runs: memory that it uses
// may be freed next.
static tilec_status enter_to_wait(const tilec_device *device, GpuSavedDevice *saved) {
    const GpuDevice *d = device->state;
    GpuResult lost = atomic_load(&d->lost);
    GpuFailed failed = d->backend->enter(d, saved);
    if (failed.code && lost) return gpu_fail_lost(device, lost);
    return failed.code ? gpu_fail(device, failed.call, failed.code) : TILEC_OK;
}

tilec_status gpu_stream_synchronize(tilec_device *device, void *stream) {
    const GpuDevice *d = device->state;
    GpuStream *s = stream;
    GpuSavedDevice saved;
    tilec_status status = enter_to_wait(device, &saved);
    if (status) return status;
    GpuResult r = GPU_DO(d, stream_synchronize, s->handle), lost = atomic_load(&d->lost);
    gpu_leave(d, saved);
    if (lost) return gpu_fail_lost(device, lost);
    return r ? gpu_fail(device, GPU_CALL_stream_synchronize, r) : report_kept(device, s);
}

tilec_status gpu_stream_wait(tilec_device *device, void *stream, void *event) {
    const GpuDevice *d = device->state;
    const GpuStream *s = stream;
    GpuSavedDevice saved;
    tilec_status status = gpu_enter(device, &saved);
    if (status) return status;
    GpuResult r = GPU_DO(d, stream_wait_event, s->handle, event, 0);
    gpu_leave(d, saved);
    return r ? gpu_fail(device, GPU_CALL_stream_wait_event, r) : TILEC_OK;
}

bool gpu_stream_captured(tilec_device *device, void *stream) {
    const GpuDevice *d = device->state;
    const GpuStream *s = stream;
    GpuSavedDevice saved;
    GpuCaptureStatus status = 0;
    if (!d->driver.stream_is_capturing) return false;
    enum { FIRST = 900, LAST = 907 };  // errors of captures, for both vendors
    if (d->backend->enter(d, &saved).code) return false;
    GpuResult r = GPU_DO(d, stream_is_capturing, s->handle, &status);
    gpu_leave(d, saved);
    return r ? r >= FIRST && r <= LAST : status != 0;
}

// ---- Events: the driver's, as they are ----

tilec_status gpu_event_create(tilec_device *device, void **event) {
    const GpuDevice *d = device->state;
    GpuEvent made = NULL;
    GpuSavedDevice saved;
    tilec_status s = gpu_enter(device, &saved);
    if (s) return s;
    GpuResult r = GPU_DO(d, event_create, &made, 0);
    gpu_leave(d, saved);
    if (r) return gpu_fail(device, GPU_CALL_event_create, r);
    *event = made;
    return TILEC_OK;
}

void gpu_event_destroy(tilec_device *device, void *event) {
    const GpuDevice *d = device->state;
    GpuSavedDevice saved;
    if (d->backend->enter(d, &saved).code) return;
    GPU_DO(d, event_destroy, event);
    gpu_leave(d, saved);
}

tilec_status gpu_event_record(tilec_device *device, void *event, void *stream) {
    const GpuDevice *d = device->state;
    const GpuStream *s = stream;
    GpuSavedDevice saved;
    tilec_status status = gpu_enter(device, &saved);
    if (status) return status;
    GpuResult r = GPU_DO(d, event_record, event, s->handle);
    gpu_leave(d, saved);
    return r ? gpu_fail(device, GPU_CALL_event_record, r) : TILEC_OK;
}

tilec_status gpu_event_synchronize(tilec_device *device, void *event) {
    const GpuDevice *d = device->state;
    GpuSavedDevice saved;
    tilec_status s = enter_to_wait(device, &saved);
    if (s) return s;
    GpuResult r = GPU_DO(d, event_synchronize, event), lost = atomic_load(&d->lost);
    gpu_leave(d, saved);
    if (lost) return gpu_fail_lost(device, lost);
    return r ? gpu_fail(device, GPU_CALL_event_synchronize, r) : TILEC_OK;
}

tilec_status gpu_event_query(tilec_device *device, void *event, bool *done) {
    const GpuDevice *d = device->state;
    GpuSavedDevice saved;
    tilec_status s = gpu_enter(device, &saved);
    if (s) return s;
    GpuResult r = GPU_DO(d, event_query, event);
    gpu_leave(d, saved);
    if (r && r != d->backend->numbers.not_ready) return gpu_fail(device, GPU_CALL_event_query, r);
    *done = !r;
    return TILEC_OK;
}

tilec_status gpu_event_elapsed(tilec_device *device, void *begin, void *end, uint64_t *ns) {
    const GpuDevice *d = device->state;
    float milliseconds = 0;
    GpuSavedDevice saved;
    tilec_status s = gpu_enter(device, &saved);
    if (s) return s;
    GpuResult r = GPU_DO(d, event_elapsed, &milliseconds, begin, end);
    gpu_leave(d, saved);
    if (r == d->backend->numbers.not_ready)
        return rt_fail(device->context, TILEC_INVALID_ARGUMENT,
                       "an event has not been reached yet; synchronise it first");
    if (r) return gpu_fail(device, GPU_CALL_event_elapsed, r);
    *ns = milliseconds > 0 ? (uint64_t)((double)milliseconds * 1e6) : 0;
    return TILEC_OK;
}

// Streams and events of the device `cuda`.
#include <stdlib.h>

#include "runtime/cuda/state.h"

// ---- Streams ----

static tilec_status own_handle(tilec_device *device, CudaStream *stream) {
    CudaDevice *d = device->state;
    CUresult r = d->driver.stream_create(&stream->handle, CU_STREAM_NON_BLOCKING);
    return r ? cuda_fail(device, CUDA_CALL_stream_create, r) : TILEC_OK;
}

// The driver takes modules and streams of one context only.
static tilec_status check_handle(tilec_device *device, CudaStream *stream) {
    CudaDevice *d = device->state;
    CUcontext context = NULL;
    CUresult r = d->driver.stream_context(stream->handle, &context);
    if (r) return cuda_fail(device, CUDA_CALL_stream_context, r);
    if (context == d->context) return TILEC_OK;
    return rt_fail(device->context, TILEC_INVALID_ARGUMENT,
                   "the stream is of another device or context; device %s works in the primary "
                   "context of its GPU",
                   device->name);
}

static tilec_status add_stream(tilec_device *device, CudaStream from, void **stream) {
    CudaDevice *d = device->state;
    CudaStream *made = calloc(1, sizeof *made);
    if (!made) return rt_fail(device->context, TILEC_OUT_OF_MEMORY, "out of memory");
    *made = from;
    tilec_status s = cuda_enter(device);
    if (!s) {
        s = made->foreign ? check_handle(device, made) : own_handle(device, made);
        cuda_leave(d);
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

tilec_status cuda_stream_create(tilec_device *device, void **stream) {
    return add_stream(device, (CudaStream){0}, stream);
}

tilec_status cuda_stream_wrap(tilec_device *device, void *native, void **stream) {
    return add_stream(device, (CudaStream){.handle = native, .foreign = true}, stream);
}

void *cuda_stream_native(void *stream) { return ((CudaStream *)stream)->handle; }

void cuda_stream_destroy(tilec_device *device, void *stream) {
    CudaDevice *d = device->state;
    CudaStream *s = stream;
    os_mutex_lock(d->lock);
    CudaStream **link = &d->streams;
    while (*link != s) link = &(*link)->next;
    *link = s->next;
    os_mutex_unlock(d->lock);
    bool inside = !d->driver.push_current(d->context);
    // Nobody writes to its spots any more; one of others may be in a capture, and is not ours to
    // end.
    bool done = inside && (!s->foreign || s->spots);
    if (done) done = !d->driver.stream_synchronize(s->handle);
    if (inside && !s->foreign) d->driver.stream_destroy(s->handle);
    os_mutex_lock(d->lock);
    if (done) cuda_spots_collect(s);
    cuda_spots_free(d, s, NULL);
    os_mutex_unlock(d->lock);
    if (inside) cuda_leave(d);
    rt_prints_say(device->context, &s->prints);
    rt_report_free(&s->failure);
    free(s);
}

static tilec_status report_kept(tilec_device *device, CudaStream *s) {
    CudaDevice *d = device->state;
    os_mutex_lock(d->lock);
    cuda_spots_collect(s);
    tilec_status status = s->status;
    RtReport failure = s->failure;
    s->status = TILEC_OK;
    s->failure = (RtReport){0};
    RtPrints prints = s->prints;
    s->prints = (RtPrints){0};
    os_mutex_unlock(d->lock);
    rt_prints_say(device->context, &prints);
    return status ? rt_fail_report(device->context, status, failure) : TILEC_OK;
}

tilec_status cuda_stream_synchronize(tilec_device *device, void *stream) {
    const CudaDevice *d = device->state;
    CudaStream *s = stream;
    tilec_status status = cuda_enter(device);
    if (status) return status;
    CUresult r = d->driver.stream_synchronize(s->handle);
    cuda_leave(d);
    return r ? cuda_fail(device, CUDA_CALL_stream_synchronize, r) : report_kept(device, s);
}

tilec_status cuda_stream_wait(tilec_device *device, void *stream, void *event) {
    const CudaDevice *d = device->state;
    const CudaStream *s = stream;
    tilec_status status = cuda_enter(device);
    if (status) return status;
    CUresult r = d->driver.stream_wait_event(s->handle, event, 0);
    cuda_leave(d);
    return r ? cuda_fail(device, CUDA_CALL_stream_wait_event, r) : TILEC_OK;
}

// ---- Events: the driver's, as they are ----

tilec_status cuda_event_create(tilec_device *device, void **event) {
    const CudaDevice *d = device->state;
    CUevent made = NULL;
    tilec_status s = cuda_enter(device);
    if (s) return s;
    CUresult r = d->driver.event_create(&made, 0);
    cuda_leave(d);
    if (r) return cuda_fail(device, CUDA_CALL_event_create, r);
    *event = made;
    return TILEC_OK;
}

void cuda_event_destroy(tilec_device *device, void *event) {
    const CudaDevice *d = device->state;
    if (d->driver.push_current(d->context)) return;
    d->driver.event_destroy(event);
    cuda_leave(d);
}

tilec_status cuda_event_record(tilec_device *device, void *event, void *stream) {
    const CudaDevice *d = device->state;
    const CudaStream *s = stream;
    tilec_status status = cuda_enter(device);
    if (status) return status;
    CUresult r = d->driver.event_record(event, s->handle);
    cuda_leave(d);
    return r ? cuda_fail(device, CUDA_CALL_event_record, r) : TILEC_OK;
}

tilec_status cuda_event_synchronize(tilec_device *device, void *event) {
    const CudaDevice *d = device->state;
    tilec_status s = cuda_enter(device);
    if (s) return s;
    CUresult r = d->driver.event_synchronize(event);
    cuda_leave(d);
    return r ? cuda_fail(device, CUDA_CALL_event_synchronize, r) : TILEC_OK;
}

tilec_status cuda_event_query(tilec_device *device, void *event, bool *done) {
    const CudaDevice *d = device->state;
    tilec_status s = cuda_enter(device);
    if (s) return s;
    CUresult r = d->driver.event_query(event);
    cuda_leave(d);
    if (r && r != CUDA_ERROR_NOT_READY) return cuda_fail(device, CUDA_CALL_event_query, r);
    *done = r == CUDA_SUCCESS;
    return TILEC_OK;
}

tilec_status cuda_event_elapsed(tilec_device *device, void *begin, void *end, uint64_t *ns) {
    const CudaDevice *d = device->state;
    float milliseconds = 0;
    tilec_status s = cuda_enter(device);
    if (s) return s;
    CUresult r = d->driver.event_elapsed(&milliseconds, begin, end);
    cuda_leave(d);
    if (r == CUDA_ERROR_NOT_READY)
        return rt_fail(device->context, TILEC_INVALID_ARGUMENT,
                       "an event has not been reached yet; synchronise it first");
    if (r) return cuda_fail(device, CUDA_CALL_event_elapsed, r);
    *ns = milliseconds > 0 ? (uint64_t)((double)milliseconds * 1e6) : 0;
    return TILEC_OK;
}

#include "compile/device/at_once.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/recover.h"
#include "runtime/context.h"

// ---- streams ------------------------------------------------------------------------------------

tilec_status at_once_stream_create(tilec_device *device, void **stream) {
    (void)device;
    AtOnceStream *s = recover_new(sizeof *s);
    s->lock = os_mutex_create_long();
    *stream = s;
    return TILEC_OK;
}

void at_once_stream_destroy(tilec_device *device, void *stream) {
    (void)device;
    AtOnceStream *s = stream;
    if (!os_mutex_abandoned(s->lock)) rt_report_free(&s->failure);
    os_mutex_destroy(s->lock);
    recover_free(s);
}

// The report may be half written, so it is not touched.
void at_once_stream_lock(AtOnceStream *s) {
    os_mutex_lock(s->lock);
    if (!os_mutex_abandoned(s->lock)) return;
    s->status = TILEC_UNAVAILABLE;
    s->failure = rt_report_forked();
    os_mutex_mended(s->lock);
}

tilec_status at_once_stream_synchronize(tilec_device *device, void *stream) {
    AtOnceStream *s = stream;
    at_once_stream_lock(s);
    tilec_status status = s->status;
    RtReport failure = s->failure;
    s->status = TILEC_OK;
    s->failure = (RtReport){0};
    os_mutex_unlock(s->lock);
    return status ? rt_fail_report(device->context, status, failure) : TILEC_OK;
}

tilec_status at_once_stream_wait(tilec_device *device, void *stream, void *event) {
    (void)device, (void)stream, (void)event;  // all work is already done
    return TILEC_OK;
}

// ---- events: the time of day --------------------------------------------------------------------

typedef _Atomic(uint64_t) Moment;

tilec_status at_once_event_create(tilec_device *device, void **event) {
    *event = calloc(1, sizeof(Moment));
    return *event ? TILEC_OK
                  : rt_fail(device->context, TILEC_OUT_OF_MEMORY, "out of memory for an event");
}

void at_once_event_destroy(tilec_device *device, void *event) {
    (void)device;
    free(event);
}

tilec_status at_once_event_record(tilec_device *device, void *event, void *stream) {
    (void)device, (void)stream;
    atomic_store((Moment *)event, os_time_ns());  // several threads may record it at once
    return TILEC_OK;
}

tilec_status at_once_event_synchronize(tilec_device *device, void *event) {
    (void)device, (void)event;
    return TILEC_OK;
}

tilec_status at_once_event_query(tilec_device *device, void *event, bool *done) {
    (void)device, (void)event;
    *done = true;
    return TILEC_OK;
}

tilec_status at_once_event_elapsed(tilec_device *device, void *begin, void *end, uint64_t *ns) {
    (void)device;
    *ns = atomic_load((Moment *)end) - atomic_load((Moment *)begin);
    return TILEC_OK;
}

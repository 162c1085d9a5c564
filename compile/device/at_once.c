#include "compile/device/at_once.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/recover.h"
#include "compile/device/host_watch.h"
#include "runtime/context.h"

// ---- What waits ---------------------------------------------------------------------------------

struct AtOnceMove {
    RtMove move;
    HostWatch watch;
    AtOnceMove *next;
};

static const void *host_side(const RtMove *m) {
    return m->kind == RT_MOVE_READ ? m->to : m->kind == RT_MOVE_WRITE ? m->from : NULL;
}

// Two operations on the same bytes of the host: the later one finds them changed by the earlier.
static bool shares_host(const AtOnceMove *list, const RtMove *move) {
    const char *at = host_side(move);
    for (; at && list; list = list->next) {
        const char *other = host_side(&list->move);
        if (other && at < other + list->move.size && other < at + move->size) return true;
    }
    return false;
}

static HostWatch watch_of(const AtOnceMove *list, const RtMove *m) {
    if (!host_side(m) || shares_host(list, m)) return (HostWatch){0};
    return m->kind == RT_MOVE_READ ? host_watch_target(m->to, m->size)
                                   : host_watch_source(m->from, m->size);
}

tilec_status at_once_move(tilec_device *device, void *stream, const RtMove *move) {
    AtOnceStream *s = stream;
    AtOnceMove *m = calloc(1, sizeof *m);
    if (!m) return rt_fail(device->context, TILEC_OUT_OF_MEMORY, "out of memory");
    m->move = *move;
    os_mutex_lock(s->queue);
    m->watch = watch_of(s->first, move);
    *s->end = m;
    s->end = &m->next;
    os_mutex_unlock(s->queue);
    return TILEC_OK;
}

__attribute__((format(printf, 1, 2))) static RtReport words(const char *format, ...) {
    va_list args;
    va_start(args, format);
    RtReport r = rt_report_text(format, args);
    va_end(args);
    return r;
}

static void keep_failure(AtOnceStream *s, tilec_status status, RtReport report) {
    if (s->status) {
        rt_report_free(&report);
        return;
    }
    s->status = status;
    s->failure = report;
}

static void report_state(AtOnceStream *s, const RtMove *m, HostState state) {
    bool read = m->kind == RT_MOVE_READ;
    keep_failure(s, TILEC_KERNEL_FAILED,
                 words("an asynchronous %s of %zu bytes: its host memory %s before the stream had "
                       "passed it; synchronise the stream, or wait for an event, before the memory "
                       "is freed or used again",
                       read ? "read" : "write", m->size,
                       state == HOST_FREED ? "was freed" : "was freed or changed"));
}

static void run_one(tilec_device *device, AtOnceStream *s, const AtOnceMove *m) {
    HostState state = host_watch_state(&m->watch);
    if (state != HOST_OK) report_state(s, &m->move, state);
    if (state == HOST_FREED) return;
    if (!((const AtOnceDevice *)device->state)->run(device, &m->move))
        keep_failure(s, TILEC_INVALID_ARGUMENT,
                     words("an operation on %zu bytes is not within a buffer", m->move.size));
}

static AtOnceMove *take_all(AtOnceStream *s) {
    os_mutex_lock(s->queue);
    AtOnceMove *list = s->first;
    s->first = NULL;
    s->end = &s->first;
    s->moving = list != NULL;
    os_mutex_unlock(s->queue);
    return list;
}

// The stream's lock must be held.
static void run_all(tilec_device *device, AtOnceStream *s) {
    for (AtOnceMove *m = take_all(s); m;) {
        AtOnceMove *done = m;
        run_one(device, s, m);
        m = m->next;
        free(done);
    }
    os_mutex_lock(s->queue);
    s->moving = false;
    os_mutex_unlock(s->queue);
}

// Has it moves that are not done? Another thread may be making them.
static bool waits(AtOnceStream *s) {
    os_mutex_lock(s->queue);
    bool some = s->first || s->moving;
    os_mutex_unlock(s->queue);
    return some;
}

void at_once_flush(tilec_device *device, void *stream) {
    AtOnceStream *s = stream;
    if (!waits(s)) return;
    at_once_stream_lock(device, s);
    os_mutex_unlock(s->lock);
}

static void release_stream(AtOnceDevice *d, AtOnceStream *s) {
    os_mutex_lock(d->queue);
    bool last = --s->holds == 0;
    if (last) {
        AtOnceStream **link = &d->streams;
        while (*link != s) link = &(*link)->next;
        *link = s->next;
    }
    os_mutex_unlock(d->queue);
    if (!last) return;
    if (!os_mutex_abandoned(s->lock)) rt_report_free(&s->failure);
    os_mutex_destroy(s->lock);
    os_mutex_destroy(s->queue);
    recover_free(s);
}

// A stream of the device with moves that are not done, held; NULL: there is none.
static AtOnceStream *hold_waiting(AtOnceDevice *d) {
    os_mutex_lock(d->queue);
    AtOnceStream *s = d->streams;
    while (s && !waits(s)) s = s->next;
    if (s) s->holds++;
    os_mutex_unlock(d->queue);
    return s;
}

void at_once_flush_all(tilec_device *device) {
    AtOnceDevice *d = device->state;
    for (AtOnceStream *s; (s = hold_waiting(d));) {
        at_once_flush(device, s);
        release_stream(d, s);
    }
}

// ---- Devices and streams ------------------------------------------------------------------------

void at_once_open(AtOnceDevice *d, bool (*run)(tilec_device *device, const RtMove *move)) {
    *d = (AtOnceDevice){.queue = os_mutex_create(), .run = run};
}

void at_once_close(AtOnceDevice *d) { os_mutex_destroy(d->queue); }

tilec_status at_once_stream_create(tilec_device *device, void **stream) {
    AtOnceDevice *d = device->state;
    AtOnceStream *s = recover_new(sizeof *s);
    s->lock = os_mutex_create_long();
    s->queue = os_mutex_create();
    s->end = &s->first;
    s->holds = 1;
    os_mutex_lock(d->queue);
    s->next = d->streams;
    d->streams = s;
    os_mutex_unlock(d->queue);
    *stream = s;
    return TILEC_OK;
}

void at_once_stream_destroy(tilec_device *device, void *stream) {
    at_once_flush(device, stream);
    release_stream(device->state, stream);
}

// The report may be half written, so it is not touched.
void at_once_stream_lock(tilec_device *device, AtOnceStream *s) {
    os_mutex_lock(s->lock);
    if (os_mutex_abandoned(s->lock)) {
        s->status = TILEC_UNAVAILABLE;
        s->failure = rt_report_forked();
        os_mutex_mark_consistent(s->lock);
    }
    run_all(device, s);
}

tilec_status at_once_stream_synchronize(tilec_device *device, void *stream) {
    AtOnceStream *s = stream;
    at_once_stream_lock(device, s);
    tilec_status status = s->status;
    RtReport failure = s->failure;
    s->status = TILEC_OK;
    s->failure = (RtReport){0};
    os_mutex_unlock(s->lock);
    return status ? rt_fail_report(device->context, status, failure) : TILEC_OK;
}

tilec_status at_once_stream_wait(tilec_device *device, void *stream, void *event) {
    (void)device, (void)stream, (void)event;  // all work before the record is already done
    return TILEC_OK;
}

// ---- events: the time of day --------------------------------------------------------------------

typedef _Atomic(uint64_t) EventTime;

tilec_status at_once_event_create(tilec_device *device, void **event) {
    *event = calloc(1, sizeof(EventTime));
    return *event ? TILEC_OK
                  : rt_fail(device->context, TILEC_OUT_OF_MEMORY, "out of memory for an event");
}

void at_once_event_destroy(tilec_device *device, void *event) {
    (void)device;
    free(event);
}

tilec_status at_once_event_record(tilec_device *device, void *event, void *stream) {
    at_once_flush(device, stream);
    atomic_store((EventTime *)event, os_time_ns());  // several threads may record it at once
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
    *ns = atomic_load((EventTime *)end) - atomic_load((EventTime *)begin);
    return TILEC_OK;
}

// Devices, streams and events: the public calls, which check arguments and then call the device
// table.
#include "runtime/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/recover.h"
#include "runtime/context.h"
#include "runtime/library/library.h"
#include "runtime/memory/pool.h"
#include "target/gpu_card.h"

const RtDeviceApi *rt_device_api(const tilec_context *c, Str kind) {
    if (str_equal(kind, STR("auto"))) return c->best;
    for (size_t i = 0; i < c->api_count; i++)
        if (str_equal(kind, str(c->apis[i]->kind))) return c->apis[i];
    return NULL;
}

// The device name that the user probably meant; NULL: `name` does not name a GPU. Devices are named
// by vendor; a target or a card is not a device name. Some builds have no simulator, and it does
// not have every target.
static const char *gpu_meant(const tilec_context *c, Arena *arena, Str name) {
    GpuTarget gpu;
    char text[GPU_NAME_MAX];
    const RtDeviceApi *sim = rt_device_api(c, STR("sim"));
    if (str_equal(name, STR("gpu")))
        return sim ? "; GPUs are 'cuda' (NVIDIA's), 'hip' (AMD's) and 'sim:ARCH' (simulated);"
                   : "; GPUs are 'cuda' (NVIDIA's) and 'hip' (AMD's);";
    const char *card = gpu_card_target(name);
    if (!gpu_target_parse(card ? str(card) : name, &gpu)) return NULL;
    const char *target = gpu_target_name(gpu, text);
    bool simulated = sim && sim->takes(str(target));
    return arena_printf(arena, "; did you mean '%s', a GPU of this machine%s%s%s?",
                        gpu.vendor == GPU_AMD ? "hip" : "cuda", simulated ? ", or 'sim:" : "",
                        simulated ? target : "", simulated ? "', simulated" : "");
}

tilec_status rt_device_unknown(tilec_context *c, const char *name, Str kind) {
    enum { KINDS = 16 };
    Arena *scratch = arena_create();
    StrBuf kinds = strbuf(scratch);
    Str known[KINDS] = {STR("auto")};
    size_t count = 1;
    rt_device_kinds(c, &kinds);
    for (size_t i = 0; i < c->api_count && count < KINDS; i++)
        known[count++] = str(c->apis[i]->kind);
    Str lower = str_lower(scratch, kind);
    Str nearest = str_nearest(lower, known, count);
    const char *meant = gpu_meant(c, scratch, lower);
    if (!meant)
        meant =
            nearest.size ? arena_printf(scratch, "; did you mean '%.*s'?", STR_ARG(nearest)) : ";";
    tilec_status s = rt_fail(c, TILEC_INVALID_ARGUMENT, "no device '%s' here%s there are: %s", name,
                             meant, kinds.text);
    arena_destroy(scratch);
    return s;
}

const char *rt_device_label(const tilec_device *d, const tilec_device *other, RtDeviceText *text) {
    if (strcmp(d->name, other->name) != 0) return d->name;
    snprintf(text->text, sizeof text->text, "%.64s (%s %u)", d->name,
             d->context == other->context ? "opened as number" : "of another context, number",
             d->number);
    return text->text;
}

static char *copy_name(const char *name) {
    size_t size = strlen(name) + 1;
    char *copy = recover_new(size);
    memcpy(copy, name, size);
    return copy;
}

static tilec_status open_device(tilec_context *context, const char *name, Str instance,
                                const RtDeviceApi *api, tilec_device **device) {
    bool any = str_equal(str(name), STR("auto"));
    tilec_device *d = recover_new(sizeof *d);
    d->context = context;
    d->api = api;
    d->name = copy_name(any ? api->kind : name);
    tilec_status s = api->open(context, instance, &d->state);
    if (s) {
        recover_free(d->name);
        recover_free(d);
        return s;
    }
    recover_keep_all();
    os_mutex_lock(context->lock);
    d->pool.limit = SIZE_MAX;
    d->number = ++context->devices_opened;
    d->next = context->devices;
    context->devices = d;
    os_mutex_unlock(context->lock);
    s = tilec_stream_create(d, &d->first);
    if (s)
        tilec_device_close(d);
    else
        *device = d;
    return s;
}

static tilec_status find_and_open(tilec_context *context, const char *name, tilec_device **device) {
    Str instance, kind = str_cut(str(name), ':', &instance);
    const RtDeviceApi *api = rt_device_api(context, kind);
    if (!api) return rt_device_unknown(context, name, kind);
    if (!instance.size && strchr(name, ':'))
        return rt_fail(context, TILEC_INVALID_ARGUMENT,
                       "device '%s': nothing follows the ':'; leave it out, or say which", name);
    if (instance.size && str_equal(kind, STR("auto")))
        return rt_fail(context, TILEC_INVALID_ARGUMENT,
                       "device '%s': nothing may follow 'auto'; name the kind, such as 'cpu:%.*s'",
                       name, STR_ARG(instance));
    return open_device(context, name, instance, api, device);
}

tilec_status tilec_device_open(tilec_context *context, const char *name, tilec_device **device) {
    if (!context) return TILEC_INVALID_ARGUMENT;
    rt_begin(context);
    if (!device)
        return rt_fail(context, TILEC_INVALID_ARGUMENT, "the pointer for the device is NULL");
    if (!name) return rt_fail(context, TILEC_INVALID_ARGUMENT, "the device's name is NULL");
    Recovery r;
    if (RECOVER_FAILED(&r)) return rt_no_memory(context);
    tilec_status s = find_and_open(context, name, device);
    recover_end(&r);
    return s;
}

// Takes the device's next buffer off the list. The caller frees it, since an allocator of the
// program must not be called under the mutex.
static bool take_buffer(tilec_device *device, uint32_t *from, RtBuffer *taken) {
    tilec_context *c = device->context;
    bool found = false;
    os_mutex_lock(c->lock);
    while (*from < c->buffer_count && !found) {
        RtBuffer *b = &c->buffers[(*from)++];
        if (b->device != device) continue;
        *taken = *b;
        found = true;
        b->device = NULL;
        b->destroyed = false;
        b->holds = 0;
        b->peers = NULL;
        b->block = NULL;
        b->generation++;
    }
    os_mutex_unlock(c->lock);
    return found;
}

static void release_buffers(tilec_device *device) {
    RtBuffer b;
    uint32_t from = 0;
    while (take_buffer(device, &from, &b)) rt_buffer_free(&b);
}

// Destroys the device's objects, newest first.
static void release_owned(tilec_device *device) {
    library_close_all(device);
    while (device->kernels) tilec_kernel_destroy((tilec_kernel *)device->kernels);
    while (device->events) tilec_event_destroy((tilec_event *)device->events);
    while (device->streams) tilec_stream_destroy((tilec_stream *)device->streams);
}

void tilec_device_close(tilec_device *device) {
    if (!device) return;
    tilec_context *c = device->context;
    release_owned(device);
    rt_buffers_forget(device);
    os_mutex_lock(c->lock);
    tilec_device **link = &c->devices;
    while (*link != device) link = &(*link)->next;
    *link = device->next;
    os_mutex_unlock(c->lock);
    release_buffers(device);
    rt_pool_trim(device, 0);
    rt_host_free_all(device);
    device->api->close(device->state);
    free(atomic_load(&device->info));
    recover_free(device->name);
    recover_free(device);
}

const char *tilec_device_name(const tilec_device *device) { return device ? device->name : ""; }

typedef tilec_status MakeStream(tilec_device *device, void *native, void **state);

static tilec_status make_own(tilec_device *device, void *native, void **state) {
    (void)native;
    return device->api->stream_create(device, state);
}

static tilec_status create_stream(tilec_device *device, MakeStream *make, void *native,
                                  tilec_stream **stream) {
    tilec_stream *s = recover_new(sizeof *s);
    s->device = device;
    s->holds = 1;
    s->foreign = make != make_own;
    tilec_status status = make(device, native, &s->state);
    if (status) {
        recover_free(s);
        return status;
    }
    recover_keep_all();
    rt_own(device->context, &device->streams, &s->owned);
    *stream = s;
    return TILEC_OK;
}

static tilec_status make_stream(tilec_device *device, MakeStream *make, void *native,
                                tilec_stream **stream) {
    if (!stream)
        return rt_fail(device->context, TILEC_INVALID_ARGUMENT,
                       "the pointer for the stream is NULL");
    Recovery r;
    if (RECOVER_FAILED(&r)) return rt_no_memory(device->context);
    tilec_status s = create_stream(device, make, native, stream);
    recover_end(&r);
    return s;
}

tilec_status tilec_stream_create(tilec_device *device, tilec_stream **stream) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    rt_begin(device->context);
    return make_stream(device, make_own, NULL, stream);
}

static tilec_status no_native(const tilec_device *device) {
    return rt_fail(device->context, TILEC_UNSUPPORTED,
                   "device %s has no streams that other libraries can use", device->name);
}

tilec_status tilec_stream_from_native(tilec_device *device, void *native, tilec_stream **stream) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    rt_begin(device->context);
    if (!device->api->stream_wrap) return no_native(device);
    return make_stream(device, device->api->stream_wrap, native, stream);
}

tilec_status tilec_stream_native(tilec_stream *stream, void **native) {
    if (!stream) return TILEC_INVALID_ARGUMENT;
    const tilec_device *device = stream->device;
    rt_begin(device->context);
    if (!native)
        return rt_fail(device->context, TILEC_INVALID_ARGUMENT,
                       "the pointer for the stream is NULL");
    if (!device->api->stream_native) return no_native(device);
    *native = device->api->stream_native(stream->state);
    return TILEC_OK;
}

static uint32_t holds_of(tilec_stream *stream, int change) {
    OsMutex *lock = stream->device->context->lock;
    os_mutex_lock(lock);
    uint32_t holds = stream->holds += (uint32_t)change;
    os_mutex_unlock(lock);
    return holds;
}

static void let_go(tilec_stream *stream) {
    if (holds_of(stream, -1)) return;
    tilec_device *device = stream->device;
    device->api->stream_destroy(device, stream->state);
    // A foreign one may be destroyed without a wait for its work.
    rt_pool_forget(device, stream, !stream->foreign);
    recover_free(stream);
}

// If another thread waits for the device, and so for this stream, that thread frees the stream. In
// either case the work is done when this returns.
tilec_stream *tilec_device_stream(tilec_device *device) { return device ? device->first : NULL; }

void tilec_stream_destroy(tilec_stream *stream) {
    if (!stream) return;
    tilec_device *device = stream->device;
    rt_disown(device->context, &stream->owned);
    if (device->first == stream) device->first = NULL;
    if (holds_of(stream, 0) > 1) (void)device->api->stream_synchronize(device, stream->state);
    let_go(stream);
}

tilec_status tilec_stream_synchronize(tilec_stream *stream) {
    if (!stream) return TILEC_INVALID_ARGUMENT;
    rt_begin(stream->device->context);
    return stream->device->api->stream_synchronize(stream->device, stream->state);
}

// Waits for all streams; reports the first failure of the oldest stream.
tilec_status tilec_device_synchronize(tilec_device *device) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    rt_begin(device->context);
    size_t count = 0;
    os_mutex_lock(device->context->lock);
    for (const RtOwned *s = device->streams; s; s = s->next) count++;
    tilec_stream **streams = calloc(count + 1, sizeof(tilec_stream *));
    size_t i = count;
    for (RtOwned *s = device->streams; streams && s; s = s->next) {
        streams[--i] = (tilec_stream *)s;
        streams[i]->holds++;
    }
    os_mutex_unlock(device->context->lock);
    if (!streams) return rt_fail(device->context, TILEC_OUT_OF_MEMORY, "out of memory");
    tilec_status status = TILEC_OK;
    for (i = 0; i < count; i++) {
        if (!status) status = device->api->stream_synchronize(device, streams[i]->state);
        let_go(streams[i]);
    }
    free(streams);
    return status;
}

tilec_status tilec_event_create(tilec_device *device, tilec_event **event) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    rt_begin(device->context);
    if (!event)
        return rt_fail(device->context, TILEC_INVALID_ARGUMENT,
                       "the pointer for the event is NULL");
    tilec_event *e = calloc(1, sizeof *e);
    if (!e) return rt_fail(device->context, TILEC_OUT_OF_MEMORY, "out of memory");
    e->device = device;
    tilec_status status = device->api->event_create(device, &e->state);
    if (status) {
        free(e);
        return status;
    }
    rt_own(device->context, &device->events, &e->owned);
    *event = e;
    return TILEC_OK;
}

void tilec_event_destroy(tilec_event *event) {
    if (!event) return;
    rt_disown(event->device->context, &event->owned);
    event->device->api->event_destroy(event->device, event->state);
    free(event);
}

static tilec_status same_device(const tilec_event *event, const tilec_stream *stream) {
    if (event->device == stream->device) return TILEC_OK;
    static const char text[] = "the event belongs to device %s, the stream to another device, %s";
    tilec_context *c = stream->device->context;
    RtDeviceText texts[2];
    const char *own = rt_device_label(event->device, stream->device, &texts[0]);
    const char *other = rt_device_label(stream->device, event->device, &texts[1]);
    if (c != event->device->context) {
        rt_begin(c);
        (void)rt_fail(c, TILEC_INVALID_ARGUMENT, text, own, other);
    }
    return rt_fail(event->device->context, TILEC_INVALID_ARGUMENT, text, own, other);
}

// The error is stored in the stream's context.
static tilec_status no_event(const tilec_stream *stream) {
    if (!stream) return TILEC_INVALID_ARGUMENT;
    rt_begin(stream->device->context);
    return rt_fail(stream->device->context, TILEC_INVALID_ARGUMENT, "the event is NULL");
}

tilec_status tilec_event_record(tilec_event *event, tilec_stream *stream) {
    if (!event) return no_event(stream);
    rt_begin(event->device->context);
    if (!stream) stream = event->device->first;
    tilec_status s = same_device(event, stream);
    if (!s) s = event->device->api->event_record(event->device, event->state, stream->state);
    if (!s) event->recorded = true;
    return s;
}

tilec_status tilec_event_synchronize(tilec_event *event) {
    if (!event) return TILEC_INVALID_ARGUMENT;
    rt_begin(event->device->context);
    if (!event->recorded) return TILEC_OK;  // nothing to wait for
    return event->device->api->event_synchronize(event->device, event->state);
}

tilec_status tilec_event_query(tilec_event *event, int *done) {
    if (!event) return TILEC_INVALID_ARGUMENT;
    tilec_context *c = event->device->context;
    rt_begin(c);
    if (!done) return rt_fail(c, TILEC_INVALID_ARGUMENT, "the pointer for the answer is NULL");
    bool is_done = true;
    tilec_status s = TILEC_OK;
    if (event->recorded) s = event->device->api->event_query(event->device, event->state, &is_done);
    if (!s) *done = is_done;
    return s;
}

tilec_status tilec_stream_wait_event(tilec_stream *stream, tilec_event *event) {
    if (!event) return no_event(stream);
    rt_begin(event->device->context);
    if (!stream) stream = event->device->first;
    tilec_status s = same_device(event, stream);
    if (s || !event->recorded) return s;
    return event->device->api->stream_wait(stream->device, stream->state, event->state);
}

tilec_status tilec_event_elapsed_ns(tilec_event *begin, tilec_event *end, uint64_t *ns) {
    if (!begin && !end) return TILEC_INVALID_ARGUMENT;
    tilec_context *c = (begin ? begin : end)->device->context;
    rt_begin(c);
    if (!begin || !end) return rt_fail(c, TILEC_INVALID_ARGUMENT, "the event is NULL");
    if (!ns) return rt_fail(c, TILEC_INVALID_ARGUMENT, "the pointer for the time is NULL");
    if (begin->device != end->device)
        return rt_fail(c, TILEC_INVALID_ARGUMENT, "the two events belong to different devices");
    if (!begin->recorded || !end->recorded)
        return rt_fail(c, TILEC_INVALID_ARGUMENT, "an event was never recorded");
    return begin->device->api->event_elapsed(begin->device, begin->state, end->state, ns);
}

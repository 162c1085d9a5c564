#include "tests/support/fake_device.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/memory/move.h"

static FakeLog *log_of(const tilec_device *device) { return device->context->options.user; }

static tilec_status result(tilec_context *c) {
    FakeLog *log = c->options.user;
    tilec_status s = log->fail_next;
    log->fail_next = TILEC_OK;
    return s ? rt_fail(c, s, "the fake device was asked to fail") : TILEC_OK;
}

static tilec_status fake_open(tilec_context *context, Str instance, void **state) {
    (void)instance;
    *state = NULL;
    ((FakeLog *)context->options.user)->opens++;
    return result(context);
}

static tilec_status fake_info(tilec_device *device, RtDeviceInfo *info) {
    info->multiprocessors = 7;
    return result(device->context);
}

static tilec_status fake_count(tilec_context *context, uint32_t *count) {
    *count = 5;
    return result(context);
}

static void fake_close(void *state) { (void)state; }

static tilec_status fake_alloc(tilec_device *device, size_t size, void **address) {
    tilec_status s = result(device->context);
    if (s) return s;
    log_of(device)->allocs++;
    *address = calloc(1, size ? size : 1);
    return TILEC_OK;
}

static void fake_free(tilec_device *device, void *address, size_t size) {
    (void)size;
    log_of(device)->frees++;
    free(address);
}

static tilec_status fake_object(tilec_device *device, void **object) {
    tilec_status s = result(device->context);
    if (s) return s;
    *object = calloc(1, 16);
    return TILEC_OK;
}

static tilec_status fake_stream_create(tilec_device *device, void **stream) {
    tilec_status s = fake_object(device, stream);
    if (!s) log_of(device)->streams++;
    return s;
}

static void fake_stream_destroy(tilec_device *device, void *stream) {
    log_of(device)->streams--;
    free(stream);
}

static tilec_status fake_sync(tilec_device *device, void *stream) {
    (void)stream;
    log_of(device)->syncs++;
    return result(device->context);
}

static tilec_status fake_wait(tilec_device *device, void *stream, void *event) {
    (void)stream, (void)event;
    return result(device->context);
}

static tilec_status fake_event_create(tilec_device *device, void **event) {
    tilec_status s = fake_object(device, event);
    if (!s) log_of(device)->events++;
    return s;
}

static void fake_event_destroy(tilec_device *device, void *event) {
    log_of(device)->events--;
    free(event);
}

static tilec_status fake_record(tilec_device *device, void *event, void *stream) {
    (void)stream;
    *(uint64_t *)event = os_time_ns();
    return result(device->context);
}

static tilec_status fake_event_sync(tilec_device *device, void *event) {
    (void)event;
    return result(device->context);
}

static tilec_status fake_query(tilec_device *device, void *event, bool *done) {
    (void)event;
    *done = true;
    return result(device->context);
}

static tilec_status fake_prepare(tilec_device *device, void *stream, const RtLaunch *launch) {
    (void)stream;
    log_of(device)->prepares++;
    log_of(device)->variant = launch->variant;
    return result(device->context);
}

static tilec_status fake_elapsed(tilec_device *device, void *begin, void *end, uint64_t *ns) {
    *ns = *(uint64_t *)end - *(uint64_t *)begin;
    return result(device->context);
}

static tilec_status fake_copy(tilec_device *device, void *stream, void *to, const void *from,
                              size_t size) {
    (void)stream;
    log_of(device)->copies++;
    memmove(to, from, size);
    return result(device->context);
}

static tilec_status fake_move(tilec_device *device, void *stream, const RtMove *move) {
    (void)stream;
    log_of(device)->moves++;
    rt_move_run(move);
    return result(device->context);
}

static tilec_status fake_load(tilec_device *device, const RtImage *image, RtModule **module) {
    (void)image;
    *module = NULL;
    return result(device->context);
}

static void fake_unload(tilec_device *device, RtModule *module) { (void)device, (void)module; }

static tilec_status fake_launch(tilec_device *device, void *stream, const RtLaunch *launch) {
    (void)stream;
    FakeLog *log = log_of(device);
    log->launches++;
    log->variant = launch->variant;
    memcpy(log->grid, launch->grid, sizeof log->grid);
    memcpy(log->block, launch->block, launch->meta->size);
    return result(device->context);
}

static const RtDeviceApi fake_api = {
    .kind = "fake",
    .memory = RT_HOST_MEMORY,
    .open = fake_open,
    .info = fake_info,
    .count = fake_count,
    .close = fake_close,
    .alloc = fake_alloc,
    .free = fake_free,
    .stream_create = fake_stream_create,
    .stream_destroy = fake_stream_destroy,
    .stream_synchronize = fake_sync,
    .stream_wait = fake_wait,
    .event_create = fake_event_create,
    .event_destroy = fake_event_destroy,
    .event_record = fake_record,
    .event_synchronize = fake_event_sync,
    .event_query = fake_query,
    .event_elapsed = fake_elapsed,
    .copy = fake_copy,
    .move = fake_move,
    .module_load = fake_load,
    .module_unload = fake_unload,
    .prepare = fake_prepare,
    .launch = fake_launch,
};

tilec_context *fake_context(FakeLog *log) {
    static const RtDeviceApi *const apis[] = {&fake_api};
    tilec_context_options options = {.size = sizeof options, .user = log};
    tilec_context *context = NULL;
    if (rt_context_create(&options, apis, 1, &context)) return NULL;
    return context;
}

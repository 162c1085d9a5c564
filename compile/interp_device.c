#include "compile/interp_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "ir/interp/interp.h"
#include "runtime/context.h"
#include "runtime/launch.h"

struct RtModule {
    InterpImage image;
    Arena *arena;
    IrInterp *interp;
    OsMutex *lock;
};

// A stream does one launch after another, whichever threads ask; it holds its first failure.
typedef struct Stream {
    OsMutex *lock;
    tilec_status status;  // TILEC_OK: no failure
    RtReport failure;
} Stream;

static tilec_status device_open(tilec_context *context, Str instance, void **state) {
    if (instance.size)
        return rt_fail(context, TILEC_UNAVAILABLE, "device 'interp' takes no ':%.*s'",
                       STR_ARG(instance));
    *state = NULL;
    return TILEC_OK;
}

static void device_close(void *state) { (void)state; }

static tilec_status device_alloc(tilec_device *device, size_t size, void **address) {
    tilec_status s = rt_allocate(device->context, size, 64, address);
    if (!s) memset(*address, 0, size);  // the same run gives the same bits
    return s;
}

static void device_free(tilec_device *device, void *address, size_t size) {
    rt_release(device->context, address, size);
}

static tilec_status stream_create(tilec_device *device, void **stream) {
    Stream *s = calloc(1, sizeof *s);
    if (!s) return rt_fail(device->context, TILEC_OUT_OF_MEMORY, "out of memory");
    s->lock = os_mutex_create();
    *stream = s;
    return TILEC_OK;
}

static void stream_destroy(tilec_device *device, void *stream) {
    (void)device;
    Stream *s = stream;
    rt_report_free(&s->failure);
    os_mutex_destroy(s->lock);
    free(s);
}

static tilec_status stream_synchronize(tilec_device *device, void *stream) {
    Stream *s = stream;
    os_mutex_lock(s->lock);
    tilec_status status = s->status;
    RtReport failure = s->failure;
    s->status = TILEC_OK;
    s->failure = (RtReport){0};
    os_mutex_unlock(s->lock);
    return status ? rt_fail_report(device->context, status, failure) : TILEC_OK;
}

static tilec_status stream_wait(tilec_device *device, void *stream, void *event) {
    (void)device, (void)stream, (void)event;  // all work is done already
    return TILEC_OK;
}

static tilec_status event_create(tilec_device *device, void **event) {
    *event = calloc(1, sizeof(uint64_t));
    return *event ? TILEC_OK
                  : rt_fail(device->context, TILEC_OUT_OF_MEMORY, "out of memory for an event");
}

static void event_destroy(tilec_device *device, void *event) {
    (void)device;
    free(event);
}

static tilec_status event_record(tilec_device *device, void *event, void *stream) {
    (void)device, (void)stream;
    *(uint64_t *)event = os_time_ns();
    return TILEC_OK;
}

static tilec_status event_synchronize(tilec_device *device, void *event) {
    (void)device, (void)event;
    return TILEC_OK;
}

static tilec_status event_query(tilec_device *device, void *event, bool *done) {
    (void)device, (void)event;
    *done = true;
    return TILEC_OK;
}

static tilec_status event_elapsed(tilec_device *device, void *begin, void *end, uint64_t *ns) {
    (void)device;
    *ns = *(uint64_t *)end - *(uint64_t *)begin;
    return TILEC_OK;
}

static tilec_status copy(tilec_device *device, void *stream, void *to, const void *from,
                         size_t size) {
    (void)device, (void)stream;
    if (size) memmove(to, from, size);
    return TILEC_OK;
}

static tilec_status module_load(tilec_device *device, const RtImage *image, RtModule **module) {
    if (image->kind != RT_IMAGE_IR || image->size != sizeof(InterpImage))
        return rt_fail(device->context, TILEC_INVALID_ARGUMENT, "device interp runs IR only");
    RtModule *m = calloc(1, sizeof *m);
    if (!m) return rt_fail(device->context, TILEC_OUT_OF_MEMORY, "out of memory");
    memcpy(&m->image, image->data, sizeof m->image);
    m->arena = arena_create();
    m->interp = ir_interp_create(m->arena, m->image.func);
    m->lock = os_mutex_create();
    *module = m;
    return TILEC_OK;
}

static void module_unload(tilec_device *device, RtModule *module) {
    (void)device;
    ir_interp_destroy(module->interp);
    arena_destroy(module->arena);
    os_mutex_destroy(module->lock);
    free(module);
}

// The packed block, read back by the layout that meta.h states.
static void unpack(const RtLaunch *launch, IrArg *args) {
    for (uint32_t i = 0; i < launch->meta->arg_count; i++) {
        const MetaArg *arg = &launch->meta->args[i];
        const uint8_t *at = (const uint8_t *)launch->block + arg->offset;
        args[i] = (IrArg){.base = launch->ranges[i].base, .size = launch->ranges[i].size};
        if (arg->kind == META_SCALAR) {
            memcpy(&args[i].bits, at, arg->size);
            continue;
        }
        memcpy(&args[i].data, at, 8);
        if (arg->kind != META_VIEW) continue;
        memcpy(args[i].extent, at + 8, 8 * arg->rank);
        if (arg->strided) {
            memcpy(args[i].stride, at + 8 + 8 * arg->rank, 8 * arg->rank);
            continue;
        }
        uint64_t stride = 1;
        for (uint32_t d = arg->rank; d-- > 0;) {
            args[i].stride[d] = (int64_t)stride;
            stride *= (uint64_t)args[i].extent[d];
        }
    }
}

static void print_line(void *user, Str line) {
    const tilec_context *c = user;
    if (c->options.print) {
        c->options.print(c->options.user, line.text, line.size);
        return;
    }
    printf("%.*s\n", STR_ARG(line));
}

static tilec_status status_of(IrOutcome outcome) {
    switch (outcome) {
    case IR_RUN_DONE: return TILEC_OK;
    case IR_RUN_ASSERT:
    case IR_RUN_FINDINGS:
    case IR_RUN_LIMIT: return TILEC_KERNEL_FAILED;
    }
    return TILEC_INTERNAL;
}

tilec_status interp_host_run(void *module, tilec_device *device, const RtLaunch *l,
                             RtReport *report) {
    RtModule *m = module;
    IrArg args[LAUNCH_MAX_ARGS];
    CHECK(l->meta->arg_count <= LAUNCH_MAX_ARGS, "%u arguments", l->meta->arg_count);
    unpack(l, args);
    IrLaunch run = {.args = args,
                    .arg_count = l->meta->arg_count,
                    .grid = {l->grid[0], l->grid[1], l->grid[2]},
                    .sanitize = m->image.sanitize,
                    .print = print_line,
                    .user = device->context};
    Arena *arena = arena_create();
    Diags *diags = diags_create(arena, m->image.func->module->sources);
    os_mutex_lock(m->lock);
    tilec_status status = status_of(ir_interp_run(m->interp, &run, diags));
    os_mutex_unlock(m->lock);
    if (status) *report = rt_report_of(diags);
    arena_destroy(arena);
    return status;
}

static tilec_status launch(tilec_device *device, void *stream, const RtLaunch *l) {
    Stream *s = stream;
    os_mutex_lock(s->lock);
    // After a failure the stream does nothing until it is synchronised.
    if (s->status == TILEC_OK) s->status = interp_host_run(l->module, device, l, &s->failure);
    os_mutex_unlock(s->lock);
    return TILEC_OK;
}

const RtDeviceApi interp_device_api = {
    .kind = "interp",
    .memory = RT_HOST_MEMORY,
    .open = device_open,
    .close = device_close,
    .alloc = device_alloc,
    .free = device_free,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_synchronize = stream_synchronize,
    .stream_wait = stream_wait,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_synchronize = event_synchronize,
    .event_query = event_query,
    .event_elapsed = event_elapsed,
    .copy = copy,
    .module_load = module_load,
    .module_unload = module_unload,
    .launch = launch,
};

#include "compile/device/interp_device.h"

#include <stdio.h>
#include <string.h>

#include "base/os/os.h"
#include "base/recover.h"
#include "compile/device/at_once.h"
#include "ir/interp/interp.h"
#include "runtime/context.h"
#include "runtime/launch.h"
#include "runtime/memory/move.h"

struct RtModule {
    InterpImage image;
    Arena *arena;
    IrInterp *interp;
    OsMutex *lock;
};

static bool run_move(tilec_device *device, const RtMove *move) {
    (void)device;
    rt_move_run(move);
    return true;
}

static tilec_status device_open(tilec_context *context, Str instance, void **state) {
    if (instance.size)
        return rt_fail(context, TILEC_INVALID_ARGUMENT, "device 'interp' takes no ':%.*s'",
                       STR_ARG(instance));
    AtOnceDevice *d = recover_new(sizeof *d);
    at_once_open(d, run_move);
    *state = d;
    return TILEC_OK;
}

static void device_close(void *state) {
    at_once_close(state);
    recover_free(state);
}

static tilec_status info(tilec_device *device, RtDeviceInfo *info) {
    (void)device;
    snprintf(info->name, sizeof info->name, "the reference interpreter");
    info->memory = os_memory_size();
    info->multiprocessors = info->warp = 1;
    return TILEC_OK;
}

static tilec_status device_alloc(tilec_device *device, size_t size, void **address) {
    tilec_status s = rt_allocate(device->context, size, 64, address);
    if (!s) memset(*address, 0, size);  // makes two equal runs give the same bits
    return s;
}

static void device_free(tilec_device *device, void *address, size_t size) {
    at_once_flush_all(device);
    rt_release(device->context, address, size);
}

static tilec_status copy(tilec_device *device, void *stream, void *to, const void *from,
                         size_t size) {
    at_once_flush(device, stream);
    if (size) memmove(to, from, size);
    return TILEC_OK;
}

static tilec_status module_load(tilec_device *device, const RtImage *image, RtModule **module) {
    if (image->kind != RT_IMAGE_IR || image->size != sizeof(InterpImage))
        return rt_fail(device->context, TILEC_INVALID_ARGUMENT, "device interp runs IR only");
    RtModule *m = recover_new(sizeof *m);
    memcpy(&m->image, image->data, sizeof m->image);
    m->arena = arena_create();
    m->interp = ir_interp_create(m->arena, m->image.func);
    m->lock = os_mutex_create_long();
    *module = m;
    return TILEC_OK;
}

// A module that a thread of a fork's parent was changing is not touched.
static void module_unload(tilec_device *device, RtModule *module) {
    (void)device;
    if (!os_mutex_abandoned(module->lock)) {
        ir_interp_destroy(module->interp);
        arena_destroy(module->arena);
    }
    os_mutex_destroy(module->lock);
    recover_free(module);
}

// Reads the packed block; meta.h defines its layout.
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

// Discards the state of a run that ran out of memory.
static void begin_anew(RtModule *m) {
    ir_interp_destroy(m->interp);
    m->interp = NULL;
    arena_reset(m->arena, (ArenaMark){0});
}

// In the child of a fork the interpreter's state may be half changed; it is not touched.
static void lock_module(RtModule *m) {
    os_mutex_lock(m->lock);
    if (!os_mutex_abandoned(m->lock)) return;
    m->interp = NULL;
    m->arena = arena_create();
    arena_keep(m->arena);
    os_mutex_mark_consistent(m->lock);
}

static IrInterp *interp_of(RtModule *m) {
    if (!m->interp) {
        m->interp = ir_interp_create(m->arena, m->image.func);
        recover_keep_all();
    }
    return m->interp;
}

static tilec_status run(RtModule *m, const IrLaunch *launch, RtReport *report) {
    Recovery r;
    if (RECOVER_FAILED(&r)) {
        begin_anew(m);
        *report = rt_report_no_memory();
        return TILEC_OUT_OF_MEMORY;
    }
    IrInterp *interp = interp_of(m);
    Arena *arena = arena_create();
    Diags *diags = diags_create(arena, m->image.func->module->sources);
    tilec_status status = status_of(ir_interp_run(interp, launch, diags));
    if (status) *report = rt_report_of(diags);
    arena_destroy(arena);
    recover_end(&r);
    return status;
}

tilec_status interp_host_run(void *module, tilec_device *device, const RtLaunch *l,
                             RtReport *report) {
    RtModule *m = module;
    IrArg args[LAUNCH_MAX_ARGS];
    CHECK(l->meta->arg_count <= LAUNCH_MAX_ARGS, "%u arguments", l->meta->arg_count);
    unpack(l, args);
    IrLaunch launch = {.args = args,
                       .arg_count = l->meta->arg_count,
                       .grid = {l->grid[0], l->grid[1], l->grid[2]},
                       .sanitize = m->image.sanitize,
                       .print = print_line,
                       .user = device->context};
    lock_module(m);
    tilec_status status = run(m, &launch, report);
    os_mutex_unlock(m->lock);
    return status;
}

static tilec_status launch(tilec_device *device, void *stream, const RtLaunch *l) {
    AtOnceStream *s = stream;
    at_once_stream_lock(device, s);
    // After a failure the stream does nothing until it is synchronised.
    if (s->status == TILEC_OK) s->status = interp_host_run(l->module, device, l, &s->failure);
    os_mutex_unlock(s->lock);
    return TILEC_OK;
}

const RtDeviceApi interp_device_api = {
    .kind = "interp",
    .memory = RT_HOST_MEMORY,
    .open = device_open,
    .info = info,
    .close = device_close,
    .alloc = device_alloc,
    .free = device_free,
    .fresh = true,
    .stream_create = at_once_stream_create,
    .stream_destroy = at_once_stream_destroy,
    .stream_synchronize = at_once_stream_synchronize,
    .stream_wait = at_once_stream_wait,
    .event_create = at_once_event_create,
    .event_destroy = at_once_event_destroy,
    .event_record = at_once_event_record,
    .event_synchronize = at_once_event_synchronize,
    .event_query = at_once_event_query,
    .event_elapsed = at_once_event_elapsed,
    .copy = copy,
    .move = at_once_move,
    .module_load = module_load,
    .module_unload = module_unload,
    .launch = launch,
};

// The fakes' streams, events, modules and launches.
#include <stdio.h>
#include <string.h>

#include "tests/fakes/gpu/state.h"

// ---- Streams ----

GpuResult fake_stream_create(GpuStreamHandle *stream, unsigned flags) {
    GpuResult r = fake_begin(GPU_CALL_stream_create, true);
    if (!r && flags > 1) r = FAKE_INVALID_VALUE;
    if (!r) *stream = (GpuStreamHandle)fake_make(THING_STREAM);
    return fake_end(r);
}

GpuResult fake_stream_destroy(GpuStreamHandle stream) {
    GpuResult r = fake_begin(GPU_CALL_stream_destroy, true);
    Thing *s = r ? NULL : fake_check(stream, THING_STREAM);
    if (s) s->dead = true;
    return fake_end(r ? r : s ? 0 : FAKE_INVALID_HANDLE);
}

GpuResult fake_stream_synchronize(GpuStreamHandle stream) {
    GpuResult r = fake_begin(GPU_CALL_stream_synchronize, true);
    if (!r && fake_state.captured) r = FAKE_CAPTURE_UNSUPPORTED;
    Thing *s = r ? NULL : fake_check(stream, THING_STREAM);
    return fake_end(r ? r : s ? fake_run(s) : FAKE_INVALID_HANDLE);
}

#ifndef FAKE_HIP_5
GpuResult fake_stream_is_capturing(GpuStreamHandle stream, GpuCaptureStatus *status) {
    GpuResult r = fake_begin(GPU_CALL_stream_is_capturing, true);
    Thing *s = r ? NULL : fake_check(stream, THING_STREAM);
    if (s) *status = fake_state.captured;
    return fake_end(r ? r : s ? 0 : FAKE_INVALID_HANDLE);
}
#endif

// ---- Events ----

GpuResult fake_event_create(GpuEvent *event, unsigned flags) {
    GpuResult r = fake_begin(GPU_CALL_event_create, true);
    if (!r && flags) r = FAKE_INVALID_VALUE;
    if (!r) *event = (GpuEvent)fake_make(THING_EVENT);
    return fake_end(r);
}

GpuResult fake_event_destroy(GpuEvent event) {
    GpuResult r = fake_begin(GPU_CALL_event_destroy, true);
    Thing *e = r ? NULL : fake_check(event, THING_EVENT);
    if (e) e->dead = true;
    return fake_end(r ? r : e ? 0 : FAKE_INVALID_HANDLE);
}

GpuResult fake_event_record(GpuEvent event, GpuStreamHandle stream) {
    GpuResult r = fake_begin(GPU_CALL_event_record, true);
    Thing *e = r ? NULL : fake_check(event, THING_EVENT);
    Thing *s = e ? fake_check(stream, THING_STREAM) : NULL;
    if (!s) return fake_end(r ? r : FAKE_INVALID_HANDLE);
    e->last = arena_new(fake_state.arena, Record, 1);
    e->last->stream = s;
    e->asked = 0;
    fake_push(s, (Work){.kind = WORK_RECORD, .record = e->last});
    return fake_end(0);
}

GpuResult fake_stream_wait_event(GpuStreamHandle stream, GpuEvent event, unsigned flags) {
    GpuResult r = fake_begin(GPU_CALL_stream_wait_event, true);
    Thing *e = r || flags ? NULL : fake_check(event, THING_EVENT);
    Thing *s = e ? fake_check(stream, THING_STREAM) : NULL;
    if (!s) return fake_end(r ? r : FAKE_INVALID_HANDLE);
    if (e->last) fake_push(s, (Work){.kind = WORK_WAIT, .record = e->last});
    return fake_end(0);
}

GpuResult fake_event_synchronize(GpuEvent event) {
    GpuResult r = fake_begin(GPU_CALL_event_synchronize, true);
    const Thing *e = r ? NULL : fake_check(event, THING_EVENT);
    if (!e) return fake_end(r ? r : FAKE_INVALID_HANDLE);
    return fake_end(e->last ? fake_run_to(e->last->stream, e->last) : 0);
}

// The device gets there while it is asked again and again.
GpuResult fake_event_query(GpuEvent event) {
    enum { PATIENCE = 3 };
    GpuResult r = fake_begin(GPU_CALL_event_query, true);
    Thing *e = r ? NULL : fake_check(event, THING_EVENT);
    if (!e) return fake_end(r ? r : FAKE_INVALID_HANDLE);
    if (e->last && !e->last->done && ++e->asked == PATIENCE)
        r = fake_run_to(e->last->stream, e->last);
    if (!r && e->last && !e->last->done) r = FAKE_NOT_READY;
    return fake_end(r);
}

GpuResult fake_event_elapsed(float *milliseconds, GpuEvent begin, GpuEvent end) {
    GpuResult r = fake_begin(GPU_CALL_event_elapsed, true);
    const Thing *b = r ? NULL : fake_check(begin, THING_EVENT);
    const Thing *e = b ? fake_check(end, THING_EVENT) : NULL;
    if (!e || !b->last || !e->last) return fake_end(r ? r : FAKE_INVALID_HANDLE);
    if (!b->last->done || !e->last->done) return fake_end(FAKE_NOT_READY);
    *milliseconds = (float)((double)e->last->time - (double)b->last->time) / 1e6f;
    return fake_end(0);
}

// ---- Modules ----

GpuResult fake_module_load(GpuModule *module, const void *image, unsigned count,
                           GpuJitOption *options, void **values) {
    GpuResult r = fake_begin(GPU_CALL_module_load, true);
    const SimProgram *program = NULL;
    if (!r) r = fake_load(image, count, options, values, &program);
    if (r) return fake_end(r);
    Thing *m = fake_make(THING_MODULE);
    m->program = program;
    m->variables = arena_new(fake_state.arena, uint64_t, program->variable_count + 1);
    if (!sim_program_load(program, fake_memory(fake_device()), m->variables))
        return fake_end(FAKE_OUT_OF_MEMORY);
    *module = (GpuModule)m;
    return fake_end(0);
}

GpuResult fake_module_unload(GpuModule module) {
    GpuResult r = fake_begin(GPU_CALL_module_unload, true);
    Thing *m = r ? NULL : fake_check(module, THING_MODULE);
    if (m) m->dead = true;
    return fake_end(r ? r : m ? 0 : FAKE_INVALID_HANDLE);
}

GpuResult fake_module_function(GpuFunction *function, GpuModule module, const char *name) {
    GpuResult r = fake_begin(GPU_CALL_module_function, true);
    Thing *m = r ? NULL : fake_check(module, THING_MODULE);
    if (!m) return fake_end(r ? r : FAKE_INVALID_HANDLE);
    const SimKernel *k = sim_kernel_find(m->program, str(name));
    if (!k) return fake_end(FAKE_NOT_FOUND);
    Thing *t = fake_make(THING_FUNCTION);
    t->module = m;
    t->kernel = k;
    t->shared_max = 48 * 1024;
    *function = (GpuFunction)t;
    return fake_end(0);
}

// ---- Launches ----

GpuResult fake_occupancy(int *blocks, GpuFunction function, int threads, size_t shared) {
    GpuResult r = fake_begin(GPU_CALL_occupancy, true);
    const Thing *t = r ? NULL : fake_check(function, THING_FUNCTION);
    if (!t) return fake_end(r ? r : FAKE_INVALID_HANDLE);
    if (threads < 1 || threads > 1024 || shared > t->shared_max)
        return fake_end(FAKE_INVALID_VALUE);
    *blocks = 1024 / threads;
    return fake_end(0);
}

static bool block_fits(const SimKernel *k, const Work *w) {
    uint64_t threads = (uint64_t)w->block[0] * w->block[1] * w->block[2];
    for (int i = 0; i < 3; i++)
        if (!w->grid[i] || !w->block[i] || (k->reqntid[i] && k->reqntid[i] != w->block[i]))
            return false;
    return threads <= 1024 && w->grid[0] <= INT32_MAX && w->grid[1] <= 65535 && w->grid[2] <= 65535;
}

GpuResult fake_push_launch(const GpuLaunchConfig *c, GpuFunction function, const void *params,
                           size_t size) {
    Thing *t = fake_check(function, THING_FUNCTION);
    Thing *s = t ? fake_check(c->hStream, THING_STREAM) : NULL;
    if (!s) return FAKE_INVALID_HANDLE;
    if (t->module->dead) fake_problem("a function of a dead module");
    Work w = {.kind = WORK_LAUNCH,
              .function = t,
              .grid = {c->gridDimX, c->gridDimY, c->gridDimZ},
              .block = {c->blockDimX, c->blockDimY, c->blockDimZ},
              .shared = c->sharedMemBytes};
    // Clusters are the only attribute.
    if (c->numAttrs) memcpy(w.cluster, c->attrs[0].value.cluster, sizeof w.cluster);
    bool whole = params && size >= t->kernel->param_bytes && size < t->kernel->param_bytes + 16;
    if (!whole || !block_fits(t->kernel, &w) || w.shared > t->shared_max) {
        fake_problem("a launch that does not fit its kernel");
        return FAKE_INVALID_VALUE;
    }
    w.params = arena_alloc(fake_state.arena, size);
    memcpy(w.params, params, size);
    fake_push(s, w);
    return 0;
}

GpuResult fake_launch_kernel(GpuFunction function, unsigned grid_x, unsigned grid_y,
                             unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                             unsigned shared, GpuStreamHandle stream, void **params, void **extra) {
    GpuResult r = fake_begin(GPU_CALL_launch_kernel, true);
    GpuLaunchConfig c = {.gridDimX = grid_x,
                         .gridDimY = grid_y,
                         .gridDimZ = grid_z,
                         .blockDimX = block_x,
                         .blockDimY = block_y,
                         .blockDimZ = block_z,
                         .sharedMemBytes = shared,
                         .hStream = stream};
    const void *block = NULL;
    size_t size = 0;
    if (!r && !fake_params(function, params, extra, &block, &size)) r = FAKE_INVALID_VALUE;
    return fake_end(r ? r : fake_push_launch(&c, function, block, size));
}

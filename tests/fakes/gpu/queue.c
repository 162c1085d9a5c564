// Work that waits on streams, and how it is done.
#include <string.h>

#include "sim/observe/observe.h"
#include "tests/fakes/gpu/state.h"

void fake_push(Thing *stream, Work work) { vec_push(fake_state.arena, &stream->queue, work); }

// Bytes of either memory; NULL: the device has no such memory.
static uint8_t *bytes_of(const FakeDevice *d, uint64_t address, size_t size) {
    if (!sim_address_is_global(address)) return (uint8_t *)(uintptr_t)address;
    const SimRegion *r = sim_memory_find(d->memory, address, size);
    return r ? r->bytes + (address - r->base) : NULL;
}

static GpuResult do_copy(const Work *w) {
    const FakeDevice *source = &fake_state.devices[w->from_device];
    const FakeDevice *d = &fake_state.devices[w->to_device];
    const uint8_t *from = bytes_of(source, w->from, w->size);
    uint8_t *to = bytes_of(d, w->to, w->size);
    if (!from || !to) return FAKE_ILLEGAL_ADDRESS;
    if (sim_address_is_global(w->to))
        sim_memory_write(d->memory, w->to, from, w->size);
    else
        memcpy(to, from, w->size);
    return 0;
}

static GpuResult do_fill(const FakeDevice *d, const Work *w) {
    const uint8_t *there = bytes_of(d, w->to, w->size);
    if (!there) return FAKE_ILLEGAL_ADDRESS;
    for (size_t at = 0; at < w->size; at += w->unit)
        sim_memory_write(d->memory, w->to + at, &w->pattern, w->unit);
    return 0;
}

static GpuResult do_launch(const FakeDevice *d, const Work *w) {
    Arena *arena = arena_create();
    SimFindings *findings = sim_findings_create(arena);
    const SimObserver *watchers[] = {
        sim_observe_poison(arena, findings), sim_observe_races(arena, findings),
        sim_observe_registers(arena, findings), sim_observe_divergence(arena, findings)};
    const Thing *function = w->function;
    SimLaunch launch = {.kernel = function->kernel,
                        .memory = d->memory,
                        .variables = function->module->variables,
                        .device = {fake_facts.vendor,
                                   (uint32_t)fake_state.archs[w->function->device], false, false},
                        .shared = w->shared,
                        .params = w->params,
                        .step_limit = 1 << 28,
                        .observers = watchers,
                        .observer_count = sizeof watchers / sizeof *watchers};
    memcpy(launch.grid, w->grid, sizeof launch.grid);
    memcpy(launch.block, w->block, sizeof launch.block);
    memcpy(launch.cluster, w->cluster, sizeof launch.cluster);
    SimResult r = sim_run(&launch);
    for (size_t i = 0; i < findings->list.count; i++)
        if (sim_finding_is_error(findings->list.data[i].kind))
            fake_problem("kernel: %.*s", STR_ARG(findings->list.data[i].text));
    arena_destroy(arena);
    if (r.outcome == SIM_DONE) return 0;
    return r.outcome == SIM_FAILED ? fake_fault(r.fault) : FAKE_LAUNCH_FAILED;
}

static GpuResult do_work(Thing *stream, const Work *w) {
    FakeDevice *d = &fake_state.devices[stream->device];
    switch (w->kind) {
    case WORK_LAUNCH:
        if (w->function->module->dead) fake_problem("a module unloaded before its kernel ran");
        fake_state.clock += 1000;
        return do_launch(d, w);
    case WORK_COPY: fake_state.clock += 10; return do_copy(w);
    case WORK_FILL: fake_state.clock += 10; return do_fill(d, w);
    case WORK_HOST: w->call(w->data); break;
    case WORK_RECORD:
        w->record->done = true;
        w->record->time = fake_state.clock;
        break;
    case WORK_WAIT:
        if (!w->record->done) return fake_run_to(w->record->stream, w->record);
        break;
    }
    return 0;
}

// To the end of the queue, or until the record is done.
GpuResult fake_run_to(Thing *stream, const Record *record) {
    FakeDevice *d = &fake_state.devices[stream->device];
    while (!d->broken && stream->done < stream->queue.count && !(record && record->done)) {
        Work w = stream->queue.data[stream->done++];
        GpuResult r = do_work(stream, &w);
        if (r) d->broken = r;
    }
    return d->broken;
}

GpuResult fake_run(Thing *stream) { return fake_run_to(stream, NULL); }

GpuResult fake_run_all(int device) {
    GpuResult r = 0;
    for (Thing *t = fake_state.things; t; t = t->next)
        if (t->kind == THING_STREAM && t->device == device && !t->dead) r = fake_run(t);
    return r;
}

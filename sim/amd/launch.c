#include "sim/amd/launch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "base/status.h"
#include "sim/amd/matrix.h"
#include "sim/machine/refuse.h"

enum { LDS_MAX = 64 * 1024, LDS_MAX_950 = 160 * 1024, PACKET = 64 };

static bool check_block(const SimLaunch *n, const AmdObjectKernel *k, SimResult *r) {
    SimBlockRule rule = {.name = k->name,
                         .most = k->max_threads ? k->max_threads : SIM_THREADS_MAX,
                         .items = UINT32_MAX};  // as in the dispatch packet
    memcpy(rule.required, k->required, sizeof rule.required);
    return sim_check_block(n, &rule, r);
}

static bool check(const SimLaunch *n, const AmdKernel *k, SimResult *r) {
    TRY(check_block(n, k->source, r));
    uint64_t lds = (uint64_t)k->source->descriptor.lds + n->shared;
    uint32_t most = amd_max_lds(k->processor);
    if (lds > most)
        return sim_refuse(r, "%llu bytes of LDS: the processor has %u", (unsigned long long)lds,
                          most);
    if (k->source->descriptor.rsrc1 >> 12 & 15)
        return sim_refuse(r, "kernel '%.*s' does not round to nearest: this is not simulated",
                          STR_ARG(k->source->name));
    return true;
}

// ---- Arguments ----

static uint64_t hidden_value(const SimLaunch *n, AmdArgKind kind) {
    switch (kind) {
    case AMD_HIDDEN_BLOCKS_X: return n->grid[0];
    case AMD_HIDDEN_BLOCKS_Y: return n->grid[1];
    case AMD_HIDDEN_BLOCKS_Z: return n->grid[2];
    case AMD_HIDDEN_THREADS_X: return n->block[0];
    case AMD_HIDDEN_THREADS_Y: return n->block[1];
    case AMD_HIDDEN_THREADS_Z: return n->block[2];
    case AMD_HIDDEN_DIMENSIONS:
        return n->grid[2] > 1 || n->block[2] > 1 ? 3 : n->grid[1] > 1 || n->block[1] > 1 ? 2 : 1;
    case AMD_HIDDEN_DYNAMIC_LDS: return n->shared;
    case AMD_HIDDEN_PRIVATE_BASE: return SIM_LOCAL_BASE >> 32;
    case AMD_HIDDEN_SHARED_BASE: return SIM_SHARED_BASE >> 32;
    case AMD_ARG_VALUE:
    case AMD_ARG_BUFFER:
    case AMD_ARG_LDS:
    case AMD_ARG_HIDDEN_OTHER: break;
    }
    return 0;
}

static bool is_hidden(AmdArgKind kind) { return kind > AMD_ARG_LDS; }

static bool make_arguments(AmdLaunch *run) {
    const SimLaunch *n = run->launch;
    const AmdObjectKernel *k = run->kernel->source;
    uint32_t size = k->descriptor.kernarg;
    TRY(sim_memory_alloc(n->memory, size + 64, "the arguments", &run->kernarg));
    uint8_t *bytes = sim_memory_find(n->memory, run->kernarg, size)->bytes;
    if (size) sim_memory_write(n->memory, run->kernarg, bytes, size);
    uint32_t given = n->kernel->param_bytes < size ? n->kernel->param_bytes : size;
    if (given) sim_memory_write(n->memory, run->kernarg, n->params, given);
    for (uint32_t i = 0; i < k->arg_count; i++) {
        const AmdArg *a = &k->args[i];
        uint64_t value = hidden_value(n, a->kind);
        uint32_t width = a->size < 8 ? a->size : 8;
        if (is_hidden(a->kind))
            sim_memory_write(n->memory, run->kernarg + a->offset, &value, width);
    }
    sim_memory_find(n->memory, run->kernarg, 0)->constant = true;
    return true;
}

// Makes the dispatch packet, as the queue would hold it. Kernels read only its sizes.
static bool make_packet(AmdLaunch *run) {
    const SimLaunch *n = run->launch;
    uint8_t packet[PACKET] = {0};
    for (size_t d = 0; d < 3; d++) {
        uint16_t block = (uint16_t)n->block[d];
        uint32_t grid = n->grid[d] * n->block[d];
        memcpy(packet + 4 + 2 * d, &block, sizeof block);
        memcpy(packet + 12 + 4 * d, &grid, sizeof grid);
    }
    TRY(sim_memory_alloc(n->memory, PACKET, "the dispatch packet", &run->packet));
    sim_memory_write(n->memory, run->packet, packet, PACKET);
    return true;
}

// ---- Waves ----

static bool make_wave(AmdLaunch *run, AmdWave *w, uint32_t index) {
    const AmdKernel *k = run->kernel;
    w->run = run, w->group = &run->group, w->kernel = k;
    w->index = index, w->lanes = k->lanes;
    w->scratch_bytes = k->source->descriptor.scratch;
    size_t bytes = ((size_t)k->vectors + 1) * AMD_LANES * sizeof *w->vectors;
    w->vectors = aligned_alloc(64, bytes);
    w->shadows = aligned_alloc(64, bytes);
    w->dirty = malloc((size_t)k->vectors + 1);
    if (!w->vectors || !w->shadows || !w->dirty) return false;
    if (!w->scratch_bytes) return true;
    uint64_t scratch = (uint64_t)w->scratch_bytes * w->lanes;
    if (scratch > UINT32_MAX) return false;
    w->scratch = malloc(scratch);
    w->scratch_poison = malloc(SIM_POISON_BYTES(scratch));
    return w->scratch && w->scratch_poison;
}

static bool make_group(AmdLaunch *run) {
    const SimLaunch *n = run->launch;
    AmdGroup *g = &run->group;
    g->run = run;
    g->lds_bytes = run->kernel->source->descriptor.lds + n->shared;
    run->product = malloc(amd_product_size());
    g->lds = malloc(g->lds_bytes + 1);
    g->lds_poison = malloc(SIM_POISON_BYTES(g->lds_bytes));
    uint32_t threads = n->block[0] * n->block[1] * n->block[2], lanes = run->kernel->lanes;
    uint32_t waves = (threads + lanes - 1) / lanes;
    g->waves = calloc(waves, sizeof *g->waves);
    if (!run->product || !g->lds || !g->lds_poison || !g->waves) return false;
    g->wave_count = waves;
    for (uint32_t i = 0; i < waves; i++) TRY(make_wave(run, &g->waves[i], i));
    return true;
}

static void free_group(AmdGroup *g) {
    for (uint32_t i = 0; i < g->wave_count; i++) {
        AmdWave *w = &g->waves[i];
        amd_pending_free(w);
        free(w->pending);
        free(w->vectors);
        free(w->shadows);
        free(w->dirty);
        free(w->scratch);
        free(w->scratch_poison);
    }
    free(g->waves);
    free(g->lds);
    free(g->lds_poison);
}

// ---- A launch ----

// LDS of gfx9 serves 16-byte loads in groups of eight lanes that are not neighbours.
static const uint8_t loads16[AMD_LANES] = {
    0,  1,  2,  3,  20, 21, 22, 23, 4,  5,  6,  7,  16, 17, 18, 19, 8,  9,  10, 11, 28, 29,
    30, 31, 12, 13, 14, 15, 24, 25, 26, 27, 32, 33, 34, 35, 52, 53, 54, 55, 36, 37, 38, 39,
    48, 49, 50, 51, 40, 41, 42, 43, 60, 61, 62, 63, 44, 45, 46, 47, 56, 57, 58, 59};

// The same for gfx950, with groups of sixteen lanes.
static const uint8_t loads16_950[AMD_LANES] = {
    0,  1,  2,  3,  12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 26, 27, 4,  5,  6,  7,  8,  9,
    10, 11, 16, 17, 18, 19, 28, 29, 30, 31, 32, 33, 34, 35, 44, 45, 46, 47, 52, 53, 54, 55,
    56, 57, 58, 59, 36, 37, 38, 39, 40, 41, 42, 43, 48, 49, 50, 51, 60, 61, 62, 63};

uint32_t amd_max_lds(uint32_t processor) { return processor == 0x950 ? LDS_MAX_950 : LDS_MAX; }
uint32_t amd_banks(uint32_t processor) { return processor == 0x950 ? 2 * SIM_BANKS : SIM_BANKS; }
const uint8_t *amd_loads16(uint32_t processor) {
    if (amd_generation(processor) != 9) return NULL;
    return processor == 0x950 ? loads16_950 : loads16;
}

static SimLaunchFacts facts(const AmdLaunch *run) {
    const SimLaunch *n = run->launch;
    const AmdKernel *k = run->kernel;
    return (SimLaunchFacts){.kernel = n->kernel,
                            .memory = n->memory,
                            .grid = {n->grid[0], n->grid[1], n->grid[2]},
                            .block = {n->block[0], n->block[1], n->block[2]},
                            .warps = run->group.wave_count,
                            .lanes = k->lanes,
                            .in_step = true,
                            .shared_bytes = run->group.lds_bytes,
                            .banks = amd_banks(k->processor),
                            .loads16 = amd_loads16(k->processor)};
}

static void prepare(AmdLaunch *run, const SimLaunch *launch, SimResult *r) {
    *run = (AmdLaunch){.launch = launch, .result = r, .kernel = launch->kernel->machine};
    run->image = launch->variables[0];
    run->random = (launch->seed + 1) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    for (uint32_t i = 0; i < launch->observer_count; i++) {
        run->step_observed |= launch->observers[i]->step != NULL;
        run->access_observed |= launch->observers[i]->access != NULL;
        run->late_observed |= launch->observers[i]->late != NULL;
    }
}

typedef struct AmdOwnedRun {
    Owned owned;
    AmdLaunch *run;
} AmdOwnedRun;

static void release_run(Owned *owned) {
    AmdLaunch *run = ((AmdOwnedRun *)owned)->run;
    if (run->kernarg) sim_memory_free(run->launch->memory, run->kernarg);
    if (run->packet) sim_memory_free(run->launch->memory, run->packet);
    free_group(&run->group);
    free(run->product);
    free(run);
}

SimResult amd_run(const SimLaunch *launch) {
    SimResult r = {.outcome = SIM_DONE};
    if (!check(launch, launch->kernel->machine, &r)) return r;
    AmdLaunch *run = malloc(sizeof *run);
    if (!run) os_out_of_memory();
    prepare(run, launch, &r);
    AmdOwnedRun own = {.run = run};
    recover_own(&own.owned, OWNED_FRAME, release_run);
    if (!make_group(run) || !make_arguments(run) || !make_packet(run)) os_out_of_memory();
    SimLaunchFacts f = facts(run);
    SIM_NOTIFY(run, launch_begin, &f);
    amd_run_groups(run);
    for (uint32_t i = 0; i < launch->observer_count; i++)
        if (launch->observers[i]->launch_end)
            launch->observers[i]->launch_end(launch->observers[i]->state);
    r.steps = run->steps, r.lane_steps = run->lane_steps;
    recover_keep(&own.owned);
    release_run(&own.owned);
    return r;
}

// Launches: blocks, and warps in rotation.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "base/status.h"
#include "sim/machine/flow.h"
#include "sim/machine/hopper/bulk.h"
#include "sim/machine/hopper/cluster.h"
#include "sim/machine/hopper/wgmma.h"
#include "sim/machine/refuse.h"
#include "target/chip.h"

enum { SLICE = 4096, SEEDED_SLICE = 48 };

SimPlace sim_place(const SimWarp *w, const SimInstr *i) {
    const SimKernel *k = w->run->launch->kernel;
    return (SimPlace){k, i, (uint32_t)(i - k->code), w->block->linear, w->index, w->block->rank};
}

uint32_t sim_random(SimRun *run, uint32_t below) {
    run->random ^= run->random << 13;
    run->random ^= run->random >> 7;
    run->random ^= run->random << 17;
    return (uint32_t)((run->random >> 32) * below >> 32);
}

void sim_fail(SimWarp *w, const SimInstr *i, SimFault fault, const char *format, ...) {
    SimRun *run = w->run;
    if (run->stop) return;
    run->stop = true;
    SimResult *r = run->result;
    r->outcome = SIM_FAILED;
    r->fault = fault.kind;
    r->line = i->line;
    va_list args;
    va_start(args, format);
    vsnprintf(r->text, sizeof r->text, format, args);
    va_end(args);
    fault.at = sim_place(w, i);
    fault.text = r->text;
    SIM_NOTIFY(run, fault, &fault);
}

// ---- Blocks ----

static bool run_warp(SimWarp *w) {
    SimRun *run = w->run;
    uint32_t slice = run->launch->seed ? 1 + sim_random(run, SEEDED_SLICE) : SLICE;
    return sim_warp_run(w, slice);
}

// Runs each warp for some instructions. True: some instruction was executed.
static bool run_slices(SimBlock *b) {
    SimRun *run = b->run;
    bool moved = false;
    uint32_t first = run->launch->seed ? sim_random(run, b->warp_count) : 0;
    for (uint32_t n = 0; n < b->warp_count && !run->stop; n++) {
        SimWarp *w = &b->warps[(first + n) % b->warp_count];
        if (w->fragment_count) moved |= run_warp(w);
    }
    return moved;
}

static void run_cluster(SimRun *run) {
    bool live = true;
    while (live && !run->stop) {
        bool moved = false;
        live = false;
        uint32_t first =
            run->launch->seed && run->block_count > 1 ? sim_random(run, run->block_count) : 0;
        for (uint32_t n = 0; n < run->block_count; n++) {
            SimBlock *b = &run->blocks[(first + n) % run->block_count];
            moved |= b->running && run_slices(b);
            live |= b->running != 0;
        }
        sim_bulks_advance(run);
        bool stuck = live && !run->stop && (!moved || sim_cluster_is_stuck(run));
        if (stuck && !sim_bulk_land_all(run)) sim_cluster_unblock(run);
    }
    sim_bulk_end(run);
    for (uint32_t n = 0; n < run->block_count && !run->stop; n++) sim_groups_end(&run->blocks[n]);
}

// Visits the clusters in some order: steps through all numbers with a step that is coprime to the
// count.
static uint64_t greatest_common(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b, b = rest;
    }
    return a;
}

static void run_blocks(SimRun *run) {
    const SimLaunch *n = run->launch;
    uint64_t count = sim_cluster_count(run), at = 0, step = 1;
    if (n->seed && count > 1) {
        uint32_t below = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
        at = sim_random(run, below);
        step = 1 + sim_random(run, below);
        while (greatest_common(step, count) != 1) step++;
    }
    for (uint64_t i = 0; i < count && !run->stop; i++, at = (at + step) % count) {
        sim_cluster_begin(run, at);
        for (uint32_t k = 0; k < run->block_count; k++)
            SIM_NOTIFY(run, block_begin, run->blocks[k].linear, k);
        run_cluster(run);
        for (uint32_t k = 0; k < run->block_count; k++)
            SIM_NOTIFY(run, block_end, run->blocks[k].linear);
    }
}

// ---- A launch ----

// 1 for dimensions that the kernel leaves out.
static uint32_t threads_along(const uint32_t threads[3], int d) {
    return threads[d] ? threads[d] : 1;
}

static bool check_block(const SimLaunch *n, SimResult *r) {
    const SimKernel *k = n->kernel;
    SimBlockRule rule = {.name = k->name, .most = SIM_THREADS_MAX};
    for (int d = 0; d < 3 && k->reqntid[0]; d++) rule.required[d] = threads_along(k->reqntid, d);
    if (k->maxntid[0])
        rule.most =
            (uint64_t)k->maxntid[0] * threads_along(k->maxntid, 1) * threads_along(k->maxntid, 2);
    return sim_check_block(n, &rule, r);
}

static bool check(const SimLaunch *n, SimResult *r) {
    TRY(check_block(n, r) && sim_cluster_check(n, r));
    const SimKernel *k = n->kernel;
    char name[GPU_NAME_MAX];
    uint32_t most = chip_of(n->device)->shared_max;
    if (k->shared_bytes > GPU_SHARED_STATIC)
        return sim_refuse(r,
                          "kernel '%.*s' declares %u bytes of shared memory, and at most %d can be "
                          "declared: `.extern .shared` takes more, as the launch gives it",
                          STR_ARG(k->name), k->shared_bytes, GPU_SHARED_STATIC);
    if (k->shared_bytes > most || n->shared > most - k->shared_bytes)
        return sim_refuse(r,
                          "kernel '%.*s' needs %llu bytes of shared memory (%u declared, %u of the "
                          "launch), and a block of %s has at most %u",
                          STR_ARG(k->name), (unsigned long long)k->shared_bytes + n->shared,
                          k->shared_bytes, n->shared, gpu_target_name(n->device, name), most);
    return true;
}

static SimLaunchFacts facts(const SimRun *run) {
    const SimLaunch *n = run->launch;
    return (SimLaunchFacts){.kernel = n->kernel,
                            .memory = n->memory,
                            .grid = {n->grid[0], n->grid[1], n->grid[2]},
                            .block = {n->block[0], n->block[1], n->block[2]},
                            .cluster = {run->cluster[0], run->cluster[1], run->cluster[2]},
                            .ranks = run->block_count,
                            .warps = run->blocks[0].warp_count,
                            .lanes = SIM_LANES,
                            .shared_bytes = run->blocks[0].shared_bytes,
                            .banks = SIM_BANKS};
}

static void prepare(SimRun *run, const SimLaunch *launch, SimResult *r) {
    *run = (SimRun){.launch = launch, .result = r, .block_count = 1};
    for (int d = 0; d < 3; d++) {
        run->cluster[d] = sim_cluster_size(launch, d);
        run->block_count *= run->cluster[d];
    }
    run->random = (launch->seed + 1) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    for (uint32_t i = 0; i < launch->observer_count; i++) {
        const SimObserver *o = launch->observers[i];
        run->poison |= o->poison;
        run->step_observed |= o->step != NULL;
        run->access_observed |= o->access != NULL;
    }
}

typedef struct PtxOwnedRun {
    Owned owned;
    SimRun *run;
} PtxOwnedRun;

static void release_run(Owned *owned) {
    SimRun *run = ((PtxOwnedRun *)owned)->run;
    sim_bulk_free(run);
    sim_blocks_free(run);
    free(run);
}

SimResult sim_run(const SimLaunch *launch) {
    if (launch->kernel->run) return launch->kernel->run(launch);
    SimResult r = {.outcome = SIM_DONE};
    if (!check(launch, &r)) return r;
    SimRun *run = malloc(sizeof *run);
    if (!run) os_out_of_memory();
    prepare(run, launch, &r);
    PtxOwnedRun own = {.run = run};
    recover_own(&own.owned, OWNED_FRAME, release_run);
    if (!sim_blocks_make(run)) os_out_of_memory();
    SimLaunchFacts f = facts(run);
    SIM_NOTIFY(run, launch_begin, &f);
    run_blocks(run);
    for (uint32_t i = 0; i < launch->observer_count; i++)
        if (launch->observers[i]->launch_end)
            launch->observers[i]->launch_end(launch->observers[i]->state);
    r.steps = run->steps, r.lane_steps = run->lane_steps;
    recover_keep(&own.owned);
    release_run(&own.owned);
    return r;
}

bool sim_program_load(const SimProgram *p, SimMemory *memory, uint64_t *addresses) {
    for (uint32_t i = 0; i < p->variable_count; i++) {
        const SimVariable *v = &p->variables[i];
        char name[48];
        snprintf(name, sizeof name, "%.*s", STR_ARG(v->name));
        TRY(sim_memory_alloc(memory, v->size, name, &addresses[i]));
        SimRegion *r = sim_memory_find(memory, addresses[i], 0);
        r->constant = v->constant;
        if (v->bytes) memcpy(r->bytes, v->bytes, (size_t)v->size);
        if (r->poison) sim_poison_set(r->poison, 0, v->size, false);
    }
    for (uint32_t i = 0; i < p->variable_count; i++)
        for (uint32_t n = 0; n < p->variables[i].relocation_count; n++) {
            uint64_t to = addresses[p->variables[i].relocations[n].index] +
                          p->variables[i].relocations[n].addend;
            sim_memory_write(memory, addresses[i] + p->variables[i].relocations[n].at, &to, 8);
        }
    return true;
}

// Clusters: their sizes, the barrier of a cluster, and blocks that wait for each other.
#include "sim/machine/hopper/cluster.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "sim/machine/flow.h"
#include "sim/machine/hopper/mbarrier.h"
#include "sim/machine/ops.h"
#include "sim/machine/refuse.h"

enum { IDLE_MAX = 256, LINE_BYTES_MAX = 160, NON_PORTABLE = 8, CLUSTERS_SINCE = 90 };

// ---- Sizes ----

uint32_t sim_cluster_size(const SimLaunch *n, int d) {
    const SimKernel *k = n->kernel;
    return n->cluster[0] ? n->cluster[d] : k->cluster[0] ? k->cluster[d] : 1;
}

bool sim_cluster_check(const SimLaunch *n, SimResult *r) {
    uint64_t blocks = 1;
    Str name = n->kernel->name;
    for (int d = 0; d < 3; d++) {
        uint32_t size = sim_cluster_size(n, d), asked = n->kernel->cluster[d];
        if (!size || n->grid[d] % size)
            return sim_refuse(r,
                              "a grid of %u blocks along dimension %d does not consist of "
                              "clusters of %u",
                              n->grid[d], d, size);
        if (n->kernel->cluster[0] && n->cluster[0] && size != asked)
            return sim_refuse(r,
                              "kernel '%.*s' requires clusters of %u blocks along dimension %d, "
                              "and the launch has %u",
                              STR_ARG(name), asked, d, size);
        blocks *= size;
    }
    if (blocks > NON_PORTABLE)
        return sim_refuse(r, "a cluster of %llu blocks: %d is the most", (unsigned long long)blocks,
                          NON_PORTABLE);
    if (blocks > 1 && n->device.number < CLUSTERS_SINCE)
        return sim_refuse(r,
                          "kernel '%.*s' has clusters of %llu blocks, which sm_90 was the first "
                          "to have",
                          STR_ARG(name), (unsigned long long)blocks);
    return true;
}

// ---- Waiting ----

void sim_idle(SimWarp *w) {
    SimRun *run = w->run;
    if (w->idle_since != run->changes) w->idle = 0;
    w->idle_since = run->changes;
    w->idle++;
}

static bool is_idle(const SimWarp *w) {
    return w->idle >= IDLE_MAX && w->idle_since == w->run->changes;
}
static bool is_blocked(const SimWarp *w) {
    for (uint32_t n = 0; n < w->fragment_count; n++)
        if (w->fragments[n].state == SIM_RUNS) return false;
    return true;
}

bool sim_cluster_is_stuck(const SimRun *run) {
    bool any = false;
    for (uint32_t n = 0; n < run->block_count; n++)
        for (uint32_t k = 0; k < run->blocks[n].warp_count; k++) {
            const SimWarp *w = &run->blocks[n].warps[k];
            if (!is_idle(w) && !is_blocked(w)) return false;
            any |= w->fragment_count && is_idle(w);
        }
    return any;
}

// Handles lanes that wait at an aligned barrier for the rest of their warp, if the rest never
// arrives.
static bool force_barrier(SimBlock *b) {
    const SimInstr *code = b->run->launch->kernel->code;
    for (uint32_t n = 0; n < b->warp_count; n++) {
        SimWarp *w = &b->warps[n];
        for (uint32_t k = 0; k < w->fragment_count; k++) {
            const SimFragment *f = &w->fragments[k];
            const SimInstr *i = &code[f->pc];
            if (f->state != SIM_AT_COLLECTIVE || i->flow != SIM_BARRIER) continue;
            SimDiverged d = {sim_place(w, i), f->mask, w->live};
            SIM_NOTIFY(b->run, diverged, &d);
            return w->force = true;
        }
    }
    return false;
}

// ---- Deadlocks: the places where warps wait, each with the first warp there ----

// The place where a warp waits; its first fragment stands for it.
static const SimInstr *waits_at(const SimWarp *w) {
    const SimFragment *f = &w->fragments[0];
    bool spins = f->state == SIM_RUNS && w->waits.instr;
    return spins ? w->waits.instr : &w->run->launch->kernel->code[f->pc];
}

// Does a warp before it wait at the same place?
static bool is_listed(const SimWarp *w) {
    const SimRun *run = w->run;
    for (uint32_t n = 0; n <= w->block->rank; n++)
        for (uint32_t k = 0; k < run->blocks[n].warp_count; k++) {
            const SimWarp *other = &run->blocks[n].warps[k];
            if (other == w) return false;
            if (other->fragment_count && waits_at(other) == waits_at(w)) return true;
        }
    return false;
}

static void describe(SimWarp *w, char *text, size_t size) {
    const SimInstr *i = waits_at(w);
    char place[32] = "";
    if (w->run->block_count > 1)
        snprintf(place, sizeof place, " of block %llu", (unsigned long long)w->block->linear);
    if (w->fragments[0].state == SIM_RUNS && i == w->waits.instr)
        sim_mbarrier_describe(w, place, text, size);
    else
        snprintf(text, size, "lanes %08x of warp %u%s wait at '%s'", (unsigned)w->fragments[0].mask,
                 w->index, place, i->name);
}

static void notify_collective(SimWarp *w) {
    const SimInstr *i = waits_at(w);
    if (w->fragments[0].state != SIM_AT_COLLECTIVE || i->flow != SIM_COLLECT) return;
    SimDiverged d = {sim_place(w, i), w->fragments[0].mask, w->live};
    SIM_NOTIFY(w->run, diverged, &d);
}

static void deadlock(SimRun *run) {
    char text[SIM_TEXT_MAX] = {0};
    size_t used = 0;
    SimWarp *first = NULL;
    for (uint32_t n = 0; n < run->block_count; n++)
        for (uint32_t k = 0; k < run->blocks[n].warp_count; k++) {
            SimWarp *w = &run->blocks[n].warps[k];
            if (!w->fragment_count || is_listed(w) || used + LINE_BYTES_MAX > sizeof text) continue;
            if (first) memcpy(text + used, "; ", 2);
            used += first ? 2 : 0;
            describe(w, text + used, sizeof text - used);
            used = strlen(text);
            if (!first) first = w;
        }
    if (!first) return;
    notify_collective(first);
    sim_fail(first, waits_at(first),
             (SimFault){.kind = SIM_FAULT_DEADLOCK, .mask = first->fragments[0].mask},
             "block %llu cannot continue: %s", (unsigned long long)first->block->linear, text);
}

void sim_cluster_unblock(SimRun *run) {
    for (uint32_t n = 0; n < run->block_count; n++)
        if (force_barrier(&run->blocks[n])) return;
    deadlock(run);
}

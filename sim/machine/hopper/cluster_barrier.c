// barrier.cluster.arrive and .wait; addresses in other blocks (mapa).
#include <string.h>

#include "sim/machine/hopper/cluster.h"
#include "sim/machine/ops.h"

static bool all_arrived(const SimRun *run) {
    bool any = false;
    for (uint32_t n = 0; n < run->block_count; n++)
        for (uint32_t k = 0; k < run->blocks[n].warp_count; k++) {
            const SimWarp *w = &run->blocks[n].warps[k];
            any |= w->arrived != 0;
            if (w->live & ~w->arrived) return false;
        }
    return any;
}

// Tells of the warps that arrived, or of the one that goes on.
static void notify_barrier(SimRun *run, const SimWarp *waits) {
    uint32_t lanes[SIM_CLUSTER_MAX * SIM_WARPS] = {0}, none[SIM_CLUSTER_MAX * SIM_WARPS] = {0};
    uint32_t warps = run->blocks[0].warp_count;
    for (uint32_t n = 0; n < run->block_count * warps; n++) {
        const SimWarp *w = &run->blocks[n / warps].warps[n % warps];
        lanes[n] = waits ? (w == waits ? w->mask : 0) : w->arrived;
    }
    SimBarrierDone done = {.block = run->blocks[0].linear,
                           .barrier = SIM_CLUSTER_BARRIER,
                           .arrived = waits ? none : lanes,
                           .waited = waits ? lanes : none,
                           .warp_count = run->block_count * warps,
                           .arrivals = true};
    SIM_NOTIFY(run, barrier, &done);
}

void sim_cluster_barrier_check(SimRun *run) {
    if (!all_arrived(run)) return;
    notify_barrier(run, NULL);
    run->changes++;
    for (uint32_t n = 0; n < run->block_count; n++)
        for (uint32_t k = 0; k < run->blocks[n].warp_count; k++)
            run->blocks[n].warps[k].arrived = 0;
}

static void wrong_use(SimWarp *w, const SimInstr *i, uint32_t lanes, const char *what) {
    sim_fail(w, i, (SimFault){.kind = SIM_FAULT_USE, .mask = lanes},
             "'%s' of lanes %08x of warp %u: %s", i->name, (unsigned)lanes, w->index, what);
}

// immediate: the arrival releases earlier accesses.
void sim_cluster_arrive(SimWarp *w, const SimInstr *i) {
    if (w->arrived_only & w->mask) {
        wrong_use(w, i, w->arrived_only & w->mask, "they have arrived already and not waited");
        return;
    }
    SimArrival arrival = {sim_place(w, i), w->mask, SIM_CLUSTER_BARRIER};
    if (i->immediate) SIM_NOTIFY(w->run, arrive, &arrival);
    w->arrived |= w->mask, w->arrived_only |= w->mask;
    w->run->changes++;
    sim_cluster_barrier_check(w->run);
}

void sim_cluster_wait(SimWarp *w, const SimInstr *i) {
    if (w->mask & ~w->arrived_only) {
        wrong_use(w, i, w->mask & ~w->arrived_only, "they have not arrived");
        return;
    }
    w->retry = (w->arrived & w->mask) != 0;
    if (w->retry) return;
    w->arrived_only &= ~w->mask;
    notify_barrier(w->run, w);
}

// ---- Addresses ----

static uint64_t address_at(SimWarp *w, const SimInstr *i, uint64_t address, uint32_t rank) {
    if (rank >= w->run->block_count)
        sim_fail(w, i, (SimFault){.kind = SIM_FAULT_USE, .mask = w->mask},
                 "'%s': rank %u, and the cluster has %u blocks", i->name, rank,
                 w->run->block_count);
    uint64_t kept = address & (SIM_WINDOW_MASK | SIM_RANK_MASK);
    return kept | (uint64_t)(rank + 1) << SIM_RANK_SHIFT;
}

void sim_mapa(SimWarp *w, const SimInstr *i) {
    const LaneU32 *rank = SIM_REG(w, i->b, LaneU32);
    if (sim_type_bits((SimType)i->type) == 64) {
        LaneU64 *d = SIM_REG(w, i->d, LaneU64);
        const LaneU64 *a = SIM_REG(w, i->a, LaneU64);
        SIM_EACH_LANE(w, d[l] = address_at(w, i, a[l], rank[l]););
    } else {
        LaneU32 *d = SIM_REG(w, i->d, LaneU32);
        const LaneU32 *a = SIM_REG(w, i->a, LaneU32);
        SIM_EACH_LANE(w, d[l] = (uint32_t)address_at(w, i, a[l], rank[l]););
    }
}

// getctarank: of the block whose shared memory the address is in.
void sim_rank_of(SimWarp *w, const SimInstr *i) {
    bool wide = sim_type_bits((SimType)i->type) == 64;
    LaneU32 *d = SIM_REG(w, i->d, LaneU32);
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(w->mask >> l & 1)) continue;
        uint64_t a = wide ? SIM_REG(w, i->a, LaneU64)[l] : SIM_REG(w, i->a, LaneU32)[l];
        uint32_t named = (uint32_t)(a & ~SIM_WINDOW_MASK) >> SIM_RANK_SHIFT;
        d[l] = named ? named - 1 : w->block->rank;
    }
}

// bar.sync, bar.arrive, bar.red and similar: barriers of a block.
#include <string.h>

#include "sim/machine/flow.h"

static uint32_t live_warps(const SimBlock *b) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->warp_count; i++) n += b->warps[i].live != 0;
    return n;
}

// A warp that has arrived with all its live lanes counts as a whole warp, as in the hardware.
static uint32_t threads_arrived(const SimBlock *b, const SimBarrier *bar) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->warp_count; i++) {
        uint32_t here = bar->arrived[i], live = b->warps[i].live;
        if (here) n += (live & ~here) == 0 ? SIM_LANES : (uint32_t)__builtin_popcount(here);
    }
    return n;
}

static void put_result(SimWarp *w, const SimInstr *i, uint32_t mask, const SimBlock *b,
                       const SimBarrier *bar) {
    const SimBarrierOp *op = i->detail;
    uint32_t count = 0, all = 1, some = 0;
    for (uint32_t n = 0; n < b->warp_count; n++) {
        count += (uint32_t)__builtin_popcount(bar->predicates[n]);
        all &= bar->predicates[n] == bar->arrived[n];
        some |= bar->predicates[n] != 0;
    }
    w->mask = mask;
    switch (op->kind) {
    case SIM_BAR_SYNC:
    case SIM_BAR_ARRIVE: return;
    case SIM_BAR_POPC: {
        LaneU32 *d = SIM_REG(w, i->d, LaneU32);
        SIM_EACH_LANE(w, d[l] = count;);
        break;
    }
    case SIM_BAR_AND: sim_set_pred(w, i->d, all ? UINT32_MAX : 0); break;
    case SIM_BAR_OR: sim_set_pred(w, i->d, some ? UINT32_MAX : 0); break;
    }
    if (w->poison) sim_poison_put(w, i->d, 0);
}

static void release(SimBlock *b, uint32_t number) {
    SimBarrier *bar = &b->barriers[number];
    SimBarrierDone done = {.block = b->linear,
                           .rank = b->rank,
                           .barrier = number,
                           .arrived = bar->arrived,
                           .waited = bar->waited,
                           .warp_count = b->warp_count,
                           .arrivals = true};
    SIM_NOTIFY(b->run, barrier, &done);
    b->run->changes++;
    const SimInstr *code = b->run->launch->kernel->code;
    for (uint32_t n = 0; n < b->warp_count; n++) {
        SimWarp *w = &b->warps[n];
        for (uint32_t k = w->fragment_count; k-- > 0;) {
            SimFragment *f = &w->fragments[k];
            if (f->state != SIM_AT_BARRIER || f->barrier != number) continue;
            put_result(w, &code[f->pc], f->mask & bar->waited[n], b, bar);
            f->state = SIM_RUNS;
            f->pc++;
            sim_fragment_reconverge(w, k);
        }
    }
    memset(bar, 0, sizeof *bar);
}

static bool is_complete(const SimBlock *b, const SimBarrier *bar) {
    uint32_t wanted = bar->expected ? bar->expected : live_warps(b) * SIM_LANES;
    return bar->busy && threads_arrived(b, bar) >= wanted;
}

void sim_barriers_check(SimBlock *b) {
    for (uint32_t n = 0; n < SIM_BARRIERS; n++)
        if (is_complete(b, &b->barriers[n])) release(b, n);
}

static bool numbers(SimWarp *w, const SimInstr *i, uint32_t *number, uint32_t *count) {
    const SimBarrierOp *op = i->detail;
    uint32_t lane = sim_first_lane(w->mask);
    *number = SIM_REG(w, op->barrier, LaneU32)[lane];
    *count = op->count.number < 0 ? 0 : SIM_REG(w, op->count, LaneU32)[lane];
    if (w->poison) {
        sim_poison_check(w, i, op->barrier, SIM_POISON_MEMBERS);
        sim_poison_check(w, i, op->count, SIM_POISON_MEMBERS);
    }
    const char *wrong = *number >= SIM_BARRIERS    ? "barriers are numbered 0 to 15"
                        : *count % SIM_LANES       ? "a count of threads is a multiple of 32"
                        : *count > SIM_THREADS_MAX ? "a block cannot have that many threads"
                        : op->kind == SIM_BAR_ARRIVE && !*count ? "bar.arrive needs a count"
                                                                : NULL;
    if (wrong)
        sim_fail(w, i, (SimFault){.kind = SIM_FAULT_USE, .mask = w->mask}, "'%s' of %u, %u: %s",
                 i->name, *number, *count, wrong);
    return !wrong;
}

bool sim_barrier_arrive(SimWarp *w, SimFragment *f, const SimInstr *i, uint32_t mask) {
    const SimBarrierOp *op = i->detail;
    SimBlock *b = w->block;
    uint32_t number, count;
    if (!numbers(w, i, &number, &count)) return false;
    SimBarrier *bar = &b->barriers[number];
    bar->busy = true;
    bar->expected = count;
    bar->arrived[w->index] |= mask;
    SimArrival arrival = {sim_place(w, i), mask, number};
    SIM_NOTIFY(w->run, arrive, &arrival);
    if (op->predicate.number >= 0)
        bar->predicates[w->index] |= sim_pred(w, op->predicate, op->negated) & mask;
    bool waits = op->kind != SIM_BAR_ARRIVE;
    if (!waits) {
        if (is_complete(b, bar)) release(b, number);
        return true;
    }
    bar->waited[w->index] |= mask;
    f->state = SIM_AT_BARRIER;
    f->barrier = (uint8_t)number;
    if (is_complete(b, bar)) release(b, number);
    return false;
}

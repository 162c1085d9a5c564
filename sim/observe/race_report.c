// The texts of races: who met whom, and where.
#include <stdio.h>

#include "sim/observe/race.h"

static void place_text(const Races *r, const SimAccess *a, uint64_t address, char *text,
                       size_t size) {
    const SimRegion *region =
        a->space == SIM_SPACE_GLOBAL ? sim_memory_nearest(r->facts.memory, address) : NULL;
    if (a->space == SIM_SPACE_SHARED)
        snprintf(text, size, "byte %llu of shared memory", (unsigned long long)address);
    else if (region)
        snprintf(text, size, "byte %llu of %s in global memory",
                 (unsigned long long)(address - region->base), region->name);
    else
        snprintf(text, size, "%#llx of global memory", (unsigned long long)address);
}

// The block of a cluster's warp; the cluster's name is its first block.
static uint64_t block_of(const Races *r, uint64_t cluster, uint32_t actor) {
    const SimLaunchFacts *f = &r->facts;
    uint64_t rank = actor < r->warp_count ? actor / f->warps : 0, step = 1;
    for (int d = 0; d < 3 && f->ranks > 1; d++) {
        cluster += rank % f->cluster[d] * step;
        rank /= f->cluster[d], step *= f->grid[d];
    }
    return cluster;
}

// Where the two accesses met, and whose they were.
typedef struct RaceText {
    char place[128], mine[48], other[48], where[64];
} RaceText;

static void name_one(const Races *r, bool warp, uint32_t actor, uint32_t lane, char text[48]) {
    uint32_t number = actor % r->facts.warps;
    if (actor >= r->warp_count)
        snprintf(text, 48, "a copy that landed");
    else if (warp)
        snprintf(text, 48, "warp %u", number);
    else
        snprintf(text, 48, "thread %u", number * r->facts.lanes + lane);
}

static RaceText race_text(const Races *r, const RaceTouch *t, uint32_t cell, Epoch other,
                          uint32_t lane) {
    const SimAccess *a = t->access;
    uint64_t block = block_of(r, other.cluster, other.actor);
    RaceText m;
    place_text(r, a, t->shadow->base + ((uint64_t)cell << t->shadow->shift), m.place,
               sizeof m.place);
    name_one(r, t->async && t->writer == RACE_WHOLE_WARP, t->actor, t->lane, m.mine);
    name_one(r, lane == RACE_WHOLE_WARP, other.actor, lane, m.other);
    if (block == a->at.block)
        snprintf(m.where, sizeof m.where, "block %llu", (unsigned long long)block);
    else
        snprintf(m.where, sizeof m.where, "blocks %llu and %llu", (unsigned long long)a->at.block,
                 (unsigned long long)block);
    return m;
}

void race_report(Races *r, const RaceTouch *t, uint32_t cell, const char *what, Epoch other,
                 uint32_t lane) {
    const SimAccess *a = t->access;
    RaceText m = race_text(r, t, cell, other, lane);
    bool loosely = other.clock != SHADOW_IN_FLIGHT && order_saw_loosely(r->order, t->actor, other);
    sim_findings_add(
        r->findings, loosely ? SIM_FINDING_FENCE : SIM_FINDING_RACE, &a->at,
        "'%s' of %s at %s, and %s of %s: %s (%s)", a->at.instr->name, m.mine, m.place, what,
        m.other, loosely ? "a flag is between them, but no fence" : "nothing orders them", m.where);
}

static bool report_proxy(Races *r, const RaceTouch *t, uint32_t cell, const char *what, Epoch other,
                         uint32_t lane, bool init) {
    const SimAccess *a = t->access;
    RaceText m = race_text(r, t, cell, other, lane);
    sim_findings_add(r->findings, init ? SIM_FINDING_INIT : SIM_FINDING_PROXY, &a->at,
                     "'%s' of %s at %s, and %s of %s before it: no %s is between them "
                     "(%s)",
                     a->at.instr->name, m.mine, m.place, what, m.other,
                     init ? "fence.mbarrier_init" : "fence.proxy.async", m.where);
    return false;
}

bool race_check_proxy(Races *r, const RaceTouch *t, uint32_t cell, const char *what, Epoch other,
                      uint32_t lane) {
    bool global = t->access->space == SIM_SPACE_GLOBAL;
    if (!t->async || order_saw_proxied(r->order, t->actor, other, global)) return true;
    return report_proxy(r, t, cell, what, other, lane, false);
}

bool race_check_init(Races *r, const RaceTouch *t, uint32_t cell, Epoch m, uint32_t lane) {
    bool local = t->access->owner == t->access->at.rank && !t->async;
    if (local || order_saw_inited(r->order, t->actor, m)) return true;
    return report_proxy(r, t, cell, "the init", m, lane, true);
}

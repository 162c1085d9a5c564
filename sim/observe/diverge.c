// Barriers and collectives that some of their lanes do not reach together.
#include "sim/observe/observe.h"

typedef struct Diverge {
    SimObserver observer;
    SimFindings *findings;
} Diverge;

static void diverged(void *state, const SimDiverged *e) {
    Diverge *d = state;
    sim_findings_add(
        d->findings, SIM_FINDING_DIVERGED, &e->at,
        "'%s': lanes %08llx of warp %u (block %llu) are here, lanes %08llx are missing "
        "together",
        e->at.instr->name, (unsigned long long)e->mask, e->at.warp, (unsigned long long)e->at.block,
        (unsigned long long)e->expected);
}

const SimObserver *sim_observe_divergence(Arena *arena, SimFindings *f) {
    Diverge *d = arena_new(arena, Diverge, 1);
    d->findings = f;
    d->observer = (SimObserver){.state = d, .diverged = diverged};
    return &d->observer;
}

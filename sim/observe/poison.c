// Unwritten values that decide something.
#include "sim/observe/observe.h"

typedef struct Poison {
    SimObserver observer;
    SimFindings *findings;
} Poison;

static void poisoned(void *state, const SimPoison *p) {
#define UNKNOWN "a value that nothing has written, or that was not waited for, "
    static const char *const says[] = {
        UNKNOWN "is an address", UNKNOWN "decides a branch", UNKNOWN "is stored to global memory",
        UNKNOWN "selects lanes or a barrier",
        "another instruction wrote its result register before the wait for it"};
    Poison *o = state;
    sim_findings_add(o->findings, SIM_FINDING_POISON, &p->at,
                     "'%s': %s (lanes %08llx of warp %u, block %llu)", p->at.instr->name,
                     says[p->use], (unsigned long long)p->mask, p->at.warp,
                     (unsigned long long)p->at.block);
}

const SimObserver *sim_observe_poison(Arena *arena, SimFindings *f) {
    Poison *p = arena_new(arena, Poison, 1);
    p->findings = f;
    p->observer = (SimObserver){.state = p, .poison = true, .poisoned = poisoned};
    return &p->observer;
}

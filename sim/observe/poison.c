// Values that nobody wrote, where they decide something.
#include "sim/observe/observe.h"

typedef struct Poison {
    SimObserver observer;
    SimFindings *findings;
} Poison;

static void poisoned(void *state, const SimPoison *p) {
    static const char *const uses[] = {"is an address", "decides where the kernel goes",
                                       "is stored to global memory", "names lanes or a barrier"};
    Poison *o = state;
    sim_findings_add(o->findings, SIM_FINDING_POISON, &p->at,
                     "'%s': a value that nothing has written, or that was not waited for, %s "
                     "(lanes %08llx of warp %u, block %llu)",
                     p->at.instr->name, uses[p->use], (unsigned long long)p->mask, p->at.warp,
                     (unsigned long long)p->at.block);
}

const SimObserver *sim_observe_poison(Arena *arena, SimFindings *f) {
    Poison *p = arena_new(arena, Poison, 1);
    p->findings = f;
    p->observer = (SimObserver){.state = p, .poison = true, .poisoned = poisoned};
    return &p->observer;
}

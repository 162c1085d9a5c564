#include "sim/machine/warp.h"

void sim_poison_flow(SimWarp *w, const SimInstr *i) {
    uint32_t lanes = 0;
    for (uint32_t n = 0; n < i->reads; n++) lanes |= w->poison[i->registers[i->writes + n]];
    lanes &= w->mask;
    for (uint32_t n = 0; n < i->writes; n++) {
        uint32_t *to = &w->poison[i->registers[n]];
        *to = (*to & ~w->mask) | lanes;
    }
}

void sim_poison_check(SimWarp *w, const SimInstr *i, SimOperand o, SimPoisonUse use) {
    uint32_t lanes = sim_poison_of(w, o) & w->mask;
    if (!lanes) return;
    SimPoison p = {sim_place(w, i), use, lanes, o.number};
    SIM_TELL(w->run, poisoned, &p);
}

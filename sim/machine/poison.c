#include "sim/machine/warp.h"

void sim_poison_flow(SimWarp *w, const SimInstr *i) {
    uint64_t halves = 0, mask = sim_poison_halves(w->mask, w->mask);
    for (uint32_t n = 0; n < i->reads; n++) halves |= w->poison[i->registers[i->writes + n]];
    uint32_t any = sim_poison_any_half(halves);
    halves = sim_poison_halves(any, any) & mask;
    for (uint32_t n = 0; n < i->writes; n++) {
        uint64_t *to = &w->poison[i->registers[n]];
        *to = (*to & ~mask) | halves;
    }
}

void sim_poison_check(SimWarp *w, const SimInstr *i, SimOperand o, SimPoisonUse use) {
    uint32_t lanes = sim_poison_of(w, o) & w->mask;
    if (!lanes) return;
    SimPoison p = {sim_place(w, i), use, lanes, o.number};
    SIM_NOTIFY(w->run, poisoned, &p);
}

// A warp's way through the code: its fragments, where they part and where they meet.
//
//     while (sim_warp_turn(w, 4096)) …   // false: nothing could run
#ifndef TILEC_SIM_MACHINE_FLOW_H
#define TILEC_SIM_MACHINE_FLOW_H

#include "sim/machine/warp.h"

// Runs each fragment that can for up to `steps` instructions; whether any did.
bool sim_warp_turn(SimWarp *warp, uint32_t steps);

// A fragment that is at a barrier instruction (barrier.c): true when it goes on at once.
bool sim_barrier_arrive(SimWarp *warp, SimFragment *fragment, const SimInstr *instr, uint32_t mask);
// Lanes have ended: a barrier may be complete without them.
void sim_barriers_look(SimBlock *block);
// The fragment's lanes are at its pc, which may be where they meet others.
void sim_fragment_meet(SimWarp *warp, uint32_t index);

#endif

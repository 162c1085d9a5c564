// A warp's control flow: its fragments, and where they diverge and reconverge.
//
//     while (sim_warp_run(w, 4096)) …   // false: nothing could run
#ifndef TILEC_SIM_MACHINE_FLOW_H
#define TILEC_SIM_MACHINE_FLOW_H

#include "sim/machine/warp.h"

// Runs each fragment that can run, for up to `steps` instructions; returns whether any did.
bool sim_warp_run(SimWarp *warp, uint32_t steps);

// Called for a fragment at a barrier instruction (barrier.c): true when it continues at once.
bool sim_barrier_arrive(SimWarp *warp, SimFragment *fragment, const SimInstr *instr, uint32_t mask);
// Called when lanes have ended: a barrier may be complete without them.
void sim_barriers_check(SimBlock *block);
// Called when the fragment's lanes reach a pc where they may reconverge with others.
void sim_fragment_reconverge(SimWarp *warp, uint32_t index);

#endif

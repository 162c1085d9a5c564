// mbarrier: objects in shared memory that count arrivals and bytes.
//
// Invariants: the format of the 8 bytes is our own (mbarrier.c). A block lists its objects from
// their init until they are invalidated; any other use of them is a fault.
// Ownership: the block's list is freed with it.
//
//     sim_mbarrier_complete(w, i, block, address, bytes);   // a copy has landed
#ifndef TILEC_SIM_MACHINE_HOPPER_MBARRIER_H
#define TILEC_SIM_MACHINE_HOPPER_MBARRIER_H

#include "sim/machine/warp.h"

// Copied bytes have arrived for the object at `address` of the block; `w` issued the copy.
void sim_mbarrier_complete(SimWarp *w, const SimInstr *i, SimBlock *block, uint32_t address,
                           uint32_t bytes);
// Is there such an object? Else the launch has ended.
bool sim_mbarrier_exists(SimWarp *w, const SimInstr *i, const SimBlock *block, uint64_t address);
// Says which object the warp waits for, and what is missing there. `place`: follows the warp's
// number.
void sim_mbarrier_describe(const SimWarp *w, const char *place, char *text, size_t size);

#endif

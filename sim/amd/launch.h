// A launch of AMD code: what sim_run does for it.
//
// Invariants: memory that a launch needs for itself (arguments, packet) is freed at its end.
//
//     SimResult r = amd_run(&launch);   // launch.kernel is of a program of amd_read
#ifndef TILEC_SIM_AMD_LAUNCH_H
#define TILEC_SIM_AMD_LAUNCH_H

#include "sim/amd/wave.h"

SimResult amd_run(const SimLaunch *launch);
// What the machine takes each processor for; not from chips.def, which tests compare with it.
uint32_t amd_lds_most(uint32_t processor);  // bytes of one program
uint32_t amd_banks(uint32_t processor);
// The lanes in the order in which loads of 16 bytes serve them, group by group; NULL: in order.
const uint8_t *amd_loads16(uint32_t processor);
// All groups, one after another (run.c).
void amd_run_groups(AmdLaunch *run);

#endif

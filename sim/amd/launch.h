// A launch of AMD code: the part of sim_run for AMD.
//
// Invariants: memory that a launch allocates for itself (arguments, packet) is freed at its end.
//
//     SimResult r = amd_run(&launch);   // launch.kernel is of a program of amd_read
#ifndef TILEC_SIM_AMD_LAUNCH_H
#define TILEC_SIM_AMD_LAUNCH_H

#include "sim/amd/wave.h"

SimResult amd_run(const SimLaunch *launch);
// The machine's own limits of each processor. They do not come from chips.def, since tests compare
// the two.
uint32_t amd_max_lds(uint32_t processor);  // bytes of one program
uint32_t amd_banks(uint32_t processor);
// The order of lanes in which 16-byte loads are served, group by group; NULL: ascending.
const uint8_t *amd_loads16(uint32_t processor);
// Runs all workgroups, one after another (run.c).
void amd_run_groups(AmdLaunch *run);

#endif

// A launch of AMD code: what sim_run does for it.
//
// Invariants: memory that a launch needs for itself (arguments, packet) is freed at its end.
//
//     SimResult r = amd_run(&launch);   // launch.kernel is of a program of amd_read
#ifndef TILEC_SIM_AMD_LAUNCH_H
#define TILEC_SIM_AMD_LAUNCH_H

#include "sim/amd/wave.h"

SimResult amd_run(const SimLaunch *launch);
// All groups, one after another (run.c).
void amd_run_groups(AmdLaunch *run);

#endif

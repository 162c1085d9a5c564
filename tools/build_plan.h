// What `tilec build` is asked for: functions, from --set, --specialize and --kernels.
//
//     --set T=f16,bf16                 for every kernel that has it
//     --specialize 'matmul T=f16 BM=128,64'          one kernel; the values are in place of --set's
//     --specialize 'matmul_small=matmul T=f16 BM=64'  another function of it, by that name
//
// A function for each combination of types, named by them; of each its consts and options combine
// to alternatives, the first values first. Kernels that no --specialize names are built with --set
// alone. Invariants: every name and value is looked at before anything is compiled; what is wrong
// is reported. Ownership: the arena of the command line.
//
//     int status = build_plan_functions(cli, &plan);
#ifndef TILEC_TOOLS_BUILD_PLAN_H
#define TILEC_TOOLS_BUILD_PLAN_H

#include "compile/aot/build.h"
#include "tools/cli.h"

// Fills functions, in the order of their symbols, from the units.
int build_plan_functions(Cli *cli, BuildPlan *plan);
// And targets and the host's architecture.
int build_plan_targets(Cli *cli, BuildPlan *plan);
// The words that build the same, but for outputs and targets.
Str build_plan_command(Cli *cli, const BuildPlan *plan);

#endif

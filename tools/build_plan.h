// The functions that `tilec build` builds, from --set, --specialize and --kernels.
//
//     --set T=f16,bf16                 for every kernel that has it
//     --specialize 'matmul T=f16 BM=128,64'          one kernel; the values are in place of --set's
//     --specialize 'matmul_small=matmul T=f16 BM=64'  another function of it, by that name
//
// There is one function for each combination of types, which is part of its name. The consts and
// options of each function combine to alternatives, in the order of their values. Kernels that no
// --specialize names are built with --set alone. Invariants: every name and value is checked before
// anything is compiled; errors are reported. Ownership: the arena of the command line.
//
//     int status = build_plan_functions(cli, &plan);
#ifndef TILEC_TOOLS_BUILD_PLAN_H
#define TILEC_TOOLS_BUILD_PLAN_H

#include "compile/aot/build.h"
#include "tools/cli.h"

// Sets the functions, in the order of their symbols, from the units.
int build_plan_functions(Cli *cli, BuildPlan *plan);
// Sets the targets and the host's architecture.
int build_plan_targets(Cli *cli, BuildPlan *plan);
// The command that builds the same, without outputs and targets.
Str build_plan_command(Cli *cli, const BuildPlan *plan);

#endif

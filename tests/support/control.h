// Positive controls: kernels with one mistake, each next to the same kernel without it.
//
// Invariants: bodies are those of warp_kernel for sm_90a. The mistake must be found in one of eight
// orders of warps, and nothing in any order of the right kernel. The second parameter is 16 bytes
// of zeros.
//
//     static const WarpControl controls[] = {{wrong, right, SIM_FINDING_RACE, "a read", 64, 1, 1}};
//     warp_controls(controls, sizeof controls / sizeof *controls);
#ifndef TILEC_TESTS_SUPPORT_CONTROL_H
#define TILEC_TESTS_SUPPORT_CONTROL_H

#include "tests/support/warp.h"

typedef struct WarpControl {
    const char *wrong, *right;  // bodies
    SimFindingKind kind;        // SIM_FINDING_KINDS: the launch fails
    const char *text;           // part of the finding or of the failure
    uint32_t threads, blocks, cluster;
} WarpControl;

void warp_controls(const WarpControl *controls, size_t count);

#endif

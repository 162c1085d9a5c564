// Launch: from a caller's arguments to a packed block, a variant and a grid.
//
// Steps (launch_prepare): match each argument with its parameter (kind, dtype, rank, fit of
// scalars), check views (extents >= 0, strides, bounds and life of buffers, alignment), bind named
// extents and compare equal ones, choose the variant, check its requires, compute its grid, pack
// the block. Invariants: nothing is launched unless all that succeeded; every refusal names kernel,
// argument, expected and found. No allocation: everything is on the caller's LaunchPlan.
//
//     LaunchPlan plan;
//     tilec_status s = launch_prepare(ctx, meta, args, count, NULL, &plan);
#ifndef TILEC_RUNTIME_LAUNCH_H
#define TILEC_RUNTIME_LAUNCH_H

#include "runtime/context.h"

enum { LAUNCH_MAX_ARGS = 64 };

typedef struct LaunchPlan {
    uint32_t variant;
    int64_t grid[3];
    bool empty;  // the grid has no program: a success without a launch
    LaunchInput inputs[LAUNCH_MAX_ARGS];
    RtRange ranges[LAUNCH_MAX_ARGS];
    uint8_t block[LAUNCH_MAX_ARGS * 88] __attribute__((aligned(16)));
} LaunchPlan;

typedef struct LaunchOverride {
    int variant;
    int64_t grid[3];
} LaunchOverride;

// "a view", "an integer": what a refusal says of an argument that was found.
const char *launch_kind_text(tilec_arg_kind kind);
// Says how many arguments the kernel takes: the refusal.
tilec_status launch_wrong_count(tilec_context *context, Str name, size_t expected, size_t found);
tilec_status launch_prepare(tilec_context *context, tilec_device *device, const MetaKernel *meta,
                            const tilec_arg *args, size_t count, const LaunchOverride *override,
                            LaunchPlan *plan);
// A view's reach in bytes relative to its element 0: [*first, *last). False on overflow.
bool launch_view_reach(const tilec_view *view, int64_t *first, int64_t *last);

#endif

// Launch: from a caller's arguments to a packed block, a variant and a grid.
//
// Steps (launch_prepare): match each argument with its parameter (kind, dtype, rank, fit of
// scalars), check views (extents >= 0, strides, bounds and life of buffers, alignment), bind named
// extents and compare equal ones, choose the variant, check its requires, compute its grid, pack
// the block. Invariants: nothing is launched unless all that succeeded; every refusal names kernel,
// argument, expected and found. No allocation: everything is on the caller's LaunchPlan, in room
// that the caller has; and little stack, for threads that have little: room for LAUNCH_MAX_ARGS and
// for the longest launch code is taken only by kernels that need it.
//
//     LaunchRoom room;
//     LaunchPlan plan = launch_plan(&room);
//     tilec_status s = launch_prepare(ctx, device, meta, args, count, NULL, &plan);
#ifndef TILEC_RUNTIME_LAUNCH_H
#define TILEC_RUNTIME_LAUNCH_H

#include "runtime/context.h"
#include "runtime/values.h"

// LAUNCH_PACKED_ARG: of an argument in the block, at most.
enum { LAUNCH_MAX_ARGS = 64, LAUNCH_FEW_ARGS = 12, LAUNCH_PACKED_ARG = 88 };

typedef struct LaunchPlan {
    uint32_t variant;
    int64_t grid[3];
    bool empty;     // the grid has no program: a success without a launch
    uint32_t room;  // arguments that there is room for
    LaunchInput *inputs;
    RtRange *ranges;
    uint8_t *block;  // aligned to 16 bytes
} LaunchPlan;

// For any kernel.
typedef struct LaunchRoom {
    LaunchInput inputs[LAUNCH_MAX_ARGS];
    RtRange ranges[LAUNCH_MAX_ARGS];
    _Alignas(16) uint8_t block[LAUNCH_MAX_ARGS * LAUNCH_PACKED_ARG];
} LaunchRoom;

// For kernels of few arguments.
typedef struct LaunchCorner {
    LaunchInput inputs[LAUNCH_FEW_ARGS];
    RtRange ranges[LAUNCH_FEW_ARGS];
    _Alignas(16) uint8_t block[LAUNCH_FEW_ARGS * LAUNCH_PACKED_ARG];
} LaunchCorner;

static inline LaunchPlan launch_plan(LaunchRoom *r) {
    return (LaunchPlan){
        .room = LAUNCH_MAX_ARGS, .inputs = r->inputs, .ranges = r->ranges, .block = r->block};
}

static inline LaunchPlan launch_plan_small(LaunchCorner *r) {
    return (LaunchPlan){
        .room = LAUNCH_FEW_ARGS, .inputs = r->inputs, .ranges = r->ranges, .block = r->block};
}

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
// The bits of a number for a parameter; false: it is none, or does not fit.
bool launch_scalar(const MetaArg *arg, const RtNumber *from, uint64_t *bits);
// A view's reach in bytes relative to its element 0: [*first, *last). False on overflow.
bool launch_view_reach(const tilec_view *view, int64_t *first, int64_t *last);

#endif

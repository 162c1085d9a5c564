// Launch: from a caller's arguments to a packed block, a variant and a grid.
//
// Steps (launch_prepare): match each argument with its parameter (kind, dtype, rank, range of
// scalars); check views (extents >= 0, strides, bounds and lifetime of buffers, alignment); bind
// named extents and compare equal ones; choose the variant; check its requires; compute its grid;
// pack the block.
// Invariants: nothing is launched unless all steps succeed. Every refusal names the kernel, the
// argument, the expected and the actual value. No allocation: all data is in the caller's
// LaunchPlan and room. Little stack is used, because some threads have little: room for
// LAUNCH_MAX_ARGS and for the longest launch code is taken only by kernels that need it.
//
//     LaunchBuffers room;
//     LaunchPlan plan = launch_plan(&room);
//     tilec_status s = launch_prepare(ctx, device, meta, args, count, NULL, &plan);
#ifndef TILEC_RUNTIME_LAUNCH_H
#define TILEC_RUNTIME_LAUNCH_H

#include "runtime/context.h"
#include "runtime/values.h"

// LAUNCH_PACKED_ARG: the most bytes of one argument in the block.
enum { LAUNCH_MAX_ARGS = 64, LAUNCH_FEW_ARGS = 12, LAUNCH_PACKED_ARG = 88 };

typedef struct LaunchPlan {
    uint32_t variant;
    int64_t grid[3];
    bool empty;             // the grid has no programs: success without a launch
    bool unmapped;          // a variant was left out because the device has no tensor maps
    uint32_t arg_capacity;  // the number of arguments that fit
    LaunchInput *inputs;
    RtRange *ranges;
    uint8_t *block;  // aligned to 16 bytes
    // How many programs of a variant run at once, for grids that ask; NULL: 1.
    tilec_status (*units)(void *user, uint32_t variant, uint64_t *units);
    void *user;
} LaunchPlan;

// For any kernel.
typedef struct LaunchBuffers {
    LaunchInput inputs[LAUNCH_MAX_ARGS];
    RtRange ranges[LAUNCH_MAX_ARGS];
    _Alignas(16) uint8_t block[LAUNCH_MAX_ARGS * LAUNCH_PACKED_ARG];
} LaunchBuffers;

// For kernels of few arguments.
typedef struct LaunchBuffersSmall {
    LaunchInput inputs[LAUNCH_FEW_ARGS];
    RtRange ranges[LAUNCH_FEW_ARGS];
    _Alignas(16) uint8_t block[LAUNCH_FEW_ARGS * LAUNCH_PACKED_ARG];
} LaunchBuffersSmall;

static inline LaunchPlan launch_plan(LaunchBuffers *r) {
    return (LaunchPlan){.arg_capacity = LAUNCH_MAX_ARGS,
                        .inputs = r->inputs,
                        .ranges = r->ranges,
                        .block = r->block};
}

static inline LaunchPlan launch_plan_small(LaunchBuffersSmall *r) {
    return (LaunchPlan){.arg_capacity = LAUNCH_FEW_ARGS,
                        .inputs = r->inputs,
                        .ranges = r->ranges,
                        .block = r->block};
}

enum { LAUNCH_ANY_VARIANT = -1 };  // the one that a launch without an override would choose
typedef struct LaunchOverride {
    int variant;
    int64_t grid[3];
} LaunchOverride;

// "a view", "an integer": the text of a refusal for an actual argument.
const char *launch_kind_text(tilec_arg_kind kind);
// The refusal that says how many arguments the kernel takes.
tilec_status launch_wrong_count(tilec_context *context, Str name, size_t expected, size_t found);
// Arguments of None are left out if the kernel has fewer parameters.
tilec_status launch_prepare(tilec_context *context, tilec_device *device, const MetaKernel *meta,
                            const tilec_arg *args, size_t count, const LaunchOverride *override,
                            LaunchPlan *plan);
// Converts a number to the bits of a parameter; false: it has the wrong kind, or does not fit.
bool launch_scalar(const MetaArg *arg, const RtNumber *from, uint64_t *bits);
// The bytes that a view covers, relative to its element 0: [*first, *last). False on overflow.
bool launch_view_reach(const tilec_view *view, int64_t *first, int64_t *last);

#endif

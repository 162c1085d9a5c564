// Memos of successful launches: a similar later launch skips the checks whose results are known.
//
// The key of a memo is the arguments' shapes (element types, extents, strides, offsets, flags) and
// every property of addresses and numbers that the launch code read: low bits, which arrays are
// disjoint or the same, the values of scalars. If all those are equal, variant and grid are the
// same; a grid of the host's is taken as it is if it is small. Everything else is checked in each
// launch: that buffers are alive and long enough, NULL, alignment to the element, numbers that fit.
// Invariants: a recalled launch does exactly what the slow path would do. Anything uncertain is not
// recalled, so only the slow path refuses launches. One thread writes a memo while no thread reads
// it. A launch that does not come twice in a row is not stored.
// Ownership: the kernel. The memos are made at its first launch, unless there is no memory.
//
//     if (!launch_recall(kernel, &given, &plan, &loaded)) …    // take the slow path
//     launch_remember(kernel, &given, loaded, &plan, &before);
#ifndef TILEC_RUNTIME_LAUNCH_MEMO_H
#define TILEC_RUNTIME_LAUNCH_MEMO_H

#include "runtime/kernel.h"
#include "runtime/launch.h"

// A caller's arguments: `args`, or pointers to values and the parameters they are for.
typedef struct LaunchGiven {
    size_t count;
    const tilec_arg *args;  // NULL: `values`
    const void *const *values;
    const MetaKernel *meta;  // for `values`
    const int64_t *grid;     // the host's grid, on which the variant is chosen; NULL: the kernel's
} LaunchGiven;

// False: no memo fits this launch. The plan's extents and strides are not filled.
bool launch_recall(tilec_kernel *kernel, const LaunchGiven *given, LaunchPlan *plan,
                   const RtLoaded **loaded);
// The state in which a launch was prepared, read before its code was chosen.
typedef struct LaunchState {
    uint64_t buffers_gone;  // of the context
    uint32_t choices;       // of the kernel
} LaunchState;
LaunchState launch_state(tilec_kernel *kernel);
// Call it after launch_prepare, unless the host chose the variant.
void launch_remember(tilec_kernel *kernel, const LaunchGiven *given, const RtLoaded *loaded,
                     const LaunchPlan *plan, const LaunchState *before);
// Frees all memos; no thread may launch meanwhile.
void launch_memos_free(tilec_kernel *kernel);

#endif

// What a kernel remembers of launches that went well, so that one like them skips the checks whose
// answers are known.
//
// A memo is of the arguments' shapes (element types, extents, strides, offsets, flags) and of all
// that the launch code asked of addresses and numbers: low bits, which arrays are apart or the
// same, scalars that it reads. With those equal variant and grid are what they were. Everything
// else is looked at in each launch: that buffers live and are long enough, NULL, alignment to the
// element, numbers that fit. Invariants: what a recalled launch does the whole way would do, too;
// whatever is not sure is not recalled, so that only the whole way refuses; a memo is written by
// one thread while none reads it; what does not come twice in a row is not kept. Ownership: the
// kernel; made at its first launch, or none where there is no memory.
//
//     if (!launch_recall(kernel, &given, &plan, &loaded)) …    // the whole way, then
//     launch_remember(kernel, &given, loaded, &plan, gone);
#ifndef TILEC_RUNTIME_LAUNCH_MEMO_H
#define TILEC_RUNTIME_LAUNCH_MEMO_H

#include "runtime/kernel.h"
#include "runtime/launch.h"

// A caller's arguments: `args`, or where each value is and the parameters that they are for.
typedef struct LaunchGiven {
    size_t count;
    const tilec_arg *args;  // NULL: `values`
    const void *const *values;
    const MetaKernel *meta;  // of `values`
} LaunchGiven;

// False: nothing is known of such a launch. The plan's extents and strides are left alone.
bool launch_recall(tilec_kernel *kernel, const LaunchGiven *given, LaunchPlan *plan,
                   const RtLoaded **loaded);
// After launch_prepare without an override. `buffers_gone` is the context's, read before it.
void launch_remember(tilec_kernel *kernel, const LaunchGiven *given, const RtLoaded *loaded,
                     const LaunchPlan *plan, uint64_t buffers_gone);
// All of it: nobody launches meanwhile.
void launch_forget(tilec_kernel *kernel);

#endif

// Kernels as the runtime sees them: loaded code, or code that can still be made.
//
// A kernel whose types are all known has `loaded`. A kernel with open types uses `resolve` to find
// or make the code that fits the arguments (compile/ does that; kernels of an archive never need
// it). `prepare` makes a variant's module at the first launch that chooses it; later launches read
// one pointer.
// Invariants: results of `resolve` and `prepare` stay loaded until the kernel is destroyed; a
// module's pointer changes once, from NULL to its value.
// Ownership: the struct comes from recover_new; `source` belongs to the code that set the
// functions; `destroy` frees it and everything that was loaded.
//
//     RtModule *module;
//     tilec_status s = rt_kernel_module(kernel, loaded, plan.variant, &module);
#ifndef TILEC_RUNTIME_KERNEL_H
#define TILEC_RUNTIME_KERNEL_H

#include "runtime/device.h"

typedef _Atomic(RtModule *) RtModuleSlot;

typedef struct RtLoaded {
    RtModuleSlot *modules;  // one for each variant; NULL: not made yet
    const MetaKernel *meta;
} RtLoaded;

typedef struct RtKernelInfo RtKernelInfo;

struct tilec_kernel {
    RtOwned owned;  // in the device's list
    tilec_context *context;
    tilec_device *device;
    const char *name;          // lives as long as the source
    const RtLoaded *loaded;    // NULL while types are open
    const MetaKernel *params;  // how a built function takes its arguments; NULL: as `loaded` does
    _Atomic(struct LaunchMemos *) memos;    // runtime/launch_memo.h
    _Atomic(struct LaunchMapMemos *) maps;  // runtime/launch_maps.h
    bool of_library;        // the library destroys it; calls of its user to do so are ignored
    _Atomic bool by_shape;  // launches with the kernel's own grid call `resolve` even when it is
                            // loaded
    Arena *texts;           // texts returned by queries; NULL before the first one
    RtKernelInfo *info;
    const char *signature;  // of its C function
    void *function;         // the result of tilec_function, if it was called
    void (*function_destroy)(void *function);
    // `own_grid`: the launch computes its own grid, so consts may be chosen for the arguments.
    tilec_status (*resolve)(tilec_kernel *kernel, const tilec_arg *args, size_t count,
                            bool own_grid, const RtLoaded **loaded);
    // Called before `resolve` for launches with the kernel's own grid: measures which code is the
    // best for the arguments. `waits`: for other threads that measure. *settled becomes false if
    // the next launch must ask again. NULL: nothing is measured.
    tilec_status (*tune)(tilec_kernel *kernel, tilec_stream *stream, const tilec_arg *args,
                         size_t count, bool waits, bool *settled);
    _Atomic(uint32_t) choices;  // how often the choice of `resolve` changed; older memos are void
    // Makes the module of a variant that has none yet; threads may call it at the same time. NULL:
    // all modules exist.
    tilec_status (*prepare)(tilec_kernel *kernel, const RtLoaded *loaded, uint32_t variant,
                            RtModule **module);
    void (*destroy)(tilec_kernel *kernel);
    void *source;
};

// The module of a variant; it is made if it does not exist yet.
tilec_status rt_kernel_module(tilec_kernel *kernel, const RtLoaded *loaded, uint32_t variant,
                              RtModule **module);

// Lets the plan ask how many programs run at once; the room must outlive the plan's use.
typedef struct RtUnits {
    tilec_kernel *kernel;
    const RtLoaded *loaded;
} RtUnits;
struct LaunchPlan;
void rt_kernel_units(RtUnits *units, struct LaunchPlan *plan);

// Refuses a stream of another device.
tilec_status rt_kernel_other_device(const tilec_kernel *kernel, const tilec_stream *stream);

// The arena for texts of queries. The context's mutex must be held.
Arena *rt_kernel_texts(tilec_kernel *kernel);
// Its metadata, or NULL after an error that says that its types are still open.
const MetaKernel *rt_kernel_meta(tilec_kernel *kernel);

// Launches a loaded kernel; values[i] points to the value of argument i (runtime/values.h). For a
// function of a library without a grid of its own three int64_t follow: the caller's grid.
tilec_status rt_kernel_call(tilec_kernel *kernel, tilec_stream *stream, const void *const *values);

// Frees everything except the source: the first step of destroying a kernel.
void rt_kernel_end(tilec_kernel *kernel);
// Adds the kernel to its device's list.
void rt_kernel_adopt(tilec_kernel *kernel);

#endif

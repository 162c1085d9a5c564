// Kernels as the runtime sees them: something loaded, or something that can still be made.
//
// A kernel whose types are all known has `loaded`; one that leaves types open finds or makes what
// fits the arguments through `resolve` (compile/ does that; kernels of an archive never need it).
// A variant's module may be made at the first launch that chooses it, by `prepare`; a launch of a
// variant that is there reads one pointer. Invariants: what `resolve` and `prepare` returned stays
// loaded until the kernel is destroyed; a module's pointer goes from NULL to its value once.
// Ownership: the struct is of recover_new; `source` belongs to whoever set the functions; `destroy`
// frees it and what was loaded.
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
    RtOwned owned;  // by the device
    tilec_context *context;
    tilec_device *device;
    const char *name;                     // lives as long as the source
    const RtLoaded *loaded;               // NULL while types are open
    _Atomic(struct LaunchMemos *) memos;  // runtime/launch_memo.h
    bool of_library;  // which destroys it; its owner's calls to do so are passed over
    bool by_shape;    // launches with the kernel's own grid ask `resolve`, loaded or not
    Arena *texts;     // what questions about it were answered with; NULL before the first
    RtKernelInfo *info;
    const char *signature;  // of its C function
    void *function;         // what tilec_function made, if anything
    void (*function_destroy)(void *function);
    // `own_grid`: the launch computes its grid, so that consts may be chosen for the arguments.
    tilec_status (*resolve)(tilec_kernel *kernel, const tilec_arg *args, size_t count,
                            bool own_grid, const RtLoaded **loaded);
    // Makes the module of a variant that has none yet; any number of threads may ask at once. NULL:
    // all modules are there.
    tilec_status (*prepare)(tilec_kernel *kernel, const RtLoaded *loaded, uint32_t variant,
                            RtModule **module);
    void (*destroy)(tilec_kernel *kernel);
    void *source;
};

// The module of a variant, made when it is not there yet.
tilec_status rt_kernel_module(tilec_kernel *kernel, const RtLoaded *loaded, uint32_t variant,
                              RtModule **module);

// The arena of answers about it; the context's mutex is held.
Arena *rt_kernel_texts(tilec_kernel *kernel);
// Its metadata, or NULL after saying that its types are still open.
const MetaKernel *rt_kernel_meta(tilec_kernel *kernel);

// Launches a kernel that is loaded; values[i] is where the value of argument i is
// (runtime/values.h).
tilec_status rt_kernel_call(tilec_kernel *kernel, tilec_stream *stream, const void *const *values);

// What it has beside its source goes: the first step of destroying one.
void rt_kernel_end(tilec_kernel *kernel);
// The kernel belongs to its device from here on.
void rt_kernel_adopt(tilec_kernel *kernel);

#endif

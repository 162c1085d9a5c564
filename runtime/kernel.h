// Kernels as the runtime sees them: something loaded, or something that can still be made.
//
// A kernel whose types are all known has `loaded`; one that leaves types open finds or makes what
// fits the arguments through `resolve` (compile/ does that; kernels of an archive never need it).
// Invariants: what `resolve` returned stays loaded until the kernel is destroyed.
// Ownership: `source` belongs to whoever set the functions; `destroy` frees it and what was loaded.
#ifndef TILEC_RUNTIME_KERNEL_H
#define TILEC_RUNTIME_KERNEL_H

#include "runtime/device.h"

typedef struct RtLoaded {
    RtModule *module;
    const MetaKernel *meta;
} RtLoaded;

struct tilec_kernel {
    RtOwned owned;  // by the device
    tilec_context *context;
    tilec_device *device;
    const RtLoaded *loaded;  // NULL while types are open
    tilec_status (*resolve)(tilec_kernel *kernel, const tilec_arg *args, size_t count,
                            const RtLoaded **loaded);
    void (*destroy)(tilec_kernel *kernel);
    void *source;
};

// The kernel belongs to its device from here on.
void rt_kernel_adopt(tilec_kernel *kernel);

#endif

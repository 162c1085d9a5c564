// Types of what drivers of GPUs give and take, as far as we use them: ours, so that nothing of a
// vendor's is needed to build.
//
// NVIDIA's driver and AMD's HIP have the same calls under other names (driver.def). A handle is a
// pointer to either, an address of the device is a number of 64 bits to the one and a pointer to
// the other, and an enumeration is `unsigned`: in the ABI of every system where the two exist these
// are the same. Invariants: driver.def means the same with these types and with the vendors'
// headers (tests/runtime/test_cuda_header.c and test_hip_header.c compare them where they are
// installed). Nobody includes this file and a vendor's header both. Ownership: plain values.
//
//     GpuAddress p;
//     GpuResult r = driver->mem_alloc(&p, 4096);
#ifndef TILEC_RUNTIME_GPU_TYPES_H
#define TILEC_RUNTIME_GPU_TYPES_H

#include <stddef.h>

typedef unsigned GpuResult;  // 0: success, with all vendors
typedef int GpuNumber;       // of a device
typedef unsigned long long GpuAddress;
typedef struct GpuContextOf *GpuContext;  // NVIDIA's
typedef struct GpuModuleOf *GpuModule;
typedef struct GpuFunctionOf *GpuFunction;
typedef struct GpuStreamOf *GpuStreamHandle;
typedef struct GpuEventOf *GpuEvent;
typedef unsigned GpuAttribute;
typedef unsigned GpuFunctionAttribute;
typedef unsigned GpuPointerAttribute;
typedef unsigned GpuJitOption;
typedef void GpuProperties;  // AMD's; runtime/hip/device.c knows what it needs of them

_Static_assert(sizeof(GpuAddress) == sizeof(void *), "a pointer to AMD's HIP");

// A launch with attributes: as NVIDIA's cuLaunchKernelEx has it.
typedef struct GpuLaunchAttribute {
    unsigned id;
    unsigned pad;
    union {
        unsigned cluster[3];
        char room[64];
    } value;
} GpuLaunchAttribute;
typedef struct GpuLaunchConfig {
    unsigned gridDimX, gridDimY, gridDimZ;
    unsigned blockDimX, blockDimY, blockDimZ;
    unsigned sharedMemBytes;
    GpuStreamHandle hStream;
    GpuLaunchAttribute *attrs;
    unsigned numAttrs;
} GpuLaunchConfig;
_Static_assert(sizeof(GpuLaunchAttribute) == 72 && offsetof(GpuLaunchAttribute, value) == 8 &&
                   sizeof(GpuLaunchConfig) == 56 && offsetof(GpuLaunchConfig, hStream) == 32 &&
                   offsetof(GpuLaunchConfig, attrs) == 40 &&
                   offsetof(GpuLaunchConfig, numAttrs) == 48,
               "as cuda.h has it (tests/runtime/test_cuda_header.c)");

#endif

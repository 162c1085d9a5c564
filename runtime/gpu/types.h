// Types of the GPU drivers' interfaces, as far as we use them. They are our own, so that the build
// needs no vendor's headers.
//
// NVIDIA's driver and AMD's HIP have the same calls under different names (driver.def). A handle is
// a pointer in both. A device address is a 64-bit number in one and a pointer in the other. An
// enumeration is `unsigned`. In the ABI of every system on which both exist these are the same.
// Invariants: driver.def means the same with these types and with the vendors' headers
// (tests/runtime/test_cuda_header.c and test_hip_header.c compare them where they are installed).
// No file includes both this header and a vendor's.
// Ownership: plain values.
//
//     GpuAddress p;
//     GpuResult r = driver->mem_alloc(&p, 4096);
#ifndef TILEC_RUNTIME_GPU_TYPES_H
#define TILEC_RUNTIME_GPU_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef unsigned GpuResult;  // 0: success, for all vendors
typedef int GpuNumber;       // number of a device
typedef unsigned long long GpuAddress;
typedef struct GpuContextOf *GpuContext;  // only for NVIDIA
typedef struct GpuModuleOf *GpuModule;
typedef struct GpuFunctionOf *GpuFunction;
typedef struct GpuStreamOf *GpuStreamHandle;
typedef struct GpuEventOf *GpuEvent;
typedef unsigned GpuAttribute;
typedef unsigned GpuFunctionAttribute;
typedef unsigned GpuPointerAttribute;
typedef unsigned GpuJitOption;
typedef unsigned GpuCaptureStatus;  // 0: not captured
typedef void (*GpuHostFunction)(void *data);
// Only for NVIDIA: the driver's bytes of a tensor map, and numbers of target/gpu_map.h.
typedef void GpuTensorMap;
typedef unsigned GpuTensorType;
typedef unsigned GpuTensorInterleave;
typedef unsigned GpuTensorSwizzle;
typedef unsigned GpuTensorPromotion;
typedef unsigned GpuTensorFill;
typedef void GpuProperties;  // only for AMD; runtime/hip/device.c knows the parts it needs

_Static_assert(sizeof(GpuAddress) == sizeof(void *), "a pointer to AMD's HIP");

// A launch with attributes, in the layout of NVIDIA's cuLaunchKernelEx.
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

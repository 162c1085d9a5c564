// The device `cuda`: NVIDIA GPUs through their driver, which is opened when it is needed.
//
// Names: "cuda" (the first device), "cuda:N". The device's primary context is used, the one that
// other libraries of the process use, too; what context the calling thread had is its again when a
// call returns. Images are PTX (RtPtxImage) or machine code (RtCubinImage) of one variant. A
// launch's parameters are the block of arguments and behind it a GpuTail (base/gpu_abi.h), for
// kernels that assert or print. Invariants: a kernel's failed assert is kept by the
// stream until it is synchronised; a fault of the device is for good: every later call says so.
// Ownership: images are copied by module_load.
//
//     RtPtxImage ptx = {.text = text, .entry = STR("add")};
//     api->module_load(device, &(RtImage){RT_IMAGE_PTX, &ptx, sizeof ptx}, &module);
#ifndef TILEC_RUNTIME_CUDA_DEVICE_H
#define TILEC_RUNTIME_CUDA_DEVICE_H

#include "runtime/device.h"

// RT_IMAGE_CUBIN: for one architecture. A device of another one takes the PTX, if there is any.
typedef struct RtCubinImage {
    Str bytes;
    Str entry;
    Str ptx;
} RtCubinImage;

extern const RtDeviceApi cuda_device_api;

#endif

// The device `cuda`: NVIDIA GPUs through their driver, which is loaded on first use.
//
// Names: "cuda" (the first device), "cuda:N". The device uses the GPU's primary context, like other
// libraries of the process; each call restores the calling thread's context. Images are PTX
// (RtPtxImage) or machine code (RtCubinImage) of one variant. The parameters of a launch are the
// argument block, followed by a GpuTail (base/gpu_abi.h) for kernels that assert or print.
// Invariants: the stream keeps a kernel's failed assert until it is synchronised. A fault of the
// device is permanent: every later call reports it.
// Ownership: module_load copies images.
//
//     RtPtxImage ptx = {.text = text, .entry = STR("add")};
//     api->module_load(device, &(RtImage){RT_IMAGE_PTX, &ptx, sizeof ptx}, &module);
#ifndef TILEC_RUNTIME_CUDA_DEVICE_H
#define TILEC_RUNTIME_CUDA_DEVICE_H

#include "runtime/device.h"

// RT_IMAGE_CUBIN: for one architecture. A device of another one uses the PTX, if there is any.
typedef struct RtCubinImage {
    Str bytes;
    Str entry;
    Str ptx;
} RtCubinImage;

extern const RtDeviceApi cuda_device_api;

#endif

// The device `hip`: AMD GPUs through HIP, which is loaded on first use.
//
// Names: "hip" (the first device), "hip:N"; HIP counts the devices that HIP_VISIBLE_DEVICES lets
// through. Each call restores the calling thread's device. Images are code objects (RT_IMAGE_HSACO,
// an RtPtxImage with the object's bytes) for exactly this processor. The parameters of a launch are
// the argument block, followed by a GpuTail (base/gpu_abi.h) for kernels that assert or print.
// Invariants: those of `cuda` (runtime/cuda/device.h).
// Ownership: module_load copies images.
//
//     RtPtxImage object = {.text = bytes, .entry = STR("add")};
//     api->module_load(device, &(RtImage){RT_IMAGE_HSACO, &object, sizeof object}, &module);
#ifndef TILEC_RUNTIME_HIP_DEVICE_H
#define TILEC_RUNTIME_HIP_DEVICE_H

#include "runtime/device.h"

extern const RtDeviceApi hip_device_api;

#endif

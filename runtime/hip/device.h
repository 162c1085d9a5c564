// The device `hip`: AMD's GPUs through HIP, which is opened when it is needed.
//
// Names: "hip" (the first device), "hip:N"; HIP counts those that HIP_VISIBLE_DEVICES leaves. What
// device the calling thread had is its again when a call returns. Images are code objects
// (RT_IMAGE_HSACO, an RtPtxImage with the object's bytes) for the very processor. A launch's
// parameters are the block of arguments and behind it a GpuTail (base/gpu_abi.h), for kernels
// that assert or print. Invariants: as of `cuda` (runtime/cuda/device.h).
// Ownership: images are copied by module_load.
//
//     RtPtxImage object = {.text = bytes, .entry = STR("add")};
//     api->module_load(device, &(RtImage){RT_IMAGE_HSACO, &object, sizeof object}, &module);
#ifndef TILEC_RUNTIME_HIP_DEVICE_H
#define TILEC_RUNTIME_HIP_DEVICE_H

#include "runtime/device.h"

extern const RtDeviceApi hip_device_api;

#endif

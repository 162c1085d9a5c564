// Shared by the files of the device `cuda`: NVIDIA's side of runtime/gpu.
//
// Invariants: those of runtime/gpu/state.h.
// Ownership: static tables.
//
//     tilec_status s = gpu_driver_open(context, &cuda_backend, &driver);
#ifndef TILEC_RUNTIME_CUDA_STATE_H
#define TILEC_RUNTIME_CUDA_STATE_H

#include "runtime/cuda/numbers.h"
#include "runtime/gpu/state.h"

extern const GpuBackend cuda_backend;
GpuErrorInfo cuda_code(GpuResult code);

// module.c
tilec_status cuda_load(tilec_device *device, Arena *arena, const RtImage *image, RtModule *module);

// maps.c
bool cuda_has_maps(const tilec_device *device);
tilec_status cuda_encode_map(tilec_device *device, const GpuMapFacts *facts, void *map);

// launch.c
tilec_status cuda_allow(const tilec_device *device, const RtLaunch *launch);
tilec_status cuda_launch(const tilec_device *device, const RtLaunch *launch,
                         GpuLaunchConfig *config, GpuParams params);

#endif

// Shared by the files of the device `hip`: HIP's side of runtime/gpu.
//
// Invariants: those of runtime/gpu/state.h.
// Ownership: static tables.
//
//     tilec_status s = gpu_driver_open(context, &hip_backend, &driver);
#ifndef TILEC_RUNTIME_HIP_STATE_H
#define TILEC_RUNTIME_HIP_STATE_H

#include "runtime/gpu/state.h"
#include "runtime/hip/numbers.h"

extern const GpuBackend hip_backend;
GpuErrorInfo hip_code(GpuResult code);
void hip_version_text(int version, StrBuf *out);  // "HIP 5.2.21153"

// module.c
tilec_status hip_load(tilec_device *device, Arena *arena, const RtImage *image, RtModule *module);
// The newest version of code objects that HIP of this version reads.
uint32_t hip_object_newest(int version);

#endif

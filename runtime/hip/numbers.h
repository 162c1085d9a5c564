// Numbers and error codes of HIP. They are our own copies, so that the build does not need ROCm.
//
// Invariants: the values are those of HIP's headers (tests/runtime/test_hip_header.c compares them
// where they are installed). No file includes both this header and HIP's.
// Ownership: none.
//
//     if (r == hipErrorNotReady) …
#ifndef TILEC_RUNTIME_HIP_NUMBERS_H
#define TILEC_RUNTIME_HIP_NUMBERS_H

enum {
#define GPU_CODE(name, value, kind, help) name = value,
#include "runtime/hip/code.def"
#undef GPU_CODE
};
enum {
#define HIP_NUMBER(name, value) name = value,
#include "runtime/hip/number.def"
#undef HIP_NUMBER
};

// The offset of the processor's name in the properties of a device: in hipDeviceProp_t of HIP 5,
// and in the different struct of HIP 6 and later (hipDeviceProp_tR0600).
enum {
    HIP_PROPERTIES_NAME_5 = 396,
    HIP_PROPERTIES_NAME_6 = 1160,
    HIP_PROPERTIES_NAME_SIZE = 256,
    HIP_PROPERTIES_BYTES_MAX = 4096  // larger than either, with room for later versions
};

#endif

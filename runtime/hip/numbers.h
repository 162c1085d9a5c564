// Numbers and error codes of HIP: ours, so that nothing of ROCm is needed to build.
//
// Invariants: the values are those of HIP's headers (tests/runtime/test_hip_header.c compares them
// where they are installed). Nobody includes this file and those headers both. Ownership: none.
//
//     if (r == hipErrorNotReady) …
#ifndef TILEC_RUNTIME_HIP_NUMBERS_H
#define TILEC_RUNTIME_HIP_NUMBERS_H

enum {
#define GPU_CODE(name, value, way, help) name = value,
#include "runtime/hip/code.def"
#undef GPU_CODE
};
enum {
#define HIP_NUMBER(name, value) name = value,
#include "runtime/hip/number.def"
#undef HIP_NUMBER
};

// Where the properties of a device have its processor's name: hipDeviceProp_t of HIP 5, and the one
// of HIP 6 and later (hipDeviceProp_tR0600), which is another.
enum {
    HIP_PROPERTIES_NAME_5 = 396,
    HIP_PROPERTIES_NAME_6 = 1160,
    HIP_PROPERTIES_NAME_SIZE = 256,
    HIP_PROPERTIES_ROOM = 4096  // larger than either, and than what may come
};

#endif

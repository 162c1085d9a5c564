// Numbers and error codes of NVIDIA's driver. They are our own copies, so that the build does not
// need CUDA.
//
// Invariants: the values are those of cuda.h (tests/runtime/test_cuda_header.c compares them where
// it is installed). No file includes both this header and cuda.h.
// Ownership: none.
//
//     if (r == CUDA_ERROR_NOT_READY) …
#ifndef TILEC_RUNTIME_CUDA_NUMBERS_H
#define TILEC_RUNTIME_CUDA_NUMBERS_H

enum {
#define GPU_CODE(name, value, kind, help) name = value,
#include "runtime/cuda/code.def"
#undef GPU_CODE
};
enum {
#define CUDA_NUMBER(name, value) name = value,
#include "runtime/cuda/number.def"
#undef CUDA_NUMBER
};

#endif

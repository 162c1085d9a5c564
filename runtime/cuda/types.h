// Types and numbers of NVIDIA's driver interface, as far as we use them: ours, so that nothing of
// CUDA is needed to build.
//
// Names and layouts are those of the interface; enumerations of it are `unsigned` here, which they
// are in the ABI. Invariants: driver.def and code.def mean the same with these types and with the
// toolkit's cuda.h (tests/runtime/test_cuda_header.c compares them where it is installed). Nobody
// includes this file and cuda.h both.
//
//     CUdeviceptr p;
//     CUresult r = driver->mem_alloc(&p, 4096);
#ifndef TILEC_RUNTIME_CUDA_TYPES_H
#define TILEC_RUNTIME_CUDA_TYPES_H

#include <stddef.h>

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef unsigned CUresult;
typedef unsigned CUdevice_attribute;
typedef unsigned CUfunction_attribute;
typedef unsigned CUpointer_attribute;
typedef unsigned CUjit_option;

// A launch with attributes: as cuLaunchKernelEx has it.
typedef struct CUlaunchAttribute {
    unsigned id;
    unsigned pad;
    union {
        unsigned cluster[3];
        char room[64];
    } value;
} CUlaunchAttribute;
typedef struct CUlaunchConfig {
    unsigned gridDimX, gridDimY, gridDimZ;
    unsigned blockDimX, blockDimY, blockDimZ;
    unsigned sharedMemBytes;
    CUstream hStream;
    CUlaunchAttribute *attrs;
    unsigned numAttrs;
} CUlaunchConfig;
_Static_assert(sizeof(CUlaunchAttribute) == 72 && offsetof(CUlaunchAttribute, value) == 8 &&
                   sizeof(CUlaunchConfig) == 56 && offsetof(CUlaunchConfig, hStream) == 32 &&
                   offsetof(CUlaunchConfig, attrs) == 40 &&
                   offsetof(CUlaunchConfig, numAttrs) == 48,
               "as cuda.h has it (tests/runtime/test_cuda_header.c)");

enum {
#define CUDA_CODE(name, value, way, help) CUDA_##name = value,
#include "runtime/cuda/code.def"
#undef CUDA_CODE
};
enum {
#define CUDA_NUMBER(name, value) name = value,
#include "runtime/cuda/number.def"
#undef CUDA_NUMBER
};

#endif

// Our prototypes and numbers of the driver's interface against those of NVIDIA's toolkit.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#ifdef TEST_HAS_CUDA
#include <cuda.h>

#include "target/gpu_map.h"

typedef CUresult GpuResult;
typedef CUdevice GpuNumber;
typedef CUdeviceptr GpuAddress;
typedef CUcontext GpuContext;
typedef CUmodule GpuModule;
typedef CUfunction GpuFunction;
typedef CUstream GpuStreamHandle;
typedef CUevent GpuEvent;
typedef CUdevice_attribute GpuAttribute;
typedef CUfunction_attribute GpuFunctionAttribute;
typedef CUpointer_attribute GpuPointerAttribute;
typedef CUjit_option GpuJitOption;
typedef CUhostFn GpuHostFunction;
typedef CUstreamCaptureStatus GpuCaptureStatus;
#if CUDA_VERSION >= 11080
typedef CUlaunchConfig GpuLaunchConfig;
#endif
typedef CUtensorMap GpuTensorMap;  // of CUDA 12.0
typedef CUtensorMapDataType GpuTensorType;
typedef CUtensorMapInterleave GpuTensorInterleave;
typedef CUtensorMapSwizzle GpuTensorSwizzle;
typedef CUtensorMapL2promotion GpuTensorPromotion;
typedef CUtensorMapFloatOOBfill GpuTensorFill;

// The macros of cuda.h lead from a plain name to the version of today; ours are named in full.
#define CUDA_CALL(name, symbol, params)                                               \
    _Static_assert(__builtin_types_compatible_p(__typeof__(symbol), CUresult params), \
                   "another prototype: " #symbol);
#define GPU_CALL(name, cuda, hip, params) CUDA_CALL(name, cuda, params)
#define HIP_CALL(name, symbol, params)
#include "runtime/gpu/driver.def"
#undef CUDA_CALL
#undef GPU_CALL
#undef HIP_CALL

#define GPU_CODE(name, value, way, help) \
    _Static_assert((int)name == value, "another value: " #name);
#include "runtime/cuda/code.def"
#undef GPU_CODE

#define CUDA_NUMBER(name, value) _Static_assert((int)name == value, "another value: " #name);
#include "runtime/cuda/number.def"
#undef CUDA_NUMBER

#define UNSIGNED(type)                                                     \
    _Static_assert(__builtin_types_compatible_p(unsigned, type) ||         \
                       (sizeof(type) == sizeof(unsigned) && (type)-1 > 0), \
                   #type)
UNSIGNED(CUresult);
UNSIGNED(CUdevice_attribute);
UNSIGNED(CUfunction_attribute);
UNSIGNED(CUpointer_attribute);
UNSIGNED(CUjit_option);
UNSIGNED(CUtensorMapDataType);
UNSIGNED(CUtensorMapInterleave);
UNSIGNED(CUtensorMapSwizzle);
UNSIGNED(CUtensorMapL2promotion);
UNSIGNED(CUtensorMapFloatOOBfill);
_Static_assert(sizeof(CUtensorMap) == GPU_MAP_BYTES, "");
#define SAME(ours, theirs) _Static_assert((int)GPU_MAP_##ours == (int)CU_TENSOR_MAP_##theirs, "")
SAME(U8, DATA_TYPE_UINT8);
SAME(U16, DATA_TYPE_UINT16);
SAME(U32, DATA_TYPE_UINT32);
SAME(S32, DATA_TYPE_INT32);
SAME(U64, DATA_TYPE_UINT64);
SAME(S64, DATA_TYPE_INT64);
SAME(F16, DATA_TYPE_FLOAT16);
SAME(F32, DATA_TYPE_FLOAT32);
SAME(F64, DATA_TYPE_FLOAT64);
SAME(BF16, DATA_TYPE_BFLOAT16);
SAME(TF32, DATA_TYPE_TFLOAT32);
SAME(SWIZZLE_NONE, SWIZZLE_NONE);
SAME(SWIZZLE_32, SWIZZLE_32B);
SAME(SWIZZLE_64, SWIZZLE_64B);
SAME(SWIZZLE_128, SWIZZLE_128B);
// Numbers that runtime/cuda/maps.c computes.
_Static_assert(CU_TENSOR_MAP_L2_PROMOTION_L2_64B == 1 && CU_TENSOR_MAP_L2_PROMOTION_L2_256B == 3 &&
                   CU_TENSOR_MAP_INTERLEAVE_NONE == 0 && CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE == 0 &&
                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA == 1,
               "");
_Static_assert(__builtin_types_compatible_p(CUdevice, int), "CUdevice");
_Static_assert(__builtin_types_compatible_p(CUdeviceptr, unsigned long long), "CUdeviceptr");
#if CUDA_VERSION >= 11080
// The layout of runtime/gpu/types.h, which cannot be included together with cuda.h.
_Static_assert(sizeof(CUlaunchAttribute) == 72 && offsetof(CUlaunchAttribute, value) == 8, "");
_Static_assert(offsetof(CUlaunchAttribute, value.clusterDim.z) == 16, "");
_Static_assert(sizeof(CUlaunchConfig) == 56 && offsetof(CUlaunchConfig, sharedMemBytes) == 24, "");
_Static_assert(offsetof(CUlaunchConfig, hStream) == 32 && offsetof(CUlaunchConfig, attrs) == 40,
               "");
_Static_assert(offsetof(CUlaunchConfig, numAttrs) == 48, "");
#endif
#endif

static void compares(void **state) {
    (void)state;
#ifdef TEST_HAS_CUDA
    printf("compared with cuda.h of CUDA %d.%d\n", CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10);
#else
    printf("skipped: cuda.h of NVIDIA's toolkit is not installed\n");
    skip();
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(compares)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

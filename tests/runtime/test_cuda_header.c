// Our prototypes and numbers of the driver's interface against those of NVIDIA's toolkit.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#ifdef TEST_HAS_CUDA
#include <cuda.h>

// The macros of cuda.h lead from a plain name to the version of today; ours are named in full.
#define CUDA_CALL(name, symbol, params)                                               \
    _Static_assert(__builtin_types_compatible_p(__typeof__(symbol), CUresult params), \
                   "another prototype: " #symbol);
#include "runtime/cuda/driver.def"
#undef CUDA_CALL

#define CUDA_CODE(name, value, way, help) \
    _Static_assert((int)CUDA_##name == value, "another value: " #name);
#include "runtime/cuda/code.def"
#undef CUDA_CODE

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
_Static_assert(__builtin_types_compatible_p(CUdevice, int), "CUdevice");
_Static_assert(__builtin_types_compatible_p(CUdeviceptr, unsigned long long), "CUdeviceptr");
#if CUDA_VERSION >= 11080
// As runtime/cuda/types.h has it, which cannot be included beside cuda.h.
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

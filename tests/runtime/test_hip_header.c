// Our prototypes, numbers and offsets of HIP's interface against those of its headers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#ifdef TEST_HAS_HIP
#define __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_HCC__  // as HIP 5 called it
#include <hip/hip_runtime_api.h>

typedef hipError_t GpuResult;
typedef hipDevice_t GpuNumber;
typedef hipDeviceptr_t GpuAddress;
typedef hipModule_t GpuModule;
typedef hipFunction_t GpuFunction;
typedef hipStream_t GpuStreamHandle;
typedef hipEvent_t GpuEvent;
typedef hipDeviceAttribute_t GpuAttribute;
typedef hipPointer_attribute GpuPointerAttribute;
typedef hipJitOption GpuJitOption;
typedef hipDeviceProp_t GpuProperties;

#define SAME(symbol, type, params)                                                \
    _Static_assert(__builtin_types_compatible_p(__typeof__(symbol), type params), \
                   "another prototype: " #symbol);
#define GPU_CALL(name, cuda, hip, params) SAME(hip, hipError_t, params)
#define HIP_CALL(name, symbol, params) SAME(symbol, hipError_t, params)
#define GPU_CONST_ADDRESS const void *
#define GPU_WORD int
#define GPU_CALL_NEWER(name, cuda, hip, params)
#define HIP_CALL_NEWER(name, symbol, params)
#define HIP_CALL_TEXT(name, symbol, params) SAME(symbol, const char *, params)
#define CUDA_CALL(name, symbol, params)
#if HIP_VERSION < 60300000
#define GPU_SOURCE  // const came later
#endif
#include "runtime/gpu/driver.def"
#undef GPU_CALL
#undef HIP_CALL
#undef CUDA_CALL

// Older headers have fewer codes, and what they lack is none of theirs.
#define GPU_CODE(name, value, way, help) \
    _Static_assert((int)name == value, "another value: " #name);
#include "runtime/hip/code.def"
#undef GPU_CODE

#define UNSIGNED(type) \
    _Static_assert(sizeof(type) == sizeof(unsigned) && (type)-1 > 0, "an enumeration: " #type);
UNSIGNED(hipError_t)
UNSIGNED(hipDeviceAttribute_t)
UNSIGNED(hipPointer_attribute)
UNSIGNED(hipJitOption)
_Static_assert(__builtin_types_compatible_p(hipDevice_t, int), "a device");
_Static_assert(__builtin_types_compatible_p(hipDeviceptr_t, void *), "an address");

// The values of runtime/hip/numbers.h, which cannot be included together with HIP's headers.
#if HIP_VERSION_MAJOR < 6
_Static_assert(offsetof(hipDeviceProp_t, gcnArchName) == 396, "of HIP 5");
#else
_Static_assert(offsetof(hipDeviceProp_t, gcnArchName) == 1160, "of HIP 6 and later");
#endif
_Static_assert(sizeof(hipDeviceProp_t) <= 4096, "the room for it");
#endif

static void compares(void **state) {
    (void)state;
#ifdef TEST_HAS_HIP
#define HIP_NUMBER(name, value) assert_int_equal((uintptr_t)name, value);  // some are pointers
#include "runtime/hip/number.def"
#undef HIP_NUMBER
    printf("compared with the headers of HIP %d.%d\n", HIP_VERSION_MAJOR, HIP_VERSION_MINOR);
#else
    printf("skipped: HIP's headers are not installed: apt-get install libamdhip64-dev\n");
    skip();
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(compares)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Functions: a kernel as a plain C function.
//
// function.c decides what the function's parameters are and turns a call's values into arguments of
// a launch; function_ffi.c makes the code that is called, by libffi, and is the only file that
// knows it. Invariants: parameters are in the order that tilec.h states; an extent is a parameter
// where it is first mentioned. Ownership: a FunctionPlan lives in the arena given.
//
//     FunctionPlan *plan = function_plan(arena, meta);
//     function_arguments(plan, values, args);      // values[i] points at parameter i
#ifndef TILEC_COMPILE_JIT_FUNCTION_H
#define TILEC_COMPILE_JIT_FUNCTION_H

#include "runtime/kernel.h"

typedef enum FunctionValue {
    VALUE_SCALAR,
    VALUE_POINTER,
    VALUE_EXTENT,
    VALUE_STRIDE
} FunctionValue;

typedef struct FunctionParam {
    FunctionValue value;
    uint32_t arg;        // whose it is
    uint32_t dimension;  // of an extent or stride
    const char *text;    // as C declares it: "const float *x"
} FunctionParam;

typedef struct FunctionPlan {
    const MetaKernel *meta;
    uint32_t count;
    FunctionParam *params;
} FunctionPlan;

FunctionPlan *function_plan(Arena *arena, const MetaKernel *meta);
// `args` has room for every argument of the kernel.
void function_arguments(const FunctionPlan *plan, const void *const *values, tilec_arg *args);
// Launches on the device's first stream and waits.
tilec_status function_call(tilec_kernel *kernel, const FunctionPlan *plan,
                           const void *const *values);

// Makes the code; NULL on success, else why there is none. The plan lives as long as the function.
typedef struct FunctionCode FunctionCode;
const char *function_code_create(tilec_kernel *kernel, const FunctionPlan *plan,
                                 FunctionCode **code);
void function_code_destroy(void *code);
tilec_function_pointer function_code_pointer(const FunctionCode *code);

// How C spells a scalar by value, what a pointer leads to, and a parameter's name, which gets a '_'
// when it is a keyword.
const char *function_c_scalar(Dtype type);
const char *function_c_element(Dtype type);
const char *function_c_name(Arena *arena, Str name);
// A name for the linker: it gets a '_', too, when it is one of the C library's or of tilec's.
const char *function_c_symbol(Arena *arena, Str name);

#endif

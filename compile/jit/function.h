// Functions: a kernel as a plain C function.
//
// function.c decides which parameters the function has and converts a call's values to arguments of
// a launch; function_ffi.c makes the code that is called, with libffi, and is the only file that
// uses it. Invariants: parameters are in the order that tilec.h states; an extent is a parameter
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
    uint32_t arg;        // the index of the launch argument
    uint32_t dimension;  // the dimension, for an extent or stride
    const char *text;    // its C declaration: "const float *x"
} FunctionParam;

typedef struct FunctionPlan {
    const MetaKernel *meta;
    uint32_t count;
    FunctionParam *params;
} FunctionPlan;

FunctionPlan *function_plan(Arena *arena, const MetaKernel *meta);
// `args` has room for all arguments of the kernel.
void function_arguments(const FunctionPlan *plan, const void *const *values, tilec_arg *args);
// Launches on the device's first stream and waits.
tilec_status function_call(tilec_kernel *kernel, const FunctionPlan *plan,
                           const void *const *values);

// Makes the code; returns NULL on success, else the reason. The plan lives as long as the function.
typedef struct FunctionCode FunctionCode;
const char *function_code_create(tilec_kernel *kernel, const FunctionPlan *plan,
                                 FunctionCode **code);
void function_code_destroy(void *code);
tilec_function_pointer function_code_pointer(const FunctionCode *code);

// The C type of a scalar by value and of an element that a pointer refers to, and a parameter's
// name, which gets a '_' when it is a keyword.
const char *function_c_scalar(Dtype type);
const char *function_c_element(Dtype type);
const char *function_c_name(Arena *arena, Str name);
// A name for the linker: it also gets a '_' when the C library or tilec defines it.
const char *function_c_symbol(Arena *arena, Str name);

#endif

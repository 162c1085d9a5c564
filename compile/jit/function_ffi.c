// The code of a function, made with libffi. In a build without libffi every kernel reports why it
// cannot have one.
#include <string.h>

#include "base/recover.h"
#include "compile/jit/function.h"

#ifdef TILEC_HAVE_FFI
#include <ffi.h>

struct FunctionCode {
    tilec_kernel *kernel;
    const FunctionPlan *plan;
    ffi_cif cif;
    ffi_type **types;
    ffi_closure *closure;
    void *pointer;
};

static ffi_type *scalar_type(Dtype t) {
    switch (t) {
    case DTYPE_I4:
    case DTYPE_I8: return &ffi_type_sint8;
    case DTYPE_I16: return &ffi_type_sint16;
    case DTYPE_I32: return &ffi_type_sint32;
    case DTYPE_I64: return &ffi_type_sint64;
    case DTYPE_BOOL:
    case DTYPE_U4:
    case DTYPE_U8: return &ffi_type_uint8;
    case DTYPE_U16: return &ffi_type_uint16;
    case DTYPE_U32: return &ffi_type_uint32;
    case DTYPE_U64: return &ffi_type_uint64;
    case DTYPE_F16:
    case DTYPE_BF16:
    case DTYPE_F32:
    case DTYPE_F8E4M3:
    case DTYPE_F8E5M2:
    case DTYPE_F8E4M3FNUZ:
    case DTYPE_F8E5M2FNUZ: return &ffi_type_float;
    case DTYPE_F64: return &ffi_type_double;
    case DTYPES: break;
    }
    return &ffi_type_void;
}

static ffi_type *param_type(const FunctionPlan *plan, const FunctionParam *p) {
    switch (p->value) {
    case VALUE_SCALAR: return scalar_type(plan->meta->args[p->arg].dtype);
    case VALUE_POINTER: return &ffi_type_pointer;
    case VALUE_EXTENT:
    case VALUE_STRIDE: return &ffi_type_sint64;
    }
    return &ffi_type_void;
}

// The function that the closure calls. libffi widens small results to ffi_arg.
static void called(ffi_cif *cif, void *result, void **values, void *user) {
    (void)cif;
    const FunctionCode *code = user;
    tilec_status s = function_call(code->kernel, code->plan, (const void *const *)values);
    *(ffi_arg *)result = (ffi_arg)s;
}

void function_code_destroy(void *code) {
    FunctionCode *c = code;
    if (c->closure) ffi_closure_free(c->closure);
    recover_free(c->types);
    recover_free(c);
}

const char *function_code_create(tilec_kernel *kernel, const FunctionPlan *plan,
                                 FunctionCode **code) {
    FunctionCode *c = recover_new(sizeof *c);
    c->kernel = kernel;
    c->plan = plan;
    c->types = recover_new((plan->count + 1) * sizeof *c->types);
    const char *why_not = NULL;
    for (uint32_t i = 0; i < plan->count; i++) c->types[i] = param_type(plan, &plan->params[i]);
    if (ffi_prep_cif(&c->cif, FFI_DEFAULT_ABI, plan->count, &ffi_type_uint32, c->types) != FFI_OK)
        why_not = "libffi does not know this machine's calling convention";
    if (!why_not) c->closure = ffi_closure_alloc(sizeof *c->closure, &c->pointer);
    if (!why_not &&
        (!c->closure || ffi_prep_closure_loc(c->closure, &c->cif, called, c, c->pointer) != FFI_OK))
        why_not = "the system gives no executable memory";
    if (why_not)
        function_code_destroy(c);
    else
        *code = c;
    return why_not;
}

tilec_function_pointer function_code_pointer(const FunctionCode *code) {
    tilec_function_pointer pointer;  // POSIX: both kinds of pointers have the same size
    _Static_assert(sizeof pointer == sizeof code->pointer, "code and data pointers differ");
    memcpy(&pointer, &code->pointer, sizeof pointer);
    return pointer;
}

#else

const char *function_code_create(tilec_kernel *kernel, const FunctionPlan *plan,
                                 FunctionCode **code) {
    (void)kernel, (void)plan, (void)code;
    return "this tilec was built without libffi";
}

void function_code_destroy(void *code) { (void)code; }

tilec_function_pointer function_code_pointer(const FunctionCode *code) {
    (void)code;
    return NULL;
}

#endif

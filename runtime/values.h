// C values as arguments of a launch, for the plain C functions of kernels.
//
// Invariants: formats that C lacks are passed as float; i4 and u4 as bytes. No ownership.
//
//     args[i] = rt_value_scalar(DTYPE_F16, &number);   // a float
#ifndef TILEC_RUNTIME_VALUES_H
#define TILEC_RUNTIME_VALUES_H

#include <tilec/tilec.h>

#include "base/dtype.h"
#include "runtime/meta.h"

// The number in an argument.
typedef struct RtNumber {
    tilec_arg_kind kind;  // an integer kind or TILEC_ARG_DOUBLE; another kind: not a number
    int64_t integer;
    uint64_t natural;
    double real;
} RtNumber;

static inline RtNumber rt_number_of_arg(const tilec_arg *arg) {
    return (RtNumber){arg->kind, arg->integer, arg->natural, arg->real};
}
RtNumber rt_number_of_value(Dtype type, const void *from);
tilec_arg rt_value_scalar(Dtype type, const void *from);
// For a parameter of any kind; `from` points to a number, a pointer or a tilec_view.
tilec_arg rt_value_of(const MetaArg *arg, const void *from);

// How a C function takes the arguments of several alternatives of a kernel. `params` are those of
// the ones before; they become what the next one takes as well: of two types of numbers the C type
// that has the values of both, of pointers to two types a view, which says its type. False: there
// is no such type for parameter *wrong, or (*wrong is `count`) another number of them.
bool rt_values_join(MetaArg *params, uint32_t count, const MetaKernel *next, uint32_t *wrong);

#endif

#include "runtime/values.h"

#include "base/os/os.h"

static RtNumber of_int(int64_t value) { return (RtNumber){TILEC_ARG_INT, value, 0, 0}; }
static RtNumber of_uint(uint64_t value) { return (RtNumber){TILEC_ARG_UINT, 0, value, 0}; }
static RtNumber of_double(double value) { return (RtNumber){TILEC_ARG_DOUBLE, 0, 0, value}; }

RtNumber rt_number_of_value(Dtype t, const void *from) {
    switch (t) {
    case DTYPE_BOOL: return of_uint(*(const uint8_t *)from != 0);
    case DTYPE_I4:
    case DTYPE_I8: return of_int(*(const int8_t *)from);
    case DTYPE_I16: return of_int(*(const int16_t *)from);
    case DTYPE_I32: return of_int(*(const int32_t *)from);
    case DTYPE_I64: return of_int(*(const int64_t *)from);
    case DTYPE_U4:
    case DTYPE_U8: return of_uint(*(const uint8_t *)from);
    case DTYPE_U16: return of_uint(*(const uint16_t *)from);
    case DTYPE_U32: return of_uint(*(const uint32_t *)from);
    case DTYPE_U64: return of_uint(*(const uint64_t *)from);
    case DTYPE_F16:
    case DTYPE_BF16:
    case DTYPE_F32:
    case DTYPE_F8E4M3:
    case DTYPE_F8E5M2:
    case DTYPE_F8E4M3FNUZ:
    case DTYPE_F8E5M2FNUZ: return of_double((double)*(const float *)from);
    case DTYPE_F64: return of_double(*(const double *)from);
    case DTYPES: break;
    }
    UNREACHABLE("element type %d", (int)t);
}

tilec_arg rt_value_scalar(Dtype t, const void *from) {
    RtNumber n = rt_number_of_value(t, from);
    if (n.kind == TILEC_ARG_INT) return tilec_arg_int(n.integer);
    return n.kind == TILEC_ARG_UINT ? tilec_arg_uint(n.natural) : tilec_arg_double(n.real);
}

tilec_arg rt_value_of(const MetaArg *arg, const void *from) {
    switch (arg->kind) {
    case META_SCALAR: return rt_value_scalar(arg->dtype, from);
    case META_POINTER: return tilec_arg_pointer(*(void *const *)from);
    case META_VIEW: return tilec_arg_view(*(const tilec_view *)from);
    }
    UNREACHABLE("argument kind %d", (int)arg->kind);
}

// ---- Several alternatives

// The widest type of their kind. DTYPES: no type has the values of both.
static Dtype join_numbers(Dtype a, Dtype b) {
    bool is_float = dtype_is(a, DTYPE_CLASS_ANYFLOAT);
    if (a == b) return a;
    if (is_float != dtype_is(b, DTYPE_CLASS_ANYFLOAT)) return DTYPES;
    if (is_float) return DTYPE_F64;
    if (a != DTYPE_U64 && b != DTYPE_U64) return DTYPE_I64;
    return dtype_signed(a) || dtype_signed(b) ? DTYPES : DTYPE_U64;
}

static bool join(MetaArg *to, const MetaArg *next) {
    if (to->kind == META_SCALAR || next->kind == META_SCALAR) {
        if (to->kind != next->kind) return false;
        to->dtype = join_numbers(to->dtype, next->dtype);
        return to->dtype != DTYPES;
    }
    to->read |= next->read;
    to->written |= next->written;
    if (to->kind == META_POINTER && (next->kind != META_POINTER || next->dtype != to->dtype))
        to->kind = META_VIEW;
    return true;
}

bool rt_values_join(MetaArg *params, uint32_t count, const MetaKernel *next, uint32_t *wrong) {
    *wrong = count;
    if (next->arg_count != count) return false;
    for (uint32_t i = 0; i < count; i++) {
        *wrong = i;
        if (!join(&params[i], &next->args[i])) return false;
    }
    return true;
}

// The public functions that make views and arguments: plain data, no handles are looked up.
#include <string.h>
#include <tilec/tilec.h>

#include "base/dtype.h"

static tilec_view make_view(tilec_dtype dtype, tilec_buffer buffer, void *data, int32_t rank,
                            const int64_t *extent) {
    tilec_view v;
    memset(&v, 0, sizeof v);
    v.dtype = dtype;
    v.rank = rank;
    v.buffer = buffer;
    v.data = data;
    if (!extent && rank > 0) v.rank = -1;  // the launch refuses an invalid rank
    if (v.rank < 0 || rank > TILEC_MAX_RANK) return v;
    uint64_t stride = 1;  // may wrap for absurd extents, which the launch refuses
    for (int32_t d = rank; d-- > 0;) {
        v.extent[d] = extent[d];
        v.stride[d] = (int64_t)stride;
        stride *= (uint64_t)extent[d];
    }
    return v;
}

tilec_view tilec_view_of(tilec_dtype dtype, void *data, int32_t rank, const int64_t *extent) {
    return make_view(dtype, (tilec_buffer){0}, data, rank, extent);
}

tilec_view tilec_view_of_buffer(tilec_dtype dtype, tilec_buffer buffer, int32_t rank,
                                const int64_t *extent) {
    return make_view(dtype, buffer, NULL, rank, extent);
}

tilec_view tilec_view1(tilec_dtype dtype, void *data, int64_t a) {
    return tilec_view_of(dtype, data, 1, &a);
}

tilec_view tilec_view2(tilec_dtype dtype, void *data, int64_t a, int64_t b) {
    return tilec_view_of(dtype, data, 2, (int64_t[]){a, b});
}

tilec_view tilec_view3(tilec_dtype dtype, void *data, int64_t a, int64_t b, int64_t c) {
    return tilec_view_of(dtype, data, 3, (int64_t[]){a, b, c});
}

tilec_view tilec_view4(tilec_dtype dtype, void *data, int64_t a, int64_t b, int64_t c, int64_t d) {
    return tilec_view_of(dtype, data, 4, (int64_t[]){a, b, c, d});
}

tilec_view tilec_buffer_view1(tilec_dtype dtype, tilec_buffer buffer, int64_t a) {
    return tilec_view_of_buffer(dtype, buffer, 1, &a);
}

tilec_view tilec_buffer_view2(tilec_dtype dtype, tilec_buffer buffer, int64_t a, int64_t b) {
    return tilec_view_of_buffer(dtype, buffer, 2, (int64_t[]){a, b});
}

tilec_view tilec_buffer_view3(tilec_dtype dtype, tilec_buffer buffer, int64_t a, int64_t b,
                              int64_t c) {
    return tilec_view_of_buffer(dtype, buffer, 3, (int64_t[]){a, b, c});
}

tilec_view tilec_buffer_view4(tilec_dtype dtype, tilec_buffer buffer, int64_t a, int64_t b,
                              int64_t c, int64_t d) {
    return tilec_view_of_buffer(dtype, buffer, 4, (int64_t[]){a, b, c, d});
}

static tilec_arg make_arg(tilec_arg_kind kind) {
    tilec_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.kind = kind;
    return arg;
}

tilec_arg tilec_arg_view(tilec_view view) {
    tilec_arg arg;  // not zeroed: that would take longer than a launch's checks
    arg.kind = TILEC_ARG_VIEW;
    arg.view = view;
    arg.pointer = NULL;
    arg.buffer.handle = 0;
    arg.offset = 0;
    arg.integer = 0;
    arg.natural = 0;
    arg.real = 0;
    return arg;
}

tilec_arg tilec_arg_pointer(const void *pointer) {
    tilec_arg arg = make_arg(TILEC_ARG_POINTER);
    // The kernel's signature says whether it writes; the API accepts both kinds of pointers.
    memcpy(&arg.pointer, &pointer, sizeof pointer);
    return arg;
}

tilec_arg tilec_arg_buffer(tilec_buffer buffer, size_t offset) {
    tilec_arg arg = make_arg(TILEC_ARG_POINTER);
    arg.buffer = buffer;
    arg.offset = offset;
    return arg;
}

tilec_arg tilec_arg_int(int64_t value) {
    tilec_arg arg = make_arg(TILEC_ARG_INT);
    arg.integer = value;
    return arg;
}

tilec_arg tilec_arg_uint(uint64_t value) {
    tilec_arg arg = make_arg(TILEC_ARG_UINT);
    arg.natural = value;
    return arg;
}

tilec_arg tilec_arg_double(double value) {
    tilec_arg arg = make_arg(TILEC_ARG_DOUBLE);
    arg.real = value;
    return arg;
}

tilec_arg tilec_arg_none(void) { return make_arg(TILEC_ARG_NONE); }

const char *tilec_version(void) { return TILEC_VERSION_TEXT; }
uint32_t tilec_version_number(void) { return TILEC_VERSION_NUMBER; }

const char *tilec_status_text(tilec_status status) {
    switch (status) {
    case TILEC_OK: return "ok";
    case TILEC_INVALID_SOURCE: return "the source or its specialisation is wrong";
    case TILEC_INVALID_ARGUMENT: return "an argument of the call is wrong";
    case TILEC_LAUNCH_REFUSED: return "the arguments do not fit the kernel";
    case TILEC_KERNEL_FAILED: return "the kernel failed while it ran";
    case TILEC_UNAVAILABLE: return "the device or target is not available here";
    case TILEC_UNSUPPORTED: return "the device cannot do this";
    case TILEC_OUT_OF_MEMORY: return "out of memory";
    case TILEC_IO: return "a file could not be read or written";
    case TILEC_INTERNAL: return "a defect of tilec";
    }
    return "unknown status";
}

_Static_assert((int)TILEC_U4 == (int)DTYPE_U4 && (int)TILEC_F16 == (int)DTYPE_F16 &&
                   (int)TILEC_F8E5M2FNUZ == (int)DTYPE_F8E5M2FNUZ,
               "tilec_dtype and Dtype number the same types alike");

const char *tilec_dtype_name(tilec_dtype dtype) {
    return (int)dtype < 0 || (int)dtype >= DTYPES ? NULL : dtype_name((Dtype)dtype);
}

unsigned tilec_dtype_bits(tilec_dtype dtype) {
    return (int)dtype < 0 || (int)dtype >= DTYPES ? 0 : dtype_bits((Dtype)dtype);
}

size_t tilec_dtype_bytes(tilec_dtype dtype, uint64_t count) {
    return (int)dtype < 0 || (int)dtype >= DTYPES ? 0 : dtype_storage((Dtype)dtype, count);
}

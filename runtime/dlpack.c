// DLPack tensors to views and back, by the layout of its specification (1.1).
#include <stdlib.h>
#include <string.h>
#include <tilec/dlpack.h>

#include "runtime/context.h"
#include "runtime/launch.h"

static const struct {
    tilec_dtype dtype;
    uint8_t code, bits;
} types[] = {
    {TILEC_BOOL, TILEC_DL_BOOL, 8},
    {TILEC_I8, TILEC_DL_INT, 8},
    {TILEC_I16, TILEC_DL_INT, 16},
    {TILEC_I32, TILEC_DL_INT, 32},
    {TILEC_I64, TILEC_DL_INT, 64},
    {TILEC_U8, TILEC_DL_UINT, 8},
    {TILEC_U16, TILEC_DL_UINT, 16},
    {TILEC_U32, TILEC_DL_UINT, 32},
    {TILEC_U64, TILEC_DL_UINT, 64},
    {TILEC_F16, TILEC_DL_FLOAT, 16},
    {TILEC_BF16, TILEC_DL_BFLOAT, 16},
    {TILEC_F32, TILEC_DL_FLOAT, 32},
    {TILEC_F64, TILEC_DL_FLOAT, 64},
    {TILEC_F8E4M3, TILEC_DL_F8E4M3FN, 8},
    {TILEC_F8E5M2, TILEC_DL_F8E5M2, 8},
    {TILEC_F8E4M3FNUZ, TILEC_DL_F8E4M3FNUZ, 8},
    {TILEC_F8E5M2FNUZ, TILEC_DL_F8E5M2FNUZ, 8},
    {TILEC_I4, TILEC_DL_INT, 4},
    {TILEC_U4, TILEC_DL_UINT, 4},
};
enum { TYPES = sizeof types / sizeof *types };
_Static_assert((int)TYPES == (int)DTYPES, "every element type has a row");

// ---- In

static tilec_status find_dtype(tilec_context *c, tilec_dl_dtype t, tilec_view *view) {
    for (size_t i = 0; i < TYPES; i++) {
        if (types[i].code != t.code || types[i].bits != t.bits) continue;
        view->dtype = types[i].dtype;
        if (t.lanes == 1 || (t.lanes == 2 && t.bits == 4)) return TILEC_OK;
        return rt_fail(c, TILEC_UNSUPPORTED, "the tensor has vectors of %u lanes; one is supported",
                       t.lanes);
    }
    return rt_fail(c, TILEC_UNSUPPORTED,
                   "the tensor's element type is not supported (DLPack code %u of %u bits)", t.code,
                   t.bits);
}

static int32_t number_of(const tilec_device *device) {
    return device->api->memory_number ? device->api->memory_number(device) : 0;
}

static tilec_status check_memory(const tilec_device *device, tilec_dl_device where) {
    int32_t own = device->api->memory, type = where.type;
    bool pinned = type == TILEC_DL_CUDA_HOST || type == TILEC_DL_ROCM_HOST;
    if (own == RT_HOST_MEMORY && (type == TILEC_DL_CPU || pinned)) return TILEC_OK;
    for (int i = 0; type && i < 2; i++)
        if (device->api->memory_also[i] == type) return TILEC_OK;
    bool fits = own && own == type;
    if (fits && (own == RT_HOST_MEMORY || where.id == number_of(device))) return TILEC_OK;
    if (fits)
        return rt_fail(
            device->context, TILEC_UNSUPPORTED,
            "the tensor is in memory of DLPack device %d:%d; the memory of device %s is %d:%d",
            type, where.id, device->name, own, number_of(device));
    return rt_fail(device->context, TILEC_UNSUPPORTED,
                   "the tensor is in memory of DLPack device %d; the memory of device %s is %d",
                   type, device->name, own);
}

// Two lanes of 4 bits: the innermost extent counts bytes, so rows begin at whole bytes.
static tilec_status unpack_lanes(tilec_context *c, tilec_view *v) {
    int32_t last = v->rank - 1;
    if (last < 0 || (v->extent[last] > 1 && v->stride[last] != 1))
        return rt_fail(c, TILEC_UNSUPPORTED, "pairs of 4-bit elements must be contiguous");
    for (int32_t d = 0; d < v->rank; d++) {
        int64_t *scaled = d == last ? &v->extent[d] : &v->stride[d];
        if (__builtin_mul_overflow(*scaled, 2, scaled))
            return rt_fail(c, TILEC_INVALID_ARGUMENT, "the tensor has more than 2^63 elements");
    }
    v->stride[last] = 1;
    return TILEC_OK;
}

static tilec_status take_shape(tilec_context *c, const tilec_dl_tensor *t, tilec_view *v) {
    if (t->ndim < 0 || t->ndim > TILEC_MAX_RANK)
        return rt_fail(c, TILEC_INVALID_ARGUMENT, "the tensor has rank %d; 0 to %d is supported",
                       t->ndim, TILEC_MAX_RANK);
    if (t->ndim && !t->shape)
        return rt_fail(c, TILEC_INVALID_ARGUMENT, "the tensor's shape is NULL");
    v->rank = t->ndim;
    uint64_t contiguous = 1;  // may wrap for absurd shapes; a launch refuses those
    for (int32_t d = t->ndim; d-- > 0;) {
        if (t->shape[d] < 0)
            return rt_fail(c, TILEC_INVALID_ARGUMENT, "the tensor's extent %d is negative (%lld)",
                           d, (long long)t->shape[d]);
        v->extent[d] = t->shape[d];
        v->stride[d] = t->strides ? t->strides[d] : (int64_t)contiguous;
        contiguous *= (uint64_t)t->shape[d];
    }
    return t->dtype.lanes == 2 ? unpack_lanes(c, v) : TILEC_OK;
}

static tilec_status import_tensor(tilec_device *device, const tilec_dl_tensor *t, uint32_t flags,
                                  tilec_view *view) {
    tilec_context *c = device->context;
    tilec_view v;
    memset(&v, 0, sizeof v);
    tilec_status s = check_memory(device, t->device);
    if (!s) s = find_dtype(c, t->dtype, &v);
    if (!s) s = take_shape(c, t, &v);
    if (s) return s;
    // Computed as a number: the offset is another library's and may point anywhere.
    if (t->data) v.data = (void *)((uintptr_t)t->data + (uintptr_t)t->byte_offset);
    v.flags = flags;
    *view = v;
    return TILEC_OK;
}

static tilec_status check_call(const tilec_device *device, const void *from, const void *to) {
    rt_begin(device->context);
    if (from && to) return TILEC_OK;
    return rt_fail(device->context, TILEC_INVALID_ARGUMENT, "%s is NULL",
                   from ? "the pointer for the result" : "the tensor or view");
}

tilec_status tilec_view_from_dlpack(tilec_device *device, const tilec_dl_tensor *tensor,
                                    tilec_view *view) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    tilec_status s = check_call(device, tensor, view);
    return s ? s : import_tensor(device, tensor, 0, view);
}

tilec_status tilec_view_from_dlpack_versioned(tilec_device *device,
                                              const tilec_dl_versioned *tensor, tilec_view *view) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    tilec_status s = check_call(device, tensor, view);
    if (s) return s;
    if (tensor->major > 1)
        return rt_fail(device->context, TILEC_UNSUPPORTED,
                       "the tensor has DLPack version %u.%u; major versions up to 1 are supported",
                       tensor->major, tensor->minor);
    if (tensor->flags & TILEC_DL_SUBBYTE_PADDED && tensor->tensor.dtype.bits < 8)
        return rt_fail(
            device->context, TILEC_UNSUPPORTED,
            "the tensor's %u-bit elements are padded to bytes; packed ones are supported",
            tensor->tensor.dtype.bits);
    uint32_t flags = tensor->flags & TILEC_DL_READ_ONLY ? TILEC_VIEW_READ_ONLY : 0;
    return import_tensor(device, &tensor->tensor, flags, view);
}

// ---- Out

// The data of an exported tensor, in both struct versions; the other library knows one of them.
typedef struct Export {
    tilec_dl_managed managed;
    tilec_dl_versioned versioned;
    tilec_context *context;
    tilec_buffer buffer;  // the buffer whose memory it keeps, if any
    int64_t shape[TILEC_MAX_RANK], strides[TILEC_MAX_RANK];
} Export;

static void export_end(Export *e) {
    if (e->buffer.handle) rt_buffer_release(e->context, e->buffer);
    free(e);
}
static void delete_managed(tilec_dl_managed *self) { export_end(self->manager_ctx); }
static void delete_versioned(tilec_dl_versioned *self) { export_end(self->manager_ctx); }

static bool export_dtype(tilec_dtype dtype, tilec_dl_dtype *found) {
    for (size_t i = 0; i < TYPES; i++) {
        if (types[i].dtype != dtype) continue;
        *found = (tilec_dl_dtype){types[i].code, types[i].bits, 1};
        return true;
    }
    return false;
}

static tilec_status check_view(tilec_device *device, const tilec_view *v) {
    tilec_context *c = device->context;
    if (!tilec_dtype_name(v->dtype))
        return rt_fail(c, TILEC_INVALID_ARGUMENT, "no element type has number %d", (int)v->dtype);
    if (v->rank < 0 || v->rank > TILEC_MAX_RANK)
        return rt_fail(c, TILEC_INVALID_ARGUMENT, "the view has rank %d; 0 to %d is supported",
                       v->rank, TILEC_MAX_RANK);
    for (int32_t d = 0; d < v->rank; d++)
        if (v->extent[d] < 0)
            return rt_fail(c, TILEC_INVALID_ARGUMENT, "the view's extent %d is negative (%lld)", d,
                           (long long)v->extent[d]);
    if (!device->api->memory)
        return rt_fail(c, TILEC_UNSUPPORTED, "the memory of device %s has no name in DLPack",
                       device->name);
    return TILEC_OK;
}

// The address of element 0; holds the buffer for the tensor. A raw pointer is trusted.
static tilec_status hold_memory(tilec_device *device, const tilec_view *v, void **address) {
    tilec_context *c = device->context;
    int64_t bits = (int64_t)tilec_dtype_bits(v->dtype), offset, first, last;
    if (__builtin_mul_overflow(v->offset, bits, &offset) || !launch_view_reach(v, &first, &last))
        return rt_fail(c, TILEC_INVALID_ARGUMENT, "the view reaches over more than 2^63 bytes");
    if (offset % 8) return rt_fail(c, TILEC_UNSUPPORTED, "the view begins within a byte");
    offset /= 8;
    if (!v->buffer.handle) {
        *address = v->data ? (void *)((uintptr_t)v->data + (uintptr_t)offset) : NULL;
        return TILEC_OK;
    }
    RtBuffer b = {0};
    (void)rt_buffer_find(c, v->buffer, &b);
    if (b.device != device) return rt_not_of(device, b.device);
    int64_t low, high;
    if (__builtin_add_overflow(offset, first, &low) ||
        __builtin_add_overflow(offset, last, &high) || low < 0 || high < 0 ||
        (uint64_t)high > b.size)
        return rt_fail(c, TILEC_INVALID_ARGUMENT,
                       "the view reaches bytes %lld to %lld of a buffer of %zu",
                       (long long)(offset + first), (long long)(offset + last), b.size);
    *address = (char *)b.address + offset;
    return rt_buffer_retain(c, v->buffer) ? TILEC_OK : rt_not_of(device, NULL);
}

static tilec_status export_view(tilec_device *device, const tilec_view *v, Export **out) {
    tilec_status s = check_view(device, v);
    if (s) return s;
    Export *e = calloc(1, sizeof *e);
    if (!e) return rt_fail(device->context, TILEC_OUT_OF_MEMORY, "out of memory for a tensor");
    void *address = NULL;
    s = hold_memory(device, v, &address);
    if (s) {
        free(e);
        return s;
    }
    e->context = device->context;
    e->buffer = v->buffer;
    memcpy(e->shape, v->extent, sizeof e->shape);
    memcpy(e->strides, v->stride, sizeof e->strides);
    tilec_dl_tensor t = {.data = address,
                         .device = {device->api->memory, number_of(device)},
                         .ndim = v->rank,
                         .shape = e->shape,
                         .strides = e->strides};
    export_dtype(v->dtype, &t.dtype);
    bool read_only = v->flags & TILEC_VIEW_READ_ONLY;
    e->managed = (tilec_dl_managed){t, e, delete_managed};
    e->versioned = (tilec_dl_versioned){.major = 1,
                                        .minor = 1,
                                        .manager_ctx = e,
                                        .deleter = delete_versioned,
                                        .flags = read_only ? TILEC_DL_READ_ONLY : 0,
                                        .tensor = t};
    *out = e;
    return TILEC_OK;
}

tilec_status tilec_view_to_dlpack(tilec_device *device, const tilec_view *view,
                                  tilec_dl_managed **tensor) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    tilec_status s = check_call(device, view, tensor);
    if (s) return s;
    if (view->flags & TILEC_VIEW_READ_ONLY)
        return rt_fail(device->context, TILEC_UNSUPPORTED,
                       "a tensor of DLPack 0.x cannot say that it is read-only; use "
                       "tilec_view_to_dlpack_versioned");
    Export *e;
    s = export_view(device, view, &e);
    if (!s) *tensor = &e->managed;
    return s;
}

tilec_status tilec_view_to_dlpack_versioned(tilec_device *device, const tilec_view *view,
                                            tilec_dl_versioned **tensor) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    tilec_status s = check_call(device, view, tensor);
    if (s) return s;
    Export *e;
    s = export_view(device, view, &e);
    if (!s) *tensor = &e->versioned;
    return s;
}

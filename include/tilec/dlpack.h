// DLPack: tensors of other libraries as views, and views as tensors of other libraries.
//
// The structs have the memory layout of DLPack 1.x (and 0.x where noted) under names of our own, so
// that this header and DLPack's can be included together: a DLTensor * is passed as
// (const tilec_dl_tensor *). Nothing is copied in either direction.
//
//     tilec_view x;                                     // in: the tensor must outlive the work
//     if (tilec_view_from_dlpack(dev, (const tilec_dl_tensor *)&managed->dl_tensor, &x)) …
//     tilec_launch(k, NULL, TILEC_ARGS(x));
//
//     tilec_dl_managed *out = NULL;                     // out: its owner calls the deleter
//     tilec_view y = tilec_buffer_view2(TILEC_F32, buffer, M, N);
//     if (tilec_view_to_dlpack(dev, &y, &out)) …
#ifndef TILEC_DLPACK_H
#define TILEC_DLPACK_H

#include <tilec/tilec.h>

#ifdef __cplusplus
extern "C" {
#endif

// Kinds of memory (DLDeviceType): those that matter here.
enum {
    TILEC_DL_CPU = 1,
    TILEC_DL_CUDA = 2,
    TILEC_DL_CUDA_HOST = 3,
    TILEC_DL_ROCM = 10,
    TILEC_DL_ROCM_HOST = 11,
    TILEC_DL_CUDA_MANAGED = 13
};
// Codes of element types (DLDataTypeCode): those that have a tilec_dtype.
enum {
    TILEC_DL_INT = 0,
    TILEC_DL_UINT = 1,
    TILEC_DL_FLOAT = 2,
    TILEC_DL_BFLOAT = 4,
    TILEC_DL_BOOL = 6,
    TILEC_DL_F8E4M3FN = 10,
    TILEC_DL_F8E4M3FNUZ = 11,
    TILEC_DL_F8E5M2 = 12,
    TILEC_DL_F8E5M2FNUZ = 13
};
// Flags of a versioned tensor.
enum { TILEC_DL_READ_ONLY = 1, TILEC_DL_IS_COPIED = 2, TILEC_DL_SUBBYTE_PADDED = 4 };

typedef struct tilec_dl_device {
    int32_t type;
    int32_t id;
} tilec_dl_device;

typedef struct tilec_dl_dtype {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} tilec_dl_dtype;

typedef struct tilec_dl_tensor {  // DLTensor
    void *data;
    tilec_dl_device device;
    int32_t ndim;
    tilec_dl_dtype dtype;
    int64_t *shape;
    int64_t *strides;  // in elements; NULL: row-major, contiguous
    uint64_t byte_offset;
} tilec_dl_tensor;

typedef struct tilec_dl_managed {  // DLManagedTensor of 0.x
    tilec_dl_tensor tensor;
    void *manager_ctx;
    void (*deleter)(struct tilec_dl_managed *self);
} tilec_dl_managed;

typedef struct tilec_dl_versioned {  // DLManagedTensorVersioned of 1.x
    uint32_t major, minor;
    void *manager_ctx;
    void (*deleter)(struct tilec_dl_versioned *self);
    uint64_t flags;
    tilec_dl_tensor tensor;
} tilec_dl_versioned;

// The tensor's memory as a view with a raw pointer. It must be memory of this device; for devices
// that use the host's memory, that is TILEC_DL_CPU or pinned host memory. TILEC_UNSUPPORTED for an
// element type without a tilec_dtype, more than one lane (except two of 4 bits, which are i4 and
// u4), another kind of memory or an unknown major version; TILEC_INVALID_ARGUMENT for a rank above
// TILEC_MAX_RANK. The tensor's owner does not change: its deleter is not called.
TILEC_API tilec_status tilec_view_from_dlpack(tilec_device *device, const tilec_dl_tensor *tensor,
                                              tilec_view *view);
// The same; a read-only tensor gives a view that kernels may only read.
TILEC_API tilec_status tilec_view_from_dlpack_versioned(tilec_device *device,
                                                        const tilec_dl_versioned *tensor,
                                                        tilec_view *view);

// A tensor that shares the view's memory. If the view is on a buffer, the tensor keeps the memory
// alive: it is freed when both the buffer was destroyed and the deleter was called. The memory
// of a raw pointer must outlive the tensor. The deleter may be called from any thread, and must be
// called before the device is closed.
TILEC_API tilec_status tilec_view_to_dlpack(tilec_device *device, const tilec_view *view,
                                            tilec_dl_managed **tensor);
TILEC_API tilec_status tilec_view_to_dlpack_versioned(tilec_device *device, const tilec_view *view,
                                                      tilec_dl_versioned **tensor);

#ifdef __cplusplus
}
#endif

#endif

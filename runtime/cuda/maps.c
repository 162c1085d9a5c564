// Tensor maps of the device `cuda`: the driver writes them.
#include "runtime/cuda/state.h"

enum { MAPS_FROM = 90 };  // first architecture with maps

bool cuda_has_maps(const tilec_device *device) {
    const GpuDevice *d = device->state;
    return d->target.number >= MAPS_FROM && d->driver.encode_map;
}

// 64, 128 and 256 bytes have the numbers 1, 2, 3.
static GpuTensorPromotion promotion_of(uint32_t bytes) {
    return bytes ? (GpuTensorPromotion)__builtin_ctz(bytes) - 5 : 0;
}

tilec_status cuda_encode_map(tilec_device *device, const GpuMapFacts *f, void *map) {
    const GpuDevice *d = device->state;
    GpuSavedDevice saved;
    tilec_status s = gpu_enter(device, &saved);
    if (s) return s;
    GpuResult r =
        GPU_DO(d, encode_map, map, f->type, f->rank, (void *)(uintptr_t)f->address, f->dims,
               f->strides, f->box, f->steps, 0, f->swizzle, promotion_of(f->l2), f->nan);
    gpu_leave(d, saved);
    return r ? gpu_fail(device, GPU_CALL_encode_map, r) : TILEC_OK;
}

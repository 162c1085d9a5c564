#include "target/gpu_map.h"

#include <string.h>

#include "base/status.h"

static const char tag[8] = {'t', 'i', 'l', 'e', 'c', 'm', 'a', 'p'};

enum { ADDRESS_ALIGN = 16, STEP_MAX = 8 };
#define DIM_MAX (UINT64_C(1) << 32)
#define STRIDE_LIMIT (UINT64_C(1) << 40)

unsigned gpu_map_type_bytes(GpuMapType type) {
    static const uint8_t bytes[] = {
#define GPU_MAP_TYPE(name, size) size,
        GPU_MAP_TYPES(GPU_MAP_TYPE)
#undef GPU_MAP_TYPE
    };
    return bytes[type];
}

unsigned gpu_map_swizzle_bytes(GpuMapSwizzle swizzle) {
    return swizzle == GPU_MAP_SWIZZLE_NONE ? 0 : 16u << swizzle;
}

static const char *dimension_fault(const GpuMapFacts *f, uint32_t d) {
    if (!f->dims[d] || f->dims[d] > DIM_MAX) return "extents are 1 to 2^32";
    if (!f->box[d] || f->box[d] > GPU_MAP_BOX)
        return "a box has 1 to 256 elements in each dimension";
    if (!f->steps[d] || f->steps[d] > STEP_MAX) return "element strides are 1 to 8";
    if (d + 1 >= f->rank) return NULL;
    if (f->strides[d] % ADDRESS_ALIGN || f->strides[d] >= STRIDE_LIMIT)
        return "strides are multiples of 16 bytes and less than 2^40";
    return NULL;
}

static const char *fault(const GpuMapFacts *f) {
    if (f->type >= GPU_MAP_TYPE_COUNT) return "the type is unknown";
    if (!f->rank || f->rank > GPU_MAP_RANK) return "the rank is 1 to 5";
    if (f->address % ADDRESS_ALIGN) return "the address is a multiple of 16";
    for (uint32_t d = 0; d < f->rank; d++) {
        const char *wrong = dimension_fault(f, d);
        if (wrong) return wrong;
    }
    uint32_t row = f->box[0] * gpu_map_type_bytes(f->type);
    uint32_t width = gpu_map_swizzle_bytes(f->swizzle);
    if (row % ADDRESS_ALIGN) return "a box has a multiple of 16 bytes in dimension 0";
    if (width && row > width) return "a box is not wider than the swizzle in dimension 0";
    return NULL;
}

const char *gpu_map_encode(const GpuMapFacts *f, GpuMap *m) {
    const char *wrong = fault(f);
    if (wrong) return wrong;
    *m = (GpuMap){.type = (uint8_t)f->type,
                  .rank = (uint8_t)f->rank,
                  .swizzle = (uint8_t)f->swizzle,
                  .nan = f->nan,
                  .l2 = f->l2,
                  .address = f->address};
    memcpy(m->tag, tag, sizeof tag);
    for (uint32_t d = 0; d < f->rank; d++) {
        m->dims[d] = f->dims[d];
        m->box[d] = (uint16_t)f->box[d], m->steps[d] = (uint8_t)f->steps[d];
        if (d + 1 < f->rank) m->strides[d] = f->strides[d];
    }
    return NULL;
}

bool gpu_map_decode(const GpuMap *m, GpuMapFacts *f) {
    TRY(!memcmp(m->tag, tag, sizeof tag));
    *f = (GpuMapFacts){.type = (GpuMapType)m->type,
                       .rank = m->rank,
                       .address = m->address,
                       .swizzle = (GpuMapSwizzle)m->swizzle,
                       .l2 = m->l2,
                       .nan = m->nan};
    memcpy(f->dims, m->dims, sizeof f->dims);
    memcpy(f->strides, m->strides, sizeof f->strides);
    for (uint32_t d = 0; d < GPU_MAP_RANK; d++) f->box[d] = m->box[d], f->steps[d] = m->steps[d];
    return fault(f) == NULL;
}

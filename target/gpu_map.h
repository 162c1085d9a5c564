// Tensor maps: how NVIDIA's TMA sees an array, and our own 128 bytes of one.
//
// Purpose: the numbers of cuTensorMapEncodeTiled, its documented constraints, and the map that
// simulated devices take: a driver's map is opaque, ours has a tag that other 128 bytes do not
// have.
// Invariants: lists are innermost first; only the first `rank` entries count. Strides are bytes,
// without that of dimension 0, whose elements are neighbours. Enumerators have cuda.h's numbers.
// Ownership: values.
//
//     GpuMapFacts f = {.type = GPU_MAP_BF16, .rank = 2, .address = p, .dims = {k, m},
//                      .strides = {2 * k}, .box = {64, 128}, .steps = {1, 1},
//                      .swizzle = GPU_MAP_SWIZZLE_128};
//     const char *wrong = gpu_map_encode(&f, &map);   // NULL: done
#ifndef TILEC_TARGET_GPU_MAP_H
#define TILEC_TARGET_GPU_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/gpu_abi.h"

// GPU_MAP_TYPE(enum, bytes)
#define GPU_MAP_TYPES(GPU_MAP_TYPE) \
    GPU_MAP_TYPE(U8, 1)             \
    GPU_MAP_TYPE(U16, 2)            \
    GPU_MAP_TYPE(U32, 4)            \
    GPU_MAP_TYPE(S32, 4)            \
    GPU_MAP_TYPE(U64, 8)            \
    GPU_MAP_TYPE(S64, 8)            \
    GPU_MAP_TYPE(F16, 2)            \
    GPU_MAP_TYPE(F32, 4)            \
    GPU_MAP_TYPE(F64, 8)            \
    GPU_MAP_TYPE(BF16, 2)           \
    GPU_MAP_TYPE(F32_FTZ, 4)        \
    GPU_MAP_TYPE(TF32, 4)           \
    GPU_MAP_TYPE(TF32_FTZ, 4)
typedef enum GpuMapType {
#define GPU_MAP_TYPE(name, bytes) GPU_MAP_##name,
    GPU_MAP_TYPES(GPU_MAP_TYPE)
#undef GPU_MAP_TYPE
        GPU_MAP_TYPE_COUNT
} GpuMapType;
unsigned gpu_map_type_bytes(GpuMapType type);

typedef enum GpuMapSwizzle {
    GPU_MAP_SWIZZLE_NONE,
    GPU_MAP_SWIZZLE_32,
    GPU_MAP_SWIZZLE_64,
    GPU_MAP_SWIZZLE_128
} GpuMapSwizzle;
// The width in bytes; 0: no swizzle.
unsigned gpu_map_swizzle_bytes(GpuMapSwizzle swizzle);

typedef struct GpuMapFacts {
    GpuMapType type;
    uint32_t rank;
    uint64_t address;
    uint64_t dims[GPU_MAP_RANK];
    uint64_t strides[GPU_MAP_RANK - 1];
    uint32_t box[GPU_MAP_RANK], steps[GPU_MAP_RANK];  // steps: elementStrides
    GpuMapSwizzle swizzle;
    uint32_t l2;  // bytes that a miss brings: 0, 64, 128, 256
    bool nan;     // elements outside are NaN; else 0
} GpuMapFacts;

typedef struct GpuMap {
    char tag[8];
    uint8_t type, rank, swizzle, nan;
    uint32_t l2;
    uint64_t address, dims[GPU_MAP_RANK], strides[GPU_MAP_RANK - 1];
    uint16_t box[GPU_MAP_RANK];
    uint8_t steps[GPU_MAP_RANK], spare[17];
} GpuMap;
_Static_assert(sizeof(GpuMap) == GPU_MAP_BYTES, "a tensor map has 128 bytes");

// Fills the map. NULL: done; else the constraint that the facts break.
const char *gpu_map_encode(const GpuMapFacts *facts, GpuMap *map);
// The facts of such a map. False: its tag is another.
bool gpu_map_decode(const GpuMap *map, GpuMapFacts *facts);

#endif

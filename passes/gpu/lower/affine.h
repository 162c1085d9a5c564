// Tiles whose elements are a coordinate plus a part that all of them share.
//
// Invariants: an element of such a tile of integers is the sum of its coordinate on `axis` (-1: the
// tile is the same everywhere), the scalars and the number; the sum is mathematical: nothing wraps.
// The sum of the scalars alone is between min and max.
// Ownership: values.
//
//     GpuAffine line;   // of expand(j + iota(64), axis = 0): axis 1, scalars {j}
//     if (gpu_affine(ranges, tile, &line)) …
#ifndef TILEC_PASSES_GPU_LOWER_AFFINE_H
#define TILEC_PASSES_GPU_LOWER_AFFINE_H

#include "passes/gpu/gpu.h"

enum { GPU_AFFINE_MAX = 8 };

typedef struct GpuAffine {
    int axis;
    const IrValue *scalars[GPU_AFFINE_MAX];
    bool minus[GPU_AFFINE_MAX];
    uint32_t count;
    int64_t min, max;
    int64_t number;
} GpuAffine;

bool gpu_affine(const IrRanges *ranges, const IrValue *tile, GpuAffine *line);

// The axis of a reshape's operand that becomes an axis of its result, if only extents of 1 are
// added or removed; -1 otherwise.
int gpu_axis_before(const IrOp *op, uint32_t axis);

#endif

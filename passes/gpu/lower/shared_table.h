// Tiles in shared memory in a plain order, for lowerings that look elements up by number.
//
// A place gives each axis a stride; element (c0, c1, …) is at the sum of coordinates times strides.
// Invariants: strides are powers of two, or 0 for an axis that does not count; the ranges of axes
// do not overlap. The caller adds barriers.
// Ownership: values; new IR goes to the builder of Threads.
//
//     Place at = place_of(t, layout, strides);
//     place_store(t, memory, x, &at);        // each element by one thread
//     threads_barrier(t);
//     IrValue *y = place_load(t, memory, &other, NULL);
#ifndef TILEC_PASSES_GPU_LOWER_SHARED_TABLE_H
#define TILEC_PASSES_GPU_LOWER_SHARED_TABLE_H

#include "passes/gpu/lower/threads.h"

typedef struct SharedPlace {
    const Layout *layout;
    uint32_t strides[IR_MAX_RANK];
    IrValue *base;  // i32: of this thread's register 0
} SharedPlace;

// Row-major strides; or strides with `last` as the innermost axis, of that extent.
void place_strides(const IrType *type, uint32_t *strides);
void place_strides_along(const IrType *type, uint32_t last, uint32_t extent, uint32_t *strides);

SharedPlace place_of(Threads *t, const Layout *l, const uint32_t *strides);
// The place of register `reg`, i32.
IrValue *place_at(Threads *t, const SharedPlace *p, uint32_t reg);
void place_store(Threads *t, IrValue *memory, IrValue *x, const SharedPlace *p);
// Loads all registers; `more` (a vector of integers, or NULL) is added to each place; the result is
// 0 where `mask` (a bool vector, or NULL) is false.
IrValue *place_load(Threads *t, IrValue *memory, const SharedPlace *p, IrValue *more,
                    IrValue *mask);

#endif

// View ops, dimension by dimension: shared by loads, stores and atomics of views.
//
// The index that a view op selects on a dimension is start + coordinate. `start` is a scalar that
// all threads share. The coordinate is that of an axis of the value for `+:`, else there is none;
// or, with an index tile, it is an element of that.
// Ownership: values and the pass's scratch; new IR goes to the builder of Threads.
//
//     Selection s = access_select(t, op, layout);   // layout NULL: a scalar
//     threads_load(t, access_pointer(t, &s, reg), 1, 0, access_mask(t, &s, reg), NULL);
#ifndef TILEC_PASSES_GPU_LOWER_ACCESS_H
#define TILEC_PASSES_GPU_LOWER_ACCESS_H

#include "passes/gpu/lower/threads.h"

// Numbers are i64, or i32 if the selection is narrow.
typedef struct SelectionDim {
    IrValue *start;  // NULL for an index tile
    IrValue *tile;   // thread-level vector, i64
    const Layout *tile_layout;
    int axis;                       // of the value; -1: a scalar index
    uint32_t tile_axis, tile_rank;  // the position of the tile's axes in the value
    IrValue *base;                  // start + this thread's coordinate (register 0)
    IrValue *extent, *stride;
    bool inside;  // proven
    // Narrow, and the start may be beyond 2^31: comparisons use base - start and extent - start
    // instead of base and extent.
    IrValue *coord, *left;
    uint64_t divisor;  // of start
    // Aligned groups of this many elements, a power of two, are all inside or all outside.
    int64_t group;
} SelectionDim;

typedef struct Selection {
    const IrOp *op;
    const Layout *layout;  // of the value; NULL: a scalar
    uint32_t rank;
    SelectionDim dims[IR_MAX_VIEW_RANK];
    // With FACT_NARROW the number of every element is below 2^31. If no index is negative, sums and
    // products modulo 2^32 are right for all elements that are inside.
    bool narrow;
    IrValue *data;     // pointer to element 0; for packed elements to their first byte
    IrValue *pointer;  // … plus everything that does not depend on the register
} Selection;

static inline bool access_is_packed(const IrValue *view) {
    return dtype_is(view->type->elem, DTYPE_CLASS_PACKED);
}
Selection access_select(Threads *t, const IrOp *op, const Layout *layout);
// The element of a register: its address (not for packed elements); its distance from element 0 in
// elements, i64; whether it is inside (NULL: it is known to be).
IrValue *access_pointer(Threads *t, const Selection *s, uint32_t reg);
IrValue *access_number(Threads *t, const Selection *s, uint32_t reg);
IrValue *access_mask(Threads *t, const Selection *s, uint32_t reg);

// The conjunction of a and b, either of which may be NULL; the mask of the thread that writes: a
// scalar belongs to the program, so thread 0 writes it.
IrValue *access_both(Threads *t, IrValue *a, IrValue *b);
IrValue *access_owner(Threads *t, const Layout *l);
// An index as i64.
IrValue *access_i64(Threads *t, IrValue *x);
// A known divisor of an extent.
uint64_t access_extent_divisor(const Threads *t, const IrParam *param, uint32_t dim);

// The remarks of `tilec explain` about an access of a view by `vector` elements at once (memory:
// the known facts about the last dimension, if neighbours may be contiguous there), and about an
// access through pointers.
void access_remarks(const Threads *t, const Selection *s, const LayoutMemory *memory,
                    uint32_t vector);
void access_remarks_pointer(const Threads *t, const IrOp *op);

// Elements that one access may take: neighbours in a lane, aligned, all inside or all outside.
uint32_t access_vector(Threads *t, const Selection *s);

// Registers in accesses of several neighbours.
typedef struct AccessRuns {
    uint32_t vector, count;  // registers of an access, accesses
    uint32_t *registers;     // count * vector: of each access in order of memory
} AccessRuns;
// Accesses in order of their first register, each register once.
AccessRuns access_runs(Threads *t, const Layout *l, uint32_t axis, uint32_t vector);
// Is access i executed, where `when` (NULL: always) holds? The shared part is tested first, so that
// it is tested once.
IrValue *access_mask_when(Threads *t, const Selection *s, const AccessRuns *r, uint32_t i,
                          IrValue *when);
// The results of the accesses as one vector in the registers' own order.
IrValue *access_in_order(Threads *t, const AccessRuns *r, IrValue *const *parts);

// Pointers (pointers.c).
void access_load_pointers(Threads *t, const IrOp *op);
void access_store_pointers(Threads *t, const IrOp *op);

// Views of packed elements (packed.c).
void access_load_packed(Threads *t, const IrOp *op);
void access_store_packed(Threads *t, const IrOp *op);

#endif

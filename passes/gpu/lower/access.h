// View ops, dimension by dimension: what loads, stores and atomics of views share.
//
// What a view op selects on a dimension is start + coordinate: `start` a scalar that all threads
// share; the coordinate that of an axis of the value for `+:`, else none; or, with an index tile,
// an element of it. Ownership: values and the pass's scratch; new IR goes to the builder of
// Threads.
//
//     Selection s = access_select(t, op, layout);   // layout NULL: a scalar
//     threads_load(t, access_pointer(t, &s, reg), 1, 0, access_mask(t, &s, reg), NULL);
#ifndef TILEC_PASSES_GPU_LOWER_ACCESS_H
#define TILEC_PASSES_GPU_LOWER_ACCESS_H

#include "passes/gpu/lower/threads.h"

// Numbers are i64, or i32 where the selection is narrow.
typedef struct Dim {
    IrValue *start;  // of an index tile NULL
    IrValue *tile;   // thread-level vector, i64
    const Layout *tile_layout;
    int axis;                       // of the value; -1: a scalar index
    uint32_t tile_axis, tile_rank;  // where the tile's axes stand in the value
    IrValue *base;                  // start + this thread's coordinate (register 0)
    IrValue *extent, *stride;
    bool inside;  // proven
    // Narrow, and the start may be beyond 2^31: base - start and extent - start stand for base and
    // extent in comparisons.
    IrValue *coord, *left;
    uint64_t divisor;  // of start
    // Aligned groups of so many elements, a power of two, are all inside or all outside.
    int64_t group;
} Dim;

typedef struct Selection {
    const IrOp *op;
    const Layout *layout;  // of the value; NULL: a scalar
    uint32_t rank;
    Dim dims[IR_MAX_VIEW_RANK];
    // With FACT_NARROW the number of every element is below 2^31. Where no index is negative, sums
    // and products modulo 2^32 are right for all elements that are inside.
    bool narrow;
    IrValue *data;     // pointer to element 0; of packed elements to their first byte
    IrValue *pointer;  // … plus all that does not depend on the register
} Selection;

static inline bool access_is_packed(const IrValue *view) {
    return dtype_is(view->type->elem, DTYPE_CLASS_PACKED);
}
Selection access_select(Threads *t, const IrOp *op, const Layout *layout);
// The element of a register: where it lies (not of packed elements); how many elements behind
// element 0 that is, i64; whether it is inside, NULL: it is known to be.
IrValue *access_pointer(Threads *t, const Selection *s, uint32_t reg);
IrValue *access_number(Threads *t, const Selection *s, uint32_t reg);
IrValue *access_mask(Threads *t, const Selection *s, uint32_t reg);

// a and b, either NULL where there is none; who writes: a scalar is the program's, thread 0's.
IrValue *access_both(Threads *t, IrValue *a, IrValue *b);
IrValue *access_owner(Threads *t, const Layout *l);
// What is known to divide an extent.
uint64_t access_extent_divisor(const Threads *t, const IrParam *param, uint32_t dim);

// What `tilec explain` says of an access of a view by `vector` elements at once (memory: what is
// known of the last dimension, of views in which neighbours may be); of one through pointers.
void access_remarks(const Threads *t, const Selection *s, const LayoutMemory *memory,
                    uint32_t vector);
void access_remarks_pointer(const Threads *t, const IrOp *op);

// Elements that one access may take: neighbours in a lane, aligned, all inside or all outside.
uint32_t access_vector(Threads *t, const Selection *s);

// Registers in accesses of several neighbours.
typedef struct Runs {
    uint32_t vector, count;  // registers of an access, accesses
    uint32_t *registers;     // count * vector: of each access in order of memory
} Runs;
// Accesses in order of their first register, each register once.
Runs access_runs(Threads *t, const Layout *l, uint32_t axis, uint32_t vector);
// Is access i of these done, where `when` (NULL: always) holds? What they share is asked first, so
// that it is asked once.
IrValue *access_mask_when(Threads *t, const Selection *s, const Runs *r, uint32_t i, IrValue *when);
// The results of the accesses as one vector in the registers' own order.
IrValue *access_in_order(Threads *t, const Runs *r, IrValue *const *parts);

// Pointers (pointers.c).
void access_load_pointers(Threads *t, const IrOp *op);
void access_store_pointers(Threads *t, const IrOp *op);

// Views of packed elements (packed.c).
void access_load_packed(Threads *t, const IrOp *op);
void access_store_packed(Threads *t, const IrOp *op);

#endif

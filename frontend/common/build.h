// Builders of the operations that have rules of their own: reductions, scans and sorts with their
// combiners, matrix products, accesses to views, atomics.
//
// Invariants: operands have the types and shapes that each builder names; a builder that checks
// says what is wrong at the span given. Ownership: IR in the module's arena, the rest in scratch.
//
//     Tiles t = {.count = 1, .tiles = &v, .shape = el_shape_of(v->type)};
//     Val sum = el_reduce(e, &t, IR_REDUCE_SUM, NULL, NULL, axis, NULL);
#ifndef TILEC_FRONTEND_COMMON_BUILD_H
#define TILEC_FRONTEND_COMMON_BUILD_H

#include "frontend/common/control.h"

// ---- reduce.c
// Tiles of one shape, the operands of one operation.
typedef struct Tiles {
    uint32_t count;
    IrValue **tiles;
    Shape shape;
} Tiles;
void el_tiles_flatten(Elab *e, Tiles *t, IrValue **mask);  // to rank 1, with the mask (NULL: none)

// A function of the language that combines two elements (of each of several tiles).
typedef struct FrontCombiner {
    const char *name;
    Span span;
    Val (*call)(Elab *e, const void *own, uint32_t count, const Val *args, Span span);
    const void *own;  // passed to `call`
} FrontCombiner;
// Calls the function on 2n scalars, with its code in a new region; NULL after an error.
IrBlock *el_combiner(Elab *e, const FrontCombiner *c, const Tiles *t);

// `keep`: the shape of the results. The result is one value, or a tuple.
Val el_reduce(Elab *e, const Tiles *t, IrReduce kind, IrBlock *combiner, IrValue *mask,
              uint32_t axis, const Shape *keep);
typedef struct ScanOptions {
    uint32_t axis;
    bool reverse, exclusive;
} ScanOptions;
Val el_scan(Elab *e, const Tiles *t, IrReduce kind, IrBlock *combiner, const ScanOptions *options);
Val el_sort(Elab *e, const Tiles *t, uint32_t axis, bool descending);
Val el_topk(Elab *e, IrValue *v, uint32_t axis, uint32_t count);  // the values and their positions
Val el_random(Elab *e, IrValue *key, IrValue *counter);           // four 32-bit words

// ---- dot.c
bool el_dot_operands(Elab *e, IrValue *x, IrValue *y, Span span);
bool el_dot_shape(Elab *e, const IrType *x, const IrType *y, Span span, Shape *shape);
// The types that an accumulator of these operands may have, up to DTYPES; the first is the default.
const Dtype *el_dot_accumulators(Dtype elem);
IrValue *el_dot(Elab *e, IrValue *x, IrValue *y, IrValue *acc, const Shape *shape,
                int64_t precision);

// ---- view.c
typedef struct Access {
    const View *view;
    Span span;
    uint32_t count;
    IrValue *index[IR_MAX_VIEW_RANK];
    int64_t select[IR_MAX_VIEW_RANK];  // the width of a part; 0: the index is a scalar or a tile
    bool gathers;                      // an index is a tile
    Shape shape;
} Access;
Dtype el_view_elem(const View *view);  // the element type after the read: i8 for i4
IrValue *el_index_to_i64(Elab *e, IrValue *index);
bool el_provably_even(const Elab *e, const IrValue *v);
// Computes the shape of the selection; false after an error.
bool el_access_shape(Elab *e, Access *a);
IrOp *el_view_op(Elab *e, const Access *a, IrOpcode code, uint32_t leading, IrValue *const *first);
IrValue *el_view_read(Elab *e, const Access *a, IrValue *pad);

// ---- atomic.c
typedef struct AtomicOp {
    const Access *access;  // NULL: the access goes through the pointer
    IrValue *pointer;
    bool swaps;  // for compare and swap, which takes two values
    IrRmw rmw;   // for all others
    int64_t order, scope;
} AtomicOp;
// Returns the value that memory had before. `mask` may be NULL.
IrValue *el_atomic(Elab *e, const AtomicOp *a, uint32_t count, IrValue *const *values,
                   IrValue *mask);

#endif

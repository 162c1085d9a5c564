// Declarations that the files of accesses share: the lanes of one access, and the memory ops for
// them.
//
// Invariants: a vector access has a mask of as many lanes, or none; an access to neighbours has one
// scalar pointer. Ownership: new IR, in the module's arena.
//
//     IrBuilder *b = nest_builder(nest, lanes.depth);
//     x = access_load_op(l, nest, b, &lanes, lanes.pointer, elem, nest->lanes, lanes.mask, NULL);
#ifndef TILEC_PASSES_CPU_EMIT_ACCESS_H
#define TILEC_PASSES_CPU_EMIT_ACCESS_H

#include "passes/cpu/emit/lower.h"

// The lanes of an access: a pointer to the first one, or one for each, and the mask of active
// lanes.
typedef struct AccessLanes {
    bool vector;      // else a single element
    bool neighbours;  // one pointer for all
    IrValue *pointer;
    IrValue *linear;  // packed: the element's number (of lane 0)
    IrValue *mask;    // NULL: all
    uint8_t depth;
} AccessLanes;

// view.c
bool access_is_packed(const IrValue *view);
IrValue *access_extent(Lower *l, IrBuilder *b, IrValue *view, uint32_t dim);
// An index as i64. A u64 index above the range of i64 becomes the largest i64, outside of every
// extent.
IrValue *access_index(IrBuilder *b, IrValue *index);
// 0 <= x < extent.
IrValue *access_within(IrBuilder *b, IrValue *x, IrValue *extent);
// Are `count` elements from the first on inside?
IrValue *access_span_within(IrBuilder *b, IrValue *first, uint32_t count, IrValue *extent);

// access.c: for a selection at a place.
AccessLanes access_view_lanes(Lower *l, Nest *nest, IrOp *op, LanePlace place);
IrValue *access_load_op(Lower *l, Nest *nest, IrBuilder *b, const AccessLanes *lanes,
                        IrValue *pointer, Dtype elem, uint32_t count, IrValue *mask,
                        IrValue *other);
void access_store_op(IrBuilder *b, const AccessLanes *lanes, IrValue *pointer, IrValue *x,
                     IrValue *mask, bool stream);
// The builder for an access there, which is also reported for `tilec explain` (access_remarks.c).
IrBuilder *access_begin(Lower *l, Nest *nest, const IrOp *op, const AccessLanes *lanes,
                        uint8_t depth);
IrValue *access_view_data(IrBuilder *b, IrValue *view);
// data + linear; a vector of pointers if `linear` is a vector.
IrValue *access_element_pointer(Nest *nest, IrBuilder *b, IrValue *data, IrValue *linear);
// For indices, scalars or vectors: the product with a scalar, and the sum.
IrValue *access_scaled(Nest *nest, IrBuilder *b, IrValue *index, IrValue *stride);
IrValue *access_sum(Nest *nest, IrBuilder *b, IrValue *x, IrValue *y);

// packed.c: lanes->linear holds the elements' numbers. Stores without neighbours go one by one.
IrValue *packed_load(Lower *l, Nest *nest, const IrOp *op, const AccessLanes *lanes, IrValue *pad);
void packed_store(Lower *l, Nest *nest, const IrOp *op, const AccessLanes *lanes, IrValue *x);

#endif

// How an op is lowered on CPUs: kept as a scalar, computed inside a nest, or computed as a whole.
//
// Purpose: cpu_plan and cpu_lower must classify the ops of a kernel's body in the same way.
// Ownership: none.
//
//     if (op_is_scalar(op)) …         // it stays unchanged
//     else if (op_is_whole(op)) …     // dot, sort, …: computed between two nests
#ifndef TILEC_PASSES_CPU_OP_KIND_H
#define TILEC_PASSES_CPU_OP_KIND_H

#include "ir/ir.h"

// A root is an op with a visible effect or result; nests are made to compute roots.
typedef enum RootKind {
    ROOT_BUFFER,  // a value that is stored in memory
    ROOT_STORE,   // view_store, store
    ROOT_REDUCE,
} RootKind;

static inline bool cpu_is_tile(const IrValue *v) {
    return v && v->type->kind != IR_VIEW && v->type->rank > 0;
}
bool op_is_view_access(const IrOp *op);
bool op_is_load(const IrOp *op);
// The op touches no tile and does not access a view: it stays unchanged.
bool op_is_scalar(const IrOp *op);
// The op is computed as a whole; its tile operands and results are in memory.
bool op_is_whole(const IrOp *op);
// Must the operand be in memory for this op?
bool op_needs_buffer(const IrOp *op, uint32_t operand);
// Is an element of the result made from the operands' elements at the same place?
bool op_keeps_place(const IrOp *op);
// Do the shapes differ only in extents of 1? Then the places of an element differ only there, too.
bool op_reshapes_plainly(const IrType *from, const IrType *to);
// Does a scalar op end the open nest? `waits`: it uses a value that the nest will define; `writes`:
// the nest writes memory.
bool op_ends_nest(const IrOp *op, bool waits, bool writes);
// The shape of a store's lanes, as a tile of bools; a store of one element has rank 0.
const IrType *op_store_shape(IrModule *module, const IrOp *store);

// By the id of a value: the id + 1 of the carried tile whose memory the value may take because it
// replaces the tile. These values form a chain of single uses from a loop's argument to the yield
// of that argument's new value. Values that are made later have none.
const uint32_t *op_find_homes(Arena *scratch, const IrFunc *f);

#endif

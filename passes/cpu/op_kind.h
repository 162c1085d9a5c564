// What the plan of a CPU's nests and what emits them ask of an op: which way it goes.
//
// Purpose: cpu_plan and cpu_lower take the same way through a kernel's body. Ownership: none.
//
//     if (op_is_scalar(op)) …         // it stays as it is
//     else if (op_is_whole(op)) …     // dot, sort, …: at once, between two nests
#ifndef TILEC_PASSES_CPU_OP_KIND_H
#define TILEC_PASSES_CPU_OP_KIND_H

#include "ir/ir.h"

// A root has something to show for: nests are made for them.
typedef enum RootKind {
    ROOT_BUFFER,  // a value that lies in memory
    ROOT_STORE,   // view_store, store
    ROOT_REDUCE,
} RootKind;

static inline bool cpu_is_tile(const IrValue *v) {
    return v && v->type->kind != IR_VIEW && v->type->rank > 0;
}
bool op_is_view_access(const IrOp *op);
bool op_is_load(const IrOp *op);
// It touches no tile and is no access of a view: it stays.
bool op_is_scalar(const IrOp *op);
// It is computed at once, of operands and into results that lie in memory.
bool op_is_whole(const IrOp *op);
// Must the operand lie in memory for this op?
bool op_needs_buffer(const IrOp *op, uint32_t operand);
// Is an element of the result made from the operands' elements of the same place?
bool op_keeps_place(const IrOp *op);
// Do shapes differ in extents of 1 only? Then so do the places of one element.
bool op_reshapes_plainly(const IrType *from, const IrType *to);
// Does a scalar op end the nest that is open? `waits`: it uses what that one will define; `writes`:
// that one writes memory.
bool op_ends_nest(const IrOp *op, bool waits, bool writes);
// The shape a store's lanes have, as a tile of bools; a store of one element has rank 0.
const IrType *op_store_shape(IrModule *module, const IrOp *store);

// By the id of a value, the id + 1 of the carried tile whose memory it may take, because it
// replaces it: from a loop's argument along single uses to the place where it is yielded. Of values
// made later: none.
const uint32_t *op_find_homes(Arena *scratch, const IrFunc *f);

#endif

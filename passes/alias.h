// Which elements memory accesses may touch: the same ones, others, or the same ones in the same
// order.
//
// Invariants: the answers are sound: accesses that are said not to conflict never touch the same
// element in any launch that the kernel's `requires` and the variant's facts (FACT_ of
// base/facts.h) allow.
// Ownership: none.
//
//     if (alias_conflict(f, facts, load, store)) …   // their order matters
#ifndef TILEC_PASSES_ALIAS_H
#define TILEC_PASSES_ALIAS_H

#include "ir/ir.h"
#include "target/machine.h"

// May two accesses (loads, stores, atomics, through views or pointers) touch the same element?
bool alias_conflict(const IrFunc *f, unsigned facts, const IrOp *a, const IrOp *b);
// If the two accesses touch any element in common, do they touch the same elements in the same
// order, and each of them no element in two lanes?
bool alias_same_elements(unsigned facts, const IrOp *a, const IrOp *b);
bool alias_is_view_access(const IrOp *op);

#endif

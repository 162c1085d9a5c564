// What memory accesses may touch: the same elements, others, or the same ones in the same order.
//
// Invariants: sound: accesses that are said not to conflict never touch one element in any launch
// that the kernel's `requires` and the variant's facts (FACT_ of base/facts.h) allow. Ownership:
// none.
//
//     if (alias_conflict(f, facts, load, store)) …   // their order matters
#ifndef TILEC_PASSES_ALIAS_H
#define TILEC_PASSES_ALIAS_H

#include "ir/ir.h"
#include "target/machine.h"

// May two accesses (loads, stores, atomics, through views or pointers) touch one element?
bool alias_conflict(const IrFunc *f, unsigned facts, const IrOp *a, const IrOp *b);
// Does every element that one touches lie where the other touches it in the same order, if they
// touch any in common, and no two lanes of one of them at one?
bool alias_same_elements(unsigned facts, const IrOp *a, const IrOp *b);
bool alias_is_view_access(const IrOp *op);

#endif

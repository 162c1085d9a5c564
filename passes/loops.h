// The part of the loops pass that looks at conditions.
//
// Invariants: as in passes/pass.h. May erase `op`, an `if`, which then is in no block.
//
//     changed |= conditions_simplify(op, scratch);
#ifndef TILEC_PASSES_LOOPS_H
#define TILEC_PASSES_LOOPS_H

#include "ir/ir.h"

bool conditions_simplify(IrOp *op, Arena *scratch);

#endif

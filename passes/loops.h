// The part of the loops pass that looks at conditions.
//
// Invariants: as passes/pass.h. May free `op`, an `if`, which then has no block any more.
//
//     changed |= conditions_simplify(op, scratch);
#ifndef TILEC_PASSES_LOOPS_H
#define TILEC_PASSES_LOOPS_H

#include "ir/ir.h"

bool conditions_simplify(IrOp *op, Arena *scratch);

#endif

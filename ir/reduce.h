// Reductions by built-in kinds, as the ops that lowering makes of them: the value from which the
// passes of every target start, and the op that combines two values.
//
// The interpreter, their oracle, has a table of its own (ir/interp/reduce.c); a test compares the
// two (tests/interp/test_reduce_table.c).
// Invariants: ir_reduce_opcode(kind, t) of ir_reduce_identity(kind, t) and x is x, for every x of
// the type except NaNs, whose bits may become those of the quiet NaN.
//
//     IrValue *acc = ir_const_bits(b, type, ir_reduce_identity(kind, elem));
//     acc = ir_binary(b, ir_reduce_opcode(kind, elem), acc, x);
#ifndef TILEC_IR_REDUCE_H
#define TILEC_IR_REDUCE_H

#include "base/dtype.h"
#include "ir/op.h"

// For float sums -0, which leaves every value unchanged; for argmin and argmax the value that no
// other is worse than; for custom kinds 0, as for an empty mask.
uint64_t ir_reduce_identity(IrReduce kind, Dtype elem);
// For the kinds that have one: not argmin, argmax or custom.
IrOpcode ir_reduce_opcode(IrReduce kind, Dtype elem);

#endif

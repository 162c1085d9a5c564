// Reductions by built-in kinds, as the ops that lowering makes of them: what the passes of every
// target begin with, and which op joins two values.
//
// The interpreter, their oracle, has a table of its own (ir/interp/reduce.c); a test holds the two
// together (tests/interp/test_reduce_table.c). Invariants: ir_reduce_opcode(kind, t) of
// ir_reduce_identity(kind, t) and x is x, for every x of the type but a NaN, whose bits may become
// the quiet one's.
//
//     IrValue *acc = ir_const_bits(b, type, ir_reduce_identity(kind, elem));
//     acc = ir_binary(b, ir_reduce_opcode(kind, elem), acc, x);
#ifndef TILEC_IR_REDUCE_H
#define TILEC_IR_REDUCE_H

#include "base/dtype.h"
#include "ir/op.h"

// Of float sums -0, which leaves every value as it is; of argmin and argmax the value that none is
// worse than; of custom ones 0, as with no lane at all.
uint64_t ir_reduce_identity(IrReduce kind, Dtype elem);
// Of the kinds that have one: not of argmin, argmax and custom.
IrOpcode ir_reduce_opcode(IrReduce kind, Dtype elem);

#endif

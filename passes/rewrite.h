// Helpers of several passes that rewrite IR: constants seen through a value, a region that replaces
// its op, terminators.
//
// Invariants: a function here keeps the meaning of a program if its comment's condition holds.
// Ownership: new IR in the module's arena.
//
//     int64_t trips;
//     if (rewrite_trip_count(op, &trips) && trips == 0) …
#ifndef TILEC_PASSES_REWRITE_H
#define TILEC_PASSES_REWRITE_H

#include "ir/build.h"
#include "ir/edit.h"

// The bits that every element of `value` has; false if it is not a constant (or absent).
bool rewrite_constant(const IrValue *value, uint64_t *bits);
// The same for an integer, extended to 64 bits by its type's sign.
bool rewrite_constant_int(const IrValue *value, int64_t *number);
// Is it the bool constant `wanted`?
bool rewrite_is_bool(const IrValue *value, bool wanted);
// Does every element have all bits zero?
bool rewrite_is_zero(const IrValue *value);

// A `for`: the number of iterations of constant bounds, ignoring an exit flag. False: not constant.
bool rewrite_trip_count(const IrOp *loop, uint64_t *trips);

// The terminator of a region or section.
static inline IrOp *rewrite_terminator(const IrBlock *block) { return block->last; }

// Puts the ops of `region` (one of op's) before `op`, with its arguments replaced by `args`. The
// yielded values are written to `yielded`, which has as many entries as the terminator has
// operands. The region is left with its terminator only; the caller rewires and erases `op`.
void rewrite_splice(IrOp *op, IrBlock *region, IrValue *const *args, IrValue **yielded);
// Replaces every result of `op` by the value of the same index; then erases op.
void rewrite_replace_op(IrOp *op, IrValue *const *values);

// Replaces a `for` that runs exactly one step by its body for that step.
void rewrite_open_loop(IrOp *loop, Arena *scratch);

// Is the value defined outside of `op` and the ops nested in it?
bool rewrite_defined_outside(const IrValue *value, const IrOp *op);
// The block in which a value is defined; NULL for parameters.
IrBlock *rewrite_block_of(const IrValue *value);

// May the op, or one nested in it, change the result of a later read? Ops with the effect KEEP may
// be barriers, after which the writes of other threads are visible; assert, assume and print access
// no memory.
bool rewrite_clobbers_memory(const IrOp *op);

// Do two ops of the same code have the same attributes?
bool rewrite_same_attrs(const IrOp *a, const IrOp *b);

// A `for` or `while` without its carried value `i`, whose result and arguments have no uses left.
IrOp *rewrite_drop_carried(IrOp *loop, uint32_t i, Arena *scratch);

#endif

// What several passes need to rewrite IR: constants seen through a value, a region put in the place
// of its op, terminators.
//
// Invariants: nothing here changes what a program means if its comment's condition holds.
// Ownership: new IR in the module's arena.
//
//     int64_t trips;
//     if (rewrite_trip_count(op, &trips) && trips == 0) …
#ifndef TILEC_PASSES_REWRITE_H
#define TILEC_PASSES_REWRITE_H

#include "ir/build.h"
#include "ir/edit.h"

// The bits that every element of `value` has; false when it is no constant (or absent).
bool rewrite_constant(const IrValue *value, uint64_t *bits);
// The same of an integer, extended to 64 bits by its type's sign.
bool rewrite_constant_int(const IrValue *value, int64_t *number);
// Is it the bool constant `wanted`?
bool rewrite_is_bool(const IrValue *value, bool wanted);
// Does every element have all bits zero?
bool rewrite_is_zero(const IrValue *value);

// A `for`: the number of iterations of constant bounds, an exit flag left aside. False: not
// constant.
bool rewrite_trip_count(const IrOp *loop, uint64_t *trips);

// The terminator of a region or section.
static inline IrOp *rewrite_terminator(const IrBlock *block) { return block->last; }

// Puts the ops of `region` (one of op's) before `op`, its arguments replaced by `args`. What it
// yields is written to `yielded`, of as many values as the terminator has operands. The region is
// left with its terminator only; the caller rewires and erases `op`.
void rewrite_splice(IrOp *op, IrBlock *region, IrValue *const *args, IrValue **yielded);
// Every result of `op` is replaced by the value of the same place; then op is erased.
void rewrite_replace_op(IrOp *op, IrValue *const *values);

// Puts the body of a `for` in its place, for its first step, and erases it: of a loop that takes
// that one step.
void rewrite_open_loop(IrOp *loop, Arena *scratch);

// Is the value defined outside of `op` and what is nested in it?
bool rewrite_defined_outside(const IrValue *value, const IrOp *op);
// The block in which a value is defined; NULL for parameters.
IrBlock *rewrite_block_of(const IrValue *value);

// Does the op, or one nested in it, change what a later read may see? Ops that are kept may be
// barriers, after which others' writes show; assert, assume and print touch no memory.
bool rewrite_stirs_memory(const IrOp *op);

// A `for` or `while` without its carried value `i`, whose result and arguments have no uses left.
IrOp *rewrite_drop_carried(IrOp *loop, uint32_t i, Arena *scratch);

#endif

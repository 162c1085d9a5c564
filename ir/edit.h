// Editing IR: replacing, moving, erasing and cloning ops; the use lists stay correct.
//
// Invariants: as in ir.h. Erasing an op whose results are still used is a defect (CHECK).
//
//     ir_replace_all(op_result, constant);
//     ir_erase(op);
#ifndef TILEC_IR_EDIT_H
#define TILEC_IR_EDIT_H

#include "base/map.h"
#include "ir/build.h"

void ir_set_operand(IrOp *op, uint32_t i, IrValue *value);
void ir_add_operand(IrOp *op, IrValue *value);
void ir_remove_operand(IrOp *op, uint32_t i);
// Every use of `from` uses `to` instead.
void ir_replace_all(IrValue *from, IrValue *to);
bool ir_unused(const IrOp *op);  // no result has a use
void ir_erase(IrOp *op);         // with everything nested in it
void ir_move_before(IrOp *op, IrOp *place);
void ir_move_to_end(IrOp *op, IrBlock *block);
void ir_remove_block_arg(IrBlock *block, uint32_t i);
// Replaces `op` by the same op with these operands and result types (for loops that gain or lose
// carried values); attributes and regions move to the new op. `op` is removed from its block, but
// its results keep their uses until the caller gives them to the new ones with ir_replace_all.
IrOp *ir_remake(IrOp *op, uint32_t operand_count, IrValue *const *operands, uint32_t result_count,
                const IrType *const *results);

// Copies an op with its regions to the builder's position. Operands are replaced through `map`
// (IrValue* keys and values), to which the copies of its results are added.
IrOp *ir_clone(IrBuilder *b, const IrOp *op, Map *map, Arena *scratch);
// Copies all ops of a block except its terminator.
void ir_clone_block(IrBuilder *b, const IrBlock *block, Map *map, Arena *scratch);
IrFunc *ir_func_clone(const IrFunc *f, Symbol name);
bool ir_dominates(const IrOp *a,
                  const IrOp *b);  // a comes before b in its block or an enclosing one

#endif

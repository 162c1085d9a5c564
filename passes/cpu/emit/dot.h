// Products: declarations that dot.c, pack.c and micro.c share.
//
//     for panel of columns …                      dot.c
//         for block of rows …
//             accumulators = the block of acc      micro.c: as many as fit in registers
//             for k …: row of b, times elements of a, are added
//             result's block = accumulators
//
// a has its rows (or its columns) one after the other, at known distances. b is in panels with
// as many columns as a block has, or in place if copying it is expensive (pack.c). Invariants:
// elements of a and b outside of their views are 0 in memory, like their padding; rows beyond
// `row_end` and columns beyond `column_end` may hold anything. Ownership: as lower.h.
#ifndef TILEC_PASSES_CPU_EMIT_DOT_H
#define TILEC_PASSES_CPU_EMIT_DOT_H

#include "passes/cpu/dot_form.h"
#include "passes/cpu/emit/lower.h"

// An operand in memory. Element (i, k) of a is at i * across + k * step; a block of b's columns
// from j on begins at j * across, its row k at k * step.
typedef struct DotOperand {
    IrValue *data;
    IrValue *across, *step;  // i64
} DotOperand;

typedef struct Dot {
    IrOp *op;
    DotForm form;
    IrValue *shift[DOT_MAX_VECTORS];  // form.flipped: what to subtract from each column of a block
    TileBuffer acc, result;           // acc.id 0: none
    IrValue *item;                    // of the batch: i64; NULL: rank 2
    IrValue *row_end, *column_end, *depth_end;
    DotOperand a, b;
} Dot;

static inline IrValue *dot_shuffle(Lower *l, IrBuilder *b, IrValue *x, IrValue *y, uint32_t count,
                                   const int64_t *from) {
    const IrType *t = ir_with_shape(l->module, x->type, 1, &count);
    IrValue *operands[2] = {x, y};
    IrOp *op = ir_op(b, IR_VEC_SHUFFLE, 2, operands, 1, &t, 0, NULL);
    ir_attr_set_ints(op, IR_ATTR_LANES, count, from);
    return ir_result(op, 0);
}
// Loads a vector of neighbours; a scalar for one lane.
IrValue *dot_load(Lower *l, IrBuilder *b, IrValue *pointer, uint32_t lanes);
void dot_store(IrBuilder *b, IrValue *pointer, IrValue *x);
// Scratch memory for `count` elements.
IrValue *dot_scratch(Lower *l, Dtype elem, uint64_t count);

// pack.c: puts the operands into the layout of the product's loops, at the builder.
void dot_pack_a(Lower *l, Dot *d, IrBuilder *b);
void dot_pack_b(Lower *l, Dot *d, IrBuilder *b);
// Can b's rows be read in place if all of them are inside (NULL: they are)?
bool dot_b_in_place(Lower *l, const Dot *d, IrBuilder *b, DotOperand *there, IrValue **inside);

// micro.c: the sums that `flipped` adds to the columns of a block, which begin at j.
void dot_find_shift(Lower *l, Dot *d, IrBuilder *b, IrValue *j);
// Emits one block: `rows` rows from row i, from column j on.
void dot_block(Lower *l, const Dot *d, IrBuilder *b, IrValue *i, IrValue *j, uint32_t rows);

#endif

// How a product is computed on a CPU: the types, the instructions and the size of the blocks. This
// follows from the op's types and the machine alone.
//
// Invariants: a block divides the product's columns. Ownership: none.
//
//     DotForm form = dot_form(machine, op);
//     if (form.tiles) …   // accumulators are in tile registers
#ifndef TILEC_PASSES_CPU_DOT_FORM_H
#define TILEC_PASSES_CPU_DOT_FORM_H

#include "ir/ir.h"
#include "target/machine.h"

// The elements of a block of accumulators: rows × (vectors · lanes).
typedef struct DotBlock {
    uint32_t rows, vectors, lanes;
} DotBlock;

enum { DOT_MAX_VECTORS = 16 };
// The size of a tile register: rows, and bytes of each row.
enum { DOT_TILE_ROWS = 16, DOT_TILE_BYTES = 64 };

typedef struct DotForm {
    uint32_t batch, m, n, k;
    Dtype sum;             // type of the accumulators
    Dtype part_a, part_b;  // types of packed elements; bytes may be i16
    uint32_t group;        // neighbours along k that one step multiplies: 1; vec.dot2, cpu.dot4
    bool tiles;            // blocks are in tile registers: cpu.tiles
    // Both operands have bytes of one sign, but the instruction wants different ones: a's bytes are
    // shifted by 128 into the range of the other sign, and the excess in each column is subtracted.
    bool flipped;
    DotBlock block;
} DotForm;

DotForm dot_form(const Machine *machine, const IrOp *op);
// The block for few rows: as wide as the registers allow.
DotBlock dot_thin_block(const Machine *machine, const DotForm *form);
// The preferred extent along k of a product whose k can be chosen freely.
uint32_t dot_preferred_depth(const Machine *machine, const IrOp *op);
// Steps along k in one iteration of the innermost loop.
uint32_t dot_steps(const DotForm *form);
static inline uint32_t dot_columns(const DotForm *form) {
    return form->block.vectors * form->block.lanes;
}
static inline bool dot_is_byte(Dtype t) { return t == DTYPE_I8 || t == DTYPE_U8; }

#endif

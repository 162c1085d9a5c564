// How a product is computed on a CPU: in which types, by which instructions, in blocks of which
// size. It follows from the op's types and the machine alone.
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
// A tile register: rows, and bytes of each.
enum { DOT_TILE_ROWS = 16, DOT_TILE_BYTES = 64 };

typedef struct DotForm {
    uint32_t batch, m, n, k;
    Dtype sum;             // type of the accumulators
    Dtype part_a, part_b;  // types of packed elements
    uint32_t group;        // neighbours along k that one step multiplies: 1; vec.dot2, cpu.dot4
    bool tiles;            // blocks are in tile registers: cpu.tiles
    // Bytes of equal sign: a's go by 128 into the other sign's range; what that adds to each column
    // is subtracted.
    bool flipped;
    DotBlock block;
} DotForm;

DotForm dot_form(const Machine *machine, const IrOp *op);
// The block for few rows: as wide as registers allow.
DotBlock dot_thin_block(const Machine *machine, const DotForm *form);
// How deep a product should be that may be as deep as it likes.
uint32_t dot_wanted_depth(const Machine *machine, const IrOp *op);
// Steps along k that one turn of the innermost loop takes.
uint32_t dot_steps(const DotForm *form);
static inline uint32_t dot_columns(const DotForm *form) {
    return form->block.vectors * form->block.lanes;
}
static inline bool dot_is_byte(Dtype t) { return t == DTYPE_I8 || t == DTYPE_U8; }

#endif

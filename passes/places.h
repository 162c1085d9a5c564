// Pieces of memory that passes assign addresses to: pieces that are never needed at once share
// memory.
//
// A piece is created by an op with `elem`, `count` and `place`. It is needed from the first to the
// last op, of those directly in the body, that uses a pointer into it; a loop counts as one op, so
// carried pointers stay valid in it.
// Invariants: addresses are multiples of the alignment; pieces that are needed at once do not
// overlap.
// Ownership: the scratch arena.
//
//     Places p = places_find(f, scratch, IR_CPU_SCRATCH, CPU_SCRATCH_ALIGN);
//     bool changed = places_assign(&p);
#ifndef TILEC_PASSES_PLACES_H
#define TILEC_PASSES_PLACES_H

#include "base/vec.h"
#include "ir/edit.h"
#include "ir/ir.h"

typedef struct Piece {
    IrOp *op;
    uint64_t size, place, align;
    uint32_t first, last;  // numbers of ops of the body: needed by both, and by all between
    bool copied;           // a thread.copy may still be in flight to it
    VEC(const IrOp *) users;
    const void *live_ranges;  // belongs to the pass that sets interferes
} Piece;

typedef struct Places Places;
struct Places {
    Arena *scratch;
    IrOpcode code;
    uint64_t align;  // of each, at least
    const IrBlock *body;
    uint32_t *number;  // by op id: of the ops of the body
    VEC(Piece) pieces;
    // Are both needed at some time? By default, if their ops of the body overlap.
    bool (*interferes)(const Places *p, const Piece *a, const Piece *b);
};

// Every op `code` of the body, with the range in which it is needed.
Places places_find(IrFunc *f, Arena *scratch, IrOpcode code, uint64_t align);
// Assigns addresses in order of first need, each as low as the earlier pieces that are still needed
// allow. True: an address has changed.
bool places_assign(Places *p);
// The end of the last piece.
uint64_t places_end(const Places *p);

#endif

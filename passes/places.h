// Pieces of memory that passes give places to: those that are never needed at once share.
//
// A piece is made by an op with `elem`, `count` and `place`. It is needed from the first to the
// last op, of those that stand directly in the body, that works on a pointer into it; a loop counts
// as one op, so that what goes round in it stays. Invariants: places are multiples of the
// alignment; pieces that are needed at once do not overlap. Ownership: the scratch arena.
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
    uint64_t size, place;
    uint32_t first, last;  // numbers of ops of the body: both needed, and all between
    bool copied;           // a thread.copy may still land in it
    VEC(const IrOp *) users;
    const void *needs;  // of whoever gives at_once
} Piece;

typedef struct Places Places;
struct Places {
    Arena *scratch;
    IrOpcode code;
    uint64_t align;
    const IrBlock *body;
    uint32_t *number;  // by op id: of the ops of the body
    VEC(Piece) pieces;
    // Are both needed at some time? By default when their ops of the body say so.
    bool (*at_once)(const Places *p, const Piece *a, const Piece *b);
};

// Every op `code` of the body, with what it needs.
Places places_find(IrFunc *f, Arena *scratch, IrOpcode code, uint64_t align);
// In order of first need, each as low as those already placed and still needed allow. True: a place
// has changed.
bool places_assign(Places *p);
// Where the last of them ends.
uint64_t places_end(const Places *p);

#endif

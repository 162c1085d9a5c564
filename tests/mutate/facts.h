// The bits of arguments that a variant's guard fixes.
//
// Purpose: the compiler leaves out what the guard has made sure of, so that a text alone does not
// say why some bits do not matter. Invariants: only what each launch of the variant holds to: the
// sides of the guard's and the requires' `and`s that compare bits of extents or addresses with 0;
// an extent's name stands for all views that have it. Ownership: the arena given.
//
//     Facts facts = facts_of(arena, launch->meta, launch->variant);
//     facts_zeros(&facts, 40)   // 15: the extent at byte 40 of the arguments is a multiple of 16
#ifndef TILEC_TESTS_MUTATE_FACTS_H
#define TILEC_TESTS_MUTATE_FACTS_H

#include "base/vec.h"
#include "runtime/meta.h"

// The word of 8 bytes at `offset` of the block of arguments has 0 where `zeros` has 1.
typedef struct Fact {
    uint32_t offset;
    uint64_t zeros;
} Fact;
typedef VEC(Fact) Facts;

Facts facts_of(Arena *arena, const MetaKernel *meta, uint32_t variant);
uint64_t facts_zeros(const Facts *facts, uint32_t offset);

// Tried on a guard whose facts are known. NULL: it finds just these.
const char *facts_fail(Arena *arena);

#endif

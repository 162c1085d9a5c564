// Mutants of PTX, or of a listing of AMD's code: the text with one statement changed.
//
// Purpose: each barrier, wait, fence, predicate, swizzle basis and fragment index of a kernel is
// taken away or perturbed, one at a time; what runs the mutants must notice them. Invariants: the
// list depends on the text alone, in its order; every mutant is text that can be read. Ownership:
// the arena given.
//
//     Mutants list = mutants_of(arena, text);
//     Str changed = mutant_text(arena, text, &list.data[0]);
#ifndef TILEC_TESTS_MUTATE_MUTANTS_H
#define TILEC_TESTS_MUTATE_MUTANTS_H

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

#define MUTANT_KINDS(X)                                                                    \
    X(BARRIER, "barrier")     /* a barrier is gone */                                      \
    X(WAIT, "wait")           /* a wait for copies is gone, or lets one group more pass */ \
    X(FENCE, "fence")         /* a fence is gone */                                        \
    X(PREDICATE, "predicate") /* a guard or selection is true, false, or its contrary */   \
    X(BASIS, "basis")         /* a constant of a coordinate or a place in shared memory */ \
    X(FRAGMENT, "fragment")   /* two registers of a vector or fragment are swapped; a lane */
typedef enum MutantKind {
#define MUTANT_KIND(name, text) MUTANT_##name,
    MUTANT_KINDS(MUTANT_KIND)
#undef MUTANT_KIND
        MUTANT_KIND_COUNT
} MutantKind;
const char *mutant_kind_name(MutantKind kind);

typedef struct Mutant {
    MutantKind kind;
    const char *change;  // "gone", "always", …
    Str opcode;          // with modifiers
    uint32_t line;       // of the source, as .loc says; 0: unknown
    size_t begin, size;  // what is replaced
    Str by;
} Mutant;
typedef VEC(Mutant) Mutants;

Mutants mutants_of(Arena *arena, Str text);          // of PTX, or of a listing
Mutants mutants_of_listing(Arena *arena, Str text);  // of AMD's code (listing.h)
Str mutant_text(Arena *arena, Str text, const Mutant *m);

#endif

// Branches of AMD's code whose way is settled by the branches before them.
//
// Purpose: LLVM asks again what an earlier branch has decided: whether a loop is empty, at a place
// that only a loop which ran leads to. Invariants: as of code.h. Ownership: static text.
//
//     const char *why = branches_excuse(arena, listing, &mutant);
#ifndef TILEC_TESTS_MUTATE_BRANCHES_H
#define TILEC_TESTS_MUTATE_BRANCHES_H

#include "tests/mutate/mutants.h"

//   settled      A branch by a comparison of a scalar, which is made once, with a number. Were it
//   to
//                go where the change does not, branches by the same scalar would never come to it.
const char *branches_excuse(Arena *arena, Str listing, const Mutant *m);

// The rule on code that it must excuse and on such that it must not. NULL: it does so.
const char *branches_fail(Arena *arena);

#endif

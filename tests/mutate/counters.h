// Bits of AMD's scalars that a loop's counter never sets.
//
// Purpose: a power of two whose exponent counts from 1 on has no bit 0, and a mask may leave it
// out. Invariants: as of code.h. Ownership: static text.
//
//     const char *why = counters_excuse(arena, listing, &mutant);
#ifndef TILEC_TESTS_MUTATE_COUNTERS_H
#define TILEC_TESTS_MUTATE_COUNTERS_H

#include "tests/mutate/mutants.h"

//   never 0      A mask of 1 << min(n, 31) without bit 0, where n counts from a number that is not
//                0 and the loop ends before n is 0 again.
const char *counters_excuse(Arena *arena, Str listing, const Mutant *m);

// The rule on code that it must excuse and on such that it must not. NULL: it does so.
const char *counters_fail(Arena *arena);

#endif

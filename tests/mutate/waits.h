// Waits of AMD's code that nobody needs.
//
// Purpose: LLVM puts waits before each barrier, also where all that they count has come, and before
// loops. What each counter can have under way is followed through the listing, along all branches.
// Invariants: code that the rules do not know (calls, accesses of flat addresses, which two
// counters count) is not excused. Ownership: static text.
//
//     const char *why = waits_excuse(arena, listing, &mutant);
#ifndef TILEC_TESTS_MUTATE_WAITS_H
#define TILEC_TESTS_MUTATE_WAITS_H

#include "tests/mutate/mutants.h"

//   idle wait    Neither before the change nor after it does it wait for anything: of what it
//                counts no more than it lets pass can be under way.
//   early wait   What it no longer waits for is covered by a later wait, on all ways; in between no
//                instruction touches the registers that it fills, and none (a barrier, an atomic, a
//                change of the caches) orders it against what others do.
const char *waits_excuse(Arena *arena, Str listing, const Mutant *m);

// Each rule on code that it must excuse and on such that it must not. NULL: it does so.
const char *waits_fail(Arena *arena);

#endif

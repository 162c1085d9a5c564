// Waits of AMD's code that are not needed.
//
// Purpose: LLVM puts waits before each barrier, also where everything that they count has come, and
// before loops. The rules follow the accesses that each counter can have in flight through the
// listing, along all branches. Invariants: code that the rules do not know (calls, accesses of flat
// addresses, which two counters count) is not excused. Ownership: static text.
//
//     const char *why = waits_excuse(arena, listing, &mutant);
#ifndef TILEC_TESTS_MUTATE_WAITS_H
#define TILEC_TESTS_MUTATE_WAITS_H

#include "tests/mutate/mutants.h"

//   idle wait    The wait waits for nothing, neither before the change nor after it: no more
//                accesses can be in flight than it lets pass.
//   early wait   The access that it no longer waits for is covered by a later wait, on all paths.
//                In between no instruction touches the registers that the access fills, and none
//                (a barrier, an atomic, a change of the caches) orders it against other threads.
const char *waits_excuse(Arena *arena, Str listing, const Mutant *m);

// Tries each rule on code that it must excuse and on code that it must not. NULL: all are right.
const char *waits_fail(Arena *arena);

#endif

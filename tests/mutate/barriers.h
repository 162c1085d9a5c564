// Barriers of AMD's code that are not needed.
//
// Purpose: a barrier orders what the waves of a workgroup do with memory; one that only lanes of
// one wave have something to do with orders nothing, for a wave does its accesses in order.
// Invariants: as of code.h. Ownership: static text.
//
//     const char *why = barriers_excuse(arena, listing, &mutant);
#ifndef TILEC_TESTS_MUTATE_BARRIERS_H
#define TILEC_TESTS_MUTATE_BARRIERS_H

#include "tests/mutate/mutants.h"

//   one wave     Of two accesses of LDS, or of other memory, of which the one can come before the
//                barrier and the other after it without another barrier between, both only read, or
//                both are of lanes whose number in the workgroup is below that of a wave's lanes.
const char *barriers_excuse(Arena *arena, Str listing, const Mutant *m);

// The rule on code that it must excuse and on such that it must not. NULL: it does so.
const char *barriers_fail(Arena *arena);

#endif

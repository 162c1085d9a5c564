// Why a mutant that no test notices is the same program: rules, each with its proof from the text.
//
// Purpose: a survivor is excused only by what is proven of its text, for all inputs and launches
// that its variant's guard lets through; nothing that was seen in runs counts. Rules:
//
//   commutative   Two results of a load are swapped. Each is defined once and read once: both by
//                 one statement, or by two that compute the same from them, and so on to one
//                 statement, as the two operands of a sum, product, minimum, maximum, `and`, `or`
//                 or `xor`, whose result does not depend on their order (NaN results are
//                 canonical).
//   other copy    A store to shared memory by one half of the threads, of whose values the other
//                 half holds copies: they store the same to the same place, between the same
//                 barriers, where no other access touches it (copies.h).
//   equal copy    A load of shared memory from another place, where another thread has stored a
//                 copy of the value (copies.h).
//   known bit     A bit that an `and` no longer lets through is 0 anyway: by the shifts and
//                 products before it, and by what the variant's guard proves about extents (bits.h,
//                 facts.h).
//
// In AMD's code, a listing, the rules excuse waits (waits.h), barriers (barriers.h), branches
// (branches.h) and masks of what a loop counts (counters.h).
//
// Ownership: static text.
//
//     const char *why = rules_excuse(arena, text, &mutant, &facts);
//     if (!why) …   // it should have been noticed
#ifndef TILEC_TESTS_MUTATE_RULES_H
#define TILEC_TESTS_MUTATE_RULES_H

#include "tests/mutate/facts.h"
#include "tests/mutate/mutants.h"

const char *rules_excuse(Arena *arena, Str text, const Mutant *m, const Facts *facts);

// Each rule on kernels that it must excuse and on such that it must not. NULL: it does so.
const char *rules_fail(Arena *arena);

#endif

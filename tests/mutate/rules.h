// Why a mutant that nobody notices is the same program: rules, each with its proof from the text.
//
// Purpose: a survivor is excused only by what is proven of its text, for all inputs and launches;
// nothing that was seen in runs counts. Rules:
//
//   commutative   Two results of a load change places. Each is defined once and read once, both by
//                 one statement, as the two operands of a sum, product, minimum, maximum, `and`,
//                 `or` or `xor`, whose result does not depend on their order (NaN results are
//                 canonical).
//
// Ownership: static text.
//
//     const char *why = rules_excuse(arena, text, &mutant);   // NULL: it should have been noticed
#ifndef TILEC_TESTS_MUTATE_RULES_H
#define TILEC_TESTS_MUTATE_RULES_H

#include "tests/mutate/mutants.h"

const char *rules_excuse(Arena *arena, Str text, const Mutant *m);

// Each rule on kernels that it must excuse and on such that it must not. NULL: it does so.
const char *rules_fail(Arena *arena);

#endif

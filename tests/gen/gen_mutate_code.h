// Mutants of code that runs: PTX and AMD's code objects with other numbers, registers, counts,
// branch targets and instructions inside.
//
// Whether a mutant is still a program is for its reader to say. Ownership: the arena's.
//
//     Str mutant = gen_mutate_ptx(arena, text, &dice);
#ifndef TILEC_TESTS_GEN_GEN_MUTATE_CODE_H
#define TILEC_TESTS_GEN_GEN_MUTATE_CODE_H

#include "base/str.h"
#include "tests/support/dice.h"

Str gen_mutate_ptx(Arena *arena, Str text, Dice *dice);
Str gen_mutate_object(Arena *arena, Str bytes, Dice *dice);

#endif

// Mutants of IR: one random change to a module, which keeps types in mind.
//
// Operands give way to other values in scope of their type, ops to others of their rule, attributes
// to others of their kind; ops are repeated with their regions, dropped, moved; facts, options and
// arithmetic of a kernel change. Most mutants are valid IR, as the verifier says: they are kernels
// that no generator had in mind. Their behaviour is undefined: they may reach outside their memory.
// Ownership: the module's arena.
//
//     Str text = …;                                        valid
//     if (gen_mutate(arena, text, &dice, &text)) …         valid again, and another
#ifndef TILEC_TESTS_GEN_GEN_MUTATE_H
#define TILEC_TESTS_GEN_GEN_MUTATE_H

#include "base/str.h"
#include "tests/support/dice.h"

// False where the change led to invalid IR, or there was nothing to change: *mutant is as it was.
bool gen_mutate(Arena *arena, Str text, Dice *dice, Str *mutant);

#endif

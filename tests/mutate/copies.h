// Threads that hold copies of one another's values, as far as a kernel's text proves it.
//
// Purpose: where threads t and t ^ bit hold the same values, it is the same program when the one
// stores in the other's place, or when a place is read that the other one wrote. Invariants: what
// is said holds for all inputs and launches of a text without races. Numbers that depend on the
// thread's alone are computed for each thread; all other registers are taken to be the same in both
// threads until one of their definitions is not (the greatest fixpoint; branches must be the same,
// too). Ownership: the arena given.
//
//     Copies *c = copies_of(arena, text);
//     if (copies_store(c, guard)) …   // the threads left out may store instead
#ifndef TILEC_TESTS_MUTATE_COPIES_H
#define TILEC_TESTS_MUTATE_COPIES_H

#include "tests/mutate/statements.h"

typedef struct Copies Copies;

Copies *copies_of(Arena *arena, Str text);
// May the threads that the guard of the store at this place of the text leaves out do it instead of
// those it names?
bool copies_store(Copies *c, const char *at);
// Of a text with one operand changed: where it loads from other places, are these copies?
bool copies_read(Copies *c, const Copies *changed);

#endif

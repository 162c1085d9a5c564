// Bits of registers that are 0 whatever a kernel is launched with.
//
// Purpose: a bit that is never set may be left out of a mask. Invariants: what is said holds for
// all launches of the variant: it follows from the text, from how wide registers are, and from the
// facts; registers that are defined twice, or under a guard, are unknown. Ownership: none.
//
//     Bits b = {&statements, &facts};
//     bits_zeros(&b, STR("%rd3"))   // 31: a multiple of 32
#ifndef TILEC_TESTS_MUTATE_BITS_H
#define TILEC_TESTS_MUTATE_BITS_H

#include "tests/mutate/facts.h"
#include "tests/mutate/statements.h"

typedef struct Bits {
    const Statements *statements;
    const Facts *facts;
    uint32_t depth;
} Bits;

// The zeros of a register as 64 bits (one of 32 has zeros above), or of a number.
uint64_t bits_zeros(const Bits *b, Str operand);

#endif

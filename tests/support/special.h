// Special floats: the values at which rounding, contraction and folding go wrong first, of each
// float type.
//
// Zeros of both signs, subnormals, the least normal number, the neighbours of one, the greatest
// numbers, infinities, NaN, numbers halfway between two neighbours of a narrower type, and plain
// numbers, to combine with the special ones.
//
//     uint64_t bits = special_float(DTYPE_F16, &dice);
#ifndef TILEC_TESTS_SUPPORT_SPECIAL_H
#define TILEC_TESTS_SUPPORT_SPECIAL_H

#include "base/dtype.h"
#include "tests/support/dice.h"

// A NaN among them is the plain one, which constants can have.
uint64_t special_float(Dtype t, Dice *dice);
// A NaN of any sign and payload: memory may hold it, and moves keep it.
uint64_t special_nan(Dtype t, Dice *dice);

#endif

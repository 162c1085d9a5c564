// Ranks: unsigned numbers that order as the keys of a sort do.
//
// Invariants: NaNs come last in either order, zeros are equal; types of less than 64 bits have
// ranks of at most 32 bits.
// Ownership: new IR, at the builder's position; x is a scalar or a vector.
//
//     IrValue *u = rank_of(b, key, descending);   // f32[4] → u32[4]
#ifndef TILEC_PASSES_SORT_KEY_H
#define TILEC_PASSES_SORT_KEY_H

#include "ir/build.h"

IrValue *rank_of(IrBuilder *b, IrValue *x, bool descending);
// The unsigned integer of this size: the type of the bits of an element.
Dtype unsigned_of(uint32_t bytes);

#endif

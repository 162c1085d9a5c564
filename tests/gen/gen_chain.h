// Chains of elementwise ops on special values: what a back end may fold, contract or reassociate by
// itself, and must not.
//
// Invariants: all tiles of a kernel have one shape; each element of a result is the same on every
// target, bit for bit but for NaNs; of what only moves, NaNs too. Ownership: the module's arena.
//
//     GenChain c = …;                     gen_chain (tests/gen/gen.h) makes one
//     IrValue *x = chain_value(&c, DTYPE_F16);
//     gen_push(&c.g, chain_idiom(&c));
#ifndef TILEC_TESTS_GEN_GEN_CHAIN_H
#define TILEC_TESTS_GEN_GEN_CHAIN_H

#include "tests/gen/gen_internal.h"

enum { CHAIN_FAVOURITES = 3 };

typedef struct GenChain {
    Gen g;
    const IrType *shape;                 // of any element type
    Dtype favourites[CHAIN_FAVOURITES];  // of this kernel: few, so that values meet
    size_t inputs;                       // the first ones of the pool: what was loaded
} GenChain;

Dtype chain_float(GenChain *c);  // a favourite, if there is one
Dtype chain_int(GenChain *c);
IrValue *chain_value(GenChain *c, Dtype elem);  // an input, a result, a constant, a scalar
IrValue *chain_number(GenChain *c, Dtype elem, double value);
IrValue *chain_bits(GenChain *c, Dtype elem, uint64_t bits);
IrValue *chain_constant(GenChain *c, Dtype elem);  // a special one
IrValue *chain_idiom(GenChain *c);                 // gen_idioms.c: what compilers have patterns for

#endif

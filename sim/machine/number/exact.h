// Exact sums of products, rounded once at the end.
//
// A sum is stored as an integer of many limbs that covers every product of two doubles. Small sums
// do not need it: sim_exact_fits says when plain double arithmetic is exact.
//
//     SimExact e; sim_exact_clear(&e);
//     sim_exact_add(&e, a, b);                       // + a * b
//     uint64_t bits = sim_exact_round(&e, &sim_f32, SIM_RN);
#ifndef TILEC_SIM_MACHINE_NUMBER_EXACT_H
#define TILEC_SIM_MACHINE_NUMBER_EXACT_H

#include "sim/machine/number/number.h"

enum { SIM_EXACT_LIMBS = 140 };  // of 32 bits: from 2^-2176 up to 2^2304

typedef struct SimExact {
    int64_t limbs[SIM_EXACT_LIMBS];
    bool nan, plus_infinity, minus_infinity, positive_zero, any;
    int scale;  // the rounded value is the sum times 2 to this power
} SimExact;

void sim_exact_clear(SimExact *e);
void sim_exact_add(SimExact *e, double a, double b);
uint64_t sim_exact_round(SimExact *e, const SimFormat *f, SimRound round);

#endif

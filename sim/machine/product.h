// Matrix products as the matrix instructions compute them: d = a * b + c, where every element is
// the exact sum of its products and c, rounded once.
//
// Float elements are given as f32, which holds those of every type but f64.
// Invariants: a sum uses the first exact method of three: double arithmetic if exponents are close,
// pairs of doubles that detect lost bits, and else exact.h. The bits of the result do not depend on
// the method.
//
//     SimFloats p = {.m = 16, .k = 16};
//     …p.a by rows, p.b by columns, both along k…
//     sim_product_floats(&p, SIM_F16, SIM_F16, SIM_F32, c, SIM_F32, d);
#ifndef TILEC_SIM_MACHINE_PRODUCT_H
#define TILEC_SIM_MACHINE_PRODUCT_H

#include "sim/machine/program.h"

enum { SIM_ROWS = 16, SIM_COLUMNS = 8, SIM_DEPTH = 64, SIM_RESULTS = SIM_ROWS * SIM_COLUMNS };

// Line n of a and b begins at n * k: a row of A, a column of B.
typedef struct SimFloats {
    float a[SIM_ROWS * SIM_DEPTH], b[SIM_COLUMNS * SIM_DEPTH];
    uint32_t m, k;
} SimFloats;
typedef struct SimDoubles {
    double a[SIM_ROWS * SIM_DEPTH], b[SIM_COLUMNS * SIM_DEPTH];
    uint32_t m, k;
} SimDoubles;
typedef struct SimInts {
    int16_t a[SIM_ROWS * SIM_DEPTH], b[SIM_COLUMNS * SIM_DEPTH];
    uint32_t m, k;
    bool saturate;
} SimInts;

// c and d are stored by rows of SIM_COLUMNS, as bits of their type (f32 or f16).
void sim_product_floats(const SimFloats *p, SimType a, SimType b, SimType c_type, const uint32_t *c,
                        SimType d_type, uint32_t *d);
// The same for wgmma's 8-bit floats: each addend keeps 13 bits below the greatest exponent, and the
// sum 14 bits. Sums with infinities and NaN are exact. c and d have one type.
void sim_product_narrow(const SimFloats *p, SimType a, SimType b, SimType type, const uint32_t *c,
                        uint32_t *d);
void sim_product_doubles(const SimDoubles *p, const uint64_t *c, uint64_t *d);
void sim_product_ints(const SimInts *p, const uint32_t *c, uint32_t *d);

#endif

// Rates of GPUs: what one card of an architecture does in a clock (rates.def), for estimates. Rates
// of CPUs: what one core does in a clock (cpu_rates.def).
//
// Invariants: no code depends on them, only texts do. Ownership: static rows.
//
//     const Rates *r = rates_of(target);
//     if (r) clocks = bytes / r->shared;
#ifndef TILEC_TARGET_RATES_H
#define TILEC_TARGET_RATES_H

#include "target/cpu.h"
#include "target/gpu.h"

typedef struct Rates {
    GpuVendor vendor;
    uint32_t number;
    const char *card;
    uint32_t units, mhz;
    uint32_t matrix, matrix_async;  // multiply-adds of f16
    uint32_t lanes, special;
    uint32_t shared, l2;  // bytes; of all units; 0: not known
    uint32_t memory;      // GB/s
    const char *source;
} Rates;

// NULL: not known.
const Rates *rates_of(GpuTarget target);

typedef struct CpuRates {
    CpuLevel level;
    const char *core;
    bool operands;  // loads are operands of other instructions
    double loads, stores, multiply_adds, arithmetic, shuffles, issued;  // in a clock
    double divide_f32, divide_f64;                                      // clocks
} CpuRates;

const CpuRates *rates_of_cpu(CpuTarget target);

#endif

// Float formats, bit by bit: packing with any rounding, exact helpers.
//
// Invariants: numbers of a SimFormat are sign, exponent, significand, from the top down;
// `precision` includes the hidden bit. A double "rounded to odd" records in its last bit whether
// anything was cut off, so that a second rounding to at most 51 bits of precision is correct.
//
//     uint32_t h = (uint32_t)sim_number_round(&sim_f16, 0.1, SIM_RN, false);
#ifndef TILEC_SIM_MACHINE_NUMBER_NUMBER_H
#define TILEC_SIM_MACHINE_NUMBER_NUMBER_H

#include <string.h>

#include "sim/machine/program.h"

typedef struct SimFormat {
    uint8_t bits, precision;
    int16_t bias;
    uint64_t greatest, infinity, nan;  // without sign; infinity 0: the format has none
} SimFormat;
extern const SimFormat sim_f16, sim_bf16, sim_tf32, sim_f32, sim_f64, sim_e4m3, sim_e5m2, sim_e2m1,
    sim_e2m3, sim_e3m2;
// NULL: not a float format, or ue8m0.
const SimFormat *sim_format(SimType element);

// Rounds significand * 2^exponent; `sticky` says that lower bits were cut off.
uint64_t sim_number_pack(const SimFormat *f, bool negative, uint64_t significand, int exponent,
                         bool sticky, SimRound round, bool saturate);
uint64_t sim_number_round(const SimFormat *f, double value, SimRound round, bool saturate);
// Exact for every format up to f64.
double sim_number_value(const SimFormat *f, uint64_t bits);

static inline uint32_t sim_bits_f32(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}
static inline float sim_f32_bits(uint32_t u) {
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}
static inline uint64_t sim_bits_f64(double x) {
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}
static inline double sim_f64_bits(uint64_t u) {
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

// Moves a sum that lost `error` to the odd one of its two neighbours.
static inline double sim_make_odd(double sum, double error) {
    uint64_t u = sim_bits_f64(sum);
    uint64_t inexact = (error != 0) & (error == error) & (sum - sum == 0);
    // Toward the error: the neighbour with the last bit set, or the sum itself if its last bit is
    // set.
    uint64_t up = (error > 0) == (sum > 0);
    uint64_t even = inexact & ~u & 1;
    return sim_f64_bits(u + (even & up) - (even & ~up & 1));
}
static inline double sim_add_odd(double a, double b) {
    double s = a + b, t = s - a;
    double error = (a - (s - t)) + (b - t);
    return sim_make_odd(s, error);
}
// a * b is exact (two significands of at most 26 bits).
static inline double sim_fma_odd(double a, double b, double c) { return sim_add_odd(a * b, c); }

static inline float sim_f16_value(uint32_t h) {
    uint32_t sign = (h & 0x8000) << 16, rest = h & 0x7fff, wide = rest << 13;
    uint32_t small = sim_bits_f32((float)(int32_t)rest * 0x1p-24f);
    uint32_t u = rest < 0x400 ? small : wide + (112u << 23);
    u = rest >= 0x7c00 ? wide | 0x7f800000 : u;
    return sim_f32_bits(u | sign);
}
static inline float sim_bf16_value(uint32_t h) { return sim_f32_bits(h << 16); }

// Rounds to nearest, ties to even.
static inline uint32_t sim_f16_round(float x) {
    uint32_t u = sim_bits_f32(x), sign = u >> 16 & 0x8000, a = u & 0x7fffffff;
    uint32_t normal = (a + 0xfff + (a >> 13 & 1) - (112u << 23)) >> 13;
    uint32_t small = sim_bits_f32(sim_f32_bits(a) + 0.5f) - 0x3f000000;
    uint32_t h = a < 113u << 23 ? small : normal;
    h = a >= 0x477ff000 ? 0x7c00 : h;
    h = a > 0x7f800000 ? 0x7fff : h;
    return h | (a > 0x7f800000 ? 0 : sign);
}
static inline uint32_t sim_bf16_round(float x) {
    uint32_t u = sim_bits_f32(x);
    uint32_t h = (u + 0x7fff + (u >> 16 & 1)) >> 16;
    return (u & 0x7fffffff) > 0x7f800000 ? 0x7fff : h;
}
// Rounds a double that was rounded to odd.
static inline float sim_f32_round(double x) { return (float)x; }

static inline float sim_flush(float x) {
    uint32_t u = sim_bits_f32(x);
    return sim_f32_bits(u & 0x7f800000 ? u : u & 0x80000000);
}
// The NaN that results become.
static inline float sim_canonical(float x) { return x == x ? x : sim_f32_bits(0x7fffffff); }

#endif

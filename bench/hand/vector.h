// Vectors of floats as wide as this CPU's, and the functions that the hand-written loops share.
//
// Invariants: plain C with the vector extension of gcc and clang; no code here depends on an
// instruction set. Loads and stores need no alignment, except the non-temporal ones.
//
//     for (i = first; i < last; i += LANES) vector_store(z + i, vector_exp(vector_load(x + i)));
#ifndef TILEC_BENCH_VECTOR_H
#define TILEC_BENCH_VECTOR_H

#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
enum { LANES = VECTOR_BYTES / 4 };

typedef float Vector __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t VectorInt __attribute__((vector_size(VECTOR_BYTES)));

static inline Vector vector_load(const float *from) {
    Vector v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline void vector_store(float *to, Vector v) { memcpy(to, &v, sizeof v); }

static inline void vector_store_nt(float *to, Vector v) {
#if defined(__clang__)
    __builtin_nontemporal_store(v, (Vector *)(void *)to);
#else
    vector_store(to, v);
#endif
}

static inline Vector vector_of(float value) { return (Vector){0} + value; }
static inline VectorInt vector_bits(Vector v) { return (VectorInt)v; }
static inline Vector vector_from_bits(VectorInt v) { return (Vector)v; }

static inline Vector vector_select(VectorInt mask, Vector yes, Vector no) {
    return vector_from_bits((vector_bits(yes) & mask) | (vector_bits(no) & ~mask));
}
static inline Vector vector_max(Vector a, Vector b) { return vector_select(a > b, a, b); }
static inline Vector vector_min(Vector a, Vector b) { return vector_select(a < b, a, b); }

static inline float vector_sum(Vector v) {
    float sum = 0;
    for (int i = 0; i < LANES; i++) sum += v[i];
    return sum;
}
static inline float vector_greatest(Vector v) {
    float top = v[0];
    for (int i = 1; i < LANES; i++) top = v[i] > top ? v[i] : top;
    return top;
}

// 2^k times e^r: k = round(x / ln 2), r is the rest, computed in two steps; polynomial of degree
// six. About 1 ulp.
static inline Vector vector_exp(Vector x) {
    const float magic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to a whole number
    x = vector_min(vector_max(x, vector_of(-87.0f)), vector_of(88.0f));
    Vector shifted = x * 1.44269504f + magic, k = shifted - magic;
    Vector r = x - k * 0.693145752f;
    r = r - k * 1.42860677e-6f;
    Vector p = r * 0.00139485905f + 0.00837513525f;
    p = p * r + 0.0416662171f;
    p = p * r + 0.166664153f;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    return vector_from_bits(vector_bits(p) + (vector_bits(shifted) << 23));
}

// Below 1 an odd polynomial, above it 1 - 2^(a Q(a)); from 4 on erf is 1.
static inline Vector vector_erf(Vector x) {
    VectorInt sign = vector_bits(x) & INT32_MIN;
    Vector a = vector_min(vector_from_bits(vector_bits(x) & INT32_MAX), vector_of(4.0f));
    Vector s = a * a;
    Vector small = s * 7.88249745e-05f - 0.000801885501f;
    small = small * s + 0.00518931216f;
    small = small * s - 0.0268543288f;
    small = small * s + 0.112835974f;
    small = small * s - 0.37612626f;
    small = (small * s + 1.12837911f) * a;
    Vector q = a * 4.61206525e-07f - 7.71319083e-06f;
    q = q * a + 2.88947449e-05f;
    q = q * a + 0.00034899867f;
    q = q * a - 0.00515035214f;
    q = q * a + 0.0344004035f;
    q = q * a - 0.153618664f;
    q = q * a - 0.916039348f;
    q = q * a - 1.62837934f;
    Vector big = 1.0f - vector_exp(q * a * 0.693147181f);
    return vector_from_bits(vector_bits(vector_select(a < 1.0f, small, big)) | sign);
}

#endif

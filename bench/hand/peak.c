// The peaks: independent multiply-adds on registers, enough at once to hide their latency.
#include "bench/hand/hand.h"
#include "bench/hand/vector.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// Twenty-four chains if there are 32 registers, else twelve: a latency of 4 cycles at two a cycle
// needs eight.
#if VECTOR_BYTES == 64 || defined(__aarch64__)
#define CHAINS 24
#else
#define CHAINS 12
#endif
#define KEEP(v) __asm__ volatile("" : VECTOR_REGISTER(v))
#if defined(__x86_64__)
#define VECTOR_REGISTER(v) "+v"(v)
#else
#define VECTOR_REGISTER(v) "+w"(v)
#endif

void hand_peak_f32(const HandJob *job, int64_t first, int64_t last) {
    Vector acc[CHAINS], a = vector_of(job->alpha), b = vector_of(job->eps);
    for (int k = 0; k < CHAINS; k++) acc[k] = vector_of((float)k);
    for (int64_t i = first; i < last; i++)
#pragma GCC unroll 24
        for (int k = 0; k < CHAINS; k++) {
            acc[k] = acc[k] * a + b;
            KEEP(acc[k]);
        }
    Vector sum = acc[0];
    for (int k = 1; k < CHAINS; k++) sum += acc[k];
    job->z[0] = vector_sum(sum);
}
int64_t hand_peak_f32_operations(void) { return 2 * CHAINS * LANES; }

#if defined(__AVX512BF16__)
void hand_peak_bf16(const HandJob *job, int64_t first, int64_t last) {
    __m512 acc[CHAINS];
    Vector one = vector_of(job->alpha);
    __m512bh a, b;
    memcpy(&a, &one, sizeof a);
    memcpy(&b, &one, sizeof b);
    for (int k = 0; k < CHAINS; k++) acc[k] = _mm512_setzero_ps();
    for (int64_t i = first; i < last; i++)
#pragma GCC unroll 24
        for (int k = 0; k < CHAINS; k++) {
            acc[k] = _mm512_dpbf16_ps(acc[k], a, b);
            KEEP(acc[k]);
        }
    for (int k = 1; k < CHAINS; k++) acc[0] = _mm512_add_ps(acc[0], acc[k]);
    job->z[0] = acc[0][0];
}
int64_t hand_peak_bf16_operations(void) { return 4 * CHAINS * LANES; }
#else
void hand_peak_bf16(const HandJob *job, int64_t first, int64_t last) {
    (void)job, (void)first, (void)last;
}
int64_t hand_peak_bf16_operations(void) { return 0; }
#endif

#if defined(__AVX512VNNI__)
void hand_peak_i8(const HandJob *job, int64_t first, int64_t last) {
    __m512i acc[CHAINS], a = _mm512_set1_epi8((char)job->columns), b = _mm512_set1_epi8(1);
    for (int k = 0; k < CHAINS; k++) acc[k] = _mm512_setzero_si512();
    for (int64_t i = first; i < last; i++)
#pragma GCC unroll 24
        for (int k = 0; k < CHAINS; k++) {
            acc[k] = _mm512_dpbusd_epi32(acc[k], a, b);
            KEEP(acc[k]);
        }
    for (int k = 1; k < CHAINS; k++) acc[0] = _mm512_add_epi32(acc[0], acc[k]);
    job->z[0] = (float)_mm512_reduce_add_epi32(acc[0]);
}
int64_t hand_peak_i8_operations(void) { return 8 * CHAINS * LANES; }
#else
void hand_peak_i8(const HandJob *job, int64_t first, int64_t last) {
    (void)job, (void)first, (void)last;
}
int64_t hand_peak_i8_operations(void) { return 0; }
#endif

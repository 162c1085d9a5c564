// Hand-written loops: the speed that a good C programmer gets from this machine without tilec.
//
// scripts/bench.sh builds them as a separate library for exactly this CPU (clang -O3 -march=native
// -ffp-contract=fast), which bench_cpu loads. Every loop works on the units first … last - 1 of one
// job (elements, rows or blocks), so that the bench can split it between threads.
// Invariants: arrays begin at multiples of 64 bytes; ranges of elements begin and end at multiples
// of HAND_CHUNK unless they end with the job; rows have a multiple of 16 columns. Functions with
// names ending in _nt write past the caches. Nothing is allocated.
//
//     HandLoop *add = (HandLoop *)os_library_symbol(hand, "hand_add");
//     add(&(HandJob){.x = x, .y = y, .z = z}, 0, count);
#ifndef TILEC_BENCH_HAND_H
#define TILEC_BENCH_HAND_H

#include <stdint.h>

enum { HAND_CHUNK = 4096 };

typedef struct HandJob {
    const float *x, *y, *weight, *bias;
    float *z, *in_out;
    float alpha, eps;
    int64_t rows, columns;
} HandJob;

typedef void HandLoop(const HandJob *job, int64_t first, int64_t last);

// Units are elements.
HandLoop hand_read, hand_sum, hand_copy, hand_copy_nt, hand_add, hand_add_nt, hand_axpy, hand_exp,
    hand_exp_nt, hand_gelu_tanh, hand_gelu_tanh_nt, hand_gelu_erf, hand_gelu_erf_nt;
// Units are rows.
HandLoop hand_softmax, hand_softmax_divided, hand_layernorm, hand_add_rmsnorm;
// Units are bands of 64 rows of x.
HandLoop hand_transpose, hand_transpose_nt;
// Rounds first … last - 1 of independent multiply-adds on registers.
HandLoop hand_peak_f32, hand_peak_bf16, hand_peak_i8;
// Operations of one round; 0: this CPU lacks the instruction.
int64_t hand_peak_f32_operations(void), hand_peak_bf16_operations(void),
    hand_peak_i8_operations(void);

#endif

// The cases of the bench: each function measures those of its rows that match the filter.
//
// Ownership: cases allocate in the bench's arena.
//
//     for (i = 0; i < count; i++) cases[i](bench);
#ifndef TILEC_BENCH_CASES_H
#define TILEC_BENCH_CASES_H

#include "bench/cpu/kernels.h"
#include "bench/cpu/peers.h"

void case_peaks(Bench *bench);
void case_streams(Bench *bench);  // vector add, axpy, sum, exp, GELU
void case_rows(Bench *bench);     // softmax, layernorm, rmsnorm
void case_transpose(Bench *bench);
void case_matmul(Bench *bench);  // f32, bf16, i8
void case_attention(Bench *bench);
void case_launch(Bench *bench);   // empty kernels and regions
void case_compile(Bench *bench);  // source to callable, on the CPU and for a GPU
void case_growth(Bench *bench);   // compiling with larger tiles

// Adds a hand-written loop as a contestant.
void add_hand(Bench *bench, Row *row, const char *name, Role role, const char *loop,
              const HandJob *job, int64_t units, int64_t grain);
// Adds PoCL as a contestant, if it is available.
void add_pocl(Bench *bench, Row *row, const PoclJob *job);
// Adds the peak of the machine, for rows with FLOP/s.
void add_peak(Bench *bench, Row *row, const char *loop);

#endif

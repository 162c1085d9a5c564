// Checks the results of the kernels: computes them in double, and compares with the bounds of
// docs/numerics.md. Each check_… prints a line, and returns 0 unless a number is outside its bound.
#ifndef CHECK_H
#define CHECK_H

#include <stddef.h>
#include <stdint.h>

// Numbers in [-1, 1); the same seed gives the same numbers.
void fill(float *to, size_t count, uint32_t seed);
// The same, but multiples of 1/256, which f16 represents exactly.
void fill_coarse(float *to, size_t count, uint32_t seed);
// The bits of a number that f16 represents exactly.
uint16_t half_of(float value);
float float_of(uint16_t half);

typedef struct Matmul {
    int m, n, k;
    int parts;    // partial sums that were added afterwards; 1: none
    double unit;  // of the result's type: 2^-11 for f16; 0: f32, the type of the sums
} Matmul;
typedef struct Attention {
    int b, h, g, m, n, d;
    float scale;
} Attention;

int check_softmax(const float *x, const float *y, int rows, int columns);
// `before` is the residual before the kernel ran, `after` the one it stored.
int check_rmsnorm(const float *x, const float *before, const float *after, const float *weight,
                  const float *y, int rows, int columns, float eps);
int check_matmul(const char *name, const float *a, const float *b, const float *c, Matmul shape);
int check_attention(const float *q, const float *k, const float *v, const float *y,
                    Attention shape);

#endif

// What the kernels compute, plainly and in double, and how far a result may be from it: the bounds
// of docs/numerics.md. Each check_… prints a line, and is 0 if a number is outside.
#ifndef CHECK_H
#define CHECK_H

#include <stddef.h>
#include <stdint.h>

// Numbers in [-1, 1), the same for the same seed.
void fill(float *to, size_t count, uint32_t seed);
// The same, multiples of 1/256, which f16 has exactly.
void fill_coarse(float *to, size_t count, uint32_t seed);
// Of a number that f16 has exactly.
uint16_t half_of(float value);
float float_of(uint16_t half);

typedef struct Matmul {
    int m, n, k;
    int parts;    // sums that were added up afterwards; 1: none
    double unit;  // of the result's type: 2^-11 for f16; 0: of f32, which sums are anyway
} Matmul;
typedef struct Attention {
    int b, h, g, m, n, d;
    float scale;
} Attention;

int check_softmax(const float *x, const float *y, int rows, int columns);
// `before` is the residual as it was, `after` as the kernel left it.
int check_rmsnorm(const float *x, const float *before, const float *after, const float *weight,
                  const float *y, int rows, int columns, float eps);
int check_matmul(const char *name, const float *a, const float *b, const float *c, Matmul shape);
int check_attention(const float *q, const float *k, const float *v, const float *y,
                    Attention shape);

#endif

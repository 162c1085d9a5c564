// The two computations of this folder in plain C, on small whole numbers, whose sums are exact in
// any order: a device's result is right only if it is equal.
//
//     Matmul m = matmul_make(M, N, K);      // inputs, and the result that is expected
//     … compute m.c on a device …
//     if (!matmul_check(&m)) …
#ifndef EXAMPLES_TRITON_CHECK_H
#define EXAMPLES_TRITON_CHECK_H

#include <stdint.h>

typedef uint16_t half_bits;  // a number of 16 bits, which C does not have

// C = leaky_relu(A B)
typedef struct Matmul {
    int m, n, k;
    half_bits *a, *b;  // m × k; k × n
    float *c;          // m × n: to be filled in
    float *expected;
} Matmul;
Matmul matmul_make(int m, int n, int k);
int matmul_check(const Matmul *m);  // 1: right. It prints what it found
void matmul_free(Matmul *m);

// Each token goes to `top` of the experts. Expert e has two matrices: hidden × in and out × hidden.
typedef struct Moe {
    int tokens, experts, top;
    int in, hidden, out;
    half_bits *x;     // tokens × in
    half_bits *up;    // experts × hidden × in
    half_bits *down;  // experts × out × hidden
    int32_t *chosen;  // tokens × top
    float *weights;   // tokens × top
    float *y;         // tokens × out: to be filled in
    float *expected;
    // The slots, sorted by their experts in blocks of `block` entries.
    int block;
    int32_t used;        // entries of `slots`: a multiple of `block`
    int32_t *slots;      // numbers of slots; tokens * top: no slot
    int32_t *expert_of;  // for each block
} Moe;
Moe moe_make(int tokens, int experts, int top, int in, int hidden, int out, int block);
int moe_check(const Moe *m);
void moe_free(Moe *m);

#endif

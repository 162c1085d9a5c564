// Matrix products: grouped programs, block pointers, descriptors, small types, attention, experts.
#include <math.h>
#include <stddef.h>

#include "tests/triton/cases.h"

static double product(const Array *a, int64_t a0, int64_t a_step, const Array *b, int64_t b0,
                      int64_t b_step, int64_t count) {
    double sum = 0;
    for (int64_t k = 0; k < count; k++) sum += get(a, a0 + k * a_step) * get(b, b0 + k * b_step);
    return sum;
}

// The sizes of tiles are those of the first configuration.
static void matmul(Rig *r, const char *activation) {
    enum { M = 70, N = 50, K = 40 };
    Array *a = array_random(r, TILEC_F16, M * K, -1, 1),
          *b = array_random(r, TILEC_F16, K * N, -1, 1);
    Array *c = array_new(r, TILEC_F16, M * N);
    run(r, "matmul.py", "matmul_kernel",
        TILEC_SPEC(TILEC_VALUE("ACTIVATION", activation),
                   TILEC_GRID("triton.cdiv(M, BLOCK_SIZE_M) * triton.cdiv(N, BLOCK_SIZE_N)")),
        NULL,
        TILEC_ARGS(view2(a, M, K), view2(b, K, N), view2(c, M, N), M, N, K, K, 1, N, 1, N, 1));
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++) {
            double v = product(a, i * K, 1, b, j, N, K);
            near(c, i * N + j, activation[1] == 'l' && v < 0 ? 0.01 * v : v, 0x1p-10, 1e-4);
        }
}

void case_matmul(Rig *r) {
    matmul(r, "''");
    matmul(r, "'leaky_relu'");
}

// B is given transposed.
void case_batched(Rig *r) {
    enum { BATCH = 2, M = 20, N = 30, K = 40 };
    Array *a = array_random(r, TILEC_F16, BATCH * M * K, -1, 1);
    Array *b = array_random(r, TILEC_F16, BATCH * N * K, -1, 1),
          *c = array_new(r, TILEC_F32, BATCH * M * N);
    run(r, "matmul.py", "batched_matmul",
        TILEC_SPEC(TILEC_CONST("BM", 16), TILEC_CONST("BN", 16), TILEC_CONST("BK", 16),
                   TILEC_GRID("(triton.cdiv(M, BM), triton.cdiv(N, BN), 2)")),
        NULL,
        TILEC_ARGS(view1(a), view1(b), view1(c), M, N, K, M * K, K, 1, N * K, 1, K, M * N, N, 1));
    for (int64_t i = 0; i < BATCH * M * N; i++) {
        int64_t batch = i / (M * N), row = i / N % M, column = i % N;
        near(c, i, product(a, (batch * M + row) * K, 1, b, (batch * N + column) * K, 1, K), 1e-4,
             1e-4);
    }
}

// Persistent programs; an element outside of a descriptor is 0.
void case_descriptor(Rig *r) {
    enum { M = 40, N = 48, K = 64 };
    Array *a = array_random(r, TILEC_F16, M * K, -1, 1);
    Array *b = array_random(r, TILEC_F16, N * K, -1, 1), *c = array_new(r, TILEC_F16, M * N);
    run(r, "matmul.py", "matmul_descriptor",
        TILEC_SPEC(TILEC_CONST("BLOCK_M", 32), TILEC_CONST("BLOCK_N", 32),
                   TILEC_CONST("BLOCK_K", 32), TILEC_CONST("NUM_SMS", 3)),
        GRID(3, 1, 1), TILEC_ARGS(view2(a, M, K), view2(b, N, K), view2(c, M, N), M, N, K));
    for (int64_t i = 0; i < M * N; i++)
        near(c, i, product(a, i / N * K, 1, b, i % N * K, 1, K), 0x1p-10, 1e-4);
}

static void scaled(Rig *r, tilec_dtype type) {
    enum { M = 20, N = 30, K = 70 };
    bool whole = type == TILEC_I8;
    Array *a = whole ? array_ints(r, type, M * K, -128, 128) : array_random(r, type, M * K, -2, 2);
    Array *b = whole ? array_ints(r, type, K * N, -128, 128) : array_random(r, type, K * N, -2, 2);
    Array *sa = array_random(r, TILEC_F32, M, 0.5, 2), *sb = array_random(r, TILEC_F32, N, 0.5, 2);
    Array *c = array_new(r, TILEC_F32, M * N);
    run(r, "matmul.py", "scaled_matmul",
        TILEC_SPEC(TILEC_CONST("BM", 16), TILEC_CONST("BN", 32), TILEC_CONST("BK", 32)),
        GRID(2, 1, 1), TILEC_ARGS(view1(a), view1(b), view1(c), view1(sa), view1(sb), M, N, K));
    for (int64_t i = 0; i < M * N; i++) {
        double v = product(a, i / N * K, 1, b, i % N, N, K) * get(sa, i / N) * get(sb, i % N);
        // Tensor cores keep 13 bits of sums of fp8.
        near(c, i, v, 1e-5, whole ? 1e-3 : 0.05);
    }
}

void case_scaled(Rig *r) {
    scaled(r, TILEC_I8);
    scaled(r, TILEC_F8E4M3);
    scaled(r, TILEC_F8E5M2);
}

// A heuristic says whether the tiles divide K.
static void split(Rig *r, int64_t k_size) {
    enum { M = 16, N = 24 };
    Array *a = array_random(r, TILEC_F32, M * k_size, -1, 1);
    Array *b = array_random(r, TILEC_F32, k_size * N, -1, 1), *c = array_new(r, TILEC_F32, M * N);
    run(r, "matmul.py", "split_k",
        TILEC_SPEC(TILEC_CONST("BLOCK_M", 16), TILEC_CONST("BLOCK_N", 16),
                   TILEC_CONST("BLOCK_K", 16), TILEC_CONST("SPLIT_K", 2),
                   TILEC_GRID("triton.cdiv(M, BLOCK_M), triton.cdiv(N, BLOCK_N), SPLIT_K")),
        NULL, TILEC_ARGS(view1(a), view1(b), view1(c), M, N, k_size));
    for (int64_t i = 0; i < M * N; i++)
        near(c, i, product(a, i / N * k_size, 1, b, i % N, N, k_size), 1e-5, 1e-5);
}

void case_split_k(Rig *r) {
    split(r, 64);
    split(r, 50);
}

// Weights of four bits, eight in a word, with a scale and a zero point for each group.
void case_int4(Rig *r) {
    enum { M = 16, N = 32, K = 64, GROUP = 32 };
    Array *x = array_random(r, TILEC_F16, M * K, -1, 1);
    Array *packed = array_ints(r, TILEC_I32, K / 8 * N, INT32_MIN, INT64_C(1) << 31);
    Array *scale = array_random(r, TILEC_F16, K / GROUP * N, 0.01, 0.1);
    Array *zero = array_ints(r, TILEC_I32, K / GROUP * N / 8, INT32_MIN, INT64_C(1) << 31);
    Array *y = array_new(r, TILEC_F32, M * N);
    run(r, "matmul.py", "int4_matmul",
        TILEC_SPEC(TILEC_CONST("BM", 16), TILEC_CONST("BN", 16), TILEC_CONST("BK", 32)),
        GRID(1, 2, 1),
        TILEC_ARGS(view1(x), view1(packed), view1(scale), view1(zero), view1(y), M, N, K, GROUP));
    for (int64_t i = 0; i < M * N; i++) {
        double sum = 0;
        int64_t n = i % N;
        for (int64_t k = 0; k < K; k++) {
            int64_t q = get_int(packed, k / 8 * N + n) >> k % 8 * 4 & 15;
            int64_t z = get_int(zero, k / GROUP * (N / 8) + n / 8) >> n % 8 * 4 & 15;
            sum += get(x, i / N * K + k) * (double)(q - z) * get(scale, k / GROUP * N + n);
        }
        near(y, i, sum, 2e-3, 1e-2);
    }
}

// The addresses of the matrices are in tables.
void case_grouped(Rig *r) {
    enum { GROUPS = 2 };
    static const int64_t sizes[GROUPS][3] = {{20, 30, 40}, {33, 16, 17}};
    Array *tables[3], *size = array_new(r, TILEC_I32, GROUPS * 3);
    Array *lds = array_new(r, TILEC_I32, GROUPS * 3), *a[GROUPS], *b[GROUPS], *c[GROUPS];
    for (int t = 0; t < 3; t++) tables[t] = array_new(r, TILEC_I64, GROUPS);
    for (int64_t g = 0; g < GROUPS; g++) {
        int64_t m = sizes[g][0], n = sizes[g][1], k = sizes[g][2];
        const double leading[3] = {(double)k, (double)n, (double)n};
        a[g] = array_random(r, TILEC_F16, m * k, -1, 1);
        b[g] = array_random(r, TILEC_F16, k * n, -1, 1);
        c[g] = array_new(r, TILEC_F16, m * n);
        Array *all[3] = {a[g], b[g], c[g]};
        for (int t = 0; t < 3; t++) {
            int64_t address = address_of(all[t], 0);
            set_int(tables[t], g, address);
            set(size, g * 3 + t, (double)sizes[g][t]);
            set(lds, g * 3 + t, leading[t]);
        }
    }
    run(r, "matmul.py", "grouped_matmul",
        TILEC_SPEC(TILEC_CONST("NUM_SM", 3), TILEC_CONST("BLOCK_M", 16), TILEC_CONST("BLOCK_N", 16),
                   TILEC_CONST("BLOCK_K", 16)),
        GRID(3, 1, 1),
        TILEC_ARGS(view1(tables[0]), view1(tables[1]), view1(tables[2]), view1(size), view1(lds),
                   GROUPS));
    for (int64_t g = 0; g < GROUPS; g++)
        for (int64_t i = 0; i < c[g]->count; i++) {
            int64_t n = sizes[g][1], k = sizes[g][2];
            near(c[g], i, product(a[g], i / n * k, 1, b[g], i % n, n, k), 0x1p-10, 1e-4);
        }
}

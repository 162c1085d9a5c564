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

// Scans, reductions with functions, sorting, counting, indices, and loops with conditions.
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "tests/triton/cases.h"

static void cumsum(Rig *r, bool reverse) {
    enum { ROWS = 3, N = 75 };
    Array *x = array_ints(r, TILEC_I32, ROWS * N, -100, 100),
          *y = array_new(r, TILEC_I32, ROWS * N);
    run(r, "scans.py", "cumsum_kernel",
        TILEC_SPEC(TILEC_VALUE("REVERSE", reverse ? "True" : "False"), TILEC_CONST("BLOCK", 32)),
        GRID(ROWS, 1, 1), TILEC_ARGS(view1(x), view1(y), N));
    for (int64_t row = 0; row < ROWS; row++) {
        int64_t sum = 0;
        for (int64_t i = 0; i < N; i++) {
            int64_t at = row * N + (reverse ? N - 1 - i : i);
            sum += get_int(x, at);
            same(y, at, sum);
        }
    }
}

void case_cumsum(Rig *r) {
    cumsum(r, false);
    cumsum(r, true);
}

void case_recurrence(Rig *r) {
    enum { B = 2, T = 32, C = 4 };
    Array *f = array_random(r, TILEC_F32, B * T * C, 0, 1);
    Array *x = array_random(r, TILEC_F32, B * T * C, -1, 1),
          *h = array_new(r, TILEC_F32, B * T * C);
    run(r, "scans.py", "linear_recurrence",
        TILEC_SPEC(TILEC_CONST("SEQ", T), TILEC_CONST("CHANNELS", C)), GRID(B, 1, 1),
        TILEC_ARGS(view1(f), view1(x), view1(h)));
    for (int64_t i = 0; i < B * C; i++) {
        double state = 0;
        for (int64_t t = 0; t < T; t++) {
            int64_t at = (i / C * T + t) * C + i % C;
            state = get(f, at) * state + get(x, at);
            near(h, at, state, 1e-5, 1e-6);
        }
    }
}

void case_welford(Rig *r) {
    enum { ROWS = 4, N = 50 };
    Array *x = array_random(r, TILEC_F32, ROWS * N, 3, 5), *mean = array_new(r, TILEC_F32, ROWS);
    Array *var = array_new(r, TILEC_F32, ROWS);
    run(r, "scans.py", "welford_kernel", TILEC_SPEC(TILEC_CONST("BLOCK", 64)), GRID(ROWS, 1, 1),
        TILEC_ARGS(view1(x), view1(mean), view1(var), N));
    for (int64_t i = 0; i < ROWS; i++) {
        double sum = 0, squares = 0;
        for (int64_t j = 0; j < N; j++) sum += get(x, i * N + j);
        for (int64_t j = 0; j < N; j++) squares += pow(get(x, i * N + j) - sum / N, 2);
        near(mean, i, sum / N, 1e-5, 0);
        near(var, i, squares / N, 1e-4, 0);
    }
}

void case_argmax(Rig *r) {
    enum { ROWS = 8, N = 27 };
    Array *x = array_ints(r, TILEC_F32, ROWS * N, -5, 6), *value = array_new(r, TILEC_F32, ROWS);
    Array *most = array_new(r, TILEC_I32, ROWS), *least = array_new(r, TILEC_I64, ROWS);
    run(r, "scans.py", "argmax_rows",
        TILEC_SPEC(TILEC_CONST("BLOCK_M", 4), TILEC_CONST("BLOCK_N", 32)), GRID(ROWS / 4, 1, 1),
        TILEC_ARGS(view1(x), view1(value), view1(most), view1(least), N));
    for (int64_t i = 0; i < ROWS; i++) {
        int64_t high = 0, low = 0;  // the first of equal ones
        for (int64_t j = 0; j < N; j++) {
            if (get(x, i * N + j) > get(x, i * N + high)) high = j;
            if (get(x, i * N + j) < get(x, i * N + low)) low = j;
        }
        near(value, i, get(x, i * N + high), 0, 0);
        same(most, i, high);
        same(least, i, low);
    }
}

static int descending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

void case_sort(Rig *r) {
    enum { ROWS = 3, N = 32, K = 8 };
    Array *x = array_random(r, TILEC_F32, ROWS * N, -9, 9), *y = array_new(r, TILEC_F32, ROWS * N);
    Array *top = array_new(r, TILEC_F32, ROWS * K);
    run(r, "scans.py", "sort_rows", TILEC_SPEC(TILEC_CONST("N", N), TILEC_CONST("K", K)),
        GRID(ROWS, 1, 1), TILEC_ARGS(view1(x), view1(y), view1(top)));
    for (int64_t i = 0; i < ROWS; i++) {
        double row[N];
        for (int64_t j = 0; j < N; j++) row[j] = get(x, i * N + j);
        qsort(row, N, sizeof *row, descending);
        for (int64_t j = 0; j < N; j++) near(y, i * N + j, row[j], 0, 0);
        for (int64_t j = 0; j < K; j++) near(top, i * K + j, row[j], 0, 0);
    }
}

void case_histogram(Rig *r) {
    enum { N = 300, BINS = 16 };
    Array *x = array_ints(r, TILEC_I32, N, 0, BINS), *bins = array_new(r, TILEC_I32, BINS);
    int64_t expected[BINS] = {0};
    run(r, "scans.py", "histogram_kernel",
        TILEC_SPEC(TILEC_CONST("BINS", BINS), TILEC_CONST("BLOCK", 128),
                   TILEC_GRID("(n + BLOCK - 1) // BLOCK")),
        NULL, TILEC_ARGS(view1(x), view1(bins), N));
    for (int64_t i = 0; i < N; i++) expected[get_int(x, i)]++;
    for (int64_t i = 0; i < BINS; i++) same(bins, i, expected[i]);
}

void case_embedding(Rig *r) {
    enum { TOKENS = 21, VOCAB = 50, D = 40, STRIDE = 48 };
    Array *table = array_random(r, TILEC_BF16, VOCAB * STRIDE, -1, 1);
    Array *index = array_ints(r, TILEC_I64, TOKENS, 0, VOCAB);
    Array *out = array_new(r, TILEC_BF16, TOKENS * D);
    run(r, "scans.py", "embedding_kernel",
        TILEC_SPEC(TILEC_CONST("dim", D), TILEC_CONST("BLOCK_T", 8), TILEC_CONST("BLOCK_D", 32),
                   TILEC_GRID("triton.cdiv(n_tokens, BLOCK_T), triton.cdiv(dim, BLOCK_D)")),
        NULL,
        TILEC_ARGS(view_strided(table, 0, VOCAB, D, STRIDE, 1), view1(index), view1(out), TOKENS,
                   STRIDE));
    for (int64_t i = 0; i < TOKENS * D; i++)
        near(out, i, get(table, get_int(index, i / D) * STRIDE + i % D), 0, 0);
}

void case_lower_bound(Rig *r) {
    enum { N = 37, WANTED = 20 };
    Array *sorted = array_new(r, TILEC_F32, N), *out = array_new(r, TILEC_I32, WANTED);
    Array *wanted = array_ints(r, TILEC_F32, WANTED, -3, N + 3);
    for (int64_t i = 0; i < N; i++) set(sorted, i, (double)i + 0.5);
    run(r, "scans.py", "lower_bound", TILEC_SPEC(TILEC_GRID("20")), NULL,
        TILEC_ARGS(view1(sorted), view1(wanted), view1(out), N));
    for (int64_t i = 0; i < WANTED; i++) near(out, i, fmin(N, fmax(0, get(wanted, i))), 0, 0);
}

void case_collatz(Rig *r) {
    enum { N = 64 };
    Array *x = array_new(r, TILEC_I32, N), *steps = array_new(r, TILEC_I32, N);
    for (int64_t i = 0; i < N; i++) set(x, i, (double)i + 1);
    run(r, "scans.py", "collatz", TILEC_SPEC(TILEC_CONST("BLOCK", 32)), GRID(2, 1, 1),
        TILEC_ARGS(view1(x), view1(steps)));
    for (int64_t i = 0; i < N; i++) {
        int64_t count = 0;
        for (int64_t v = i + 1; v > 1; count++) v = v % 2 ? 3 * v + 1 : v / 2;
        same(steps, i, count);
    }
}

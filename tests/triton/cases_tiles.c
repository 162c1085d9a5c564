// Loops over blocks, tuples, constants of the file, tables of pointers, wide offsets, heuristics.
#include <math.h>
#include <stddef.h>

#include "tests/triton/cases.h"

void case_transpose(Rig *r) {
    enum { M = 40, N = 23, X = 24, Y = 44 };
    Array *x = array_random(r, TILEC_F16, M * X, -1, 1), *y = array_new(r, TILEC_F16, N * Y);
    run(r, "tiles.py", "transpose_blocks", TILEC_SPEC(TILEC_GRID("(1,)")), NULL,
        TILEC_ARGS(view_strided(x, 0, M, N, X, 1), view_strided(y, 0, N, M, Y, 1), M, N, X, Y));
    for (int64_t i = 0; i < N * Y; i++) near(y, i, i % Y < M ? get(x, i % Y * X + i / Y) : 0, 0, 0);
}

void case_smooth(Rig *r) {
    enum { N = 100 };
    static const double taps[] = {1, 4, 6, 4, 1};
    Array *x = array_random(r, TILEC_F32, N, -1, 1), *y = array_new(r, TILEC_F32, N);
    Array *range = array_new(r, TILEC_F32, N);
    run(r, "tiles.py", "smooth_kernel",
        TILEC_SPEC(TILEC_CONST("B", 64), TILEC_GRID("triton.cdiv(n, B)")), NULL,
        TILEC_ARGS(view1(x), view1(y), view1(range), N));
    for (int64_t i = 0; i < N; i++) {
        double sum = 0, low = INFINITY, high = -INFINITY;
        for (int64_t t = 0; t < 5; t++) {
            if (i + t < 2 || i + t - 2 >= N) continue;
            sum += taps[t] * get(x, i + t - 2);
            low = fmin(low, get(x, i + t - 2));
            high = fmax(high, get(x, i + t - 2));
        }
        near(y, i, sum / 16, 1e-5, 1e-6);
        near(range, i, high - low, 1e-6, 0);
    }
}

void case_table(Rig *r) {
    enum { N = 70, COUNT = 3 };
    Array *table = array_new(r, TILEC_I64, COUNT), *out = array_new(r, TILEC_F32, N), *x[COUNT];
    for (int i = 0; i < COUNT; i++) {
        x[i] = array_random(r, TILEC_F32, N, -1, 1);
        set_int(table, i, address_of(x[i], 0));
    }
    run(r, "tiles.py", "sum_of_arrays", TILEC_SPEC(TILEC_CONST("B", 32)), GRID(3, 1, 1),
        TILEC_ARGS(view1(table), COUNT, view1(out), N));
    for (int64_t i = 0; i < N; i++)
        near(out, i, get(x[0], i) + get(x[1], i) + get(x[2], i), 1e-6, 1e-6);
}

// The base is far before the memory, as that of a huge tensor is.
void case_far_rows(Rig *r) {
    enum { ROWS = 3, N = 20, STRIDE = 32 };
    const int64_t first = INT64_C(1) << 30;
    Array *x = array_random(r, TILEC_F32, ROWS * STRIDE, -1, 1),
          *out = array_new(r, TILEC_F32, ROWS * N);
    int64_t base = address_of(x, 0) - first * STRIDE * 4;
    if (r->own_memory) return;  // simulated memory has bounds
    run(r, "tiles.py", "far_rows",
        TILEC_SPEC(TILEC_CONST("B", 32), TILEC_TYPE("base_ptr", TILEC_F32)), GRID(ROWS, 1, 1),
        TILEC_ARGS(tilec_arg_pointer((const void *)(uintptr_t)base), view1(out), STRIDE, first, N));
    for (int64_t i = 0; i < ROWS * N; i++) near(out, i, get(x, i / N * STRIDE + i % N), 0, 0);
}

// All constexprs are heuristics of the arguments, None among them.
static void weighted(Rig *r, bool has_weight) {
    enum { ROWS = 3, N = 20 };
    Array *x = array_random(r, TILEC_F32, ROWS * N, -1, 1),
          *w = array_random(r, TILEC_F32, N, 0, 1);
    Array *out = array_new(r, TILEC_F32, ROWS);
    run(r, "tiles.py", "weighted_mean", NULL, GRID(ROWS, 1, 1),
        TILEC_ARGS(view1(x), has_weight ? tilec_arg_view(view1(w)) : tilec_arg_none(), view1(out),
                   N));
    for (int64_t i = 0; i < ROWS; i++) {
        double sum = 0, total = 0;
        for (int64_t j = 0; j < N; j++) {
            double weight = has_weight ? get(w, j) : 1;
            sum += get(x, i * N + j) * weight;
            total += weight;
        }
        near(out, i, sum / total, 1e-5, 1e-6);
    }
}

void case_weighted_mean(Rig *r) {
    weighted(r, true);
    weighted(r, false);
}

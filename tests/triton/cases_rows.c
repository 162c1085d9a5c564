// Kernels that work on rows: softmax, normalisations with their gradients, losses, quantisation.
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "tests/triton/cases.h"

// Few programs take many rows.
void case_softmax(Rig *r) {
    enum { ROWS = 7, N = 100, STRIDE = 112 };
    Array *x = array_random(r, TILEC_F32, ROWS * STRIDE, -5, 5);
    Array *y = array_new(r, TILEC_F32, ROWS * N);
    run(r, "rows.py", "softmax_kernel",
        TILEC_SPEC(TILEC_CONST("BLOCK_SIZE", 128), TILEC_CONST("num_stages", 2)), GRID(3, 1, 1),
        TILEC_ARGS(view2(y, ROWS, N), view_strided(x, 0, ROWS, N, STRIDE, 1), STRIDE, N, ROWS, N));
    for (int64_t i = 0; i < ROWS; i++) {
        double sum = 0;
        for (int64_t j = 0; j < N; j++) sum += exp(get(x, i * STRIDE + j));
        for (int64_t j = 0; j < N; j++)
            near(y, i * N + j, exp(get(x, i * STRIDE + j)) / sum, 1e-5, 1e-8);
    }
}

// ---- layer norm, forward and backward

enum { LN_ROWS = 9, LN_N = 90, LN_GROUPS = 4 };

typedef struct LayerNorm {
    Array *x, *y, *w, *b, *mean, *rstd, *dx, *dy, *dw, *db, *lock, *partial_dw, *partial_db;
} LayerNorm;

static void row_statistics(const Array *x, int64_t row, double eps, double *mean, double *rstd) {
    double sum = 0, squares = 0;
    for (int64_t j = 0; j < LN_N; j++) sum += get(x, row * LN_N + j);
    *mean = sum / LN_N;
    for (int64_t j = 0; j < LN_N; j++)
        squares += (get(x, row * LN_N + j) - *mean) * (get(x, row * LN_N + j) - *mean);
    *rstd = 1 / sqrt(squares / LN_N + eps);
}

static void check_forward(const LayerNorm *l, double eps) {
    for (int64_t i = 0; i < LN_ROWS; i++) {
        double mean, rstd;
        row_statistics(l->x, i, eps, &mean, &rstd);
        near(l->mean, i, mean, 1e-5, 1e-6);
        near(l->rstd, i, rstd, 1e-5, 0);
        for (int64_t j = 0; j < LN_N; j++) {
            double hat = (get(l->x, i * LN_N + j) - mean) * rstd;
            near(l->y, i * LN_N + j, hat * get(l->w, j) + get(l->b, j), 1e-4, 1e-5);
        }
    }
}

static void check_backward(const LayerNorm *l, double eps) {
    double dw[LN_N] = {0}, db[LN_N] = {0};
    for (int64_t i = 0; i < LN_ROWS; i++) {
        double mean, rstd, c1 = 0, c2 = 0;
        row_statistics(l->x, i, eps, &mean, &rstd);
        for (int64_t j = 0; j < LN_N; j++) {
            double hat = (get(l->x, i * LN_N + j) - mean) * rstd, dy = get(l->dy, i * LN_N + j);
            c1 += hat * dy * get(l->w, j) / LN_N;
            c2 += dy * get(l->w, j) / LN_N;
            dw[j] += dy * hat;
            db[j] += dy;
        }
        for (int64_t j = 0; j < LN_N; j++) {
            double hat = (get(l->x, i * LN_N + j) - mean) * rstd, dy = get(l->dy, i * LN_N + j);
            near(l->dx, i * LN_N + j, (get(l->w, j) * dy - (hat * c1 + c2)) * rstd, 1e-3, 1e-4);
        }
    }
    for (int64_t j = 0; j < LN_N; j++) {
        near(l->dw, j, dw[j], 1e-3, 1e-4);
        near(l->db, j, db[j], 1e-3, 1e-4);
    }
}

void case_layer_norm(Rig *r) {
    const double eps = 1e-5;
    LayerNorm l = {.x = array_random(r, TILEC_F32, LN_ROWS * LN_N, -2, 3),
                   .y = array_new(r, TILEC_F32, LN_ROWS * LN_N),
                   .w = array_random(r, TILEC_F32, LN_N, 0.5, 1.5),
                   .b = array_random(r, TILEC_F32, LN_N, -1, 1),
                   .mean = array_new(r, TILEC_F32, LN_ROWS),
                   .rstd = array_new(r, TILEC_F32, LN_ROWS),
                   .dx = array_new(r, TILEC_F32, LN_ROWS * LN_N),
                   .dy = array_random(r, TILEC_F32, LN_ROWS * LN_N, -1, 1),
                   .dw = array_new(r, TILEC_F32, LN_N),
                   .db = array_new(r, TILEC_F32, LN_N),
                   .lock = array_new(r, TILEC_I32, 2 * LN_GROUPS),
                   .partial_dw = array_new(r, TILEC_F32, LN_GROUPS * LN_N),
                   .partial_db = array_new(r, TILEC_F32, LN_GROUPS * LN_N)};
    run(r, "rows.py", "_layer_norm_fwd_fused", TILEC_SPEC(TILEC_CONST("BLOCK_SIZE", 64)),
        GRID(LN_ROWS, 1, 1),
        TILEC_ARGS(view1(l.x), view1(l.y), view1(l.w), view1(l.b), view1(l.mean), view1(l.rstd),
                   LN_N, LN_N, eps));
    check_forward(&l, eps);
    run(r, "rows.py", "_layer_norm_bwd_dx_fused",
        TILEC_SPEC(TILEC_CONST("GROUP_SIZE_M", LN_GROUPS), TILEC_CONST("BLOCK_SIZE_N", 128)),
        GRID(LN_ROWS, 1, 1),
        TILEC_ARGS(view1(l.dx), view1(l.dy), view1(l.partial_dw), view1(l.partial_db), view1(l.x),
                   view1(l.w), view1(l.mean), view1(l.rstd), view1(l.lock), LN_N, LN_N));
    run(r, "rows.py", "_layer_norm_bwd_dwdb",
        TILEC_SPEC(TILEC_CONST("BLOCK_SIZE_M", 8), TILEC_CONST("BLOCK_SIZE_N", 32),
                   TILEC_GRID("[triton.cdiv(N, BLOCK_SIZE_N)]")),
        NULL,
        TILEC_ARGS(view1(l.partial_dw), view1(l.partial_db), view1(l.dw), view1(l.db), LN_GROUPS,
                   LN_N));
    check_backward(&l, eps);
}

static void rms_norm(Rig *r, bool residual) {
    enum { ROWS = 4, N = 100 };
    Array *x = array_random(r, TILEC_BF16, ROWS * N, -2, 2),
          *w = array_random(r, TILEC_F32, N, 0, 2);
    Array *res = array_random(r, TILEC_F32, ROWS * N, -1, 1),
          *old = array_new(r, TILEC_F32, ROWS * N);
    Array *out = array_new(r, TILEC_F32, ROWS * N);
    for (int64_t i = 0; i < ROWS * N; i++) set(old, i, get(res, i));
    run(r, "rows.py", "rms_norm_residual",
        TILEC_SPEC(TILEC_CONST("HAS_RESIDUAL", residual), TILEC_CONST("BLOCK", 128)),
        GRID(ROWS, 1, 1),
        TILEC_ARGS(view1(x), residual ? tilec_arg_view(view1(res)) : tilec_arg_none(), view1(w),
                   view1(out), N, N, 1e-6f));
    for (int64_t i = 0; i < ROWS; i++) {
        double squares = 0;
        for (int64_t j = i * N; j < (i + 1) * N; j++) {
            double v = get(x, j) + (residual ? get(old, j) : 0);
            squares += v * v;
        }
        for (int64_t j = i * N; j < (i + 1) * N; j++) {
            double v = get(x, j) + (residual ? get(old, j) : 0);
            near(out, j, v / sqrt(squares / N + 1e-6) * get(w, j % N), 1e-4, 1e-6);
            near(res, j, residual ? v : get(old, j), 1e-6, 1e-6);
        }
    }
}

void case_rms_norm(Rig *r) {
    rms_norm(r, true);
    rms_norm(r, false);
}

static void cross_entropy(Rig *r, double smoothing, const char *text) {
    enum { ROWS = 5, N = 150, IGNORED = -100 };
    Array *x = array_random(r, TILEC_F32, ROWS * N, -3, 3),
          *old = array_new(r, TILEC_F32, ROWS * N);
    Array *y = array_ints(r, TILEC_I64, ROWS, 0, N), *loss = array_new(r, TILEC_F32, ROWS);
    set(y, 2, IGNORED);
    for (int64_t i = 0; i < ROWS * N; i++) set(old, i, get(x, i));
    run(r, "rows.py", "cross_entropy_kernel",
        TILEC_SPEC(TILEC_VALUE("label_smoothing", text), TILEC_CONST("BLOCK", 64)),
        GRID(ROWS, 1, 1), TILEC_ARGS(view1(x), view1(y), view1(loss), N, N, IGNORED));
    for (int64_t i = 0; i < ROWS; i++) {
        double sum = 0, all = 0;
        for (int64_t j = 0; j < N; j++) sum += exp(get(old, i * N + j)), all += get(old, i * N + j);
        int64_t target = get_int(y, i);
        double lse = log(sum), eps = smoothing / N;
        double hard = target < 0 ? 0 : lse - get(old, i * N + target);
        near(loss, i, target < 0 ? 0 : hard * (1 - smoothing) + smoothing * lse - eps * all, 1e-4,
             1e-4);
        for (int64_t j = 0; j < N; j++) {
            double g = exp(get(old, i * N + j) - lse) - eps - (j == target ? 1 - smoothing : 0);
            near(x, i * N + j, target < 0 ? 0 : g, 1e-4, 1e-6);
        }
    }
}

void case_cross_entropy(Rig *r) {
    cross_entropy(r, 0, "0.0");
    cross_entropy(r, 0.125, "0.125");
}

static void quantize(Rig *r, tilec_dtype type, double most, const char *text) {
    enum { ROWS = 4, N = 60 };
    Array *x = array_random(r, TILEC_F16, ROWS * N, -3, 3), *q = array_new(r, type, ROWS * N);
    Array *s = array_new(r, TILEC_F32, ROWS);
    run(r, "rows.py", "quantize_rows",
        TILEC_SPEC(TILEC_CONST("BLOCK", 64), TILEC_VALUE("fp8_max", text)), GRID(ROWS, 1, 1),
        TILEC_ARGS(view1(x), view1(q), view1(s), N));
    for (int64_t i = 0; i < ROWS; i++) {
        double greatest = 0;
        for (int64_t j = 0; j < N; j++) greatest = fmax(greatest, fabs(get(x, i * N + j)));
        near(s, i, greatest / most, 1e-6, 0);
        for (int64_t j = 0; j < N; j++) {
            double v = get(x, i * N + j) / (greatest / most);
            near(q, i * N + j, v, type == TILEC_I8 ? 0 : 0x1p-3, type == TILEC_I8 ? 0.501 : 0.01);
        }
    }
}

void case_quantize(Rig *r) {
    quantize(r, TILEC_I8, 127, "None");
    quantize(r, TILEC_F8E4M3, 448, "448.0");
    quantize(r, TILEC_F8E5M2, 57344, "57344.0");
}

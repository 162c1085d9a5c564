// Recurrent models, packing of bits, sampling.
#include <math.h>
#include <stddef.h>

#include "tests/triton/cases.h"

// ---- a recurrent state for each sequence and head

enum { ST_H = 2, ST_K = 12, ST_V = 20, ST_T = 9, ST_N = 3 };

typedef struct State {
    Array *q, *k, *v, *g, *o, *h0, *ht;
    const int64_t *starts;  // of the sequences, in rows
    double scale;
} State;

static void check_state(const State *s, int64_t n, int64_t h) {
    double state[ST_K][ST_V];
    int64_t first = (n * ST_H + h) * ST_K * ST_V;
    for (int64_t i = 0; i < ST_K * ST_V; i++)
        state[i / ST_V][i % ST_V] = s->h0 ? get(s->h0, first + i) : 0;
    for (int64_t t = s->starts[n]; t < s->starts[n + 1]; t++) {
        int64_t row = t * ST_H + h;
        for (int64_t v = 0; v < ST_V; v++) {
            double old = 0, out = 0;
            for (int64_t k = 0; k < ST_K; k++) {
                state[k][v] *= exp(get(s->g, row));
                old += state[k][v] * get(s->k, row * ST_K + k);
            }
            double add = get(s->v, row * ST_V + v) - old;
            for (int64_t k = 0; k < ST_K; k++) {
                state[k][v] += get(s->k, row * ST_K + k) * add;
                out += state[k][v] * get(s->q, row * ST_K + k) * s->scale;
            }
            near(s->o, row * ST_V + v, out, 1e-4, 1e-4);
        }
    }
    for (int64_t i = 0; s->ht && i < ST_K * ST_V; i++)
        near(s->ht, first + i, state[i / ST_V][i % ST_V], 1e-4, 1e-4);
}

static void recurrent(Rig *r, const int64_t *starts, bool states, bool varlen) {
    int64_t rows = starts[ST_N] * ST_H;
    State s = {.q = array_random(r, TILEC_F32, rows * ST_K, -1, 1),
               .k = array_random(r, TILEC_F32, rows * ST_K, -0.3, 0.3),
               .v = array_random(r, TILEC_F32, rows * ST_V, -1, 1),
               .g = array_random(r, TILEC_F32, rows, -1, 0),
               .o = array_new(r, TILEC_F32, rows * ST_V),
               .starts = starts,
               .scale = 0.25};
    Array *offsets = array_new(r, TILEC_I32, ST_N + 1);
    for (int64_t i = 0; i <= ST_N; i++) set_int(offsets, i, starts[i]);
    if (states) {
        s.h0 = array_random(r, TILEC_F32, ST_N * ST_H * ST_K * ST_V, -1, 1);
        s.ht = array_new(r, TILEC_F32, ST_N * ST_H * ST_K * ST_V);
    }
    run(r, "linear.py", "fused_recurrent_fwd",
        TILEC_SPEC(TILEC_CONST("H", ST_H), TILEC_CONST("K", ST_K), TILEC_CONST("V", ST_V),
                   TILEC_CONST("BK", 16), TILEC_CONST("BV", 16)),
        GRID(2, ST_N * ST_H, 1),
        TILEC_ARGS(view1(s.q), view1(s.k), view1(s.v), view1(s.g), view1(s.o),
                   states ? tilec_arg_view(view1(s.h0)) : tilec_arg_none(),
                   states ? tilec_arg_view(view1(s.ht)) : tilec_arg_none(),
                   varlen ? tilec_arg_view(view1(offsets)) : tilec_arg_none(), s.scale, ST_T));
    for (int64_t i = 0; i < ST_N * ST_H; i++) check_state(&s, i / ST_H, i % ST_H);
}

void case_recurrent(Rig *r) {
    recurrent(r, (const int64_t[]){0, ST_T, 2 * ST_T, 3 * ST_T}, true, false);
    recurrent(r, (const int64_t[]){0, 4, 4, 15}, false, true);
}

static void conv(Rig *r, int64_t width) {
    enum { T = 21, D = 20 };
    Array *x = array_random(r, TILEC_F32, T * D, -1, 1);
    Array *w = array_random(r, TILEC_F32, D * width, -1, 1);
    Array *bias = array_random(r, TILEC_F32, D, -1, 1), *out = array_new(r, TILEC_F32, T * D);
    run(r, "linear.py", "causal_conv1d",
        TILEC_SPEC(TILEC_CONST("WIDTH", width), TILEC_CONST("SILU", 1), TILEC_CONST("BLOCK_T", 8),
                   TILEC_CONST("BLOCK_D", 32),
                   TILEC_GRID("triton.cdiv(seqlen, BLOCK_T), triton.cdiv(dim, BLOCK_D)")),
        NULL, TILEC_ARGS(view1(x), view1(w), view1(bias), view1(out), T, D));
    for (int64_t i = 0; i < T * D; i++) {
        double sum = get(bias, i % D);
        for (int64_t j = 0; j < width; j++) {
            int64_t t = i / D - width + 1 + j;
            if (t >= 0) sum += get(x, t * D + i % D) * get(w, i % D * width + j);
        }
        near(out, i, sum / (1 + exp(-sum)), 1e-5, 1e-6);
    }
}

void case_conv(Rig *r) {
    conv(r, 2);
    conv(r, 3);
}

// ---- bits

void case_pack(Rig *r) {
    enum { N = 90 };
    Array *x = array_ints(r, TILEC_I8, N, -8, 8), *packed = array_new(r, TILEC_U8, N / 2);
    Array *back = array_new(r, TILEC_I8, N);
    run(r, "linear.py", "pack_int4",
        TILEC_SPEC(TILEC_CONST("BLOCK", 32), TILEC_GRID("triton.cdiv(n, BLOCK)")), NULL,
        TILEC_ARGS(view1(x), view1(packed), N));
    run(r, "linear.py", "unpack_int4",
        TILEC_SPEC(TILEC_CONST("BLOCK", 16), TILEC_GRID("triton.cdiv(n, 2 * BLOCK)")), NULL,
        TILEC_ARGS(view1(packed), view1(back), N));
    for (int64_t i = 0; i < N; i++) {
        same(packed, i / 2, (get_int(x, i & ~1) & 15) | (get_int(x, i | 1) & 15) << 4);
        same(back, i, get_int(x, i));
    }
}

// The temperature is a number that the launch gives: 0 is an integer, 0.5 a float.
void case_sample(Rig *r) {
    enum { ROWS = 4, N = 50 };
    Array *x = array_random(r, TILEC_F32, ROWS * N, -1, 1), *out = array_new(r, TILEC_I64, ROWS);
    Array *seed = array_ints(r, TILEC_I64, ROWS, 0, INT64_C(1) << 40);
    run(r, "linear.py", "sample_gumbel", TILEC_SPEC(TILEC_CONST("BLOCK", 64)), GRID(ROWS, 1, 1),
        TILEC_ARGS(view1(x), view1(out), view1(seed), 0, N));
    for (int64_t i = 0; i < ROWS; i++) {
        int64_t best = 0;
        for (int64_t j = 1; j < N; j++)
            if (get(x, i * N + j) > get(x, i * N + best)) best = j;
        same(out, i, best);
    }
    run(r, "linear.py", "sample_gumbel", TILEC_SPEC(TILEC_CONST("BLOCK", 64)), GRID(ROWS, 1, 1),
        TILEC_ARGS(view1(x), view1(out), view1(seed), 0.5, N));
    for (int64_t i = 0; i < ROWS; i++) {
        int64_t best = 0;
        double most = -INFINITY;
        for (int64_t j = 0; j < N; j++) {
            double u = philox_uniform((uint64_t)get_int(seed, i), (uint32_t)j);
            double value = get(x, i * N + j) / 0.5 - log(-log(fmax(u, 1e-7)));
            if (value > most) most = value, best = j;
        }
        same(out, i, best);
    }
}

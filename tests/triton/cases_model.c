// Parts of models: attention, decoding over pages, mixture of experts.
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "tests/triton/cases.h"

// ---- attention

enum { AT_Z = 1, AT_H = 2, AT_N = 80, AT_D = 32 };

static double score(const Array *q, const Array *k, int64_t q0, int64_t k0, int64_t d) {
    double sum = 0;
    for (int64_t i = 0; i < d; i++) sum += get(q, q0 + i) * get(k, k0 + i);
    return sum;
}

static void check_attention(const Array *q, const Array *k, const Array *v, const Array *m,
                            const Array *o, bool causal, double scale, int64_t n) {
    double p[AT_N];
    for (int64_t row = 0; row < AT_Z * AT_H * n; row++) {
        int64_t first = row / n * n, keys = causal ? row % n + 1 : n;
        double most = -INFINITY, sum = 0;
        for (int64_t j = 0; j < keys; j++) {
            p[j] = score(q, k, row * AT_D, (first + j) * AT_D, AT_D) * scale;
            most = fmax(most, p[j]);
        }
        for (int64_t j = 0; j < keys; j++) sum += p[j] = exp(p[j] - most);
        near(m, row, (most + log(sum)) * 1.4426950408889634, 1e-3, 1e-3);
        for (int64_t d = 0; d < AT_D; d++) {
            double value = 0;
            for (int64_t j = 0; j < keys; j++) value += p[j] / sum * get(v, (first + j) * AT_D + d);
            near(o, row * AT_D + d, value, 4e-3, 2e-3);
        }
    }
}

static void attention(Rig *r, bool causal, int64_t n) {
    int64_t count = AT_Z * AT_H * n * AT_D;
    Array *q = array_random(r, TILEC_F16, count, -1, 1);
    Array *k = array_random(r, TILEC_F16, count, -1, 1);
    Array *v = array_random(r, TILEC_F16, count, -1, 1);
    Array *m = array_new(r, TILEC_F32, AT_Z * AT_H * n), *o = array_new(r, TILEC_F16, count);
    run(r, "attention.py", "attn_fwd",
        TILEC_SPEC(TILEC_CONST("HEAD_DIM", AT_D), TILEC_CONST("BLOCK_M", 32),
                   TILEC_CONST("BLOCK_N", 16), TILEC_CONST("STAGE", causal ? 3 : 1),
                   TILEC_GRID("lambda args: (triton.cdiv(N_CTX, args['BLOCK_M']), H, 1)")),
        NULL,
        TILEC_ARGS(view1(q), view1(k), view1(v), 0.25, view1(m), view1(o), AT_H * n * AT_D,
                   n * AT_D, AT_D, AT_H, n));
    check_attention(q, k, v, m, o, causal, 0.25, n);
}

void case_attention(Rig *r) {
    attention(r, true, 64);
    attention(r, false, AT_N);
}

void case_paged_decode(Rig *r) {
    enum { SEQS = 3, HEADS = 4, KV = 2, D = 16, PAGE = 8, PAGES = 10, MOST = 4 };
    static const int lengths[SEQS] = {5, 24, 32};
    Array *q = array_random(r, TILEC_BF16, SEQS * HEADS * D, -1, 1);
    Array *k = array_random(r, TILEC_BF16, PAGES * PAGE * KV * D, -1, 1);
    Array *v = array_random(r, TILEC_BF16, PAGES * PAGE * KV * D, -1, 1);
    Array *out = array_new(r, TILEC_F32, SEQS * HEADS * D);
    Array *table = array_ints(r, TILEC_I32, SEQS * MOST, 0, PAGES);
    Array *length = array_new(r, TILEC_I32, SEQS);
    for (int i = 0; i < SEQS; i++) set(length, i, lengths[i]);
    run(r, "attention.py", "paged_decode",
        TILEC_SPEC(TILEC_CONST("HEADS", HEADS), TILEC_CONST("KV_HEADS", KV), TILEC_CONST("D", D),
                   TILEC_CONST("PAGE", PAGE)),
        GRID(SEQS, HEADS, 1),
        TILEC_ARGS(view1(q), view1(k), view1(v), view1(out), view1(table), view1(length), 0.5f,
                   MOST));
    for (int64_t i = 0; i < SEQS * HEADS; i++) {
        int64_t seq = i / HEADS, kv = i % HEADS / (HEADS / KV);
        double sum = 0, values[D] = {0};
        for (int64_t j = 0; j < lengths[seq]; j++) {
            int64_t page = get_int(table, seq * MOST + j / PAGE);
            int64_t at = ((page * PAGE + j % PAGE) * KV + kv) * D;
            double p = exp(0.5 * score(q, k, i * D, at, D));
            sum += p;
            for (int64_t d = 0; d < D; d++) values[d] += p * get(v, at + d);
        }
        for (int64_t d = 0; d < D; d++) near(out, i * D + d, values[d] / sum, 1e-4, 1e-5);
    }
}

// ---- experts

enum { TOKENS = 13, EXPERTS = 3, TOP_K = 2, BLOCK_M = 16, MOE_N = 40, MOE_K = 24 };

// Sorts the tokens by expert; each expert's part is filled up to whole blocks.
static int64_t sort_tokens(const Array *expert, Array *sorted, Array *block_expert) {
    int64_t count = 0;
    for (int64_t e = 0; e < EXPERTS; e++) {
        for (int64_t t = 0; t < TOKENS * TOP_K; t++)
            if (get_int(expert, t) == e) {
                if (count % BLOCK_M == 0) set(block_expert, count / BLOCK_M, (double)e);
                set(sorted, count++, (double)t);
            }
        while (count % BLOCK_M) set(sorted, count++, TOKENS * TOP_K);
    }
    return count;
}

static void moe(Rig *r, bool weighted, tilec_dtype type, const char *type_name) {
    enum { MOST = TOKENS * TOP_K + EXPERTS * BLOCK_M, ROUTED = TOKENS * TOP_K };
    Array *a = array_random(r, type, TOKENS * MOE_K, -1, 1);
    Array *b = array_random(r, type, EXPERTS * MOE_N * MOE_K, -1, 1);
    Array *c = array_new(r, type, ROUTED * MOE_N), *w = array_random(r, TILEC_F32, ROUTED, 0, 1);
    Array *expert = array_ints(r, TILEC_I32, ROUTED, 0, EXPERTS);
    Array *sorted = array_new(r, TILEC_I32, MOST),
          *ids = array_new(r, TILEC_I32, MOST / BLOCK_M + 1);
    Array *padded = array_new(r, TILEC_I32, 1);
    int64_t count = sort_tokens(expert, sorted, ids);
    set(padded, 0, (double)count);
    set(ids, 1, -1);  // an expert of another device: zeros
    run(r, "moe.py", "fused_moe_kernel",
        TILEC_SPEC(TILEC_CONST("BLOCK_SIZE_M", BLOCK_M), TILEC_CONST("BLOCK_SIZE_N", 32),
                   TILEC_CONST("BLOCK_SIZE_K", 16), TILEC_CONST("GROUP_SIZE_M", 2),
                   TILEC_CONST("MUL_ROUTED_WEIGHT", weighted), TILEC_CONST("top_k", TOP_K),
                   TILEC_VALUE("compute_type", type_name),
                   TILEC_GRID("triton.cdiv(EM, BLOCK_SIZE_M) * triton.cdiv(N, BLOCK_SIZE_N)")),
        NULL,
        TILEC_ARGS(view1(a), view1(b), view1(c), view1(w), view1(sorted), view1(ids), view1(padded),
                   MOE_N, MOE_K, MOST, ROUTED, MOE_K, 1, MOE_N * MOE_K, 1, MOE_K, MOE_N, 1));
    for (int64_t i = 0; i < count; i++) {
        int64_t t = get_int(sorted, i), e = get_int(ids, i / BLOCK_M);
        for (int64_t n = 0; t < ROUTED && n < MOE_N; n++) {
            double v = e < 0 ? 0 : score(a, b, t / TOP_K * MOE_K, (e * MOE_N + n) * MOE_K, MOE_K);
            near(c, t * MOE_N + n, weighted ? v * get(w, t) : v,
                 type == TILEC_F16 ? 0x1p-9 : 0x1p-6, 1e-3);
        }
    }
}

void case_moe(Rig *r) {
    moe(r, true, TILEC_F16, "tl.float16");
    moe(r, false, TILEC_BF16, "tl.bfloat16");
}

// Which experts, and how often each: top k one by one, and counts by atomics.
void case_route(Rig *r) {
    enum { ROWS = 9, E = 20, K = 3 };
    Array *x = array_random(r, TILEC_F32, ROWS * E, -2, 2),
          *ids = array_new(r, TILEC_I32, ROWS * K);
    Array *w = array_new(r, TILEC_F32, ROWS * K), *counts = array_new(r, TILEC_I32, E);
    int64_t expected[E] = {0};
    run(r, "moe.py", "route", TILEC_SPEC(TILEC_CONST("K", K), TILEC_CONST("BLOCK", 32)),
        GRID(ROWS, 1, 1), TILEC_ARGS(view1(x), view1(ids), view1(w), E));
    run(r, "moe.py", "count_experts",
        TILEC_SPEC(TILEC_CONST("num_experts", E), TILEC_CONST("BLOCK", 16)), GRID(2, 1, 1),
        TILEC_ARGS(view1(ids), view1(counts), ROWS * K));
    for (int64_t row = 0; row < ROWS; row++) {
        bool taken[E] = {false};
        int64_t best[K];
        double sum = 0;
        for (int k = 0; k < K; k++) {
            best[k] = -1;
            for (int64_t e = 0; e < E; e++)
                if (!taken[e] && (best[k] < 0 || get(x, row * E + e) > get(x, row * E + best[k])))
                    best[k] = e;
            taken[best[k]] = true;
            expected[best[k]]++;
            sum += exp(get(x, row * E + best[k]));
            same(ids, row * K + k, best[k]);
        }
        for (int k = 0; k < K; k++)
            near(w, row * K + k, exp(get(x, row * E + best[k])) / sum, 1e-5, 0);
    }
    for (int64_t e = 0; e < E; e++) same(counts, e, expected[e]);
}

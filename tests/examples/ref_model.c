// References of the examples made of several steps: attention, a mixture of experts.
#include <math.h>
#include <stdlib.h>

#include "tests/examples/examples.h"

static const Dtype f32 = DTYPE_F32;

static int64_t up(int64_t a, int64_t b) { return (a + b - 1) / b; }

typedef struct Keys {  // the places of one query's keys and values
    const Array *keys, *values;
    int64_t count, step, first;  // key j, element d: first + j·step + d
    const int64_t *page;         // or, if not NULL, page[j / 16] names the first key of 16
} Keys;

static int64_t key_place(const Keys *keys, int64_t j, int64_t d) {
    if (!keys->page) return keys->first + j * keys->step + d;
    return keys->page[j / 16] + keys->first + j % 16 * keys->step + d;
}

// softmax(scale · q·k) v for one query. An error of the maximum moves numerator and denominator
// alike and cancels, so the maximum counts as exact. Online, each of `rescales` tiles takes both
// sums through one exp (4 roundings at 2 ulp), one product and one addition. `probability` is the
// type that the probabilities are rounded to for the product with the values.
typedef struct Query {
    const Array *q;
    int64_t place, width;
    Num scale;
    Dtype probability, result;
    double rescales;
    NumDot none;  // of no factors
    bool by_dot;  // scores and results are dots, not sums of products
} Query;

static Num query_score(const Query *query, const Keys *keys, int64_t j) {
    NumDot dot = query->none;
    NumSum sum = {0};
    for (int64_t d = 0; d < query->width; d++) {
        Num a = num_at(query->q, query->place + d);
        Num b = num_at(keys->keys, key_place(keys, j, d));
        num_dot_add(&dot, a, b);
        num_sum_add(&sum, f32_mul(a, b));
    }
    return f32_mul(query->by_dot ? num_dot(f32, &dot) : num_sum(f32, &sum), query->scale);
}

static Num query_result(const Query *query, const Keys *keys, const Num *p, Num total, int64_t d) {
    NumDot dot = query->none;
    NumSum sum = {0};
    for (int64_t j = 0; j < keys->count; j++) {
        Num v = num_at(keys->values, key_place(keys, j, d));
        num_dot_add(&dot, num_cast(query->probability, p[j]), v);
        num_sum_add(&sum, f32_mul(p[j], v));
    }
    double magnitude = query->by_dot ? dot.magnitude : sum.magnitude;
    Num acc = query->by_dot ? num_dot(f32, &dot) : num_sum(f32, &sum);
    acc.e += 6 * query->rescales * num_unit(f32) * magnitude;
    return num_cast(query->result, f32_div(acc, total));
}

static void attend(const Query *query, const Keys *keys, Array *y, int64_t place) {
    Num *p = calloc((size_t)keys->count, sizeof *p);
    double top = -(double)INFINITY;
    NumSum sum = {0};
    if (!p) return;
    for (int64_t j = 0; j < keys->count; j++) {
        p[j] = query_score(query, keys, j);
        top = fmax(top, p[j].v);
    }
    for (int64_t j = 0; j < keys->count; j++) {
        p[j] = f32_exp(f32_sub(p[j], num_exact(top)));
        num_sum_add(&sum, p[j]);
    }
    Num total = num_more(f32, num_sum(f32, &sum), 6 * query->rescales);
    for (int64_t d = 0; d < query->width; d++)
        want(y, place + d,
             keys->count ? query_result(query, keys, p, total, d) : num_exact((double)NAN));
    free(p);
}

// Scores far below 0: what is not seen must not count as 0; and far from each other, in a row and
// from row to row: who misses the greatest one, or takes another row's, overflows.
static void spread_scores(Run *run, Array *q, Array *k) {
    int64_t width = k->extent[k->rank - 1];
    for (int64_t i = 0; i < q->count; i++)
        put(q, i, (0.5 + fabs(get(q, i)) / 2) * (i / width % 3 == 1 ? 0.25 : 1));
    for (int64_t i = 0; i < k->count; i += width) {
        double by = run_below(run, 0, 12) ? 1 : 0.125;
        for (int64_t d = i; d < i + width; d++) put(k, d, by * (-0.5 - fabs(get(k, d)) / 2));
    }
}

// Extents: queries, keys, width of a head. Four heads share two key heads; an odd number makes it
// causal. Up to three more of both: of either kind there are some that end at each place of four.
void make_attention(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t m = shape->n[0], n = shape->n[1], width = shape->n[2];
    bool causal = m % 2 == 1;
    int64_t more_queries = (m / 2 + n / 3 + width / 8) % 4,
            more_keys = (m / 2 + n / 8 + width / 3) % 4;
    if (m) m += more_queries;
    if (n) n += more_keys;
    if (causal && n < m) n = m;
    run_type(run, "T", t);
    run_const(run, "CAUSAL", causal);
    tile(run, shape, "BM", 16);
    tile(run, shape, "BN", 16);
    run_const(run, "BD", next_power(width, 16));
    Array *q = run_input(run, "q", t, FILL_REAL, EXTENTS(1, 4, m, width));
    Array *k = run_input(run, "k", t, FILL_REAL, EXTENTS(1, 2, n, width));
    bool far = n % 3 == 1;
    if (far) spread_scores(run, q, k);
    Array *v = run_input(run, "v", t, FILL_REAL, EXTENTS(1, 2, n, width));
    Array *y = run_output(run, "y", t, EXTENTS(1, 4, m, width));
    Num scale = num_exact((double)(float)(far ? 400 / (double)width : 1 / sqrt((double)width)));
    run_real(run, scale.v);
    double tiles = (double)up(n, shape->own_tiles ? 64 : 16);
    for (int64_t h = 0; h < 4; h++)
        for (int64_t i = 0; i < m; i++) {
            int64_t place = (h * m + i) * width;
            Query query = {q, place, width, scale, t, t, tiles, run_dot(run, t), true};
            Keys keys = {k, v, causal ? i + n - m + 1 : n, width, h / 2 * n * width, NULL};
            attend(&query, &keys, y, place);
        }
}

// Extents: sequences, heads, width. Sequence b has 1 to 40 keys, in wild runs maybe none (or what
// is less than none), in pages of 16 of a pool of 7.
void make_decode_attention(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t batch = shape->n[0], heads = shape->n[1], width = shape->n[2];
    run_type(run, "T", t);
    run_const(run, "BD", next_power(width, 16));
    Array *q = run_input(run, "q", t, FILL_REAL, EXTENTS(batch, heads, width));
    Array *k = run_input(run, "keys", t, FILL_REAL, EXTENTS(7, 16, heads, width));
    Array *v = run_input(run, "values", t, FILL_REAL, EXTENTS(7, 16, heads, width));
    Array *pages = run_input(run, "pages", DTYPE_I32, FILL_ZERO, EXTENTS(batch, 3));
    Array *length = run_input(run, "length", DTYPE_I32, FILL_ZERO, EXTENTS(batch));
    Array *y = run_output(run, "y", t, EXTENTS(batch, heads, width));
    if (run->wild) spread_scores(run, q, k);
    double factor = run->wild ? 400 / (double)width : 1 / sqrt((double)width);
    Num scale = num_exact((double)(float)factor);
    run_real(run, scale.v);
    for (int64_t b = 0; b < batch; b++) {
        int64_t page[3];
        bool none = run->wild && run_below(run, 0, 4) == 0;
        put(length, b, (double)(none ? run_below(run, -15, 1) : run_below(run, 1, 41)));
        for (int64_t l = 0; l < 3; l++) {
            put(pages, at2(pages, b, l), (double)run_below(run, 0, 7));
            page[l] = (int64_t)get(pages, at2(pages, b, l)) * 16 * heads * width;
        }
        for (int64_t h = 0; h < heads; h++) {
            int64_t place = (b * heads + h) * width;
            Query query = {q, place, width, scale, f32, t, 3, run_dot(run, f32), false};
            int64_t count = get(length, b) > 0 ? (int64_t)get(length, b) : 0;
            Keys keys = {k, v, count, heads * width, h * width, page};
            attend(&query, &keys, y, place);
        }
    }
}

// Extents: tokens, experts. Equal scores go to the lower place.
void make_route(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t tokens = shape->n[0], experts = shape->n[1], top = experts < 2 ? 1 : 2;
    run_type(run, "T", t);
    run_const(run, "TOP", top);
    run_const(run, "W", next_power(experts, 1));
    Array *logits = run_input(run, "logits", t, FILL_REAL, EXTENTS(tokens, experts));
    Array *expert = run_output(run, "expert", DTYPE_I32, EXTENTS(tokens, top));
    Array *weight = run_output(run, "weight", f32, EXTENTS(tokens, top));
    for (int64_t s = 0; s < tokens; s++) {
        int64_t chosen[2] = {-1, -1};
        for (int64_t n = 0; n < top; n++) {
            for (int64_t e = 0; e < experts; e++) {
                bool taken = n == 1 && e == chosen[0];
                if (!taken && (chosen[n] < 0 || get(logits, at2(logits, s, e)) >
                                                    get(logits, at2(logits, s, chosen[n]))))
                    chosen[n] = e;
            }
            want_exact(expert, at2(expert, s, n), (double)chosen[n]);
        }
        Num best = num_at(logits, at2(logits, s, chosen[0])), e[2];
        NumSum sum = {0};
        for (int64_t n = 0; n < top; n++) {
            e[n] = f32_exp(f32_sub(num_at(logits, at2(logits, s, chosen[n])), best));
            num_sum_add(&sum, e[n]);
        }
        for (int64_t n = 0; n < top; n++)
            want(weight, at2(weight, s, n), f32_div(e[n], num_sum(f32, &sum)));
    }
}

// Extents: pairs of token and expert, experts, columns, inner. Some experts have no token.
void make_grouped_matmul(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t pairs = shape->n[0], experts = shape->n[1], n = shape->n[2], inner = shape->n[3];
    int64_t tokens = up(pairs, 2);
    run_type(run, "T", t);
    tile(run, shape, "BM", 16);
    tile(run, shape, "BN", 16);
    tile(run, shape, "BK", 32);
    Array *x = run_input(run, "x", t, FILL_REAL, EXTENTS(tokens, inner));
    Array *w = run_input(run, "w", t, FILL_REAL, EXTENTS(experts, inner, n));
    Array *token = run_input(run, "token", DTYPE_I32, FILL_ZERO, EXTENTS(pairs));
    Array *start = run_input(run, "start", DTYPE_I32, FILL_ZERO, EXTENTS(experts + 1));
    Array *y = run_output(run, "y", t, EXTENTS(pairs, n));
    int64_t pair = 0;
    for (int64_t e = 0; e < experts; e++) {
        int64_t end = pair + run_below(run, 0, 2 * pairs / experts + 2);
        end = e == experts - 1 || end > pairs ? pairs : end;
        for (; pair < end; pair++) {
            put(token, pair, (double)run_below(run, 0, tokens));
            for (int64_t j = 0; j < n; j++) {
                NumDot dot = run_dot(run, t);
                for (int64_t k = 0; k < inner; k++)
                    num_dot_add(&dot, num_at(x, at2(x, (int64_t)get(token, pair), k)),
                                num_at(w, at3(w, e, k, j)));
                want(y, at2(y, pair, j), num_cast(t, num_dot(f32, &dot)));
            }
        }
        put(start, e + 1, (double)pair);
    }
}

// Extents: tokens, columns.
void make_combine(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t tokens = shape->n[0], n = shape->n[1], top = 2;
    run_type(run, "T", t);
    run_const(run, "TOP", top);
    tile(run, shape, "W", 16);
    Array *y = run_input(run, "y", t, FILL_REAL, EXTENTS(tokens * top, n));
    Array *place = run_input(run, "place", DTYPE_I32, FILL_ZERO, EXTENTS(tokens, top));
    Array *weight = run_input(run, "weight", f32, FILL_POSITIVE, EXTENTS(tokens, top));
    Array *out = run_output(run, "out", t, EXTENTS(tokens, n));
    for (int64_t s = 0; s < tokens; s++) {
        for (int64_t i = 0; i < top; i++)
            put(place, at2(place, s, i), (double)run_below(run, 0, tokens * top));
        for (int64_t j = 0; j < n; j++) {
            Num acc = num_exact(0);
            for (int64_t i = 0; i < top; i++) {
                int64_t row = (int64_t)get(place, at2(place, s, i));
                Num part = f32_mul(num_at(weight, at2(weight, s, i)), num_at(y, at2(y, row, j)));
                acc = f32_add(acc, part);
            }
            want(out, at2(out, s, j), num_cast(t, acc));
        }
    }
}

// Products of narrow formats with scales, products of many dimensions, NaNs among extremes.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/triton/cases.h"

// A float of one sign bit, `exponent` and `mantissa` bits.
static double small_float(unsigned bits, int exponent, int mantissa) {
    int bias = (1 << (exponent - 1)) - 1, e = (int)(bits >> mantissa) & ((1 << exponent) - 1);
    double m = (double)(bits & ((1u << mantissa) - 1)) / (1 << mantissa);
    double v = e ? ldexp(1 + m, e - bias) : ldexp(m, 1 - bias);
    return bits >> (exponent + mantissa) & 1 ? -v : v;
}

typedef struct Factor {
    const char *format;
    bool along_k;
    int64_t rows, k;
    Array *data, *scale;
    tilec_dtype scale_type;  // TILEC_BOOL: there is no scale
} Factor;

// The factor has `rows` rows of K elements, whose distance is `step`.
static void make_factor(Rig *r, Factor *f, int64_t group) {
    tilec_dtype wide = strcmp(f->format, "fp16") == 0 ? TILEC_F16 : TILEC_BF16;
    int64_t count = f->rows * f->k;
    if (strcmp(f->format, "e2m1") == 0) count /= 2;
    if (f->format[0] == 'e') {
        f->data = array_ints(r, TILEC_U8, count, 0, 256);
        for (int64_t i = 0; i < count && f->format[1] != '2'; i++)  // neither NaN nor infinite
            set_int(f->data, i, get_int(f->data, i) & (f->format[1] == '4' ? 0xbf : 0xcf));
    } else {
        f->data = array_random(r, wide, count, -2, 2);
    }
    if (f->scale_type == TILEC_U8)
        f->scale = array_ints(r, TILEC_U8, f->rows * f->k / group, 120, 130);
    if (f->scale_type == TILEC_F8E4M3)
        f->scale = array_random(r, TILEC_F8E4M3, f->rows * f->k / group, 0.25, 4);
}

// `inner`: is K the inner dimension in memory?
static double element(const Factor *f, int64_t row, int64_t k, bool inner, int64_t group) {
    int64_t at = inner ? row * f->k + k : k * f->rows + row;
    double v;
    if (strcmp(f->format, "e2m1") == 0) {
        int64_t half = f->along_k ? k % 2 : row % 2, k2 = f->along_k ? k / 2 : k;
        int64_t row2 = f->along_k ? row : row / 2, rows = f->along_k ? f->rows : f->rows / 2;
        at = inner ? row2 * (f->along_k ? f->k / 2 : f->k) + k2 : k2 * rows + row2;
        v = small_float((unsigned)get_int(f->data, at) >> (4 * half) & 15, 2, 1);
    } else if (f->format[0] == 'e') {
        bool four = f->format[1] == '4';
        v = small_float((unsigned)get_int(f->data, at), four ? 4 : 5, four ? 3 : 2);
    } else {
        v = get(f->data, at);
    }
    if (!f->scale) return v;
    int64_t block = row * (f->k / group) + k / group;
    if (f->scale_type == TILEC_U8) return ldexp(v, (int)get_int(f->scale, block) - 127);
    return v * get(f->scale, block);
}

static tilec_arg scale_of(const Factor *f) {
    return f->scale ? tilec_arg_view(view1(f->scale)) : tilec_arg_none();
}

static void multiply(Rig *r, Factor a, Factor b, int64_t group) {
    enum { M = 16, N = 32, K = 64 };
    char left[16], right[16];
    a.rows = M, b.rows = N, a.k = b.k = K;
    make_factor(r, &a, group);
    make_factor(r, &b, group);
    Array *c = array_new(r, TILEC_F32, M * N);
    snprintf(left, sizeof left, "'%s'", a.format);
    snprintf(right, sizeof right, "'%s'", b.format);
    run(r, "scaled.py", "dot_scaled",
        TILEC_SPEC(TILEC_CONST("M", M), TILEC_CONST("N", N), TILEC_CONST("K", K),
                   TILEC_VALUE("A", left), TILEC_VALUE("B", right), TILEC_CONST("GROUP", group),
                   TILEC_VALUE("A_ALONG_K", a.along_k ? "True" : "False"),
                   TILEC_VALUE("B_ALONG_K", b.along_k ? "True" : "False")),
        GRID(1, 1, 1),
        TILEC_ARGS(view1(a.data), scale_of(&a), view1(b.data), scale_of(&b), view1(c)));
    for (int64_t i = 0; i < M * N; i++) {
        double sum = 1, size = 1;
        for (int64_t k = 0; k < K; k++) {
            double v = element(&a, i / N, k, true, group) * element(&b, i % N, k, false, group);
            sum += v;
            size += fabs(v);
        }
        // Factors with scales of fp8 are rounded to bf16 where they have more than 8 bits.
        bool rounds = a.scale_type == TILEC_F8E4M3 && a.format[1] == '4';
        near(c, i, sum, 0, size * (rounds ? 0x1p-8 : 0x1p-20));
    }
}

void case_dot_scaled(Rig *r) {
    static const Factor mx4 = {.format = "e2m1", .along_k = true, .scale_type = TILEC_U8};
    static const Factor rows4 = {.format = "e2m1", .scale_type = TILEC_U8};
    static const Factor nv4 = {.format = "e2m1", .along_k = true, .scale_type = TILEC_F8E4M3};
    multiply(r, mx4, mx4, 32);
    multiply(r, rows4, rows4, 32);
    multiply(r, nv4, nv4, 16);
}

void case_dot_scaled_eight(Rig *r) {
    static const Factor mx4 = {.format = "e2m1", .along_k = true, .scale_type = TILEC_U8};
    static const Factor mx8 = {.format = "e4m3", .along_k = true, .scale_type = TILEC_U8};
    static const Factor mx85 = {.format = "e5m2", .along_k = true, .scale_type = TILEC_U8};
    static const Factor nv8 = {.format = "e4m3", .along_k = true, .scale_type = TILEC_F8E4M3};
    static const Factor bf16 = {.format = "bf16", .along_k = true};
    multiply(r, mx8, mx4, 32);
    multiply(r, mx85, mx8, 32);
    multiply(r, nv8, bf16, 32);
    multiply(r, bf16, mx4, 16);
}

void case_dot_scaled_half(Rig *r) {
    static const Factor mx4 = {.format = "e2m1", .along_k = true, .scale_type = TILEC_U8};
    static const Factor mx8 = {.format = "e4m3", .along_k = true, .scale_type = TILEC_U8};
    static const Factor fp16 = {.format = "fp16", .along_k = true};
    multiply(r, fp16, mx4, 32);
    multiply(r, mx8, fp16, 32);
}

// The scales 0 and 255 are 2^-127 and NaN.
void case_dot_scaled_ends(Rig *r) {
    enum { M = 16, N = 16, K = 32 };
    Array *a = array_new(r, TILEC_U8, M * K), *scale = array_new(r, TILEC_U8, M);
    Array *b = array_new(r, TILEC_BF16, K * N), *c = array_new(r, TILEC_F32, M * N);
    for (int64_t i = 0; i < M * K; i++) set_int(a, i, 0x38);  // 1
    for (int64_t i = 0; i < K * N; i++) set(b, i, i / N == 3 ? ldexp(1, 120) : 0);
    for (int64_t i = 0; i < M; i++) set_int(scale, i, i == 1 ? 255 : i);
    run(r, "scaled.py", "dot_scaled",
        TILEC_SPEC(TILEC_CONST("M", M), TILEC_CONST("N", N), TILEC_CONST("K", K),
                   TILEC_VALUE("A", "'e4m3'"), TILEC_VALUE("B", "'bf16'"), TILEC_CONST("GROUP", 32),
                   TILEC_VALUE("A_ALONG_K", "True"), TILEC_VALUE("B_ALONG_K", "True")),
        GRID(1, 1, 1), TILEC_ARGS(view1(a), view1(scale), view1(b), tilec_arg_none(), view1(c)));
    for (int64_t i = 0; i < M * N; i++)
        exact(c, i, i / N == 1 ? NAN : 1 + ldexp(1, (int)(i / N) - 127 + 120));
}

void case_dot_batches(Rig *r) {
    enum { P = 2, Q = 2, M = 16, N = 16, K = 32 };
    Array *a = array_random(r, TILEC_F16, P * Q * M * K, -1, 1);
    Array *b = array_random(r, TILEC_F16, P * Q * K * N, -1, 1);
    Array *c = array_new(r, TILEC_F32, P * Q * M * N);
    run(r, "scaled.py", "dot_batches",
        TILEC_SPEC(TILEC_CONST("P", P), TILEC_CONST("Q", Q), TILEC_CONST("M", M),
                   TILEC_CONST("N", N), TILEC_CONST("K", K)),
        GRID(1, 1, 1), TILEC_ARGS(view1(a), view1(b), view1(c)));
    for (int64_t i = 0; i < P * Q * M * N; i++) {
        double sum = 2;
        int64_t batch = i / (M * N), row = i / N % M, column = i % N;
        for (int64_t k = 0; k < K; k++)
            sum += get(a, (batch * M + row) * K + k) * get(b, (batch * K + k) * N + column);
        near(c, i, sum, 1e-5, 1e-5);
    }
}

// A number wins over a NaN, the first one over its equals, both zeros are equal.
static void places(Rig *r, tilec_dtype type) {
    enum { ROWS = 6, N = 16 };
    double most = type == TILEC_F16 ? 60000 : type == TILEC_BF16 ? 0x1.fep127 : 0x1.fffffep127;
    double rows[ROWS][N] = {
        {NAN, 6, 8, NAN, 8, 3, 3}, {-INFINITY, NAN, -INFINITY},
        {-0.0, 0.0, -0.0, NAN},    {-most, most, NAN, INFINITY, -INFINITY},
        {-3, -3, -2, NAN, -2},     {NAN, NAN},
    };
    static const int count[ROWS] = {7, 3, 4, 5, 5, 2};
    Array *x = array_new(r, type, ROWS * N), *values = array_new(r, type, ROWS * 2);
    Array *at = array_new(r, TILEC_I32, ROWS * 4);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < N; j++) set(x, i * N + j, j < count[i] ? rows[i][j] : NAN);
    run(r, "scaled.py", "places_with_nan", TILEC_SPEC(TILEC_CONST("N", N)), GRID(ROWS, 1, 1),
        TILEC_ARGS(view1(x), view1(values), view1(at)));
    for (int i = 0; i < ROWS; i++) {
        int high = 0, low = 0;
        for (int j = 1; j < N; j++) {
            double v = get(x, i * N + j), above = get(x, i * N + high), below = get(x, i * N + low);
            if (v > above || (isnan(above) && !isnan(v))) high = j;
            if (v < below || (isnan(below) && !isnan(v))) low = j;
        }
        for (int k = 0; k < 4; k++) same(at, i * 4 + k, k % 2 ? low : high);
        double expected[2] = {get(x, i * N + high), get(x, i * N + low)};
        for (int k = 0; k < 2; k++) {
            double found = get(values, i * 2 + k);
            if (!(isnan(found) && isnan(expected[k]))) near(values, i * 2 + k, expected[k], 0, 0);
        }
    }
}

void case_places_with_nan(Rig *r) {
    places(r, TILEC_F32);
    places(r, TILEC_F16);
    places(r, TILEC_BF16);
    places(r, TILEC_F64);
}

void case_small_things(Rig *r) {
    static const int expected[] = {0, 64, 5, 7, 9, 3, 4};
    Array *out = array_new(r, TILEC_I32, 7), *unused = array_new(r, TILEC_F16, 1);
    run(r, "scaled.py", "small_things", NULL, GRID(1, 1, 1),
        TILEC_ARGS(view1(out), view1(unused), 1.5));
    for (int i = 0; i < 7; i++) same(out, i, expected[i]);
}

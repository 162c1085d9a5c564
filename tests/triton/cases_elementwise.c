// Elementwise kernels: types from arguments, strides, None, early return, NaNs, random numbers.
#include <math.h>
#include <stddef.h>

#include "tests/triton/cases.h"

void case_add(Rig *r) {
    enum { N = 1000 };
    Array *x = array_random(r, TILEC_F32, N, -1, 1), *y = array_random(r, TILEC_F32, N, -1, 1);
    Array *out = array_new(r, TILEC_F32, N);
    run(r, "elementwise.py", "add_kernel",
        TILEC_SPEC(TILEC_CONST("BLOCK_SIZE", 256),
                   TILEC_GRID("lambda meta: (triton.cdiv(n_elements, meta['BLOCK_SIZE']),)")),
        NULL, TILEC_ARGS(view1(x), view1(y), view1(out), N));
    for (int64_t i = 0; i < N; i++) near(out, i, (double)(float)(get(x, i) + get(y, i)), 0, 0);
}

// One file for all types: what is open comes from the arguments.
void case_add_types(Rig *r) {
    static const tilec_dtype types[] = {TILEC_F16, TILEC_BF16, TILEC_I32, TILEC_I64, TILEC_U8};
    enum { N = 300 };
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        Array *x = array_ints(r, types[t], N, 0, 60), *y = array_ints(r, types[t], N, 0, 60);
        Array *out = array_new(r, types[t], N);
        run(r, "elementwise.py", "add_kernel",
            TILEC_SPEC(TILEC_CONST("BLOCK_SIZE", 128), TILEC_TYPE("y_ptr", types[t])),
            GRID(3, 1, 1), TILEC_ARGS(view1(x), view1(y), view1(out), (int64_t)N));
        for (int64_t i = 0; i < N; i++) near(out, i, get(x, i) + get(y, i), 0, 0);
    }
}

// A transposed view, one with gaps, and a stride of 1 that is an argument like the others.
void case_add_strided(Rig *r) {
    enum { M = 37, N = 21, WIDE = 50 };
    Array *x = array_random(r, TILEC_F32, M * N, -1, 1),
          *y = array_random(r, TILEC_F16, M * N, -1, 1);
    Array *out = array_new(r, TILEC_F32, M * WIDE);
    run(r, "elementwise.py", "scaled_sum_2d",
        TILEC_SPEC(TILEC_CONST("BLOCK_M", 16), TILEC_CONST("BLOCK_N", 16),
                   TILEC_GRID("triton.cdiv(M, BLOCK_M), triton.cdiv(N, BLOCK_N)")),
        NULL,
        TILEC_ARGS(view_strided(x, 0, M, N, 1, M), view2(y, M, N),
                   view_strided(out, 7, M, N, WIDE, 1), M, N, 1, M, N, 1, WIDE, 1, 0.5f));
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++)
            near(out, 7 + i * WIDE + j, 0.5 * get(x, i + j * M) + get(y, i * N + j), 1e-6, 1e-6);
    near(out, 0, 0, 0, 0);
    near(out, 7 + N, 0, 0, 0);
}

static void bias(Rig *r, const Array *x, const Array *b, const Array *s, const tilec_spec *spec) {
    enum { ROWS = 5, N = 30 };
    Array *out = array_new(r, TILEC_F16, ROWS * N);
    if (spec->count == 1)
        run(r, "elementwise.py", "bias_kernel", spec, GRID(ROWS, 1, 1),
            TILEC_ARGS(view1(x), b ? tilec_arg_view(view1(b)) : tilec_arg_none(),
                       s ? tilec_arg_view(view1(s)) : tilec_arg_none(), view1(out), N));
    else
        run(r, "elementwise.py", "bias_kernel", spec, GRID(ROWS, 1, 1),
            TILEC_ARGS(view1(x), view1(out), N));
    for (int64_t i = 0; i < ROWS * N; i++) {
        double v = get(x, i) * (s ? get(s, i / N) : 1) + (b ? get(b, i % N) : 0);
        near(out, i, v, 0x1p-10, 1e-6);
    }
}

void case_bias_none(Rig *r) {
    Array *x = array_random(r, TILEC_F16, 5 * 30, -2, 2);
    Array *b = array_random(r, TILEC_F32, 30, -1, 1), *s = array_random(r, TILEC_F32, 5, -1, 1);
    bias(r, x, b, s, TILEC_SPEC(TILEC_CONST("BLOCK", 32)));
    bias(r, x, NULL, s, TILEC_SPEC(TILEC_CONST("BLOCK", 32)));
    bias(r, x, b, NULL, TILEC_SPEC(TILEC_CONST("BLOCK", 32)));
    bias(r, x, NULL, NULL, TILEC_SPEC(TILEC_CONST("BLOCK", 32)));
    bias(r, x, NULL, NULL,
         TILEC_SPEC(TILEC_CONST("BLOCK", 32), TILEC_VALUE("bias_ptr", "None"),
                    TILEC_VALUE("scale_ptr", "None")));
}

void case_early_return(Rig *r) {
    enum { ROWS = 6, N = 70 };
    static const int lengths[ROWS] = {0, 70, 1, 31, 32, 33};
    Array *x = array_ints(r, TILEC_I32, ROWS * N, -1000, 1000);
    Array *length = array_new(r, TILEC_I32, ROWS), *out = array_new(r, TILEC_I32, ROWS * N);
    for (int i = 0; i < ROWS; i++) set(length, i, lengths[i]);
    run(r, "elementwise.py", "ragged_scale", TILEC_SPEC(TILEC_CONST("BLOCK", 32)), GRID(ROWS, 3, 1),
        TILEC_ARGS(view2(x, ROWS, N), view1(length), view2(out, ROWS, N), N));
    for (int64_t i = 0; i < ROWS * N; i++)
        same(out, i, i % N < lengths[i / N] ? 2 * get_int(x, i) : 0);
}

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

static void swiglu(Rig *r, const char *act) {
    enum { ROWS = 3, N = 100 };
    Array *gate = array_random(r, TILEC_BF16, ROWS * N, -4, 4);
    Array *up = array_random(r, TILEC_BF16, ROWS * N, -1, 1),
          *out = array_new(r, TILEC_BF16, ROWS * N);
    run(r, "swiglu.py", "swiglu_fwd",
        TILEC_SPEC(TILEC_CONST("n_cols", N), TILEC_CONST("BLOCK", 128), TILEC_VALUE("ACT", act)),
        GRID(ROWS, 1, 1), TILEC_ARGS(view1(gate), view1(up), view1(out), N));
    for (int64_t i = 0; i < ROWS * N; i++) {
        double x = get(gate, i), inner = 0.7978845608028654 * (x + 0.044715 * x * x * x);
        double a = act[1] == 's' ? x * sigmoid(x) : 0.5 * x * (1 + tanh(inner));
        near(out, i, a * get(up, i), 0x1p-6, 1e-6);
    }
}

void case_swiglu(Rig *r) {
    swiglu(r, "'silu'");
    swiglu(r, "'gelu'");
}

// ---- dropout

static void dropout(Rig *r, int64_t seed) {
    enum { N = 1000 };
    const float p = 0.375f;
    Array *x = array_random(r, TILEC_F32, N, 1, 2), *out = array_new(r, TILEC_F32, N);
    run(r, "elementwise.py", "dropout_kernel",
        TILEC_SPEC(TILEC_CONST("BLOCK_SIZE", 256),
                   TILEC_GRID("triton.cdiv(n_elements, BLOCK_SIZE)")),
        NULL, TILEC_ARGS(view1(x), view1(out), N, p, seed));
    for (int64_t i = 0; i < N; i++) {
        bool keep = philox_uniform((uint64_t)seed, (uint32_t)i) > p;
        near(out, i, keep ? get(x, i) / (1 - (double)p) : 0, 1e-6, 0);
    }
}

void case_dropout(Rig *r) {
    dropout(r, 123);
    dropout(r, INT64_C(0x123456789abcdef));
}

// ---- rotary embeddings

static void rotate(const Array *x, const Array *before, const Array *cs, const Array *sn,
                   int64_t row, int64_t heads, int64_t hd, int64_t sl) {
    for (int64_t h = 0; h < heads; h++)
        for (int64_t i = 0; i < hd / 2; i++) {
            int64_t at = (row * heads + h) * hd + i, p = (row % sl) * (hd / 2) + i;
            double a = get(before, at), b = get(before, at + hd / 2);
            near(x, at, a * get(cs, p) - b * get(sn, p), 1e-5, 1e-5);
            near(x, at + hd / 2, b * get(cs, p) + a * get(sn, p), 1e-5, 1e-5);
        }
}

static Array *copy_of(Rig *r, const Array *a) {
    Array *copy = array_new(r, a->type, a->count);
    for (int64_t i = 0; i < a->count; i++) set(copy, i, get(a, i));
    return copy;
}

void case_rope(Rig *r) {
    enum { ROWS = 6, SL = 3, QH = 3, KH = 1, HD = 24 };
    Array *q = array_random(r, TILEC_F32, ROWS * QH * HD, -1, 1);
    Array *k = array_random(r, TILEC_F32, ROWS * KH * HD, -1, 1);
    Array *cs = array_random(r, TILEC_F32, SL * HD / 2, -1, 1);
    Array *sn = array_random(r, TILEC_F32, SL * HD / 2, -1, 1);
    Array *q_before = copy_of(r, q), *k_before = copy_of(r, k);
    run(r, "rope.py", "_rope",
        TILEC_SPEC(TILEC_CONST("n_qh", QH), TILEC_CONST("n_kh", KH), TILEC_CONST("hd", HD),
                   TILEC_CONST("pad_qh", 4), TILEC_CONST("pad_kh", 1), TILEC_CONST("pad_hd", 32)),
        GRID(ROWS, 1, 1),
        TILEC_ARGS(view1(q), QH * HD, view1(k), KH * HD, view1(cs), view1(sn), HD / 2, SL));
    for (int64_t row = 0; row < ROWS; row++) {
        rotate(q, q_before, cs, sn, row, QH, HD, SL);
        rotate(k, k_before, cs, sn, row, KH, HD, SL);
    }
}

// ---- the lesser and the greater

static double beyond(double x, double y, bool greatest) {
    if (x == y) return (signbit(x) != 0) == greatest ? y : x;  // -0 is below +0
    return (x > y) == greatest ? x : y;
}

static double extreme(double x, double y, bool greatest, bool nan) {
    if (!isnan(x) && !isnan(y)) return beyond(x, y, greatest);
    return isnan(x) == nan ? x : y;
}

// Zeros, infinities, a NaN, ordinary numbers, subnormals of f16, of f32 and bf16, of f64. Where a
// type lacks one, it is a zero.
static const double specials[] = {0,      -0.0,     (double)NAN, 1,      -1,      3,
                                  0.5,    HUGE_VAL, -HUGE_VAL,   5.9e-8, -5.9e-8, 1e-39,
                                  -1e-39, 5e-324,   -5e-324,     65504};
enum { SPECIALS = sizeof specials / sizeof *specials };

static void extremes(Rig *r, tilec_dtype type) {
    enum { N = SPECIALS * SPECIALS };
    Array *x = array_new(r, type, N), *y = array_new(r, type, N), *out = array_new(r, type, 6 * N);
    for (int64_t i = 0; i < N; i++) {
        set(x, i, specials[i / SPECIALS]);
        set(y, i, specials[i % SPECIALS]);
    }
    run(r, "elementwise.py", "extremes_kernel",
        TILEC_SPEC(TILEC_CONST("BLOCK", 128), TILEC_GRID("triton.cdiv(n, BLOCK)")), NULL,
        TILEC_ARGS(view1(x), view1(y), view1(out), (int64_t)N));
    for (int64_t i = 0; i < N; i++) {
        double a = get(x, i), b = get(y, i);
        for (int nan = 0; nan < 2; nan++) {
            exact(out, 2 * nan * N + i, extreme(a, b, true, nan));
            exact(out, (2 * nan + 1) * N + i, extreme(a, b, false, nan));
            double least = extreme(a, -1, true, nan);
            exact(out, (4 + nan) * N + i, extreme(least, 1, false, nan));
        }
    }
}

// Rows without a NaN, with some, with nothing else.
static void row_extremes(Rig *r, tilec_dtype type) {
    enum { ROWS = 9, COLUMNS = 100 };
    bool is_double = type == TILEC_F64;
    Array *x = array_random(r, type, ROWS * COLUMNS, -5, 5);
    Array *most = array_new(r, is_double ? TILEC_F64 : TILEC_F32, ROWS);
    Array *least = array_new(r, most->type, ROWS);
    for (int64_t row = 1; row < ROWS; row++)
        for (int64_t i = 0; i < COLUMNS; i++) {
            int64_t kept = row * 13 % COLUMNS;
            if (row == 8 || (row == 7 && i != kept)) set(x, row * COLUMNS + i, (double)NAN);
            if (row < 7 && (i + row) % (row + 1) == 0) set(x, row * COLUMNS + i, (double)NAN);
            if (row == 7 && i == kept) set(x, row * COLUMNS + i, -HUGE_VAL);
        }
    run(r, "elementwise.py", "row_extremes_kernel", TILEC_SPEC(TILEC_CONST("BLOCK", 128)),
        GRID(ROWS, 1, 1), TILEC_ARGS(view1(x), view1(most), view1(least), COLUMNS));
    for (int64_t row = 0; row < ROWS; row++) {
        double high = (double)NAN, low = (double)NAN;
        for (int64_t i = 0; i < COLUMNS; i++) {
            high = extreme(high, get(x, row * COLUMNS + i), true, false);
            low = extreme(low, get(x, row * COLUMNS + i), false, false);
        }
        exact(most, row, high);
        exact(least, row, low);
    }
}

// A number wins over a NaN, except with PropagateNan.ALL.
void case_extremes(Rig *r) {
    static const tilec_dtype types[] = {TILEC_F32, TILEC_F16, TILEC_BF16, TILEC_F64};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        extremes(r, types[t]);
        row_extremes(r, types[t]);
    }
}

// dot: operands are widened once, then plain loops in order of k; products are rounded to the
// accumulator's type, then added, starting from acc. f16 accumulators are kept in f32 and rounded
// once.
#include "ir/interp/internal.h"

typedef struct DotProduct {
    uint64_t batch, m, n, k;
} DotProduct;

static DotProduct product_of(const IrType *a, const IrType *b) {
    uint32_t r = a->rank;
    return (DotProduct){r == 3 ? a->shape[0] : 1, a->shape[r - 2], b->shape[r - 1],
                        a->shape[r - 1]};
}

// ---- representations ----------------------------------------------------------------------------

static float keep_bits(float x, unsigned dropped) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7f800000U) == 0x7f800000U) return x;  // infinities and NaNs
    uint32_t half = (UINT32_C(1) << (dropped - 1)) - 1 + ((bits >> dropped) & 1);
    bits = (bits + half) & ~((UINT32_C(1) << dropped) - 1);  // nearest, ties to even
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float *floats_of(Arena *arena, const InterpSlot *s) {
    float *f = arena_new(arena, float, s->count);
    if (s->elem == DTYPE_F32)
        memcpy(f, s->data, s->count * sizeof *f);
    else
        for (uint32_t i = 0; i < s->count; i++) f[i] = dtype_to_float(s->elem, slot_get(s, i));
    return f;
}

static double *doubles_of(Arena *arena, const InterpSlot *s) {
    double *d = arena_new(arena, double, s->count);
    for (uint32_t i = 0; i < s->count; i++) d[i] = dtype_to_double(s->elem, slot_get(s, i));
    return d;
}

// ---- kernels: one matrix each -------------------------------------------------------------------

static void multiply_f32(DotProduct p, float *restrict c, const float *restrict a,
                         const float *restrict b) {
    for (uint64_t i = 0; i < p.m; i++)
        for (uint64_t k = 0; k < p.k; k++) {
            float x = a[i * p.k + k];
            const float *row = b + k * p.n;
            float *sum = c + i * p.n;
            for (uint64_t j = 0; j < p.n; j++) sum[j] += x * row[j];
        }
}

static void multiply_f64(DotProduct p, double *restrict c, const double *restrict a,
                         const double *restrict b) {
    for (uint64_t i = 0; i < p.m; i++)
        for (uint64_t k = 0; k < p.k; k++) {
            double x = a[i * p.k + k];
            const double *row = b + k * p.n;
            double *sum = c + i * p.n;
            for (uint64_t j = 0; j < p.n; j++) sum[j] += x * row[j];
        }
}

static void multiply_integer(DotProduct p, uint64_t *restrict c, const uint64_t *restrict a,
                             const uint64_t *restrict b) {
    for (uint64_t i = 0; i < p.m; i++)
        for (uint64_t k = 0; k < p.k; k++) {
            uint64_t x = a[i * p.k + k];
            const uint64_t *row = b + k * p.n;
            uint64_t *sum = c + i * p.n;
            for (uint64_t j = 0; j < p.n; j++) sum[j] += x * row[j];
        }
}

// ---- by accumulator -----------------------------------------------------------------------------

static void high_and_low(float *high, float *low, uint64_t n, unsigned dropped) {
    for (uint64_t i = 0; i < n; i++) {
        float x = high[i];
        high[i] = keep_bits(x, dropped);
        bool finite = isfinite(x) && isfinite(high[i]);
        low[i] = finite ? keep_bits(x - high[i], dropped) : 0;
    }
}

static void dot_split(InterpRun *run, DotProduct p, float *c, float *a, float *b,
                      unsigned dropped) {
    uint64_t a_count = p.m * p.k, b_count = p.k * p.n;
    float *a_low = arena_new(run->scratch, float, a_count);
    float *b_low = arena_new(run->scratch, float, b_count);
    high_and_low(a, a_low, a_count, dropped);
    high_and_low(b, b_low, b_count, dropped);
    multiply_f32(p, c, a, b_low);
    multiply_f32(p, c, a_low, b);
    multiply_f32(p, c, a, b);
}

static void dot_f32(InterpRun *run, const IrOp *op, DotProduct p, InterpSlot *r,
                    const InterpSlot *a, const InterpSlot *b, const InterpSlot *acc) {
    float *x = floats_of(run->scratch, a), *y = floats_of(run->scratch, b);
    float *c = acc ? floats_of(run->scratch, acc) : arena_new(run->scratch, float, r->count);
    int64_t precision = a->elem == DTYPE_F32 ? ir_attr_int(op, IR_ATTR_PRECISION) : 0;
    if (precision == IR_PRECISION_TF32) {
        for (uint32_t i = 0; i < a->count; i++) x[i] = keep_bits(x[i], 13);
        for (uint32_t i = 0; i < b->count; i++) y[i] = keep_bits(y[i], 13);
    }
    for (uint64_t t = 0; t < p.batch; t++) {
        float *ct = c + t * p.m * p.n, *xt = x + t * p.m * p.k, *yt = y + t * p.k * p.n;
        if (precision == IR_PRECISION_TF32X3)
            dot_split(run, p, ct, xt, yt, 13);
        else if (precision == IR_PRECISION_BF16X3)
            dot_split(run, p, ct, xt, yt, 16);
        else
            multiply_f32(p, ct, xt, yt);
    }
    for (uint32_t i = 0; i < r->count; i++) {
        float v = c[i] == c[i] ? c[i] : (float)NAN;
        slot_put(r, i, dtype_from_float(r->elem, v, true));
    }
}

static void dot_f64(InterpRun *run, DotProduct p, InterpSlot *r, const InterpSlot *a,
                    const InterpSlot *b, const InterpSlot *acc) {
    double *x = doubles_of(run->scratch, a), *y = doubles_of(run->scratch, b);
    double *c = acc ? doubles_of(run->scratch, acc) : arena_new(run->scratch, double, r->count);
    for (uint64_t t = 0; t < p.batch; t++)
        multiply_f64(p, c + t * p.m * p.n, x + t * p.m * p.k, y + t * p.k * p.n);
    for (uint32_t i = 0; i < r->count; i++) {
        double v = c[i] == c[i] ? c[i] : (double)NAN;
        slot_put(r, i, dtype_from_double(r->elem, v, true));
    }
}

static uint64_t *integers_of(Arena *arena, const InterpSlot *s) {
    uint64_t *v = arena_new(arena, uint64_t, s->count);
    for (uint32_t i = 0; i < s->count; i++) v[i] = (uint64_t)dtype_to_i64(s->elem, slot_get(s, i));
    return v;
}

static void dot_integer(InterpRun *run, DotProduct p, InterpSlot *r, const InterpSlot *a,
                        const InterpSlot *b, const InterpSlot *acc) {
    uint64_t *x = integers_of(run->scratch, a), *y = integers_of(run->scratch, b);
    uint64_t *c =
        acc ? integers_of(run->scratch, acc) : arena_new(run->scratch, uint64_t, r->count);
    for (uint64_t t = 0; t < p.batch; t++)
        multiply_integer(p, c + t * p.m * p.n, x + t * p.m * p.k, y + t * p.k * p.n);
    for (uint32_t i = 0; i < r->count; i++) slot_put(r, i, dtype_wrap(r->elem, c[i]));
}

void execute_dot(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    InterpSlot *a = operand_slot(run, frame, op, 0);
    InterpSlot *b = operand_slot(run, frame, op, 1);
    InterpSlot *acc = operand_slot(run, frame, op, 2);
    InterpSlot *r = result_slot(run, frame, op, 0);
    DotProduct p = product_of(a->type, b->type);
    if (dtype_is(r->elem, DTYPE_CLASS_INT))
        dot_integer(run, p, r, a, b, acc);
    else if (r->elem == DTYPE_F64 || a->elem == DTYPE_F64)
        dot_f64(run, p, r, a, b, acc);
    else
        dot_f32(run, op, p, r, a, b, acc);
    if (run->shadow) shadow_dot(run, op, a, b, acc, r);
}

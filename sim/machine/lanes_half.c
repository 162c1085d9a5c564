// f16, bf16 and their pairs: each operation runs in f32 or double, followed by one rounding.
#include <math.h>

#include "sim/machine/number/approx.h"
#include "sim/machine/number/number.h"
#include "sim/machine/ops.h"

typedef struct Half {
    float (*value)(uint32_t bits);
    uint32_t (*round)(float x);
    const SimFormat *format;
    uint32_t infinity;
    double least_normal;
} Half;
static float f16_value(uint32_t h) { return sim_f16_value(h); }
static float bf16_value(uint32_t h) { return sim_bf16_value(h); }
static uint32_t f16_round(float x) { return sim_f16_round(x); }
static uint32_t bf16_round(float x) { return sim_bf16_round(x); }
static const Half f16 = {f16_value, f16_round, &sim_f16, 0x7c00, 0x1p-14};
static const Half bf16 = {bf16_value, bf16_round, &sim_bf16, 0x7f80, 0x1p-126};

static uint32_t flush(const SimInstr *i, const Half *h, uint32_t x) {
    if (!(i->flags & SIM_FTZ)) return x;
    return x & h->infinity ? x : x & 0x8000;
}
static uint32_t finish(const SimInstr *i, const Half *h, uint32_t x) {
    x = flush(i, h, x);
    bool nan = (x & 0x7fff) > h->infinity;
    uint32_t one = h == &f16 ? 0x3c00 : 0x3f80;
    if (i->flags & SIM_SAT) x = nan || x & 0x8000 ? 0 : x > one ? one : x;
    if (i->flags & SIM_RELU && !nan && x & 0x8000) x = 0;
    return nan && !(i->flags & SIM_SAT) ? 0x7fff : x;
}

// Sums and products of two values are exact enough in f32, since its precision is more than twice
// theirs plus two. A sum of bf16 may need a larger exponent range, so it goes through a double
// rounded to odd.
static uint32_t arithmetic(const SimInstr *i, const Half *h, SimOp op, uint32_t x, uint32_t y,
                           uint32_t z) {
    double a = h->value(flush(i, h, x)), b = h->value(flush(i, h, y)), c = h->value(flush(i, h, z)),
           r = 0;
    switch (op) {
    case SIM_OP_ADD: r = sim_add_odd(a, b); break;
    case SIM_OP_SUB: r = sim_add_odd(a, -b); break;
    case SIM_OP_MUL: r = a * b; break;
    default: r = sim_fma_odd(a, b, c); break;
    }
    bool lost = i->flags & SIM_FTZ && op != SIM_OP_ADD && op != SIM_OP_SUB &&
                fabs(r) < h->least_normal;  // before it is rounded
    return finish(i, h,
                  (uint32_t)sim_number_round(h->format, lost ? copysign(0, r) : r, SIM_RN, false));
}

static uint32_t extreme(const SimInstr *i, const Half *h, SimOp op, uint32_t x, uint32_t y) {
    bool greatest = op == SIM_OP_MAX;
    x = flush(i, h, x), y = flush(i, h, y);
    uint32_t sign = (x ^ y) & 0x8000;
    if (i->flags & SIM_XORSIGN) x &= 0x7fff, y &= 0x7fff;
    bool nx = (x & 0x7fff) > h->infinity, ny = (y & 0x7fff) > h->infinity;
    if (nx || ny) {
        if (i->flags & SIM_NAN || (nx && ny)) return 0x7fff;
        return finish(i, h, (nx ? y : x) | (i->flags & SIM_XORSIGN ? sign : 0));
    }
    // Converts to integers with the same order as the numbers.
    int32_t kx = x & 0x8000 ? -(int32_t)(x & 0x7fff) - 1 : (int32_t)x;
    int32_t ky = y & 0x8000 ? -(int32_t)(y & 0x7fff) - 1 : (int32_t)y;
    uint32_t r = (kx < ky) != greatest ? x : y;
    if (i->flags & SIM_XORSIGN) r |= sign;
    return finish(i, h, r);
}

// A NaN loses its sign and payload.
static uint32_t sign_of_number(const SimInstr *i, const Half *h, uint32_t x, uint32_t clear,
                               uint32_t flip) {
    x = flush(i, h, x);
    return (x & 0x7fff) > h->infinity ? 0x7fff : (x & ~clear) ^ flip;
}

static uint32_t unary(const SimInstr *i, const Half *h, SimOp op, uint32_t x) {
    switch (op) {
    case SIM_OP_ABS: return sign_of_number(i, h, x, 0x8000, 0);
    case SIM_OP_NEG: return sign_of_number(i, h, x, 0, 0x8000);
    case SIM_OP_EX2: return finish(i, h, h->round(sim_approx_ex2(h->value(flush(i, h, x)))));
    default: return finish(i, h, h->round(sim_approx_tanh(h->value(x))));
    }
}

static uint32_t apply(const SimInstr *i, const Half *h, SimOp op, uint32_t x, uint32_t y,
                      uint32_t z) {
    switch (op) {
    case SIM_OP_ADD:
    case SIM_OP_SUB:
    case SIM_OP_MUL:
    case SIM_OP_FMA: return arithmetic(i, h, op, x, y, z);
    case SIM_OP_MIN:
    case SIM_OP_MAX: return extreme(i, h, op, x, y);
    case SIM_OP_COPYSIGN: return (x & 0x8000) | (y & 0x7fff);
    default: return unary(i, h, op, x);
    }
}

static void one(SimWarp *w, const SimInstr *i, const Half *h, SimOp op) {
    LaneU16 *d = SIM_REG(w, i->d, LaneU16);
    const LaneU16 *a = SIM_REG(w, i->a, LaneU16);
    const LaneU16 *b = i->b.number < 0 ? a : SIM_REG(w, i->b, LaneU16);
    const LaneU16 *c = i->c.number < 0 ? a : SIM_REG(w, i->c, LaneU16);
    for (uint32_t l = 0; l < SIM_LANES; l++)
        if (w->mask >> l & 1) d[l] = (uint16_t)apply(i, h, op, a[l], b[l], c[l]);
}
static void two(SimWarp *w, const SimInstr *i, const Half *h, SimOp op) {
    LaneU32 *d = SIM_REG(w, i->d, LaneU32);
    const LaneU32 *a = SIM_REG(w, i->a, LaneU32);
    const LaneU32 *b = i->b.number < 0 ? a : SIM_REG(w, i->b, LaneU32);
    const LaneU32 *c = i->c.number < 0 ? a : SIM_REG(w, i->c, LaneU32);
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(w->mask >> l & 1)) continue;
        uint32_t low = apply(i, h, op, a[l] & 0xffff, b[l] & 0xffff, c[l] & 0xffff);
        d[l] = low | apply(i, h, op, a[l] >> 16, b[l] >> 16, c[l] >> 16) << 16;
    }
}

#define HALF_OPS(X) X(ADD) X(SUB) X(MUL) X(FMA) X(MIN) X(MAX) X(ABS) X(NEG) X(EX2) X(TANH)
#define DEFINE(op)                                                                          \
    static void op##_F16(SimWarp *w, const SimInstr *i) { one(w, i, &f16, SIM_OP_##op); }   \
    static void op##_BF16(SimWarp *w, const SimInstr *i) { one(w, i, &bf16, SIM_OP_##op); } \
    static void op##_F16X2(SimWarp *w, const SimInstr *i) { two(w, i, &f16, SIM_OP_##op); } \
    static void op##_BF16X2(SimWarp *w, const SimInstr *i) { two(w, i, &bf16, SIM_OP_##op); }
HALF_OPS(DEFINE)

#define ROW(op, type) {SIM_OP_##op, SIM_##type, SIM_NONE, op##_##type},
#define ROWS(op) ROW(op, F16) ROW(op, BF16) ROW(op, F16X2) ROW(op, BF16X2)
static const SimLaneRow rows[] = {HALF_OPS(ROWS)};
const SimLaneTable sim_lanes_half = {rows, sizeof rows / sizeof *rows};

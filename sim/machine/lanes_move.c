// Comparisons, selections, moves; and the look-up in all tables of handlers.
#include <string.h>

#include "sim/machine/number/number.h"
#include "sim/machine/ops.h"

// ---- mov, selp, slct ----

#define MOVE(bits, T)                                                                     \
    static void MOV_B##bits(SimWarp *w, const SimInstr *i) {                              \
        T *d = SIM_REG(w, i->d, T);                                                       \
        const T *a = SIM_REG(w, i->a, T);                                                 \
        SIM_EACH_LANE(w, d[l] = a[l];);                                                   \
    }                                                                                     \
    static void SELP_B##bits(SimWarp *w, const SimInstr *i) {                             \
        T *d = SIM_REG(w, i->d, T);                                                       \
        const T *a = SIM_REG(w, i->a, T), *b = SIM_REG(w, i->b, T);                       \
        uint32_t p = sim_pred(w, i->c, i->flags & SIM_NOT_C);                             \
        if (w->poison)                                                                    \
            sim_poison_put(w, i->d,                                                       \
                           (sim_poison_of(w, i->a) & p) | (sim_poison_of(w, i->b) & ~p) | \
                               sim_poison_of(w, i->c));                                   \
        SIM_EACH_LANE(w, d[l] = p & 1u << l ? a[l] : b[l];);                              \
    }
MOVE(16, LaneU16)
MOVE(32, LaneU32)
MOVE(64, LaneU64)
static void MOV_B128(SimWarp *w, const SimInstr *i) {
    LaneU64 *d = SIM_REG(w, i->d, LaneU64);
    const LaneU64 *a = SIM_REG(w, i->a, LaneU64);
    for (uint32_t l = 0; l < SIM_LANES; l++)
        if (w->mask >> l & 1) memmove(&d[2 * l], &a[2 * l], 16);
}

// Operand c is an s32 or an f32 (`from`).
#define SLCT(bits, T)                                                                       \
    static void SLCT_B##bits(SimWarp *w, const SimInstr *i) {                               \
        T *d = SIM_REG(w, i->d, T);                                                         \
        const T *a = SIM_REG(w, i->a, T), *b = SIM_REG(w, i->b, T);                         \
        const LaneS32 *c = SIM_REG(w, i->c, LaneS32);                                       \
        bool real = i->from == SIM_F32;                                                     \
        SIM_EACH_LANE(w, bool first = real ? sim_f32_bits((uint32_t)c[l]) >= 0 : c[l] >= 0; \
                      d[l] = first ? a[l] : b[l];);                                         \
    }
SLCT(16, LaneU16)
SLCT(32, LaneU32)
SLCT(64, LaneU64)

void sim_pred_mov(SimWarp *w, const SimInstr *i) {
    sim_set_pred(w, i->d, sim_pred(w, i->a, i->flags & SIM_NOT_A));
}
void sim_pred_not(SimWarp *w, const SimInstr *i) {
    sim_set_pred(w, i->d, ~sim_pred(w, i->a, i->flags & SIM_NOT_A));
}
void sim_pred_xor(SimWarp *w, const SimInstr *i) {
    sim_set_pred(w, i->d,
                 sim_pred(w, i->a, i->flags & SIM_NOT_A) ^ sim_pred(w, i->b, i->flags & SIM_NOT_B));
}
// If one operand determines the result, the other's poison does not matter.
static void settle(SimWarp *w, const SimInstr *i, uint32_t a, uint32_t b) {
    if (!w->poison) return;
    uint32_t pa = sim_poison_of(w, i->a), pb = sim_poison_of(w, i->b);
    sim_poison_put(w, i->d, (pa & pb) | (pa & b) | (pb & a));
}
void sim_pred_and(SimWarp *w, const SimInstr *i) {
    uint32_t a = sim_pred(w, i->a, i->flags & SIM_NOT_A);
    uint32_t b = sim_pred(w, i->b, i->flags & SIM_NOT_B);
    settle(w, i, a, b);
    sim_set_pred(w, i->d, a & b);
}
void sim_pred_or(SimWarp *w, const SimInstr *i) {
    uint32_t a = sim_pred(w, i->a, i->flags & SIM_NOT_A);
    uint32_t b = sim_pred(w, i->b, i->flags & SIM_NOT_B);
    settle(w, i, ~a, ~b);
    sim_set_pred(w, i->d, a | b);
}

// ---- Comparisons ----

#define COMPARE_CASES(w, bits, a, b, T)                                  \
    case SIM_EQ: LOOP(bits, a, b, T, x == y); break;                     \
    case SIM_NE: LOOP(bits, a, b, T, x != y && x == x && y == y); break; \
    case SIM_LT: LOOP(bits, a, b, T, x < y); break;                      \
    case SIM_LE: LOOP(bits, a, b, T, x <= y); break;                     \
    case SIM_GT: LOOP(bits, a, b, T, x > y); break;                      \
    case SIM_GE: LOOP(bits, a, b, T, x >= y); break;                     \
    case SIM_EQU: LOOP(bits, a, b, T, !(x < y || x > y)); break;         \
    case SIM_NEU: LOOP(bits, a, b, T, x != y); break;                    \
    case SIM_LTU: LOOP(bits, a, b, T, !(x >= y)); break;                 \
    case SIM_LEU: LOOP(bits, a, b, T, !(x > y)); break;                  \
    case SIM_GTU: LOOP(bits, a, b, T, !(x <= y)); break;                 \
    case SIM_GEU: LOOP(bits, a, b, T, !(x < y)); break;                  \
    case SIM_NUM: LOOP(bits, a, b, T, x == x && y == y); break;          \
    case SIM_ISNAN:                                                      \
        LOOP(bits, a, b, T, x != x || y != y);                           \
        break;
#define LOOP(bits, a, b, T, ...)                         \
    SIM_IVDEP for (uint32_t l = 0; l < SIM_LANES; l++) { \
        const T x = (a)[l];                              \
        const T y = (b)[l];                              \
        (bits) |= (uint32_t)(__VA_ARGS__) << l;          \
    }
#define COMPARE(name, T)                                           \
    static uint32_t name(const T *a, const T *b, SimCompare how) { \
        uint32_t bits = 0;                                         \
        switch (how) { COMPARE_CASES(w, bits, a, b, T) }           \
        return bits;                                               \
    }
COMPARE(compare_u16, LaneU16)
COMPARE(compare_s16, LaneS16)
COMPARE(compare_u32, LaneU32)
COMPARE(compare_s32, LaneS32)
COMPARE(compare_u64, LaneU64)
COMPARE(compare_s64, LaneS64)
COMPARE(compare_f32, LaneF32)
COMPARE(compare_f64, LaneF64)

// The result p = (a ? b) op c; for "p|q" also q = !(a ? b) op c.
static uint32_t combined(SimWarp *w, const SimInstr *i, uint32_t bits) {
    const SimSetOp *s = i->detail;
    if (s->combine == SIM_BOOL_NONE) return bits;
    uint32_t c = sim_pred(w, i->c, i->flags & SIM_NOT_C);
    switch (s->combine) {
    case SIM_BOOL_AND: return bits & c;
    case SIM_BOOL_OR: return bits | c;
    case SIM_BOOL_XOR: return bits ^ c;
    case SIM_BOOL_NONE: break;
    }
    return bits;
}
static void put(SimWarp *w, const SimInstr *i, uint32_t bits) {
    const SimSetOp *s = i->detail;
    if (i->type != SIM_PRED) {  // set: the result is a number
        LaneU32 *d = SIM_REG(w, i->d, LaneU32);
        uint32_t yes = i->type == SIM_F32 ? 0x3f800000 : UINT32_MAX;
        bits = combined(w, i, bits);
        SIM_EACH_LANE(w, d[l] = bits >> l & 1 ? yes : 0;);
        return;
    }
    uint32_t p = combined(w, i, bits), q = combined(w, i, ~bits);
    sim_set_pred(w, i->d, p);
    if (s->other.number >= 0) sim_set_pred(w, s->other, q);
}
#define SETP(type, T, function)                                                    \
    static void SETP_##type(SimWarp *w, const SimInstr *i) {                       \
        const SimSetOp *s = i->detail;                                             \
        put(w, i, function(SIM_REG(w, i->a, T), SIM_REG(w, i->b, T), s->compare)); \
    }
SETP(U16, LaneU16, compare_u16)
SETP(S16, LaneS16, compare_s16)
SETP(U32, LaneU32, compare_u32)
SETP(S32, LaneS32, compare_s32)
SETP(U64, LaneU64, compare_u64)
SETP(S64, LaneS64, compare_s64)
SETP(F64, LaneF64, compare_f64)
static void SETP_F32(SimWarp *w, const SimInstr *i) {
    const SimSetOp *s = i->detail;
    const LaneF32 *a = SIM_REG(w, i->a, LaneF32), *b = SIM_REG(w, i->b, LaneF32);
    LaneF32 x[SIM_LANES], y[SIM_LANES];
    if (i->flags & SIM_FTZ) {
        for (uint32_t l = 0; l < SIM_LANES; l++) x[l] = sim_flush(a[l]), y[l] = sim_flush(b[l]);
        a = x, b = y;
    }
    put(w, i, compare_f32(a, b, s->compare));
}
static void compare_halves(SimWarp *w, const SimInstr *i, float (*value)(uint32_t)) {
    const SimSetOp *s = i->detail;
    const LaneU16 *a = SIM_REG(w, i->a, LaneU16), *b = SIM_REG(w, i->b, LaneU16);
    LaneF32 x[SIM_LANES], y[SIM_LANES];
    for (uint32_t l = 0; l < SIM_LANES; l++) x[l] = value(a[l]), y[l] = value(b[l]);
    put(w, i, compare_f32(x, y, s->compare));
}
// For pairs: the low halves give p, the high halves q.
static void compare_pairs(SimWarp *w, const SimInstr *i, float (*value)(uint32_t)) {
    const SimSetOp *s = i->detail;
    const LaneU32 *a = SIM_REG(w, i->a, LaneU32), *b = SIM_REG(w, i->b, LaneU32);
    LaneF32 x[SIM_LANES], y[SIM_LANES];
    for (uint32_t l = 0; l < SIM_LANES; l++)
        x[l] = value(a[l] & 0xffff), y[l] = value(b[l] & 0xffff);
    uint32_t p = compare_f32(x, y, s->compare);
    for (uint32_t l = 0; l < SIM_LANES; l++) x[l] = value(a[l] >> 16), y[l] = value(b[l] >> 16);
    uint32_t q = compare_f32(x, y, s->compare);
    sim_set_pred(w, i->d, combined(w, i, p));
    if (s->other.number >= 0) sim_set_pred(w, s->other, combined(w, i, q));
}
static float f16_value(uint32_t h) { return sim_f16_value(h); }
static float bf16_value(uint32_t h) { return sim_bf16_value(h); }
static void SETP_F16(SimWarp *w, const SimInstr *i) { compare_halves(w, i, f16_value); }
static void SETP_BF16(SimWarp *w, const SimInstr *i) { compare_halves(w, i, bf16_value); }
static void SETP_F16X2(SimWarp *w, const SimInstr *i) { compare_pairs(w, i, f16_value); }
static void SETP_BF16X2(SimWarp *w, const SimInstr *i) { compare_pairs(w, i, bf16_value); }

// ---- mov between a vector and a wider register ----

static uint64_t half_of(const SimPackOp *p, uint32_t n) {
    return n < p->count / 2u ? UINT32_MAX : ~(uint64_t)UINT32_MAX;
}

static void flow_packed(SimWarp *w, const SimPackOp *p) {
    uint64_t halves = 0;
    for (uint32_t n = 0; n < p->count; n++) {
        uint32_t lanes = sim_poison_of(w, p->parts[n]);
        halves |= sim_poison_halves(lanes, lanes) & half_of(p, n);
    }
    sim_poison_put_halves(w, p->whole, halves);
}

static void flow_unpacked(SimWarp *w, const SimPackOp *p) {
    uint64_t halves = p->whole.number < 0 ? 0 : w->poison[p->whole.number];
    for (uint32_t n = 0; n < p->count; n++)
        sim_poison_put(w, p->parts[n], sim_poison_any_half(halves & half_of(p, n)));
}

void sim_mov_pack(SimWarp *w, const SimInstr *i) {
    const SimPackOp *p = i->detail;
    if (w->poison) flow_packed(w, p);
    uint8_t *whole = w->regs + p->whole.at;
    size_t size = (size_t)p->count * p->bytes;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(w->mask >> l & 1)) continue;
        uint8_t value[16];
        for (uint32_t n = 0; n < p->count; n++) {
            unsigned slot = p->bytes < 2 ? 2 : p->bytes;
            memcpy(value + (size_t)n * p->bytes, w->regs + p->parts[n].at + (size_t)l * slot,
                   p->bytes);
        }
        memcpy(whole + l * (size < 2 ? 2 : size), value, size);
    }
}

void sim_mov_unpack(SimWarp *w, const SimInstr *i) {
    const SimPackOp *p = i->detail;
    if (w->poison) flow_unpacked(w, p);
    const uint8_t *whole = w->regs + p->whole.at;
    size_t size = (size_t)p->count * p->bytes;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(w->mask >> l & 1)) continue;
        uint8_t value[16];
        memcpy(value, whole + l * (size < 2 ? 2 : size), size);
        for (uint32_t n = 0; n < p->count; n++) {
            if (p->parts[n].number < 0) continue;
            unsigned slot = p->bytes < 2 ? 2 : p->bytes;
            uint8_t *to = w->regs + p->parts[n].at + (size_t)l * slot;
            if (slot != p->bytes) to[1] = 0;
            memcpy(to, value + (size_t)n * p->bytes, p->bytes);
        }
    }
}

// ---- Tables ----

#define ROW(op, type) {SIM_OP_##op, SIM_##type, SIM_NONE, op##_##type},
#define ROWS(op) ROW(op, B16) ROW(op, B32) ROW(op, B64)
static const SimLaneRow rows[] = {
    ROWS(MOV) ROW(MOV, B128) ROWS(SELP) ROWS(SLCT)                               //
    ROW(SETP, U16) ROW(SETP, S16) ROW(SETP, U32) ROW(SETP, S32) ROW(SETP, U64)   //
    ROW(SETP, S64) ROW(SETP, F32) ROW(SETP, F64) ROW(SETP, F16) ROW(SETP, BF16)  //
    ROW(SETP, F16X2) ROW(SETP, BF16X2)};
const SimLaneTable sim_lanes_move = {rows, sizeof rows / sizeof *rows};

static SimHandler *find_exact(SimOp op, SimType type) {
    static const SimLaneTable *const tables[] = {&sim_lanes_int, &sim_lanes_bits, &sim_lanes_float,
                                                 &sim_lanes_half, &sim_lanes_move};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (uint32_t n = 0; n < tables[t]->count; n++)
            if (tables[t]->rows[n].op == op && tables[t]->rows[n].type == type)
                return tables[t]->rows[n].run;
    return NULL;
}

SimHandler *sim_lanes_find(SimOp op, SimType type) {
    static const SimType unsigned_of[] = {SIM_U16, SIM_U32, SIM_U64},
                         bits_of[] = {SIM_B16, SIM_B32, SIM_B64};
    SimHandler *run = find_exact(op, type);
    unsigned bits = sim_type_bits(type);
    if (run || bits < 8) return run;
    if (bits == 128) return find_exact(op, SIM_B128);
    unsigned size = bits <= 16 ? 0 : bits == 32 ? 1 : 2;
    bool real = type == SIM_F16 || type == SIM_BF16 || type == SIM_F32 || type == SIM_F64;
    if (!real) run = find_exact(op, unsigned_of[size]);
    return run ? run : find_exact(op, bits_of[size]);
}

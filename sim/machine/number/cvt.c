// cvt: between any two types. Common conversions have their own loops; the others decompose
// numbers.
#include <string.h>

#include "sim/machine/number/number.h"
#include "sim/machine/ops.h"

static bool is_signed(SimType t) {
    return t == SIM_S8 || t == SIM_S16 || t == SIM_S32 || t == SIM_S64;
}

static uint64_t fetch(const SimWarp *w, SimOperand o, unsigned slot, uint32_t l) {
    uint64_t v = 0;
    memcpy(&v, w->regs + o.at + (size_t)l * slot, slot);
    return v;
}
static void put(SimWarp *w, SimOperand o, unsigned slot, uint32_t l, uint64_t v) {
    memcpy(w->regs + o.at + (size_t)l * slot, &v, slot);
}
static uint64_t low_bits(uint64_t v, unsigned bits) {
    return bits > 63 ? v : v & ((UINT64_C(1) << bits) - 1);
}
static int64_t extend(uint64_t v, unsigned bits) {
    return (int64_t)(v << (64 - bits)) >> (64 - bits);
}

// ---- To integers ----

static uint64_t clamp_int(SimType to, bool negative, uint64_t magnitude) {
    unsigned bits = sim_type_bits(to);
    if (is_signed(to)) {
        uint64_t most = (UINT64_C(1) << (bits - 1)) - 1;
        if (negative) return magnitude > most + 1 ? ~most : (uint64_t)0 - magnitude;
        return magnitude > most ? most : magnitude;
    }
    if (negative) return 0;
    uint64_t most = bits > 63 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    return magnitude > most ? most : magnitude;
}

static uint64_t int_to_int(const SimInstr *i, SimType to, SimType from, uint64_t v) {
    unsigned bits = sim_type_bits(from);
    v = is_signed(from) ? (uint64_t)extend(v, bits) : low_bits(v, bits);
    if (i->flags & SIM_SAT) {
        bool negative = is_signed(from) && (int64_t)v < 0;
        v = clamp_int(to, negative, negative ? 0 - v : v);
    }
    bits = sim_type_bits(to);
    return is_signed(to) ? (uint64_t)extend(v, bits) : low_bits(v, bits);
}

// |x| < 2^63 rounded to an integer.
static uint64_t integral(double magnitude, bool negative, SimRound round) {
    uint64_t whole = (uint64_t)magnitude;
    double rest = magnitude - (double)whole;
    switch (round) {
    case SIM_RN: return whole + (rest > 0.5 || (rest == 0.5 && (whole & 1)));
    case SIM_RNA: return whole + (rest >= 0.5);
    case SIM_RM: return whole + (negative && rest > 0);
    case SIM_RP: return whole + (!negative && rest > 0);
    case SIM_RZ:
    case SIM_RS: break;
    }
    return whole;
}

static uint64_t float_to_int(const SimInstr *i, SimType to, SimType from, double x) {
    unsigned bits = sim_type_bits(to);
    if (x != x) return from == SIM_F64 || bits == 64 ? UINT64_C(1) << (bits - 1) : 0;
    bool negative = x < 0;
    double magnitude = negative ? -x : x;
    uint64_t whole = magnitude >= 0x1p64   ? UINT64_MAX
                     : magnitude >= 0x1p53 ? (uint64_t)magnitude
                                           : integral(magnitude, negative, (SimRound)i->round);
    return clamp_int(to, negative && whole, whole);
}

// ---- To floats ----

static double round_integral(double x, SimRound round) {
    if (x != x || x - x != 0 || x >= 0x1p53 || x <= -0x1p53) return x;
    double r = (double)integral(x < 0 ? -x : x, x < 0, round);
    return __builtin_copysign(r, x);
}

static uint64_t int_to_float(const SimInstr *i, const SimFormat *f, SimType from, uint64_t v) {
    unsigned bits = sim_type_bits(from);
    bool negative = is_signed(from) && v >> (bits - 1) & 1;
    uint64_t magnitude = negative ? 0 - (uint64_t)extend(v, bits) : low_bits(v, bits);
    return sim_number_pack(f, negative, magnitude, 0, false, (SimRound)i->round, false);
}

static uint64_t float_bits(const SimInstr *i, SimType to, double x, bool finite) {
    const SimFormat *f = sim_format(to);
    if (i->flags & SIM_RELU && !(x > 0) && x == x) x = 0;
    if (i->flags & SIM_SAT) x = x > 0 ? x < 1 ? x : 1 : 0;
    if (to == SIM_F64 && x != x) return sim_bits_f64(x);
    uint64_t v = sim_number_round(f, x, (SimRound)i->round, finite);
    if (to == SIM_F32 && i->flags & SIM_FTZ) v = sim_bits_f32(sim_flush(sim_f32_bits((uint32_t)v)));
    return to == SIM_TF32 ? v << 13 : v;
}

// ue8m0: only an exponent; 255 is NaN.
static double ue8m0_value(uint32_t e) {
    return e == 255 ? (double)__builtin_nanf("") : sim_f64_bits((uint64_t)(e + 1023 - 127) << 52);
}
static uint64_t ue8m0_round(double x, SimRound round, bool finite) {
    if (x != x) return 255;
    x = x < 0 ? -x : x;
    uint64_t u = sim_bits_f64(x);
    int e = (int)(u >> 52) - 1023;
    if (round == SIM_RP && u << 12) e++;
    if (x == 0 || e < -127) return 0;
    return e > 127 ? finite ? 254 : 255 : (uint64_t)(e + 127);
}

static double value_of(const SimInstr *i, SimType from, uint64_t v) {
    if (from == SIM_UE8M0 || from == SIM_UE8M0X2) return ue8m0_value(v & 255);
    if (from == SIM_F32) {
        float x = sim_f32_bits((uint32_t)v);
        return i->flags & SIM_FTZ ? sim_flush(x) : x;
    }
    return sim_number_value(sim_format(from), v);
}

static uint64_t convert(const SimInstr *i, const SimCvtOp *op, uint64_t v) {
    bool to_float = sim_format(op->to) != NULL, from_float = sim_format(op->from) != NULL;
    if (!to_float && !from_float) return int_to_int(i, op->to, op->from, v);
    if (!from_float) return int_to_float(i, sim_format(op->to), op->from, v);
    double x = value_of(i, op->from, v);
    if (!to_float) return float_to_int(i, op->to, op->from, x);
    if (op->to_integral) x = round_integral(x, (SimRound)i->round);
    return float_bits(i, op->to, x, op->saturate_finite);
}

// ---- Common ones ----

#define LOOP(D, A, ...)                             \
    do {                                            \
        D *d = SIM_REG(w, i->d, D);                 \
        const A *a = SIM_REG(w, i->a, A);           \
        SIM_EACH_LANE(w, d[l] = (D)(__VA_ARGS__);); \
        return true;                                \
    } while (0)

SIM_CLONES static bool quick_float(SimWarp *w, const SimInstr *i, const SimCvtOp *op) {
    switch (op->to << 8 | op->from) {
    case SIM_F32 << 8 | SIM_F16: LOOP(LaneF32, LaneU16, sim_canonical(sim_f16_value(a[l])));
    case SIM_F32 << 8 | SIM_BF16: LOOP(LaneU32, LaneU16, (uint32_t)a[l] << 16);
    case SIM_F16 << 8 | SIM_F32: LOOP(LaneU16, LaneF32, sim_f16_round(a[l]));
    case SIM_BF16 << 8 | SIM_F32: LOOP(LaneU16, LaneF32, sim_bf16_round(a[l]));
    case SIM_F32 << 8 | SIM_S32: LOOP(LaneF32, LaneS32, a[l]);
    case SIM_F32 << 8 | SIM_U32: LOOP(LaneF32, LaneU32, a[l]);
    default: return false;
    }
}

// Shifts the value's bits up and down again, so that the bits above its type become the sign or 0.
#define KEPT(v, type, up) \
    (is_signed(type) ? (uint64_t)((int64_t)((v) << (up)) >> (up)) : (v) << (up) >> (up))
SIM_CLONES static bool quick_int(SimWarp *w, const SimInstr *i, const SimCvtOp *op) {
    const SimType to = op->to, from = op->from;
    const unsigned cut = 64 - sim_type_bits(from), keep = 64 - sim_type_bits(to);
    switch (op->to_slot << 4 | op->from_slot) {
    case 2 << 4 | 2: LOOP(LaneU16, LaneU16, KEPT(KEPT((uint64_t)a[l], from, cut), to, keep));
    case 2 << 4 | 4: LOOP(LaneU16, LaneU32, KEPT(KEPT((uint64_t)a[l], from, cut), to, keep));
    case 2 << 4 | 8: LOOP(LaneU16, LaneU64, KEPT(KEPT((uint64_t)a[l], from, cut), to, keep));
    case 4 << 4 | 2: LOOP(LaneU32, LaneU16, KEPT(KEPT((uint64_t)a[l], from, cut), to, keep));
    case 4 << 4 | 4: LOOP(LaneU32, LaneU32, KEPT(KEPT((uint64_t)a[l], from, cut), to, keep));
    case 4 << 4 | 8: LOOP(LaneU32, LaneU64, KEPT(KEPT((uint64_t)a[l], from, cut), to, keep));
    case 8 << 4 | 2: LOOP(LaneU64, LaneU16, KEPT(KEPT((uint64_t)a[l], from, cut), to, keep));
    case 8 << 4 | 4: LOOP(LaneU64, LaneU32, KEPT(KEPT((uint64_t)a[l], from, cut), to, keep));
    case 8 << 4 | 8: LOOP(LaneU64, LaneU64, KEPT(KEPT((uint64_t)a[l], from, cut), to, keep));
    default: return false;
    }
}

static bool quick(SimWarp *w, const SimInstr *i, const SimCvtOp *op) {
    if (i->flags & (SIM_SAT | SIM_FTZ | SIM_RELU) || op->to_integral) return false;
    if (!sim_format(op->to) && !sim_format(op->from)) return quick_int(w, i, op);
    return i->round == SIM_RN && quick_float(w, i, op);
}

void sim_cvt(SimWarp *w, const SimInstr *i) {
    const SimCvtOp *op = i->detail;
    if (quick(w, i, op)) return;
    for (uint32_t l = 0; l < SIM_LANES; l++)
        if (w->mask >> l & 1)
            put(w, i->d, op->to_slot, l, convert(i, op, fetch(w, i->a, op->from_slot, l)));
}

// ---- Pairs: a gives the upper half, b the lower ----

static unsigned element_bits(SimType pair) { return sim_type_bits(pair) / 2; }

static uint64_t one_of_pair(const SimInstr *i, const SimCvtOp *op, double x) {
    if (op->to == SIM_UE8M0X2) return ue8m0_round(x, (SimRound)i->round, op->saturate_finite);
    // Formats below 8 bits and e4m3 always saturate (.satfinite); e5m2 and wider do so if asked.
    return float_bits(i, op->to, x, op->saturate_finite);
}

static bool quick_pair(SimWarp *w, const SimInstr *i, const SimCvtOp *op) {
    if (i->flags & SIM_RELU || op->saturate_finite || i->round != SIM_RN || op->from != SIM_F32)
        return false;
    if (op->to != SIM_F16X2 && op->to != SIM_BF16X2) return false;
    LaneU32 *d = SIM_REG(w, i->d, LaneU32);
    const LaneF32 *a = SIM_REG(w, i->a, LaneF32), *b = SIM_REG(w, op->second, LaneF32);
    if (op->to == SIM_F16X2)
        SIM_EACH_LANE(w, d[l] = sim_f16_round(b[l]) | sim_f16_round(a[l]) << 16;);
    else
        SIM_EACH_LANE(w, d[l] = sim_bf16_round(b[l]) | sim_bf16_round(a[l]) << 16;);
    return true;
}

void sim_cvt_packed(SimWarp *w, const SimInstr *i) {
    const SimCvtOp *op = i->detail;
    if (quick_pair(w, i, op)) return;
    unsigned to = element_bits(op->to);
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(w->mask >> l & 1)) continue;
        uint64_t low, high, a = fetch(w, i->a, op->from_slot, l);
        if (op->second.number >= 0) {
            high = a;
            low = fetch(w, op->second, op->from_slot, l);
        } else {
            unsigned from = element_bits(op->from);
            low = low_bits(a, from), high = low_bits(a >> from, from);
        }
        low = one_of_pair(i, op, value_of(i, op->from, low));
        high = one_of_pair(i, op, value_of(i, op->from, high));
        // Each six-bit element takes a byte.
        unsigned at = to < 8 && op->to != SIM_E2M1X2 ? 8 : to;
        put(w, i->d, op->to_slot, l, low | high << at);
    }
}

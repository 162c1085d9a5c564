// atom and red: one lane after another, from the lowest.
#include <string.h>

#include "sim/machine/number/number.h"
#include "sim/machine/ops.h"

// The sum of f32 in global memory has subnormal operands and results as zeros.
static uint64_t add_flushed(uint64_t x, uint64_t y) {
    float a = sim_flush(sim_f32_bits((uint32_t)x)), b = sim_flush(sim_f32_bits((uint32_t)y));
    return sim_bits_f32(sim_canonical(sim_flush(a + b)));
}

static uint64_t add_float(const SimFormat *f, uint64_t x, uint64_t y) {
    if (f->bits == 64) return sim_bits_f64(sim_f64_bits(x) + sim_f64_bits(y));
    double s = sim_add_odd(sim_number_value(f, x), sim_number_value(f, y));
    return sim_number_round(f, s, SIM_RN, false);
}

static uint64_t extreme_float(const SimFormat *f, uint64_t x, uint64_t y, bool greatest) {
    double a = sim_number_value(f, x), b = sim_number_value(f, y);
    if (a != a) return b != b ? f->nan : y;
    if (b != b) return x;
    if (a == b) return (x >> (f->bits - 1) != 0) != greatest ? x : y;
    return (a < b) != greatest ? x : y;
}

static bool less(SimType t, uint64_t x, uint64_t y) {
    if (t == SIM_S32) return (int32_t)x < (int32_t)y;
    if (t == SIM_S64) return (int64_t)x < (int64_t)y;
    return x < y;
}

static uint64_t combine(SimAtom atom, SimType t, uint64_t x, uint64_t y, uint64_t compare) {
    const SimFormat *f = sim_format(t);
    switch (atom) {
    case SIM_ATOM_ADD: return f ? add_float(f, x, y) : x + y;
    case SIM_ATOM_INC: return x >= y ? 0 : x + 1;
    case SIM_ATOM_DEC: return x == 0 || x > y ? y : x - 1;
    case SIM_ATOM_MIN: return f ? extreme_float(f, x, y, false) : less(t, y, x) ? y : x;
    case SIM_ATOM_MAX: return f ? extreme_float(f, x, y, true) : less(t, x, y) ? y : x;
    case SIM_ATOM_AND: return x & y;
    case SIM_ATOM_OR: return x | y;
    case SIM_ATOM_XOR: return x ^ y;
    case SIM_ATOM_EXCH: return y;
    case SIM_ATOM_CAS: return x == compare ? y : x;
    }
    return x;
}

// Bytes of one number; for a pair, of one half.
static unsigned element_bytes(SimType t) {
    return t == SIM_F16X2 || t == SIM_BF16X2 ? 2 : sim_type_bits(t) / 8;
}

static void one_lane(SimWarp *w, const SimAccessOp *op, const SimTouch *t, uint32_t l) {
    unsigned bytes = element_bytes(op->type), per = op->width / bytes;
    for (uint32_t n = 0; n < op->count; n++) {
        for (uint32_t part = 0; part < per; part++) {
            uint8_t *at = t->host[l] + (size_t)n * op->width + (size_t)part * bytes;
            uint64_t old = 0, value = 0, compare = 0;
            size_t from = (size_t)l * op->slot + (size_t)part * bytes;
            memcpy(&old, at, bytes);
            memcpy(&value, w->regs + op->values2[n].at + from, bytes);
            if (op->compare.number >= 0) memcpy(&compare, w->regs + op->compare.at + from, bytes);
            bool flushed =
                op->atom == SIM_ATOM_ADD && op->type == SIM_F32 && op->space != SIM_SPACE_SHARED;
            uint64_t now = flushed ? add_flushed(old, value)
                                   : combine(op->atom, op->type, old, value, compare);
            if (!op->no_result && op->values[n].number >= 0)
                memcpy(w->regs + op->values[n].at + from, &old, bytes);
            memcpy(at, &now, bytes);
        }
    }
}

static void one_lane_wide(SimWarp *w, const SimAccessOp *op, const SimTouch *t, uint32_t l) {
    uint8_t old[16];
    size_t from = (size_t)l * 16;
    memcpy(old, t->host[l], 16);
    bool write = op->atom == SIM_ATOM_EXCH || !memcmp(old, w->regs + op->compare.at + from, 16);
    if (write) memcpy(t->host[l], w->regs + op->values2[0].at + from, 16);
    if (op->values[0].number >= 0) memcpy(w->regs + op->values[0].at + from, old, 16);
}

static void flow_poison(SimWarp *w, const SimAccessOp *op, const SimTouch *t) {
    for (uint32_t n = 0; n < op->count; n++) {
        uint32_t before = 0, operand = sim_poison_of(w, op->values2[n]);
        for (uint32_t l = 0; l < SIM_LANES; l++) {
            if (!(w->mask >> l & 1) || !t->poison[l]) continue;
            uint64_t at = t->poison_at[l] + (uint64_t)n * op->width;
            bool was = sim_poison_any_few(t->poison[l], at, op->width);
            before |= (uint32_t)was << l;
            bool keeps = was && op->atom != SIM_ATOM_EXCH;
            sim_poison_set_few(t->poison[l], at, op->width, keeps || (operand >> l & 1));
        }
        if (!op->no_result) sim_poison_put(w, op->values[n], before);
    }
}

void sim_atom(SimWarp *w, const SimInstr *i) {
    const SimAccessOp *op = i->detail;
    SimTouch t = {.space = op->space,
                  .far = op->far,
                  .kind = SIM_ACCESS_ATOMIC,
                  .order = op->order,
                  .scope = op->scope,
                  .mask = w->mask,
                  .bytes = (uint32_t)op->width * op->count};
    sim_addresses(w, op, t.address);
    if (w->poison && !op->fixed) sim_poison_check(w, i, op->address, SIM_POISON_ADDRESS);
    if (!sim_touch(w, i, &t)) return;
    w->spins++;
    if (w->poison) flow_poison(w, op, &t);
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(w->mask >> l & 1)) continue;
        if (op->type == SIM_B128)
            one_lane_wide(w, op, &t, l);
        else
            one_lane(w, op, &t, l);
    }
}

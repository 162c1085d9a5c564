// Atomics: one lane after another.
#include <string.h>

#include "sim/amd/function.h"
#include "sim/amd/memory.h"

static uint64_t float_of(AmdAtom atom, uint32_t bytes, uint64_t old, uint64_t value) {
    if (bytes == 8) {
        double x = sim_f64_bits(old), y = sim_f64_bits(value);
        double r = atom == AMD_ATOM_ADD_F64 ? x + y
                   : atom == AMD_ATOM_MIN_F ? (y < x || x != x ? y : x)
                                            : (y > x || x != x ? y : x);
        return sim_bits_f64(amd_quiet64(r));
    }
    float x = sim_f32_bits((uint32_t)old), y = sim_f32_bits((uint32_t)value);
    float r = atom == AMD_ATOM_ADD_F32 ? x + y
              : atom == AMD_ATOM_MIN_F ? (y < x || x != x ? y : x)
                                       : (y > x || x != x ? y : x);
    return sim_bits_f32(amd_quiet(r));
}

static uint64_t pair_of(bool bf16, uint64_t old, uint64_t value) {
    uint32_t result = 0;
    for (uint32_t n = 0; n < 32; n += 16) {
        uint32_t a = old >> n & 0xffff, b = value >> n & 0xffff;
        uint32_t r = bf16 ? sim_bf16_round(sim_bf16_value(a) + sim_bf16_value(b))
                          : sim_f16_round(sim_f16_value(a) + sim_f16_value(b));
        result |= (r & 0xffff) << n;
    }
    return result;
}

static int64_t signed_of(uint64_t v, uint32_t bytes) {
    return bytes == 4 ? (int32_t)v : (int64_t)v;
}

static uint64_t combined(const AmdAccess *a, uint64_t old, uint64_t v, uint64_t compare) {
    int64_t so = signed_of(old, a->bytes), sv = signed_of(v, a->bytes);
    switch ((AmdAtom)a->atom) {
    case AMD_ATOM_ADD: return old + v;
    case AMD_ATOM_SUB: return old - v;
    case AMD_ATOM_RSUB: return v - old;
    case AMD_ATOM_SMIN: return sv < so ? v : old;
    case AMD_ATOM_SMAX: return sv > so ? v : old;
    case AMD_ATOM_UMIN: return v < old ? v : old;
    case AMD_ATOM_UMAX: return v > old ? v : old;
    case AMD_ATOM_AND: return old & v;
    case AMD_ATOM_OR: return old | v;
    case AMD_ATOM_XOR: return old ^ v;
    case AMD_ATOM_INC: return old >= v ? 0 : old + 1;
    case AMD_ATOM_DEC: return !old || old > v ? v : old - 1;
    case AMD_ATOM_SWAP: return v;
    case AMD_ATOM_CMPSWAP: return old == compare ? v : old;
    case AMD_ATOM_ADD_F32:
    case AMD_ATOM_ADD_F64:
    case AMD_ATOM_MIN_F:
    case AMD_ATOM_MAX_F: return float_of((AmdAtom)a->atom, a->bytes, old, v);
    case AMD_ATOM_ADD_F16X2: return pair_of(false, old, v);
    case AMD_ATOM_ADD_BF16X2: return pair_of(true, old, v);
    }
    return old;
}

static uint64_t value_at(const AmdWave *w, const AmdOperand *o, uint32_t from, uint32_t words,
                         uint32_t l, bool poison) {
    uint64_t v = 0;
    for (uint32_t n = 0; n < words; n++)
        v |= (uint64_t)(poison ? amd_word_poison(w, o, from + n, l) : amd_word(w, o, from + n, l))
             << (32 * n);
    return v;
}

// The new value and the compare value. In LDS on gfx11 and later they are in the opposite order.
typedef struct AtomicOperands {
    uint64_t value, compare, poison;
} AtomicOperands;

static AtomicOperands operands_of(const AmdWave *w, const AmdAccess *a, uint32_t l) {
    uint32_t words = a->words;
    AtomicOperands o = {.value = value_at(w, &a->data, 0, words, l, false),
                        .poison = value_at(w, &a->data, 0, words, l, true)};
    if (a->atom != AMD_ATOM_CMPSWAP) return o;
    if (a->unit != AMD_DS) {
        o.compare = value_at(w, &a->data, words, words, l, false);
        o.poison |= value_at(w, &a->data, words, words, l, true);
        return o;
    }
    o.compare = value_at(w, &a->more, 0, words, l, false);
    o.poison |= value_at(w, &a->more, 0, words, l, true);
    if (w->kernel->generation < 11) {
        uint64_t swap = o.value;
        o.value = o.compare, o.compare = swap;
    }
    return o;
}

static void run_lane(AmdWave *w, const AmdAccess *a, const AmdTouch *t, uint32_t l, AmdPending *p,
                     uint64_t *bad) {
    uint64_t old = 0, clean;
    memcpy(&old, t->host[l], a->bytes);
    AtomicOperands o = operands_of(w, a, l);
    bool was = t->poison[l] && sim_poison_any_few(t->poison[l], t->poison_at[l], a->bytes);
    if (o.poison && t->lane_space[l] == SIM_SPACE_GLOBAL) *bad |= UINT64_C(1) << l;
    clean = combined(a, old, o.value, o.compare);
    memcpy(t->host[l], &clean, a->bytes);
    bool poison = o.poison || (was && a->atom != AMD_ATOM_SWAP);
    if (t->poison[l]) sim_poison_set_few(t->poison[l], t->poison_at[l], a->bytes, poison);
    for (uint32_t n = 0; n < p->words; n++) {
        p->data[(size_t)n * AMD_LANES + l] = (uint32_t)(old >> (32 * n));
        p->data[(size_t)(p->words + n) * AMD_LANES + l] = was ? UINT32_MAX : 0;
    }
}

void amd_run_atomic(AmdWave *w, const AmdInstr *i) {
    const AmdAccess *a = i->detail;
    AmdLanesTouched lanes;
    AmdTouch t;
    uint64_t bad = 0;
    if (!amd_addresses(w, i, a, 0, &lanes)) return;
    AmdClass class = a->unit == AMD_DS          ? AMD_CLASS_LDS
                     : a->unit == AMD_FLAT_UNIT ? AMD_CLASS_FLAT
                     : a->returns               ? AMD_CLASS_VECTOR
                                                : AMD_CLASS_STORE;
    AmdPending *p = amd_pending_new(w, i, class, a->returns ? a->words : 0);
    if (!amd_touch_lanes(w, i, a, &lanes, SIM_ACCESS_ATOMIC, NULL, &t)) return;
    p->kind = AMD_VECTOR, p->number = a->result.number, p->mask = lanes.mask;
    if (p->words) memset(p->data, 0, (size_t)p->words * AMD_LANES * 2 * sizeof *p->data);
    for (uint64_t left = t.mask; left; left &= left - 1)
        run_lane(w, a, &t, (uint32_t)__builtin_ctzll(left), p, &bad);
    if (p->words) {
        p->mask = amd_exec(w);  // outside the buffer: 0
        amd_pending_issue(w, p);
    }
    if (bad) amd_report_poison(w, i, SIM_POISON_STORE, bad);
}

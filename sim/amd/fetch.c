// Reads operands into lanes and writes results back: modifiers, halves, DPP, SDWA, and their
// poison.
#include "sim/amd/wave.h"
#include "sim/machine/number/number.h"

typedef struct Source {
    const AmdWave *wave;
    const AmdInstr *instr;
    const AmdOperand *operand;
    uint32_t number;
    bool poison;  // read the shadows; else the registers
} Source;

// ---- Scalars ----

static uint32_t scalar_word(const AmdWave *w, uint32_t number, bool poison) {
    if (number == AMD_NULL) return 0;
    if (number == AMD_SCC) return poison ? w->scc_poison ? UINT32_MAX : 0 : w->scc;
    if (number == AMD_EXECZ) return poison ? 0 : amd_exec(w) == 0;
    if (number == AMD_VCCZ) {
        bool wide = w->lanes == 64;
        const uint32_t *from = poison ? w->scalar_shadows : w->scalars;
        uint32_t any = from[AMD_VCC] | (wide ? from[AMD_VCC + 1] : 0);
        return poison ? any ? UINT32_MAX : 0 : any == 0;
    }
    return poison ? w->scalar_shadows[number] : w->scalars[number];
}

static uint64_t scalar_of(const AmdWave *w, const AmdOperand *o, uint32_t words, bool poison) {
    if (o->kind == AMD_CONSTANT) return poison ? 0 : o->value;
    if (o->kind != AMD_SCALAR) return 0;
    uint64_t value = scalar_word(w, o->number, poison);
    if (words == 2 && o->number != AMD_NULL)
        value |= (uint64_t)scalar_word(w, o->number + 1u, poison) << 32;
    return value;
}
uint64_t amd_scalar(const AmdWave *w, const AmdOperand *o, uint32_t words) {
    return scalar_of(w, o, words, false);
}
uint64_t amd_scalar_poison(const AmdWave *w, const AmdOperand *o, uint32_t words) {
    return scalar_of(w, o, words, true);
}

void amd_scalar_put(AmdWave *w, const AmdInstr *i, const AmdOperand *o, uint32_t words,
                    uint64_t value, uint64_t poison) {
    if (o->number == AMD_NULL || o->kind != AMD_SCALAR) return;
    bool exec = o->number == AMD_EXEC || o->number == AMD_EXEC + 1;
    if (exec && poison & (w->lanes == 32 ? UINT32_MAX : UINT64_MAX)) {
        amd_report_poison(w, i, SIM_POISON_BRANCH, poison);
        poison = 0;
    }
    for (uint32_t n = 0; n < words; n++) {
        w->scalars[o->number + n] = (uint32_t)(value >> (32 * n));
        w->scalar_shadows[o->number + n] = (uint32_t)(poison >> (32 * n));
    }
}

// ---- Words of registers ----

static uint32_t word_of(const AmdWave *w, const AmdOperand *o, uint32_t n, uint32_t l,
                        bool poison) {
    if (o->kind == AMD_VECTOR)
        return (poison ? amd_shadow(w, o->number + n) : amd_vector(w, o->number + n))[l];
    if (o->kind == AMD_CONSTANT) return poison ? 0 : n < 2 ? (uint32_t)(o->value >> (32 * n)) : 0;
    return o->kind == AMD_SCALAR ? scalar_word(w, o->number + n, poison) : 0;
}
uint32_t amd_word(const AmdWave *w, const AmdOperand *o, uint32_t n, uint32_t l) {
    return word_of(w, o, n, l, false);
}
uint32_t amd_word_poison(const AmdWave *w, const AmdOperand *o, uint32_t n, uint32_t l) {
    return word_of(w, o, n, l, true);
}

void amd_put_word(AmdWave *w, const AmdOperand *o, uint32_t n, uint64_t mask,
                  const uint32_t *values, const uint32_t *poison) {
    uint32_t *to = amd_vector(w, o->number + n), *shadow = amd_shadow(w, o->number + n), any = 0;
    bool all = mask == amd_wave_mask(w);
    for (uint32_t l = 0; l < w->lanes; l++) {
        if (!all && !(mask >> l & 1)) continue;
        to[l] = values[l];
    }
    if (!poison && !w->dirty[o->number + n]) return;
    for (uint32_t l = 0; l < w->lanes; l++) {
        if (mask >> l & 1) shadow[l] = poison ? poison[l] : 0;
        any |= shadow[l];
    }
    w->dirty[o->number + n] = any != 0;
}

// ---- DPP ----

static uint32_t row_lane(const AmdDpp *p, uint32_t l) {
    uint32_t row = l & ~15u, n = l & 15, amount = p->amount & 15;
    switch (p->move) {
    case AMD_ROW_SHL: return n + amount < 16 ? row + n + amount : AMD_LANES;
    case AMD_ROW_SHR: return n >= amount ? row + n - amount : AMD_LANES;
    case AMD_ROW_ROR: return row + ((n - amount) & 15);
    case AMD_ROW_MIRROR: return row + 15 - n;
    case AMD_ROW_HALF_MIRROR: return row + (n & 8) + 7 - (n & 7);
    case AMD_ROW_SHARE: return row + amount;
    case AMD_ROW_XMASK: return row + (n ^ amount);
    case AMD_QUAD_PERM: return (l & ~3u) + (p->amount >> (2 * (l & 3)) & 3);
    case AMD_DPP8: return (l & ~7u) + (p->amount >> (3 * (l & 7)) & 7);
    case AMD_MOVE_NONE:
    case AMD_WAVE_SHL:
    case AMD_WAVE_SHR:
    case AMD_WAVE_ROL:
    case AMD_WAVE_ROR:
    case AMD_ROW_BCAST: break;
    }
    return l;
}

// The lane that lane l reads from, or AMD_LANES: none.
static uint32_t source_lane(const AmdDpp *p, uint32_t lanes, uint32_t l) {
    switch (p->move) {
    case AMD_WAVE_SHL: return l + 1 < lanes ? l + 1 : AMD_LANES;
    case AMD_WAVE_SHR: return l ? l - 1 : AMD_LANES;
    case AMD_WAVE_ROL: return (l + 1) % lanes;
    case AMD_WAVE_ROR: return (l + lanes - 1) % lanes;
    case AMD_ROW_BCAST:
        if (p->amount == 15) return l >= 16 ? (l & ~15u) - 1 : AMD_LANES;
        return l >= 32 ? 31 : AMD_LANES;
    case AMD_MOVE_NONE:
    case AMD_QUAD_PERM:
    case AMD_ROW_SHL:
    case AMD_ROW_SHR:
    case AMD_ROW_ROR:
    case AMD_ROW_MIRROR:
    case AMD_ROW_HALF_MIRROR:
    case AMD_ROW_SHARE:
    case AMD_ROW_XMASK:
    case AMD_DPP8: return row_lane(p, l);
    }
    return l;
}

static bool readable(const AmdWave *w, const AmdDpp *p, uint32_t from) {
    return from < AMD_LANES && (p->fetch_inactive || amd_exec(w) >> from & 1);
}

uint64_t amd_dpp_mask(const AmdWave *w, const AmdInstr *i, uint64_t exec) {
    const AmdDpp *p = &i->dpp;
    if (!p->move) return exec;
    uint64_t mask = 0;
    for (uint32_t l = 0; l < w->lanes; l++) {
        bool chosen =
            p->move == AMD_DPP8 || ((p->rows >> (l / 16) & 1) && (p->banks >> ((l & 15) / 4) & 1));
        if (chosen && (p->zeros || readable(w, p, source_lane(p, w->lanes, l))))
            mask |= UINT64_C(1) << l;
    }
    return mask & exec;
}

static void move_lanes(const Source *s, const uint32_t *from, LaneU32 *to) {
    const AmdDpp *p = &s->instr->dpp;
    for (uint32_t l = 0; l < s->wave->lanes; l++) {
        uint32_t lane = source_lane(p, s->wave->lanes, l);
        to[l] = readable(s->wave, p, lane) ? from[lane] : 0;
    }
}

// ---- Modifiers, on lanes in place ----

#define EACH(s, ...) \
    SIM_IVDEP for (uint32_t l = 0; l < (s)->wave->lanes; l++) { __VA_ARGS__ }

static void select_part(const Source *s, LaneU32 *x, uint32_t select) {
    bool sign = s->operand->extended;
    if (select == AMD_DWORD) return;
    uint32_t bits = select <= AMD_BYTE_3 ? 8 : 16;
    uint32_t shift = select <= AMD_BYTE_3 ? 8 * select : 16 * (select - AMD_WORD_0);
    uint32_t up = 32 - bits;
    EACH(s, uint32_t v = x[l] >> shift << up; x[l] = sign ? (uint32_t)((int32_t)v >> up) : v >> up;)
}

static bool flushes(const AmdWave *w, bool f32) { return !(w->mode >> (f32 ? 4 : 6) & 1); }

static void signs32(const Source *s, LaneU32 *x, uint32_t sign) {
    uint32_t keep = s->operand->absolute ? ~sign : UINT32_MAX;
    uint32_t flip = s->operand->negated ? sign : 0;
    EACH(s, x[l] = (x[l] & keep) ^ flip;)
}
static void signs64(const Source *s, LaneU64 *x) {
    const uint64_t sign = UINT64_C(1) << 63;
    uint64_t keep = s->operand->absolute ? ~sign : UINT64_MAX;
    uint64_t flip = s->operand->negated ? sign : 0;
    EACH(s, x[l] = (x[l] & keep) ^ flip;)
}

static inline uint32_t flushed16(uint32_t h) { return h & 0x7c00 ? h : h & 0x8000; }

// Modifiers that apply to values only, not to poison.
static void finish_value(const Source *s, void *slots) {
    LaneU32 *x = slots;
    uint32_t type = s->operand->type;
    bool signs = s->operand->negated || s->operand->absolute;
    if (signs && (type == AMD_F32 || type == AMD_B32 || type == AMD_MIX)) signs32(s, x, 0x80000000);
    if (signs && (type == AMD_F16 || type == AMD_B16 || type == AMD_BF16)) signs32(s, x, 0x8000);
    if (signs && (type == AMD_F64 || type == AMD_B64)) signs64(s, slots);
    if (type == AMD_F32 && flushes(s->wave, true))
        EACH(s, x[l] = x[l] & 0x7f800000 ? x[l] : x[l] & 0x80000000;)
    if (type == AMD_F16 && flushes(s->wave, false)) EACH(s, x[l] = flushed16(x[l]);)
}

// Packed halves: selects which of the two each half is, and its sign.
static void pack(const Source *s, LaneU32 *x) {
    const AmdInstr *i = s->instr;
    uint32_t low = i->op_sel >> s->number & 1 ? 16 : 0;
    uint32_t high = i->op_sel_hi >> s->number & 1 ? 16 : 0;
    uint32_t flip = s->poison ? 0
                              : (i->neg_lo >> s->number & 1 ? 0x8000u : 0) |
                                    (i->neg_hi >> s->number & 1 ? 0x80000000u : 0);
    if (s->operand->type == AMD_B16X2) flip = 0;
    if (!low && high && !flip) return;
    EACH(s, x[l] = ((x[l] >> low & 0xffff) | (x[l] >> high & 0xffff) << 16) ^ flip;)
}

static void pack_wide(const Source *s, LaneU64 *x) {
    const AmdInstr *i = s->instr;
    uint32_t low = i->op_sel >> s->number & 1 ? 32 : 0;
    uint32_t high = i->op_sel_hi >> s->number & 1 ? 32 : 0;
    uint64_t flip = s->poison ? 0
                              : (i->neg_lo >> s->number & 1 ? UINT64_C(1) << 31 : 0) |
                                    (i->neg_hi >> s->number & 1 ? UINT64_C(1) << 63 : 0);
    EACH(s, x[l] = ((x[l] >> low & UINT32_MAX) | x[l] >> high << 32) ^ flip;)
}

static bool takes_high(const Source *s) {
    if (s->operand->half) return s->operand->high;
    return s->instr->op_sel >> s->number & 1;
}

static void shape(const Source *s, void *slots) {
    LaneU32 *x = slots;
    switch ((AmdType)s->operand->type) {
    case AMD_F16:
    case AMD_B16:
    case AMD_BF16: {
        if (s->operand->kind == AMD_CONSTANT) {
            EACH(s, x[l] &= 0xffff;)
            return;
        }
        uint32_t shift = takes_high(s) ? 16 : 0;
        EACH(s, x[l] = x[l] >> shift & 0xffff;)
        return;
    }
    case AMD_F16X2:
    case AMD_B16X2:
    case AMD_BF16X2: pack(s, x); return;
    case AMD_F32X2: pack_wide(s, slots); return;
    case AMD_MIX:
        if (s->instr->op_sel_hi >> s->number & 1) {
            uint32_t shift = takes_high(s) ? 16 : 0;
            if (s->poison)
                EACH(s, x[l] = x[l] >> shift & 0xffff ? UINT32_MAX : 0;)
            else
                EACH(s, x[l] = sim_bits_f32(sim_f16_value(x[l] >> shift & 0xffff));)
        }
        return;
    case AMD_B32:
    case AMD_F32:
    case AMD_B64:
    case AMD_F64:
    case AMD_MASK:
    case AMD_SIGNED16:
    case AMD_UNSIGNED16:
    case AMD_WORDS: return;
    }
}

// ---- A source ----

static bool is_plain(const Source *s) {
    const AmdOperand *o = s->operand;
    uint32_t type = o->type;
    if (o->kind != AMD_VECTOR || o->negated || o->absolute || s->instr->sdwa.present) return false;
    if (s->instr->dpp.move && s->number == 0) return false;
    if (type == AMD_B32) return true;
    return type == AMD_F32 && !flushes(s->wave, true);
}

static void load_mask(const Source *s, LaneU32 *to) {
    uint64_t bits = scalar_of(s->wave, s->operand, s->wave->lanes / 32, s->poison);
    EACH(s, to[l] = bits >> l & 1 ? s->poison ? UINT32_MAX : 1 : 0;)
}

static void load_wide(const Source *s, LaneU64 *to) {
    const AmdOperand *o = s->operand;
    if (o->kind != AMD_VECTOR) {
        uint64_t value = scalar_of(s->wave, o, 2, s->poison);
        EACH(s, to[l] = value;)
        return;
    }
    const uint32_t *base = s->poison ? s->wave->shadows : s->wave->vectors;
    const uint32_t *low = base + (size_t)o->number * AMD_LANES, *high = low + AMD_LANES;
    EACH(s, to[l] = low[l] | (uint64_t)high[l] << 32;)
}

static void load_narrow(const Source *s, LaneU32 *to) {
    const AmdOperand *o = s->operand;
    if (o->kind != AMD_VECTOR) {
        uint32_t value = (uint32_t)scalar_of(s->wave, o, 1, s->poison);
        EACH(s, to[l] = value;)
        return;
    }
    const uint32_t *from =
        (s->poison ? s->wave->shadows : s->wave->vectors) + (size_t)o->number * AMD_LANES;
    if (s->instr->dpp.move && s->number == 0)
        move_lanes(s, from, to);
    else
        EACH(s, to[l] = from[l];)
}

static void fetch(const Source *s, AmdBuffer *to) {
    if (s->operand->type == AMD_MASK) {
        load_mask(s, (LaneU32 *)(void *)to->slots);
        return;
    }
    if (amd_slot(s->operand->type) == 8)
        load_wide(s, to->slots);
    else
        load_narrow(s, (LaneU32 *)(void *)to->slots);
    if (s->instr->sdwa.present && s->number < 2)
        select_part(s, (LaneU32 *)(void *)to->slots, s->instr->sdwa.operands[s->number]);
    shape(s, to->slots);
}

const void *amd_fetch(const AmdWave *w, const AmdInstr *i, uint32_t source, AmdBuffer *buffer) {
    Source s = {w, i, &i->s[source], source, false};
    if (is_plain(&s)) return amd_vector(w, s.operand->number);
    fetch(&s, buffer);
    finish_value(&s, buffer->slots);
    return buffer->slots;
}

static bool may_be_poison(const AmdWave *w, const AmdOperand *o) {
    uint32_t words = o->type == AMD_MASK ? w->lanes / 32 : amd_slot(o->type) / 4, any = 0;
    for (uint32_t n = 0; n < words; n++)
        any |= o->kind == AMD_VECTOR   ? w->dirty[o->number + n]
               : o->kind == AMD_SCALAR ? scalar_word(w, o->number + n, true)
                                       : 0;
    return any != 0;
}

bool amd_fetch_poison(const AmdWave *w, const AmdInstr *i, uint32_t source, uint64_t mask,
                      AmdBuffer *buffer) {
    Source s = {w, i, &i->s[source], source, true};
    if (!may_be_poison(w, s.operand)) return false;
    fetch(&s, buffer);
    uint64_t any = 0;
    if (amd_slot(s.operand->type) == 8) {
        const LaneU64 *x = buffer->slots;
        EACH(&s, any |= mask >> l & 1 ? x[l] : 0;)
    } else {
        const LaneU32 *x = (const LaneU32 *)(const void *)buffer->slots;
        EACH(&s, any |= mask >> l & 1 ? x[l] : 0;)
    }
    return any != 0;
}

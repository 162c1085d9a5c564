// Instructions of lane functions: fetch the sources, call the function, store its results with
// their modifiers.
#include "sim/amd/wave.h"
#include "sim/machine/number/number.h"

typedef struct LaneResult {
    AmdBuffer first, second, poison, sources[4], poisons[4];
    const AmdBuffer *asked[4];
    bool poisoned, second_poisoned;
    uint64_t mask;
} LaneResult;

static void compute(AmdWave *w, const AmdInstr *i, LaneResult *r) {
    const void *from[4] = {0};
    r->mask = amd_dpp_mask(w, i, amd_exec(w));
    r->poisoned = false;
    for (uint32_t n = 0; n < i->operands; n++) {
        from[n] = amd_fetch(w, i, n, &r->sources[n]);
        bool any = amd_fetch_poison(w, i, n, r->mask, &r->poisons[n]);
        r->asked[n] = any ? &r->poisons[n] : NULL;
        r->poisoned |= any;
    }
    AmdLanes x = {w->lanes, r->first.slots, r->second.slots, from[0], from[1], from[2], from[3], w,
                  i};
    i->row->lanes(&x);
    if (r->poisoned) amd_poison_lanes(i, &x, r->mask, r->asked, &r->poison);
}

static void put_mask(AmdWave *w, const AmdInstr *i, const AmdOperand *o, uint64_t lanes,
                     const void *values, const AmdBuffer *poison) {
    const LaneU32 *x = values, *p = poison ? (const LaneU32 *)(const void *)poison->slots : NULL;
    uint64_t bits = 0, shadow = 0;
    for (uint32_t l = 0; l < w->lanes; l++) {
        bits |= (uint64_t)(x[l] & 1) << l;
        if (p) shadow |= (uint64_t)(p[l] != 0) << l;
    }
    amd_scalar_put(w, i, o, w->lanes / 32, bits & lanes, shadow & lanes);
}

static void commit(AmdWave *w, const AmdInstr *i, LaneResult *r) {
    const void *poison = r->poisoned ? r->poison.slots : NULL;
    if (i->d[0].type == AMD_MASK)
        put_mask(w, i, &i->d[0], r->mask, r->first.slots, r->poisoned ? &r->poison : NULL);
    else
        amd_store(w, i, 0, r->mask, r->first.slots, poison);
    if (i->results < 2) return;
    // A carry is poison if any operand bit is.
    AmdBuffer any;
    LaneU32 *to = (LaneU32 *)(void *)any.slots;
    bool wide = amd_slot(i->d[0].type) == 8;
    for (uint32_t l = 0; r->poisoned && l < w->lanes; l++)
        to[l] = wide ? r->poison.slots[l] != 0
                     : ((const LaneU32 *)(const void *)r->poison.slots)[l] != 0;
    put_mask(w, i, &i->d[1], r->mask, r->second.slots, r->poisoned ? &any : NULL);
}

void amd_run_lanes(AmdWave *w, const AmdInstr *i) {
    LaneResult r;
    compute(w, i, &r);
    commit(w, i, &r);
}

// Both halves of the pair read before either writes.
void amd_run_pair(AmdWave *w, const AmdInstr *i) {
    LaneResult first, second;
    compute(w, i, &first);
    compute(w, i->other, &second);
    commit(w, i, &first);
    commit(w, i->other, &second);
}

// ---- Results ----

static float scaled(float x, uint32_t omod) {
    return omod == 1 ? x * 2 : omod == 2 ? x * 4 : omod == 3 ? x / 2 : x;
}

static inline float clamped(const AmdWave *w, float x) {
    if (x != x) return w->dx10_clamp ? 0 : x;
    return x > 0 ? x < 1 ? x : 1.0f : 0.0f;
}

static uint32_t finish_f16(const AmdWave *w, const AmdInstr *i, uint32_t h) {
    if (!i->omod && !i->clamp) return h;
    float x = scaled(sim_f16_value(h), i->omod);
    if (i->clamp) x = clamped(w, x);
    return sim_f16_round(x);
}

static void finish_f32(const AmdWave *w, const AmdInstr *i, LaneU32 *x) {
    bool flush = !(w->mode >> 4 & 2);
    if (!flush && !i->omod && !i->clamp) return;
    for (uint32_t l = 0; l < w->lanes; l++) {
        float v = sim_f32_bits(x[l]);
        if (flush) v = sim_flush(v);
        if (i->omod) v = scaled(v, i->omod);
        if (i->clamp) v = clamped(w, v);
        x[l] = sim_bits_f32(v);
    }
}

static void finish_f64(const AmdWave *w, const AmdInstr *i, LaneU64 *x) {
    if (!i->omod && !i->clamp) return;
    for (uint32_t l = 0; l < w->lanes; l++) {
        double v = sim_f64_bits(x[l]);
        if (i->omod) v *= i->omod == 1 ? 2 : i->omod == 2 ? 4 : 0.5;
        if (i->clamp) v = v != v ? w->dx10_clamp ? 0 : v : v > 0 ? v < 1 ? v : 1 : 0;
        x[l] = sim_bits_f64(v);
    }
}

static void finish(const AmdWave *w, const AmdInstr *i, uint32_t type, void *slots) {
    LaneU32 *x = slots;
    if (type == AMD_F32) finish_f32(w, i, x);
    if (type == AMD_F64) finish_f64(w, i, slots);
    if (type == AMD_F16 && (i->omod || i->clamp || !(w->mode >> 6 & 2)))
        for (uint32_t l = 0; l < w->lanes; l++) {
            x[l] = finish_f16(w, i, x[l]);
            if (!(w->mode >> 6 & 2)) x[l] = x[l] & 0x7c00 ? x[l] : x[l] & 0x8000;
        }
    if (type == AMD_F16X2 && i->clamp)
        for (uint32_t l = 0; l < w->lanes; l++)
            x[l] = finish_f16(w, i, x[l] & 0xffff) | finish_f16(w, i, x[l] >> 16) << 16;
    if (type == AMD_F32X2 && i->clamp) {
        LaneU64 *pairs = slots;
        for (uint32_t l = 0; l < w->lanes; l++) {
            uint64_t low = sim_bits_f32(clamped(w, sim_f32_bits((uint32_t)pairs[l])));
            uint64_t high = sim_bits_f32(clamped(w, sim_f32_bits((uint32_t)(pairs[l] >> 32))));
            pairs[l] = low | high << 32;
        }
    }
}

// Puts a half into the right half of the register, and keeps or clears the other one.
static void place_half(const AmdWave *w, const AmdInstr *i, const AmdOperand *o,
                       const LaneU32 *from, const uint32_t *old, LaneU32 *to) {
    bool select = i->op_sel >> i->operands & 1;
    bool high = o->half ? o->high : select;
    bool mix = i->operands && i->s[0].type == AMD_MIX;
    if (mix) high = i->row->name[9] == 'h';  // v_fma_mixhi_f16
    bool keeps = w->kernel->generation >= 10 || high || mix;
    for (uint32_t l = 0; l < w->lanes; l++)
        to[l] = high ? (old[l] & 0xffff) | from[l] << 16
                     : (keeps ? old[l] & 0xffff0000 : 0) | (from[l] & 0xffff);
}

static void place_part(const AmdWave *w, const AmdInstr *i, const LaneU32 *from,
                       const uint32_t *old, LaneU32 *to) {
    const AmdSdwa *s = &i->sdwa;
    bool byte = s->result <= AMD_BYTE_3;
    uint32_t shift = byte ? 8 * s->result : 16u * (uint32_t)(s->result - AMD_WORD_0);
    uint32_t width = byte ? 8 : 16, field = (1u << width) - 1;
    for (uint32_t l = 0; l < w->lanes; l++) {
        uint32_t part = (from[l] & field) << shift, others = ~(field << shift);
        bool sign = s->unused == AMD_UNUSED_SEXT && part >> (shift + width - 1) & 1;
        uint32_t above = sign && shift + width < 32 ? UINT32_MAX << (shift + width) : 0;
        to[l] = part | (s->unused == AMD_UNUSED_PRESERVE ? old[l] & others : above);
    }
}

static bool is_half(uint32_t type) {
    return type == AMD_F16 || type == AMD_B16 || type == AMD_BF16;
}

// The words to store in a one-word register, in place of those of the result's type.
static const uint32_t *placed(const AmdWave *w, const AmdInstr *i, const AmdOperand *o,
                              const void *from, const uint32_t *old, AmdBuffer *to) {
    LaneU32 *words = (LaneU32 *)(void *)to->slots;
    if (i->sdwa.present && i->sdwa.result != AMD_DWORD)
        place_part(w, i, from, old, words);
    else if (is_half(o->type))
        place_half(w, i, o, from, old, words);
    else
        return from;
    return (const uint32_t *)(const void *)to->slots;
}

static void store_wide(AmdWave *w, const AmdOperand *o, uint64_t mask, const LaneU64 *values,
                       const LaneU64 *poison) {
    uint32_t words[AMD_LANES], shadows[AMD_LANES];
    for (uint32_t n = 0; n < 2; n++) {
        for (uint32_t l = 0; l < w->lanes; l++) {
            words[l] = (uint32_t)(values[l] >> (32 * n));
            shadows[l] = poison ? (uint32_t)(poison[l] >> (32 * n)) : 0;
        }
        amd_put_word(w, o, n, mask, words, poison ? shadows : NULL);
    }
}

void amd_store(AmdWave *w, const AmdInstr *i, uint32_t result, uint64_t mask, const void *values,
               const void *poison) {
    const AmdOperand *o = &i->d[result];
    AmdBuffer finished, place, shadow;
    uint32_t slot = amd_slot(o->type);
    memcpy(finished.slots, values, (size_t)w->lanes * slot);
    finish(w, i, o->type, finished.slots);
    if (slot == 8) {
        store_wide(w, o, mask, finished.slots, poison);
        return;
    }
    const uint32_t *words = placed(w, i, o, finished.slots, amd_vector(w, o->number), &place);
    bool keeps = words == (const uint32_t *)(const void *)place.slots;
    if (!poison && keeps && w->dirty[o->number]) {  // the half that stays may be poison
        static const AmdBuffer clean;
        poison = clean.slots;
    }
    const uint32_t *shadows =
        poison ? placed(w, i, o, poison, amd_shadow(w, o->number), &shadow) : NULL;
    amd_put_word(w, o, 0, mask, words, shadows);
}

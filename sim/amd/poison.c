// How poison propagates through instructions: bit by bit where result bits come from single operand
// bits.
#include "sim/amd/wave.h"

enum { SOURCES = 4 };

static uint64_t spread_up(uint64_t bits) { return bits ? 0 - (bits & (0 - bits)) : 0; }

static uint64_t halves(uint64_t bits, uint32_t width) {
    uint64_t low = (UINT64_C(1) << width) - 1;
    return (bits & low ? low : 0) | (bits >> width & low ? low << width : 0);
}

// Rules that need only the operands' poison.
static uint64_t by_rule(uint32_t rule, uint64_t any, uint32_t slot) {
    switch (rule) {
    case AMD_UP:
    case AMD_COUNT: return spread_up(any);
    case AMD_HALVES: return halves(any, slot * 4);
    default: return any ? UINT64_MAX : 0;
    }
}

static uint64_t slot_at(const void *slots, uint32_t slot, uint32_t l) {
    const LaneU64 *wide = slots;
    const LaneU32 *narrow = slots;
    return slot == 8 ? wide[l] : narrow[l];
}
static void slot_put(void *slots, uint32_t slot, uint32_t l, uint64_t value) {
    LaneU64 *wide = slots;
    LaneU32 *narrow = slots;
    if (slot == 8)
        wide[l] = value;
    else
        narrow[l] = (uint32_t)value;
}

static uint32_t slot_of(const AmdInstr *i, uint32_t source) { return amd_slot(i->s[source].type); }

// Finds the result bits that differ between filling the poisoned bits with 0 and with 1.
static void try_lanes(const AmdInstr *i, const AmdLanes *x, const AmdBuffer *const *poison,
                      uint32_t data, AmdBuffer *result) {
    const void *given[SOURCES] = {x->a, x->b, x->c, x->c2};
    AmdBuffer trial[SOURCES], out, other;
    uint32_t slot = amd_slot(i->d[0].type);
    memset(result->slots, 0, sizeof result->slots);
    for (uint32_t choice = 0; choice < 1u << SOURCES; choice++) {
        const void *from[SOURCES];
        bool needed = true;
        for (uint32_t n = 0; n < SOURCES; n++) {
            from[n] = given[n];
            bool poisoned = n < i->operands && poison[n] && data >> n & 1;
            if (!poisoned) {
                needed &= !(choice >> n & 1);
                continue;
            }
            for (uint32_t l = 0; l < x->count; l++) {
                uint32_t size = slot_of(i, n);
                uint64_t bits = slot_at(poison[n]->slots, size, l);
                uint64_t v = slot_at(given[n], size, l);
                if (i->s[n].type == AMD_MASK) bits &= 1;
                slot_put(trial[n].slots, size, l, choice >> n & 1 ? v | bits : v & ~bits);
            }
            from[n] = trial[n].slots;
        }
        if (!needed) continue;
        AmdLanes y = *x;
        y.d = out.slots, y.e = other.slots;
        y.a = from[0], y.b = from[1], y.c = from[2], y.c2 = from[3];
        i->row->lanes(&y);
        for (uint32_t l = 0; l < x->count; l++) {
            uint64_t differs = slot_at(x->d, slot, l) ^ slot_at(out.slots, slot, l);
            slot_put(result->slots, slot, l, slot_at(result->slots, slot, l) | differs);
        }
    }
}

// The operands that are tried with their poisoned bits 0 and 1: each result bit takes at most one
// bit from them, or (AMD_FIND) the position of their first bit.
static uint32_t bitwise(uint32_t rule) {
    if (rule == AMD_SHIFT) return AMD_BITS_B;
    if (rule == AMD_SHIFT_A || rule == AMD_FIND) return AMD_BITS_A;
    return rule <= AMD_BITS_ABC ? rule : 0;
}

// The bits of an operand that the instruction reads.
static uint64_t seen(const AmdInstr *i, uint32_t source) {
    uint32_t rule = i->row->poison, type = i->d[0].type;
    if (source == (rule == AMD_SHIFT_A) && (rule == AMD_SHIFT || rule == AMD_SHIFT_A))
        return type == AMD_B64 ? 63 : type == AMD_B16 ? 15 : 31;
    bool byte = !source && rule >= AMD_OF_BYTE_0 && rule <= AMD_OF_BYTE_3;
    return byte ? UINT64_C(0xff) << (8 * (rule - AMD_OF_BYTE_0)) : UINT64_MAX;
}

static uint64_t whole_if_found(uint32_t rule, uint64_t differs) {
    return rule == AMD_FIND && differs ? UINT64_MAX : differs;
}

void amd_poison_lanes(const AmdInstr *i, const AmdLanes *x, uint64_t mask,
                      const AmdBuffer *const *poison, AmdBuffer *result) {
    uint32_t rule = i->row->poison, slot = amd_slot(i->d[0].type), data = bitwise(rule);
    if (data)
        try_lanes(i, x, poison, data, result);
    else
        memset(result->slots, 0, sizeof result->slots);
    for (uint32_t l = 0; l < x->count; l++) {
        uint64_t any = 0;
        for (uint32_t n = 0; n < i->operands; n++) {
            if (!poison[n] || data >> n & 1) continue;
            uint64_t bits = slot_at(poison[n]->slots, slot_of(i, n), l) & seen(i, n);
            any |= rule == AMD_COUNT && n == 0 ? bits != 0 : bits;
        }
        uint64_t differs = slot_at(result->slots, slot, l);
        uint64_t bits = whole_if_found(rule, differs) | by_rule(rule, any, slot);
        slot_put(result->slots, slot, l, mask >> l & 1 ? bits : 0);
    }
}

static uint64_t try_scalar(const AmdInstr *i, const AmdScalars *x, const uint64_t *poison,
                           uint32_t data) {
    uint64_t first = 0, differs = 0;
    for (uint32_t choice = 0; choice < 8; choice++) {
        AmdScalars y = *x;
        uint64_t *from[] = {&y.a, &y.b, &y.c};
        for (uint32_t n = 0; n < 3; n++)
            if (data >> n & 1) {
                if (choice >> n & 1)
                    *from[n] |= poison[n];
                else
                    *from[n] &= ~poison[n];
            }
        uint64_t value = i->row->scalar(&y);
        if (!choice) first = value;
        differs |= value ^ first;
    }
    return differs;
}

uint64_t amd_poison_scalar(const AmdInstr *i, const AmdScalars *x, const uint64_t *poison) {
    uint32_t rule = i->row->poison, data = bitwise(rule);
    uint64_t any = 0;
    for (uint32_t n = 0; n < 3; n++)
        if (!(data >> n & 1)) any |= poison[n] & seen(i, n);
    uint64_t bits = by_rule(rule, any, 8);
    return data ? bits | whole_if_found(rule, try_scalar(i, x, poison, data)) : bits;
}

// Loads and stores in flight, and the waits that cover them.
#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "sim/amd/wave.h"

// The counters that count an access. Older generations have fewer: before gfx10 stores count as
// loads, before gfx12 scalar loads count as LDS accesses.
static uint8_t counters_of(const AmdWave *w, AmdClass class) {
    uint32_t generation = w->kernel->generation;
    switch (class) {
    case AMD_CLASS_VECTOR: return 1 << AMD_COUNT_LOAD;
    case AMD_CLASS_STORE: return generation >= 10 ? 1 << AMD_COUNT_STORE : 1 << AMD_COUNT_LOAD;
    case AMD_CLASS_LDS: return 1 << AMD_COUNT_LDS;
    case AMD_CLASS_SCALAR: return generation >= 12 ? 1 << AMD_COUNT_SCALAR : 1 << AMD_COUNT_LDS;
    case AMD_CLASS_FLAT: return 1 << AMD_COUNT_LOAD | 1 << AMD_COUNT_LDS;
    }
    return 0;
}

// If a counter is full, the wave waits until the oldest accesses have completed.
static void make_room(AmdWave *w, AmdClass class) {
    enum { MOST = 63 };
    if (w->pending_count < MOST) return;
    uint8_t counts[AMD_COUNTERS], own = counters_of(w, class);
    for (uint32_t c = 0; c < AMD_COUNTERS; c++) counts[c] = own >> c & 1 ? MOST - 1 : UINT8_MAX;
    amd_land(w, counts);
}

AmdPending *amd_pending_new(AmdWave *w, const AmdInstr *i, AmdClass class, uint32_t words) {
    make_room(w, class);
    if (w->pending_count == w->pending_capacity) {
        uint32_t capacity = w->pending_capacity ? 2 * w->pending_capacity : 16;
        AmdPending *more = realloc(w->pending, capacity * sizeof *more);
        if (!more) os_out_of_memory();
        w->pending = more, w->pending_capacity = capacity;
    }
    AmdPending *p = &w->pending[w->pending_count];
    memset(p, 0, sizeof *p);
    // On gfx9 stores complete in order with loads.
    bool together = class == AMD_CLASS_STORE && w->kernel->generation < 10;
    p->class = together ? AMD_CLASS_VECTOR : (uint8_t) class;
    p->counters = counters_of(w, class);
    p->words = (uint8_t)words, p->instr = i;
    if (words) {
        p->data = malloc((size_t)words * AMD_LANES * 2 * sizeof *p->data);
        if (!p->data) os_out_of_memory();
    }
    w->pending_count++;
    return p;
}

static uint32_t bits_of(const AmdPending *p) {
    return !p->half ? UINT32_MAX : p->high ? 0xffff0000 : 0xffff;
}

// The lanes of a register in which a load fills some of these bits.
static uint64_t fills(const AmdPending *p, uint8_t kind, uint32_t number, uint32_t bits) {
    bool own = p->class != UINT8_MAX && !p->lds && p->kind == kind && number >= p->number &&
               number - p->number < p->words && bits_of(p) & bits;
    return own ? p->mask : 0;
}

static bool in_order(uint32_t class) {
    return class != AMD_CLASS_SCALAR && class != AMD_CLASS_FLAT;
}

// If two loads write the same place and may complete in any order, the value left there is unknown.
static void find_clashes(AmdWave *w, AmdPending *p) {
    for (AmdPending *q = w->pending; q < p; q++)
        for (uint32_t n = 0; n < p->words; n++)
            if (fills(q, p->kind, p->number + n, bits_of(p)) & p->mask)
                if (q->class != p->class || !in_order(p->class)) p->lost = q->lost = true;
}

// Registers that a load will fill are poison until then; scalars use lane 0.
void amd_pending_issue(AmdWave *w, AmdPending *p) {
    AmdOperand o = {.kind = p->kind, .number = p->number};
    if (p->lds) return;
    find_clashes(w, p);
    for (uint32_t n = 0; n < p->words; n++) {
        if (p->kind == AMD_SCALAR) {
            if (p->number != AMD_NULL) w->scalar_shadows[p->number + n] = UINT32_MAX;
            continue;
        }
        uint32_t *shadow = amd_shadow(w, o.number + n);
        uint32_t bits = bits_of(p);
        for (uint32_t l = 0; l < w->lanes; l++)
            if (p->mask >> l & 1) shadow[l] |= bits;
        if (p->mask) w->dirty[o.number + n] = 1;
    }
}

// ---- Landing ----

// The bits of each lane's n-th word that no younger load fills: a younger load overwrites the
// others.
static void last_word(const AmdWave *w, const AmdPending *p, uint32_t n, uint32_t *bits) {
    for (uint32_t l = 0; l < w->lanes; l++) bits[l] = p->mask >> l & 1 ? bits_of(p) : 0;
    for (const AmdPending *q = p + 1; q < w->pending + w->pending_count; q++)
        for (uint64_t left = fills(q, p->kind, p->number + n, bits_of(p)); left; left &= left - 1)
            bits[__builtin_ctzll(left)] &= ~bits_of(q);
}

static void land_scalars(AmdWave *w, const AmdPending *p) {
    for (uint32_t n = 0; n < p->words && p->number != AMD_NULL; n++) {
        uint32_t *shadow = &w->scalar_shadows[p->number + n];
        bool written = *shadow != UINT32_MAX || p->lost;
        uint32_t bits[AMD_LANES];
        last_word(w, p, n, bits);
        if (!bits[0]) continue;
        if (written) amd_report_poison(w, p->instr, SIM_POISON_RESULT, 1);
        w->scalars[p->number + n] = p->data[(size_t)n * AMD_LANES];
        *shadow = written ? UINT32_MAX : p->data[(size_t)(p->words + n) * AMD_LANES];
    }
}

// A register that was written while the load was in flight may hold either value.
static void land_word(AmdWave *w, const AmdPending *p, uint32_t n) {
    AmdOperand o = {.kind = AMD_VECTOR, .number = p->number};
    const uint32_t *data = p->data + (size_t)n * AMD_LANES, *old = amd_vector(w, o.number + n),
                   *poison = p->data + (size_t)(p->words + n) * AMD_LANES,
                   *shadow = amd_shadow(w, o.number + n);
    uint32_t words[AMD_LANES], shadows[AMD_LANES], bits[AMD_LANES], shift = p->high ? 16 : 0;
    uint64_t lost = 0;
    last_word(w, p, n, bits);
    for (uint32_t l = 0; l < w->lanes; l++) {
        bool written = bits[l] && ((shadow[l] & bits[l]) != bits[l] || p->lost);
        lost |= (uint64_t)written << l;
        words[l] = (old[l] & ~bits[l]) | (data[l] << shift & bits[l]);
        shadows[l] = (shadow[l] & ~bits[l]) | (written ? bits[l] : poison[l] << shift & bits[l]);
    }
    if (lost) amd_report_poison(w, p->instr, SIM_POISON_RESULT, lost);
    amd_put_word(w, &o, n, p->mask, words, shadows);
}

static void land_registers(AmdWave *w, const AmdPending *p) {
    for (uint32_t n = 0; n < p->words; n++) land_word(w, p, n);
}

static void land_lds(AmdWave *w, const AmdPending *p) {
    AmdGroup *g = w->group;
    uint64_t address[AMD_LANES] = {0};
    for (uint32_t l = 0; l < w->lanes; l++) address[l] = p->places[l];
    SimAccess a = {.at = amd_place(w, p->instr),
                   .space = SIM_SPACE_SHARED,
                   .kind = SIM_ACCESS_ASYNC_LAND,
                   .mask = p->mask,
                   .lanes = w->lanes,
                   .bytes = p->bytes,
                   .address = address};
    SIM_NOTIFY(w->run, access, &a);
    for (uint32_t l = 0; l < w->lanes; l++) {
        if (!(p->mask >> l & 1)) continue;
        for (uint32_t b = 0; b < p->bytes; b++) {
            size_t word = (size_t)(b / 4) * AMD_LANES + l;
            uint32_t shift = 8 * (b % 4), at = p->places[l] + b;
            g->lds[at] = (uint8_t)(p->data[word] >> shift);
            uint32_t poison = p->data[(size_t)p->words * AMD_LANES + word] >> shift & 255;
            sim_poison_set_few(g->lds_poison, at, 1, poison != 0);
        }
    }
}

static void drop(AmdPending *p) {
    for (AmdLate *late = p->late, *next; late; late = next) {
        next = late->next;
        free(late);
    }
    free(p->data);
    p->late = NULL, p->data = NULL, p->class = UINT8_MAX;
}

static void land(AmdWave *w, AmdPending *p) {
    if (p->lds)
        land_lds(w, p);
    else if (p->words && p->kind == AMD_SCALAR)
        land_scalars(w, p);
    else if (p->words)
        land_registers(w, p);
    drop(p);
}

// ---- Waits ----

static uint32_t under_way(const AmdWave *w, AmdCounter c, uint32_t class) {
    uint32_t count = 0;
    for (uint32_t n = 0; n < w->pending_count; n++)
        count += w->pending[n].class == class && w->pending[n].counters >> c & 1;
    return count;
}

// Lands accesses until at most `left` that this counter counts are in flight. In classes that
// complete in order, the oldest land first. Accesses of the class without an order land only if
// none may be left.
static void land_counter(AmdWave *w, AmdCounter c, uint32_t left) {
    for (uint32_t class = AMD_CLASS_VECTOR; class <= AMD_CLASS_FLAT; class ++) {
        uint32_t count = under_way(w, c, class), come = count > left ? count - left : 0;
        if (!in_order(class) && left) come = 0;
        for (uint32_t n = 0; n < w->pending_count && come; n++) {
            AmdPending *p = &w->pending[n];
            if (p->class != class || !(p->counters >> c & 1)) continue;
            come--;
            p->counters = (uint8_t)(p->counters & ~(1u << c));
            if (!p->counters) land(w, p);
        }
    }
}

static void forget_landed(AmdWave *w) {
    uint32_t kept = 0;
    for (uint32_t n = 0; n < w->pending_count; n++)
        if (w->pending[n].class != UINT8_MAX) w->pending[kept++] = w->pending[n];
    w->pending_count = kept;
}

void amd_land(AmdWave *w, const uint8_t *counts) {
    if (!w->pending_count) return;
    for (uint32_t c = 0; c < AMD_COUNTERS; c++)
        if (counts[c] != UINT8_MAX) land_counter(w, (AmdCounter)c, counts[c]);
    forget_landed(w);
}

void amd_land_all(AmdWave *w) {
    static const uint8_t none[AMD_COUNTERS];
    amd_land(w, none);
}

// ---- Barriers ----

void amd_pending_note_access(AmdWave *w, const SimAccess *access) {
    bool own = access->kind == SIM_ACCESS_LOAD || access->kind == SIM_ACCESS_STORE ||
               access->kind == SIM_ACCESS_ATOMIC;
    if (!own) return;  // accesses to LDS are reported when they land
    AmdPending *p = &w->pending[w->pending_count - 1];
    if (p->class == AMD_CLASS_SCALAR) return;
    size_t data = access->data ? (size_t)w->lanes * 32 : 0;
    AmdLate *late = malloc(sizeof *late + data);
    if (!late) os_out_of_memory();
    late->next = p->late, late->access = *access;
    memcpy(late->address, access->address, w->lanes * sizeof *late->address);
    memcpy(late->there, access->there, w->lanes * sizeof(uint8_t *));
    if (data) memcpy(late->data, access->data, data);
    late->access.address = late->address, late->access.there = late->there;
    late->access.data = data ? late->data : NULL;
    p->late = late;
}

void amd_pending_report_late(const AmdWave *w) {
    for (uint32_t n = 0; n < w->pending_count; n++)
        for (const AmdLate *late = w->pending[n].late; late; late = late->next)
            SIM_NOTIFY(w->run, late, &late->access);
}

void amd_pending_free(AmdWave *w) {
    for (uint32_t n = 0; n < w->pending_count; n++) drop(&w->pending[n]);
    w->pending_count = 0;
}

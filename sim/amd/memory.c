// Loads and stores of vector registers, and scalar loads.
#include <string.h>

#include "sim/amd/memory.h"

enum { RESOURCE_WORDS = 4 };

// ---- Addresses ----

static uint64_t vector_address(const AmdWave *w, const AmdOperand *o, uint32_t l) {
    if (o->kind != AMD_VECTOR) return 0;
    uint64_t low = amd_word(w, o, 0, l);
    return o->words > 1 ? low | (uint64_t)amd_word(w, o, 1, l) << 32 : low;
}

static bool operand_poison(const AmdWave *w, const AmdOperand *o, uint32_t l) {
    uint32_t any = 0;
    if (o->kind == AMD_NOTHING) return false;
    for (uint32_t n = 0; n < o->words; n++) any |= amd_word_poison(w, o, n, l);
    return any != 0;
}

void amd_check_address(AmdWave *w, const AmdInstr *i, const AmdAccess *a, uint64_t mask) {
    uint64_t bad = 0;
    for (uint64_t left = mask; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctzll(left);
        if (operand_poison(w, &a->address, l) || operand_poison(w, &a->base, l) ||
            (a->unit == AMD_BUFFER && operand_poison(w, &a->more, l)))
            bad |= UINT64_C(1) << l;
    }
    if (bad) amd_report_poison(w, i, SIM_POISON_ADDRESS, bad);
}

// A resource for raw buffers: base and records; the other fields must be 0.
typedef struct Resource {
    uint64_t base, records;
    uint32_t stride;
    bool scratch;  // swizzled: each lane has its own part
    bool open;     // not checked, but without records nothing is accessible
} Resource;

// From gfx10 on a resource says which check is made: of offsets (raw buffers), or only whether
// there are any records.
static bool bounds_of(AmdWave *w, const AmdInstr *i, uint32_t word, Resource *r) {
    enum { RECORDS = 2, RAW = 3 };
    uint32_t check = w->kernel->generation < 10 || r->scratch ? RAW : word >> 28 & 3;
    r->open = check == RECORDS;
    if (check == RAW || check == RECORDS) return true;
    amd_fail(w, i, (SimFault){.kind = SIM_FAULT_USE},
             "the bounds of the buffer resource are those of structures: only raw buffers are "
             "simulated");
    return false;
}

static bool resource_of(AmdWave *w, const AmdInstr *i, const AmdOperand *o, Resource *r) {
    uint32_t word[RESOURCE_WORDS];
    for (uint32_t n = 0; n < RESOURCE_WORDS; n++) word[n] = amd_word(w, o, n, 0);
    r->base = word[0] | (uint64_t)(word[1] & 0xffff) << 32;
    r->stride = word[1] >> 16 & 0x3fff;
    r->records = word[2];
    r->scratch = word[1] >> 31;
    bool swizzled = word[1] >> 30 & 1;
    if (!swizzled && !r->stride) return bounds_of(w, i, word[3], r);
    amd_fail(w, i, (SimFault){.kind = SIM_FAULT_USE},
             "the buffer resource has a stride or swizzling: only raw buffers and scratch are "
             "simulated");
    return false;
}

// Finds the words of each lane that are within the buffer; words outside are read as 0 and not
// written. The offset that is common to all lanes is part of the bounds check only on gfx9. In
// scratch, where the words of all lanes are interleaved, that offset is multiplied by the number of
// lanes.
static bool buffer_addresses(AmdWave *w, const AmdInstr *i, const AmdAccess *a,
                             AmdLanesTouched *t) {
    Resource r;
    if (!resource_of(w, i, &a->base, &r)) return false;
    uint64_t shared = (uint32_t)amd_scalar(w, &a->more, 1), inside = 0;
    bool counts = w->kernel->generation < 10;
    for (uint32_t l = 0; l < w->lanes; l++) {
        uint64_t own = (uint64_t)a->offset[0];
        if (a->offen) own += (uint32_t)vector_address(w, &a->address, l);
        t->address[l] = r.base + own + shared;
        if (r.scratch) {
            t->address[l] = (uint32_t)(r.base + own + shared / w->lanes);
            t->words[l] = UINT16_MAX;
            continue;
        }
        uint64_t from = counts ? own + shared : own, word = a->bytes < 4 ? a->bytes : 4;
        for (uint32_t n = 0; n < (a->bytes + 3u) / 4; n++)
            if (r.open ? r.records != 0 : from + 4 * n + word <= r.records)
                t->words[l] |= (uint16_t)(1u << n);
        if (t->words[l]) inside |= UINT64_C(1) << l;
    }
    t->local = r.scratch;
    if (!r.scratch) t->mask &= inside;
    return true;
}

static void plain_addresses(const AmdWave *w, const AmdAccess *a, uint32_t piece,
                            AmdLanesTouched *t) {
    uint64_t base = a->base.kind == AMD_NOTHING ? 0 : amd_scalar(w, &a->base, a->base.words);
    bool narrow = a->unit == AMD_DS || a->unit == AMD_SCRATCH;
    for (uint32_t l = 0; l < w->lanes; l++) {
        uint64_t at = base + vector_address(w, &a->address, l) + (uint64_t)a->offset[piece];
        t->address[l] = narrow ? (uint32_t)at : at;
        t->words[l] = UINT16_MAX;
    }
}

bool amd_addresses(AmdWave *w, const AmdInstr *i, const AmdAccess *a, uint32_t piece,
                   AmdLanesTouched *t) {
    t->mask = amd_exec(w);
    memset(t->words, 0, sizeof t->words);
    t->local = false;
    if (a->unit == AMD_BUFFER) return buffer_addresses(w, i, a, t);
    plain_addresses(w, a, piece, t);
    return true;
}

static SimSpace space_of(const AmdAccess *a) {
    switch ((AmdUnit)a->unit) {
    case AMD_DS: return SIM_SPACE_SHARED;
    case AMD_SCRATCH: return SIM_SPACE_LOCAL;
    case AMD_FLAT_UNIT: return SIM_SPACE_GENERIC;
    case AMD_SMEM:
    case AMD_GLOBAL:
    case AMD_BUFFER: break;
    }
    return SIM_SPACE_GLOBAL;
}

// The bytes of a lane's words that are within its buffer, from the first on; 0: they are not
// contiguous.
static uint32_t bytes_within(const AmdAccess *a, uint32_t words) {
    uint32_t count = (a->bytes + 3u) / 4, all = (1u << count) - 1;
    words &= all;
    if (words == all) return a->bytes;
    return 4 * (uint32_t)__builtin_popcount(words);
}

// Lanes at the edge of a buffer access fewer bytes: one touch for each number of words.
bool amd_touch_lanes(AmdWave *w, const AmdInstr *i, const AmdAccess *a,
                     const AmdLanesTouched *lanes, SimAccessKind kind, const uint8_t *data,
                     AmdTouch *t) {
    *t = (AmdTouch){.space = space_of(a), .kind = kind, .data = data};
    t->order = a->coherence ? SIM_ORDER_RELAXED : SIM_ORDER_WEAK;
    if (a->coherence) t->scope = (SimScope)(a->coherence - 1);
    if (a->unit == AMD_DS) t->scope = SIM_SCOPE_CTA;
    memcpy(t->address, lanes->address, sizeof t->address);
    if (lanes->local) t->space = SIM_SPACE_LOCAL;
    // Loaders configure the hardware so that only atomics and LDS require alignment.
    t->align = kind == SIM_ACCESS_ATOMIC ? a->bytes
               : a->unit != AMD_DS       ? 1
               : a->bytes < 4            ? a->bytes
                                         : 4;
    uint64_t left = lanes->mask, all = 0;
    while (left) {
        uint32_t bytes = bytes_within(a, lanes->words[__builtin_ctzll(left)]);
        uint64_t mask = 0;
        for (uint64_t rest = left; rest; rest &= rest - 1) {
            uint32_t l = (uint32_t)__builtin_ctzll(rest);
            if (bytes_within(a, lanes->words[l]) == bytes) mask |= UINT64_C(1) << l;
        }
        t->mask = mask, t->bytes = bytes;
        if (!amd_touch(w, i, t)) return false;
        left &= ~mask, all |= mask;
    }
    t->mask = all;
    return true;
}

// ---- Bytes of memory and words of registers ----

static uint32_t read_poison(const AmdTouch *t, uint32_t l, uint32_t at, uint32_t bytes) {
    if (!t->poison[l] || !sim_poison_any_few(t->poison[l], t->poison_at[l] + at, bytes)) return 0;
    uint32_t bits = 0;
    for (uint32_t b = 0; b < bytes; b++)
        if (sim_poison_any_few(t->poison[l], t->poison_at[l] + at + b, 1)) bits |= 255u << (8 * b);
    return bits;
}

static uint32_t extended(const AmdAccess *a, uint32_t v) {
    uint32_t up = 32u - 8u * a->bytes;
    return a->bytes < 4 && a->sign ? (uint32_t)((int32_t)(v << up) >> up) : v;
}

// Loads lane l's words, from word `word` of the pending load on.
static void load_lane(const AmdAccess *a, const AmdTouch *t, const AmdLanesTouched *lanes,
                      uint32_t l, uint32_t word, AmdPending *p) {
    for (uint32_t n = 0; n < a->words; n++) {
        uint32_t v = 0, poison = 0, bytes = a->bytes - 4u * n < 4 ? a->bytes - 4u * n : 4;
        if (t->mask >> l & 1 && lanes->words[l] >> n & 1) {
            memcpy(&v, t->host[l] + (size_t)4 * n, bytes);
            poison = extended(a, read_poison(t, l, 4 * n, bytes));
            v = extended(a, v);
        }
        p->data[(size_t)(word + n) * AMD_LANES + l] = v;
        p->data[(size_t)(p->words + word + n) * AMD_LANES + l] = poison;
    }
}

static AmdClass class_of(const AmdAccess *a, bool load) {
    if (a->unit == AMD_DS) return AMD_CLASS_LDS;
    if (a->unit == AMD_FLAT_UNIT) return AMD_CLASS_FLAT;
    return load ? AMD_CLASS_VECTOR : AMD_CLASS_STORE;
}

// ---- Loads that transpose ----

static uint32_t bits_at(const uint32_t *words, uint32_t l, uint32_t at, uint32_t bits) {
    uint32_t value = 0;
    for (uint32_t b = 0; b < bits; b++, at++)
        value |= (words[(size_t)(at / 32) * AMD_LANES + l] >> at % 32 & 1) << b;
    return value;
}

// The data of 16 lanes, one after another, are the rows of a 16-wide matrix; each lane gets a
// column.
static void transpose_words(uint32_t *words, uint32_t count, uint32_t bits) {
    uint32_t from[3 * AMD_LANES], each = 32 * count / bits;
    memcpy(from, words, (size_t)count * AMD_LANES * sizeof *from);
    memset(words, 0, (size_t)count * AMD_LANES * sizeof *words);
    for (uint32_t l = 0; l < AMD_LANES; l++)
        for (uint32_t k = 0; k < each; k++) {
            uint32_t linear = 16 * k + l % 16, lane = l / 16 * 16 + linear / each;
            uint64_t value = bits_at(from, lane, linear % each * bits, bits);
            uint32_t at = k * bits;
            value <<= at % 32;
            words[(size_t)(at / 32) * AMD_LANES + l] |= (uint32_t)value;
            if (value >> 32)
                words[(size_t)(at / 32 + 1) * AMD_LANES + l] |= (uint32_t)(value >> 32);
        }
}

// Inactive lanes contribute no data.
static void transpose(const AmdWave *w, const AmdAccess *a, AmdPending *p) {
    uint32_t *poison = p->data + (size_t)p->words * AMD_LANES;
    for (uint32_t n = 0; n < a->words; n++)
        for (uint32_t l = 0; l < w->lanes; l++)
            if (!(p->mask >> l & 1)) poison[(size_t)n * AMD_LANES + l] = UINT32_MAX;
    transpose_words(p->data, a->words, a->transposed);
    transpose_words(poison, a->words, a->transposed);
}

static void run_load(AmdWave *w, const AmdInstr *i, const AmdAccess *a) {
    AmdLanesTouched lanes;
    AmdTouch t;
    uint32_t pieces = a->pieces;
    AmdPending *p = amd_pending_new(w, i, class_of(a, true), a->words * pieces);
    p->kind = AMD_VECTOR, p->number = a->result.number, p->mask = amd_exec(w);
    p->half = a->half, p->high = a->high;
    for (uint32_t piece = 0; piece < pieces; piece++) {
        if (!amd_addresses(w, i, a, piece, &lanes)) return;
        if (!amd_touch_lanes(w, i, a, &lanes, SIM_ACCESS_LOAD, NULL, &t)) return;
        for (uint32_t l = 0; l < w->lanes; l++) load_lane(a, &t, &lanes, l, piece * a->words, p);
    }
    if (a->transposed) transpose(w, a, p);
    amd_pending_issue(w, p);
}

// ---- Loads that go to LDS ----

static void run_load_lds(AmdWave *w, const AmdInstr *i, const AmdAccess *a) {
    AmdLanesTouched lanes;
    AmdTouch t, to = {.space = SIM_SPACE_SHARED, .kind = SIM_ACCESS_ASYNC_START};
    if (!amd_addresses(w, i, a, 0, &lanes)) return;
    if (!amd_touch_lanes(w, i, a, &lanes, SIM_ACCESS_ASYNC_READ, NULL, &t)) return;
    AmdPending *p = amd_pending_new(w, i, AMD_CLASS_VECTOR, a->words);
    p->lds = true, p->mask = amd_exec(w), p->bytes = 4u * a->words;
    // As many bits as the LDS size needs: gfx950's LDS is larger.
    uint32_t bits = w->kernel->processor == 0x950 ? 0x3ffff : 0xffff;
    uint32_t base = w->scalars[AMD_M0] & bits;
    if (w->scalar_shadows[AMD_M0] & bits) amd_report_poison(w, i, SIM_POISON_ADDRESS, p->mask);
    to.mask = p->mask, to.bytes = p->bytes, to.align = 4;
    for (uint32_t l = 0; l < w->lanes; l++) {
        load_lane(a, &t, &lanes, l, 0, p);
        p->places[l] = base + (uint32_t)a->offset[0] + l * p->bytes;
        to.address[l] = p->places[l];
    }
    if (!amd_touch(w, i, &to)) {
        p->mask = 0;
        return;
    }
    for (uint32_t l = 0; l < w->lanes; l++)
        if (p->mask >> l & 1) sim_poison_set(w->group->lds_poison, p->places[l], p->bytes, true);
}

// ---- Stores ----

typedef struct Bytes {
    uint8_t data[AMD_LANES][32], poison[AMD_LANES][32];
} Bytes;

static void gather(const AmdWave *w, const AmdAccess *a, const AmdOperand *o, uint64_t mask,
                   Bytes *b) {
    for (uint32_t n = 0; n < a->words; n++)
        for (uint64_t left = mask; left; left &= left - 1) {
            uint32_t l = (uint32_t)__builtin_ctzll(left);
            uint32_t v = amd_word(w, o, n, l), poison = amd_word_poison(w, o, n, l);
            if (a->high || o->high) v >>= 16, poison >>= 16;
            memcpy(b->data[l] + (size_t)4 * n, &v, 4);
            memcpy(b->poison[l] + (size_t)4 * n, &poison, 4);
        }
}

static void put_bytes(const AmdTouch *t, uint32_t l, uint32_t at, uint32_t bytes, const Bytes *b) {
    memcpy(t->host[l] + at, b->data[l] + at, bytes);
    if (!t->poison[l]) return;
    for (uint32_t n = 0; n < bytes; n++)
        sim_poison_set_few(t->poison[l], t->poison_at[l] + at + n, 1, b->poison[l][at + n] != 0);
}

static uint64_t poisoned_lanes(const AmdAccess *a, const AmdTouch *t, const Bytes *b) {
    uint64_t bad = 0;
    for (uint64_t left = t->mask; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctzll(left), any = 0;
        for (uint32_t n = 0; n < a->bytes; n++) any |= b->poison[l][n];
        if (any && t->lane_space[l] == SIM_SPACE_GLOBAL) bad |= UINT64_C(1) << l;
    }
    return bad;
}

static void run_store(AmdWave *w, const AmdInstr *i, const AmdAccess *a) {
    AmdLanesTouched lanes;
    AmdTouch t;
    Bytes b;
    amd_pending_new(w, i, class_of(a, false), 0);
    for (uint32_t piece = 0; piece < a->pieces; piece++) {
        if (!amd_addresses(w, i, a, piece, &lanes)) return;
        gather(w, a, piece ? &a->more : &a->data, lanes.mask, &b);
        if (!amd_touch_lanes(w, i, a, &lanes, SIM_ACCESS_STORE, b.data[0], &t)) return;
        uint64_t bad = poisoned_lanes(a, &t, &b);
        if (bad) amd_report_poison(w, i, SIM_POISON_STORE, bad);
        for (uint64_t left = t.mask; left; left &= left - 1) {
            uint32_t l = (uint32_t)__builtin_ctzll(left);
            put_bytes(&t, l, 0, bytes_within(a, lanes.words[l]), &b);
        }
    }
}

void amd_run_access(AmdWave *w, const AmdInstr *i) {
    const AmdAccess *a = i->detail;
    amd_check_address(w, i, a, amd_exec(w));
    switch ((AmdAction)a->action) {
    case AMD_LOAD:
        if (a->to_lds)
            run_load_lds(w, i, a);
        else
            run_load(w, i, a);
        return;
    case AMD_STORE: run_store(w, i, a); return;
    case AMD_ATOMIC: amd_run_atomic(w, i); return;
    }
}

// ---- Scalar loads ----

static bool scalar_address(AmdWave *w, const AmdInstr *i, const AmdAccess *a, uint64_t *address,
                           uint64_t *left) {
    uint64_t offset = (uint64_t)a->offset[0];
    if (a->more.kind == AMD_SCALAR) offset += (uint32_t)amd_scalar(w, &a->more, 1);
    *left = UINT64_MAX;
    if (a->idxen) {  // s_buffer_load
        Resource r;
        if (!resource_of(w, i, &a->base, &r)) return false;
        *address = r.base + (offset & ~(uint64_t)(a->bytes < 4 ? 0 : 3));
        if (!r.open || !r.records) *left = offset < r.records ? r.records - offset : 0;
        return true;
    }
    // gfx12 added loads of one and two bytes.
    uint64_t within = a->bytes < 4 ? 0 : 3;
    *address = (amd_scalar(w, &a->base, 2) + offset) & ~within;
    return true;
}

void amd_run_smem(AmdWave *w, const AmdInstr *i) {
    const AmdAccess *a = i->detail;
    uint64_t address, left;
    if (operand_poison(w, &a->base, 0) || (a->more.kind && operand_poison(w, &a->more, 0)))
        amd_report_poison(w, i, SIM_POISON_ADDRESS, 1);
    if (!scalar_address(w, i, a, &address, &left)) return;
    AmdLanesTouched lanes = {.mask = 1};
    AmdTouch t;
    AmdPending *p = amd_pending_new(w, i, AMD_CLASS_SCALAR, a->words);
    lanes.address[0] = address;
    for (uint32_t n = 0; n < (a->bytes + 3u) / 4; n++)
        if (4 * (uint64_t)n + (a->bytes < 4 ? a->bytes : 4) <= left)
            lanes.words[0] |= (uint16_t)(1u << n);
    if (!lanes.words[0]) lanes.mask = 0;
    if (!amd_touch_lanes(w, i, a, &lanes, SIM_ACCESS_LOAD, NULL, &t)) return;
    p->kind = AMD_SCALAR, p->number = a->result.number, p->mask = 1;
    load_lane(a, &t, &lanes, 0, 0, p);
    amd_pending_issue(w, p);
}

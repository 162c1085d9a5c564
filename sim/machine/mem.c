// ld, st, ld.param: moves between registers and memory.
#include <string.h>

#include "sim/machine/ops.h"

static bool touch(SimWarp *w, const SimInstr *i, const SimAccessOp *op, SimAccessKind kind,
                  SimTouch *t) {
    t->space = op->space, t->far = op->far, t->kind = kind, t->order = op->order,
    t->scope = op->scope;
    t->mask = w->mask, t->bytes = (uint32_t)op->width * op->count;
    if (w->poison && !op->fixed) sim_poison_check(w, i, op->address, SIM_POISON_ADDRESS);
    sim_addresses(w, op, t->address);
    return sim_touch(w, i, t);
}

// Loads one element into its register, extended to the register's size.
#define LOAD_LOOP(R, M) \
    SIM_EACH_LANE(w, M m; memcpy(&m, t->host[l] + at, sizeof m); ((R *)to)[l] = (R)m;);
static void load_element(SimWarp *w, const SimAccessOp *op, const SimTouch *t, uint32_t n) {
    void *to = w->regs + op->values[n].at;
    size_t at = (size_t)n * op->width;
    switch (op->slot * 256 + op->width * 2 + op->sign) {
    case 2 * 256 + 2: LOAD_LOOP(LaneU16, uint8_t) return;
    case 2 * 256 + 3: LOAD_LOOP(LaneU16, int8_t) return;
    case 2 * 256 + 4:
    case 2 * 256 + 5: LOAD_LOOP(LaneU16, uint16_t) return;
    case 4 * 256 + 2: LOAD_LOOP(LaneU32, uint8_t) return;
    case 4 * 256 + 3: LOAD_LOOP(LaneU32, int8_t) return;
    case 4 * 256 + 4: LOAD_LOOP(LaneU32, uint16_t) return;
    case 4 * 256 + 5: LOAD_LOOP(LaneU32, int16_t) return;
    case 4 * 256 + 8:
    case 4 * 256 + 9: LOAD_LOOP(LaneU32, uint32_t) return;
    case 8 * 256 + 2: LOAD_LOOP(LaneU64, uint8_t) return;
    case 8 * 256 + 3: LOAD_LOOP(LaneU64, int8_t) return;
    case 8 * 256 + 4: LOAD_LOOP(LaneU64, uint16_t) return;
    case 8 * 256 + 5: LOAD_LOOP(LaneU64, int16_t) return;
    case 8 * 256 + 8: LOAD_LOOP(LaneU64, uint32_t) return;
    case 8 * 256 + 9: LOAD_LOOP(LaneU64, int32_t) return;
    case 8 * 256 + 16:
    case 8 * 256 + 17: LOAD_LOOP(LaneU64, uint64_t) return;
    default: break;
    }
    for (uint32_t l = 0; l < SIM_LANES; l++)  // 128 bits
        if (w->mask >> l & 1)
            memcpy((uint8_t *)to + (size_t)l * op->slot, t->host[l] + at, op->width);
}

// ---- Vectors of neighbouring lanes that are contiguous in memory ----

static bool is_words(const SimAccessOp *op, const SimTouch *t) {
    return t->dense && op->width == 4 && op->slot == 4;
}
static inline void every_word(const uint8_t *from, uint32_t step, LaneU32 *to) {
    for (uint32_t l = 0; l < SIM_LANES; l++) memcpy(&to[l], from + (size_t)4 * step * l, 4);
}
static void load_words(SimWarp *w, const SimAccessOp *op, const uint8_t *from, uint32_t n) {
    LaneU32 *to = SIM_REG(w, op->values[n], LaneU32);
    switch (op->count) {
    case 1: every_word(from, 1, to); return;
    case 2: every_word(from + (size_t)4 * n, 2, to); return;
    case 4: every_word(from + (size_t)4 * n, 4, to); return;
    default: every_word(from + (size_t)4 * n, op->count, to); return;
    }
}
static inline void put_every_word(uint8_t *to, uint32_t step, const LaneU32 *from) {
    for (uint32_t l = 0; l < SIM_LANES; l++) memcpy(to + (size_t)4 * step * l, &from[l], 4);
}
static void store_words(const SimWarp *w, const SimAccessOp *op, uint8_t *to) {
    for (uint32_t n = 0; n < op->count; n++) {
        const LaneU32 *from = SIM_REG(w, op->values[n], LaneU32);
        switch (op->count) {
        case 1: put_every_word(to, 1, from); break;
        case 2: put_every_word(to + (size_t)4 * n, 2, from); break;
        case 4: put_every_word(to + (size_t)4 * n, 4, from); break;
        default: put_every_word(to + (size_t)4 * n, op->count, from); break;
        }
    }
}

// ---- Loads ----

static uint32_t poison_loaded(const SimWarp *w, const SimTouch *t, uint32_t at, uint32_t bytes) {
    uint32_t lanes = 0;
    for (uint32_t l = 0; l < SIM_LANES; l++)
        if ((w->mask >> l & 1) && t->poison[l] &&
            sim_poison_any_few(t->poison[l], t->poison_at[l] + at, bytes))
            lanes |= 1u << l;
    return lanes;
}

void sim_load(SimWarp *w, const SimInstr *i) {
    const SimAccessOp *op = i->detail;
    SimTouch t;
    t.data = NULL;
    if (!touch(w, i, op, SIM_ACCESS_LOAD, &t)) return;
    w->spins += op->order != SIM_ORDER_WEAK;
    bool clean = w->poison && sim_touch_is_clean(&t), words = is_words(op, &t);
    for (uint32_t n = 0; n < op->count; n++) {
        if (op->values[n].number < 0) continue;
        if (words)
            load_words(w, op, t.host[0], n);
        else
            load_element(w, op, &t, n);
        if (!w->poison) continue;
        sim_poison_put(w, op->values[n],
                       clean ? 0 : poison_loaded(w, &t, n * op->width, op->width));
    }
}

// ---- Stores ----

// Collects values by lane, as observers and memory expect them.
static void gather(const SimWarp *w, const SimAccessOp *op, uint8_t *data) {
    for (uint32_t n = 0; n < op->count; n++) {
        const uint8_t *from = w->regs + op->values[n].at;
        uint8_t *to = data + (size_t)n * op->width;
        if (op->width == 4)
            for (uint32_t l = 0; l < SIM_LANES; l++)
                memcpy(to + 32 * l, from + (size_t)l * op->slot, 4);
        else
            for (uint32_t l = 0; l < SIM_LANES; l++)
                memcpy(to + 32 * l, from + (size_t)l * op->slot, op->width);
    }
}
static void scatter(const SimWarp *w, const SimTouch *t, const uint8_t *data) {
    switch (t->bytes) {
    case 4: SIM_EACH_LANE(w, memcpy(t->host[l], data + 32 * l, 4);); return;
    case 8: SIM_EACH_LANE(w, memcpy(t->host[l], data + 32 * l, 8);); return;
    case 16: SIM_EACH_LANE(w, memcpy(t->host[l], data + 32 * l, 16);); return;
    default: SIM_EACH_LANE(w, memcpy(t->host[l], data + 32 * l, t->bytes);); return;
    }
}

static void poison_stored(SimWarp *w, const SimInstr *i, const SimAccessOp *op, const SimTouch *t) {
    uint32_t any = 0;
    for (uint32_t n = 0; n < op->count; n++) any |= sim_poison_of(w, op->values[n]) & w->mask;
    if (!any && sim_touch_is_clean(t)) return;
    for (uint32_t n = 0; n < op->count; n++) {
        uint32_t lanes = sim_poison_of(w, op->values[n]), seen = 0;
        for (uint32_t l = 0; l < SIM_LANES; l++) {
            if (!(w->mask >> l & 1)) continue;
            if (t->lane_space[l] == SIM_SPACE_GLOBAL) seen |= 1u << l;
            if (t->poison[l])
                sim_poison_set_few(t->poison[l], t->poison_at[l] + (size_t)n * op->width, op->width,
                                   lanes >> l & 1);
        }
        if (!(lanes & seen)) continue;
        SimPoison p = {sim_place(w, i), SIM_POISON_STORE, lanes & seen, op->values[n].number};
        SIM_NOTIFY(w->run, poisoned, &p);
    }
}

void sim_store(SimWarp *w, const SimInstr *i) {
    const SimAccessOp *op = i->detail;
    uint8_t data[32 * SIM_LANES];
    SimTouch t;
    t.data = data;
    if (w->run->access_observed) gather(w, op, data);
    if (!touch(w, i, op, SIM_ACCESS_STORE, &t)) return;
    if (is_words(op, &t)) {
        store_words(w, op, t.host[0]);
    } else {
        if (!w->run->access_observed) gather(w, op, data);
        scatter(w, &t, data);
    }
    if (w->poison) poison_stored(w, i, op, &t);
}

// Loads parameters of the kernel, which are the same for all lanes. The reader has checked the
// bounds of constant addresses; others are checked here.
void sim_load_param(SimWarp *w, const SimInstr *i) {
    const SimAccessOp *op = i->detail;
    SimTouch t;
    uint32_t bytes = (uint32_t)op->width * op->count, size = w->run->launch->kernel->param_bytes;
    sim_addresses(w, op, t.address);
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(w->mask >> l & 1)) continue;
        if (t.address[l] > size || bytes > size - t.address[l]) {
            sim_fail(w, i, (SimFault){.kind = SIM_FAULT_BOUNDS, .space = SIM_SPACE_PARAM},
                     "'%s': offset %llu is outside of the kernel's %u bytes of parameters", i->name,
                     (unsigned long long)t.address[l], size);
            return;
        }
        const uint8_t *params = w->run->launch->params;
        uint8_t *copy;
        memcpy(&copy, &params, sizeof copy);
        t.host[l] = copy + t.address[l];
    }
    for (uint32_t n = 0; n < op->count; n++) {
        load_element(w, op, &t, n);
        if (w->poison) sim_poison_put(w, op->values[n], 0);
    }
}

void sim_prefetch(SimWarp *w, const SimInstr *i) { (void)w, (void)i; }

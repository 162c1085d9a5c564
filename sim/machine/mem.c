// ld, st, ld.param: between registers and memory.
#include <string.h>

#include "sim/machine/ops.h"

// The address of each lane of the mask.
static void addresses(SimWarp *w, const SimAccessOp *op, SimTouch *t) {
    if (op->fixed) {
        SIM_EACH_LANE(w, t->address[l] = (uint64_t)op->offset;);
    } else if (op->wide) {
        const LaneU64 *a = SIM_REG(w, op->address, LaneU64);
        SIM_EACH_LANE(w, t->address[l] = a[l] + (uint64_t)op->offset;);
    } else {
        const LaneU32 *a = SIM_REG(w, op->address, LaneU32);
        SIM_EACH_LANE(w, t->address[l] = (uint32_t)(a[l] + (uint32_t)op->offset););
    }
}

static bool touch(SimWarp *w, const SimInstr *i, const SimAccessOp *op, SimAccessKind kind,
                  SimTouch *t) {
    t->space = op->space, t->kind = kind, t->order = op->order, t->scope = op->scope;
    t->mask = w->mask, t->bytes = (uint32_t)op->width * op->count;
    if (w->poison && !op->fixed) sim_poison_check(w, i, op->address, SIM_POISON_ADDRESS);
    addresses(w, op, t);
    return sim_touch(w, i, t);
}

// One element into its register, extended to the register's size.
#define LOAD_LOOP(R, M)                            \
    for (uint32_t l = 0; l < SIM_LANES; l++)       \
        if (w->mask >> l & 1) {                    \
            M m;                                   \
            memcpy(&m, t->host[l] + at, sizeof m); \
            ((R *)to)[l] = (R)m;                   \
        }
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

static uint32_t poison_loaded(const SimWarp *w, const SimTouch *t, uint32_t at, uint32_t bytes) {
    uint32_t lanes = 0;
    for (uint32_t l = 0; l < SIM_LANES; l++)
        if ((w->mask >> l & 1) && t->poison[l] &&
            sim_poison_any(t->poison[l], t->poison_at[l] + at, bytes))
            lanes |= 1u << l;
    return lanes;
}

void sim_load(SimWarp *w, const SimInstr *i) {
    const SimAccessOp *op = i->detail;
    SimTouch t;
    t.data = NULL;
    if (!touch(w, i, op, SIM_ACCESS_LOAD, &t)) return;
    w->spins += op->order != SIM_ORDER_WEAK;
    for (uint32_t n = 0; n < op->count; n++) {
        if (op->values[n].number < 0) continue;
        load_element(w, op, &t, n);
        if (w->poison)
            sim_poison_put(w, op->values[n], poison_loaded(w, &t, n * op->width, op->width));
    }
}

static void gather(const SimWarp *w, const SimAccessOp *op, uint8_t *data) {
    for (uint32_t n = 0; n < op->count; n++) {
        const uint8_t *from = w->regs + op->values[n].at;
        for (uint32_t l = 0; l < SIM_LANES; l++)
            memcpy(data + 32 * l + (size_t)n * op->width, from + (size_t)l * op->slot, op->width);
    }
}

static void poison_stored(SimWarp *w, const SimInstr *i, const SimAccessOp *op, const SimTouch *t) {
    for (uint32_t n = 0; n < op->count; n++) {
        uint32_t lanes = sim_poison_of(w, op->values[n]), seen = 0;
        for (uint32_t l = 0; l < SIM_LANES; l++) {
            if (!(w->mask >> l & 1)) continue;
            if (t->met[l] == SIM_SPACE_GLOBAL) seen |= 1u << l;
            if (t->poison[l])
                sim_poison_set(t->poison[l], t->poison_at[l] + (size_t)n * op->width, op->width,
                               lanes >> l & 1);
        }
        if (!(lanes & seen)) continue;
        SimPoison p = {sim_place(w, i), SIM_POISON_STORE, lanes & seen, op->values[n].number};
        SIM_TELL(w->run, poisoned, &p);
    }
}

void sim_store(SimWarp *w, const SimInstr *i) {
    const SimAccessOp *op = i->detail;
    uint8_t data[32 * SIM_LANES];
    gather(w, op, data);
    SimTouch t;
    t.data = data;
    if (!touch(w, i, op, SIM_ACCESS_STORE, &t)) return;
    for (uint32_t l = 0; l < SIM_LANES; l++)
        if (w->mask >> l & 1) memcpy(t.host[l], data + 32 * l, t.bytes);
    if (w->poison) poison_stored(w, i, op, &t);
}

// Parameters of the kernel: the same for all lanes. The reader has checked the bounds of fixed
// addresses; others are checked here.
void sim_load_param(SimWarp *w, const SimInstr *i) {
    const SimAccessOp *op = i->detail;
    SimTouch t;
    uint32_t bytes = (uint32_t)op->width * op->count, size = w->run->launch->kernel->param_bytes;
    addresses(w, op, &t);
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

// mbarrier: 8-byte objects in shared memory that count arrivals and bytes.
//
// The format of the 8 bytes is our own: from bit 0 the phase (1 bit), pending arrivals (20),
// arrivals of a phase (20), pending bytes (22, signed). A phase is complete when no arrival and no
// byte is pending; then the next begins.
#include <string.h>

#include "sim/machine/ops.h"

typedef struct MbarrierState {
    uint32_t phase, pending, expected;
    int32_t bytes;
} MbarrierState;

static MbarrierState unpack(uint64_t v) {
    return (MbarrierState){.phase = v & 1,
                           .pending = v >> 1 & 0xfffff,
                           .expected = v >> 21 & 0xfffff,
                           .bytes = (int32_t)((int64_t)v >> 41)};
}
static uint64_t pack(MbarrierState s) {
    return (uint64_t)s.phase | (uint64_t)(s.pending & 0xfffff) << 1 |
           (uint64_t)(s.expected & 0xfffff) << 21 | (uint64_t)(int64_t)s.bytes << 41;
}

static void turn(MbarrierState *s) {
    if (s->pending || s->bytes) return;
    s->phase ^= 1;
    s->pending = s->expected;
}

static bool find(SimWarp *w, const SimInstr *i, const SimMbarrierOp *op, SimTouch *t) {
    const SimAccessOp *a = &op->access;
    *t = (SimTouch){.space = SIM_SPACE_SHARED,
                    .kind = op->kind == SIM_MBARRIER_TEST ? SIM_ACCESS_LOAD : SIM_ACCESS_ATOMIC,
                    .order = SIM_ORDER_RELAXED,
                    .mask = w->mask,
                    .bytes = 8};
    if (w->poison && !a->fixed) sim_poison_check(w, i, a->address, SIM_POISON_ADDRESS);
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(w->mask >> l & 1)) continue;
        uint64_t base = a->fixed  ? 0
                        : a->wide ? SIM_REG(w, a->address, LaneU64)[l]
                                  : SIM_REG(w, a->address, LaneU32)[l];
        t->address[l] = (base + (uint64_t)a->offset) & ~SIM_WINDOW_MASK;
    }
    return sim_touch(w, i, t);
}

static void tell(SimWarp *w, const SimInstr *i, const SimTouch *t, uint32_t lanes, bool acquire) {
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(lanes >> l & 1)) continue;
        SimMbarrierEvent e = {sim_place(w, i), 1u << l, t->address[l], acquire};
        SIM_TELL(w->run, mbarrier, &e);
    }
}

static uint32_t operand(const SimWarp *w, SimOperand o, uint32_t l, uint32_t fallback) {
    return o.number < 0 ? fallback : SIM_REG(w, o, LaneU32)[l];
}

static void apply(SimWarp *w, const SimMbarrierOp *op, MbarrierState *s, uint32_t l) {
    switch (op->kind) {
    case SIM_MBARRIER_INIT:
        s->phase = 0, s->bytes = 0;
        s->pending = s->expected = operand(w, op->count, l, 1);
        return;
    case SIM_MBARRIER_DROP: s->expected--; break;
    case SIM_MBARRIER_EXPECT: s->bytes += (int32_t)operand(w, op->count, l, 0); return;
    case SIM_MBARRIER_COMPLETE:
        s->bytes -= (int32_t)operand(w, op->count, l, 0);
        turn(s);
        return;
    case SIM_MBARRIER_ARRIVE_EXPECT:
        s->bytes += (int32_t)operand(w, op->count, l, 0);
        s->pending--;
        turn(s);
        return;
    case SIM_MBARRIER_COPY: s->pending++; break;
    case SIM_MBARRIER_ARRIVE:
    case SIM_MBARRIER_COPY_NOINC:
    case SIM_MBARRIER_TEST: break;
    }
    s->pending -= op->kind == SIM_MBARRIER_ARRIVE ? operand(w, op->count, l, 1) : 1;
    turn(s);
}

void sim_mbarrier_update(SimWarp *w, const SimInstr *i) {
    const SimMbarrierOp *op = i->detail;
    SimTouch t;
    // The copies of these lanes complete before the arrival that stands for them.
    if (op->kind == SIM_MBARRIER_COPY || op->kind == SIM_MBARRIER_COPY_NOINC) sim_copies_land(w, i);
    if (!find(w, i, op, &t)) return;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(w->mask >> l & 1)) continue;
        uint64_t v;
        memcpy(&v, t.host[l], 8);
        MbarrierState s = unpack(v);
        if (op->state.number >= 0) SIM_REG(w, op->state, LaneU64)[l] = v;
        apply(w, op, &s, l);
        v = pack(s);
        memcpy(t.host[l], &v, 8);
        if (t.poison[l]) sim_poison_set(t.poison[l], t.poison_at[l], 8, false);
    }
    if (w->poison) sim_poison_put(w, op->state, 0);
    tell(w, i, &t, w->mask, false);
}

void sim_mbarrier_test(SimWarp *w, const SimInstr *i) {
    const SimMbarrierOp *op = i->detail;
    SimTouch t;
    if (!find(w, i, op, &t)) return;
    uint32_t done = 0;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(w->mask >> l & 1)) continue;
        uint64_t v;
        memcpy(&v, t.host[l], 8);
        uint32_t asked = op->parity ? SIM_REG(w, op->count, LaneU32)[l] & 1
                                    : (uint32_t)SIM_REG(w, op->state, LaneU64)[l] & 1;
        done |= (uint32_t)(unpack(v).phase != asked) << l;
    }
    sim_set_pred(w, i->d, done);
    if (w->poison) sim_poison_put(w, i->d, 0);
    if (done) tell(w, i, &t, done & w->mask, true);
    w->yield = (w->mask & ~done) != 0;  // lets the other warps run while this one waits
    w->spins += w->yield;
}

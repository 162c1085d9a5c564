// mbarrier.*: instructions that count arrivals and bytes.
//
// The format of the 8 bytes is our own: from bit 0 the phase (1 bit), pending arrivals (20),
// arrivals of a phase (20), pending bytes (23, signed). A phase is complete when no arrival and no
// byte is pending; then the next begins. Bytes may arrive before they are expected.
#include "sim/machine/hopper/mbarrier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "base/status.h"
#include "sim/machine/hopper/cluster.h"
#include "sim/machine/ops.h"

enum { COUNT_MAX = (1 << 20) - 1, SPURIOUS = 8 };

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

static void complete_phase(MbarrierState *s) {
    if (s->pending || s->bytes) return;
    s->phase ^= 1;
    s->pending = s->expected;
}

static MbarrierState read_state(const SimBlock *b, uint64_t address) {
    uint64_t v;
    memcpy(&v, b->shared + address, sizeof v);
    return unpack(v);
}
static void write_state(SimBlock *b, uint64_t address, MbarrierState s) {
    uint64_t v = pack(s);
    memcpy(b->shared + address, &v, sizeof v);
    if (b->shared_poison) sim_poison_set(b->shared_poison, address, sizeof v, false);
}

// ---- The block's objects ----

static uint32_t *object_at(const SimBlock *b, uint64_t address) {
    for (uint32_t n = 0; n < b->mbarrier_count; n++)
        if (b->mbarriers[n] == address) return &b->mbarriers[n];
    return NULL;
}

bool sim_mbarrier_exists(SimWarp *w, const SimInstr *i, const SimBlock *b, uint64_t address) {
    if (object_at(b, address)) return true;
    sim_fail(w, i, (SimFault){.kind = SIM_FAULT_USE, .mask = w->mask},
             "'%s': no mbarrier was initialised at byte %llu of block %llu", i->name,
             (unsigned long long)address, (unsigned long long)b->linear);
    return false;
}

static bool add_object(SimWarp *w, const SimInstr *i, SimBlock *b, uint64_t address) {
    if (object_at(b, address)) {
        sim_fail(w, i, (SimFault){.kind = SIM_FAULT_USE, .mask = w->mask},
                 "'%s': there is an mbarrier at byte %llu of block %llu already: only "
                 "mbarrier.inval ends it",
                 i->name, (unsigned long long)address, (unsigned long long)b->linear);
        return false;
    }
    if (b->mbarrier_count == b->mbarrier_capacity) {
        uint32_t capacity = b->mbarrier_capacity ? 2 * b->mbarrier_capacity : 16;
        uint32_t *list = realloc(b->mbarriers, capacity * sizeof *list);
        if (!list) os_out_of_memory();
        b->mbarriers = list, b->mbarrier_capacity = capacity;
    }
    b->mbarriers[b->mbarrier_count++] = (uint32_t)address;
    return true;
}

static void remove_object(SimBlock *b, uint64_t address) {
    uint32_t *at = object_at(b, address);
    if (at) *at = b->mbarriers[--b->mbarrier_count];
}

// ---- Addresses and events ----

static SimAccessKind kind_of(const SimMbarrierOp *op) {
    bool plain = op->kind == SIM_MBARRIER_INIT || op->kind == SIM_MBARRIER_INVAL;
    return plain ? SIM_ACCESS_STORE : SIM_ACCESS_MBARRIER;
}

// t->address and t->owner: where the lanes' objects are.
static bool find(SimWarp *w, const SimInstr *i, const SimMbarrierOp *op, SimTouch *t) {
    const SimAccessOp *a = &op->access;
    *t = (SimTouch){.space = SIM_SPACE_SHARED,
                    .kind = kind_of(op),
                    .far = a->far,
                    .scope = SIM_SCOPE_GPU,
                    .mask = w->mask,
                    .bytes = 8};
    if (t->kind == SIM_ACCESS_MBARRIER) t->order = SIM_ORDER_RELAXED;
    if (w->poison && !a->fixed) sim_poison_check(w, i, a->address, SIM_POISON_ADDRESS);
    if (w->poison) sim_poison_check(w, i, op->count, SIM_POISON_BRANCH);
    sim_addresses(w, a, t->address);
    SIM_EACH_LANE(w, t->address[l] &= ~SIM_WINDOW_MASK; t->owner[l] = (uint8_t)w->block->rank;);
    return sim_touch(w, i, t);
}

static SimBlock *block_of(const SimWarp *w, const SimTouch *t, uint32_t l) {
    return &w->run->blocks[t->owner[l]];
}

static void notify_mbarrier(SimWarp *w, const SimInstr *i, const SimTouch *t, uint32_t lanes,
                            SimMbarrierStep step) {
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(lanes >> l & 1)) continue;
        SimMbarrierEvent e = {sim_place(w, i), 1u << l, t->address[l], t->owner[l], step};
        SIM_NOTIFY(w->run, mbarrier, &e);
    }
}

// ---- Counting ----

static uint32_t operand(const SimWarp *w, SimOperand o, uint32_t l, uint32_t fallback) {
    return o.number < 0 ? fallback : SIM_REG(w, o, LaneU32)[l];
}

static bool wrong(SimWarp *w, const SimInstr *i, const char *what, long long count,
                  long long other) {
    sim_fail(w, i, (SimFault){.kind = SIM_FAULT_USE, .mask = w->mask}, "'%s': %lld %s %lld",
             i->name, count, what, other);
    return false;
}

static bool expect(SimWarp *w, const SimInstr *i, MbarrierState *s, int64_t bytes) {
    int64_t sum = s->bytes + bytes;
    if (bytes < -COUNT_MAX || bytes > COUNT_MAX || sum < -COUNT_MAX || sum > COUNT_MAX)
        return wrong(w, i, "bytes: an mbarrier counts at most", (long long)sum, COUNT_MAX);
    s->bytes = (int32_t)sum;
    return true;
}

static bool arrive(SimWarp *w, const SimInstr *i, MbarrierState *s, uint32_t count) {
    if (count > s->pending)
        return wrong(w, i, "arrivals at an mbarrier whose phase waits for", count, s->pending);
    s->pending -= count;
    return true;
}

static bool begin_object(SimWarp *w, const SimInstr *i, SimBlock *b, uint64_t at, uint32_t count,
                         MbarrierState *s) {
    if (!count || count > COUNT_MAX)
        return wrong(w, i, "arrivals: the count is 1 to", count, COUNT_MAX);
    *s = (MbarrierState){.pending = count, .expected = count};
    return add_object(w, i, b, at);
}

// The lane's operation on the state. False: the launch has ended.
static bool apply(SimWarp *w, const SimInstr *i, MbarrierState *s, uint32_t l) {
    const SimMbarrierOp *op = i->detail;
    switch (op->kind) {
    case SIM_MBARRIER_INIT:
    case SIM_MBARRIER_INVAL:
    case SIM_MBARRIER_TEST: return true;
    case SIM_MBARRIER_EXPECT: return expect(w, i, s, operand(w, op->count, l, 0));
    case SIM_MBARRIER_COMPLETE: return expect(w, i, s, -(int64_t)operand(w, op->count, l, 0));
    case SIM_MBARRIER_ARRIVE_EXPECT:
        return expect(w, i, s, operand(w, op->count, l, 0)) && arrive(w, i, s, 1);
    case SIM_MBARRIER_DROP: s->expected -= s->expected != 0; return arrive(w, i, s, 1);
    case SIM_MBARRIER_COPY: return true;  // one more, and its arrival
    case SIM_MBARRIER_COPY_NOINC: return arrive(w, i, s, 1);
    case SIM_MBARRIER_ARRIVE: return arrive(w, i, s, operand(w, op->count, l, 1));
    }
    return true;
}

static bool update_lane(SimWarp *w, const SimInstr *i, const SimTouch *t, uint32_t l) {
    const SimMbarrierOp *op = i->detail;
    SimBlock *b = block_of(w, t, l);
    uint64_t at = t->address[l];
    MbarrierState s;
    if (op->kind == SIM_MBARRIER_INVAL) {
        TRY(sim_mbarrier_exists(w, i, b, at));
        remove_object(b, at);
        return true;
    }
    if (op->kind == SIM_MBARRIER_INIT) {
        TRY(begin_object(w, i, b, at, operand(w, op->count, l, 1), &s));
    } else {
        TRY(sim_mbarrier_exists(w, i, b, at));
        s = read_state(b, at);
        if (op->state.number >= 0) SIM_REG(w, op->state, LaneU64)[l] = pack(s);
        TRY(apply(w, i, &s, l));
        complete_phase(&s);
    }
    write_state(b, at, s);
    return true;
}

static SimMbarrierStep step_of(const SimMbarrierOp *op) {
    switch (op->kind) {
    case SIM_MBARRIER_INIT: return SIM_MBARRIER_BEGINS;
    case SIM_MBARRIER_EXPECT:
    case SIM_MBARRIER_COMPLETE: return SIM_MBARRIER_COUNTS;
    case SIM_MBARRIER_INVAL:
    case SIM_MBARRIER_TEST: return SIM_MBARRIER_ENDS;
    case SIM_MBARRIER_DROP:
    case SIM_MBARRIER_ARRIVE_EXPECT:
    case SIM_MBARRIER_COPY:
    case SIM_MBARRIER_COPY_NOINC:
    case SIM_MBARRIER_ARRIVE: break;
    }
    return SIM_MBARRIER_ARRIVES;
}

void sim_mbarrier_update(SimWarp *w, const SimInstr *i) {
    const SimMbarrierOp *op = i->detail;
    SimTouch t;
    // The copies of these lanes complete before the arrival that stands for them.
    if (op->kind == SIM_MBARRIER_COPY || op->kind == SIM_MBARRIER_COPY_NOINC) sim_copies_land(w, i);
    if (!find(w, i, op, &t)) return;
    for (uint32_t l = 0; l < SIM_LANES; l++)
        if ((w->mask >> l & 1) && !update_lane(w, i, &t, l)) return;
    if (w->poison) sim_poison_put(w, op->state, 0);
    w->run->changes++;
    notify_mbarrier(w, i, &t, w->mask, step_of(op));
}

void sim_mbarrier_complete(SimWarp *w, const SimInstr *i, SimBlock *b, uint32_t address,
                           uint32_t bytes) {
    if (!sim_mbarrier_exists(w, i, b, address)) return;
    MbarrierState s = read_state(b, address);
    if (!expect(w, i, &s, -(int64_t)bytes)) return;
    complete_phase(&s);
    write_state(b, address, s);
    w->run->changes++;
}

// ---- Waiting ----

static uint32_t asked_phase(const SimWarp *w, const SimMbarrierOp *op, uint32_t l) {
    return op->parity ? SIM_REG(w, op->count, LaneU32)[l] & 1
                      : (uint32_t)SIM_REG(w, op->state, LaneU64)[l] & 1;
}

// A try_wait may give up at any time.
static bool gives_up(SimWarp *w, const SimMbarrierOp *op) {
    return op->tries && w->run->launch->seed && !sim_random(w->run, SPURIOUS);
}

static void note_waiting(SimWarp *w, const SimInstr *i, const SimTouch *t, uint32_t lanes) {
    uint32_t l = sim_first_lane(lanes);
    w->waits = (SimWaits){i, t->address[l], l, asked_phase(w, i->detail, l)};
    sim_idle(w);
}

void sim_mbarrier_test(SimWarp *w, const SimInstr *i) {
    const SimMbarrierOp *op = i->detail;
    SimTouch t;
    if (!find(w, i, op, &t)) return;
    uint32_t done = 0;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(w->mask >> l & 1)) continue;
        SimBlock *b = block_of(w, &t, l);
        if (!sim_mbarrier_exists(w, i, b, t.address[l])) return;
        bool over = read_state(b, t.address[l]).phase != asked_phase(w, op, l);
        done |= (uint32_t)over << l;
    }
    uint32_t missing = w->mask & ~done;
    if (missing) note_waiting(w, i, &t, missing);
    if (done && gives_up(w, op)) done = 0;
    sim_set_pred(w, i->d, done);
    if (w->poison) sim_poison_put(w, i->d, 0);
    if (done) notify_mbarrier(w, i, &t, done & w->mask, SIM_MBARRIER_PASSES);
    w->yield = (w->mask & ~done) != 0;  // lets the other warps run while this one waits
    w->spins += w->yield;
}

void sim_mbarrier_describe(const SimWarp *w, const char *place, char *text, size_t size) {
    const SimWaits *x = &w->waits;
    MbarrierState s = {0};
    if (object_at(w->block, x->address)) s = read_state(w->block, x->address);
    snprintf(text, size,
             "warp %u%s waits for the phase of parity %u of the mbarrier at byte %llu, where %u of "
             "%u arrivals and %d bytes are missing",
             w->index, place, x->parity, (unsigned long long)x->address, s.pending, s.expected,
             s.bytes);
}

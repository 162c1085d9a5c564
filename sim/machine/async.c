// cp.async: bytes leave global memory at once and land in shared memory when their thread waits
// for them; until then what lies there is poison.
#include <stdlib.h>
#include <string.h>

#include "sim/machine/ops.h"

enum { COPIES_MAX = 1 << 20 };

static SimCopy *new_copy(SimWarp *w, const SimInstr *i) {
    if (w->copy_count == w->copy_capacity) {
        uint32_t capacity = w->copy_capacity ? w->copy_capacity * 2 : 256;
        SimCopy *copies =
            capacity > COPIES_MAX ? NULL : realloc(w->copies, capacity * sizeof *copies);
        if (!copies) {
            sim_fail(w, i, (SimFault){.kind = SIM_FAULT_USE, .mask = w->mask},
                     "'%s': more copies under way than memory for them", i->name);
            return NULL;
        }
        w->copies = copies, w->copy_capacity = capacity;
    }
    return &w->copies[w->copy_count++];
}

// Bytes that lane l reads; the rest of its 4, 8 or 16 is zeros.
static uint32_t source_bytes(const SimWarp *w, const SimCopyOp *op, uint32_t l) {
    uint32_t n = op->from.width;
    if (op->source_bytes.number >= 0) {
        uint32_t asked = SIM_REG(w, op->source_bytes, LaneU32)[l];
        if (asked < n) n = asked;
    }
    if (op->ignore.number >= 0 && (sim_pred(w, op->ignore, op->ignore_negated) >> l & 1)) n = 0;
    return n;
}

static void read_sources(SimWarp *w, const SimInstr *i, const SimCopyOp *op, uint32_t *bytes,
                         SimTouch *t) {
    *t = (SimTouch){
        .space = SIM_SPACE_GLOBAL, .kind = SIM_ACCESS_ASYNC_READ, .bytes = op->from.width};
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(w->mask >> l & 1)) continue;
        bytes[l] = source_bytes(w, op, l);
        t->address[l] = (op->from.fixed ? 0 : SIM_REG(w, op->from.address, LaneU64)[l]) +
                        (uint64_t)op->from.offset;
        if (bytes[l]) t->mask |= 1u << l;
    }
    // A read of fewer bytes is told, and checked, as one of a power of two that holds them.
    uint32_t most = 1;
    for (uint32_t l = 0; l < SIM_LANES; l++)
        while ((t->mask >> l & 1) && most < bytes[l]) most *= 2;
    t->bytes = most;
    if (t->mask) sim_touch(w, i, t);
}

static void destinations(SimWarp *w, const SimInstr *i, const SimCopyOp *op, SimTouch *t) {
    *t = (SimTouch){.space = SIM_SPACE_SHARED,
                    .kind = SIM_ACCESS_ASYNC_START,
                    .mask = w->mask,
                    .bytes = op->from.width};
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(w->mask >> l & 1)) continue;
        uint64_t base = op->to_fixed  ? 0
                        : op->to_wide ? SIM_REG(w, op->to, LaneU64)[l]
                                      : SIM_REG(w, op->to, LaneU32)[l];
        t->address[l] = (base + (uint64_t)op->to_offset) & ~SIM_WINDOW_MASK;
    }
    sim_touch(w, i, t);
}

void sim_copy_async(SimWarp *w, const SimInstr *i) {
    const SimCopyOp *op = i->detail;
    uint32_t bytes[SIM_LANES] = {0};
    SimTouch from, to;
    if (w->poison) {
        sim_poison_check(w, i, op->from.address, SIM_POISON_ADDRESS);
        sim_poison_check(w, i, op->to, SIM_POISON_ADDRESS);
        sim_poison_check(w, i, op->source_bytes, SIM_POISON_ADDRESS);
    }
    read_sources(w, i, op, bytes, &from);
    destinations(w, i, op, &to);
    for (uint32_t l = 0; l < SIM_LANES && !w->run->stop; l++) {
        if (!(w->mask >> l & 1)) continue;
        SimCopy *c = new_copy(w, i);
        if (!c) return;
        *c = (SimCopy){.to = (uint32_t)to.address[l],
                       .lane = (uint8_t)l,
                       .bytes = op->from.width,
                       .group = w->group[l]};
        if (bytes[l]) memcpy(c->data, from.host[l], bytes[l]);
        if (w->block->shared_poison) sim_poison_set(w->block->shared_poison, c->to, c->bytes, true);
    }
}

void sim_copy_commit(SimWarp *w, const SimInstr *i) {
    (void)i;
    SIM_EACH_LANE(w, w->group[l]++;);
}

static void tell_landing(SimWarp *w, const SimInstr *i, const SimCopy *c) {
    uint64_t address[SIM_LANES] = {0};
    uint8_t data[32 * SIM_LANES] = {0};
    address[c->lane] = c->to;
    memcpy(data + 32 * (size_t)c->lane, c->data, c->bytes);
    SimAccess a = {.at = sim_place(w, i),
                   .space = SIM_SPACE_SHARED,
                   .kind = SIM_ACCESS_ASYNC_LAND,
                   .mask = 1u << c->lane,
                   .bytes = c->bytes,
                   .address = address,
                   .data = data};
    SIM_TELL(w->run, access, &a);
}

static void land(SimWarp *w, const SimInstr *i, const SimCopy *c) {
    if (w->run->access_asked) tell_landing(w, i, c);
    memcpy(w->block->shared + c->to, c->data, c->bytes);
    if (w->block->shared_poison) sim_poison_set(w->block->shared_poison, c->to, c->bytes, false);
}

// Copies of the mask's lanes whose group is done: those with `pending` younger groups or more.
static void wait_for(SimWarp *w, const SimInstr *i, uint32_t pending, bool all) {
    uint32_t kept = 0;
    for (uint32_t n = 0; n < w->copy_count; n++) {
        SimCopy *c = &w->copies[n];
        bool mine = w->mask >> c->lane & 1;
        bool due = mine && (all || (uint64_t)c->group + pending < w->group[c->lane]);
        if (due)
            land(w, i, c);
        else
            w->copies[kept++] = *c;
    }
    w->copy_count = kept;
}

// immediate: groups that may stay under way; UINT64_MAX: wait_all.
void sim_copy_wait(SimWarp *w, const SimInstr *i) {
    bool all = i->immediate == UINT64_MAX;
    wait_for(w, i, all ? 0 : (uint32_t)i->immediate, all);
}

void sim_copies_land(SimWarp *w, const SimInstr *i) { wait_for(w, i, 0, true); }

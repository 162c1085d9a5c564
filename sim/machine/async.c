// cp.async: bytes are read from global memory at once and land in shared memory when their thread
// waits for them. Until then the destination is poison.
#include <stdlib.h>
#include <string.h>

#include "sim/machine/ops.h"

enum { COPIES_MAX = 1 << 15 };

// Makes room at the end by removing landed copies from the front.
static bool make_room(SimWarp *w, const SimInstr *i) {
    if (w->copy_count < w->copy_capacity) return true;
    if (w->copy_first > w->copy_capacity / 2) {
        w->copy_count -= w->copy_first;
        memmove(w->copies, w->copies + w->copy_first, w->copy_count * sizeof *w->copies);
        w->copy_first = 0;
        return true;
    }
    uint32_t capacity = w->copy_capacity ? w->copy_capacity * 2 : 32;
    SimCopy *copies = capacity > COPIES_MAX ? NULL : realloc(w->copies, capacity * sizeof *copies);
    if (!copies) {
        sim_fail(w, i, (SimFault){.kind = SIM_FAULT_USE, .mask = w->mask},
                 "'%s': no memory for this many copies in flight", i->name);
        return false;
    }
    w->copies = copies, w->copy_capacity = capacity;
    return true;
}

// The lanes whose open group is the same as the first one's.
static uint32_t same_group(const SimWarp *w, uint32_t lanes) {
    uint32_t group = w->group[sim_first_lane(lanes)], same = 0;
    for (uint32_t l = 0; l < SIM_LANES; l++) same |= (uint32_t)(w->group[l] == group) << l;
    return same & lanes;
}

// The bytes that each lane reads; the rest of its 4, 8 or 16 bytes is zeros. Returns the largest.
static uint32_t source_bytes(const SimWarp *w, const SimCopyOp *op, uint32_t *bytes) {
    const uint32_t width = op->from.width;
    uint32_t most = 0;
    SIM_EACH_LANE(w, bytes[l] = width;);
    if (op->source_bytes.number >= 0) {
        const LaneU32 *asked = SIM_REG(w, op->source_bytes, LaneU32);
        SIM_EACH_LANE(w, bytes[l] = asked[l] < width ? asked[l] : width;);
    }
    if (op->ignore.number >= 0) {
        uint32_t ignored = sim_pred(w, op->ignore, op->ignore_negated);
        SIM_EACH_LANE(w, bytes[l] = ignored >> l & 1 ? 0 : bytes[l];);
    }
    SIM_EACH_LANE(w, most = bytes[l] > most ? bytes[l] : most;);
    return most;
}

static void read_sources(SimWarp *w, const SimInstr *i, const SimCopyOp *op, uint32_t *bytes,
                         SimTouch *t) {
    t->space = SIM_SPACE_GLOBAL, t->far = false, t->kind = SIM_ACCESS_ASYNC_READ;
    t->order = SIM_ORDER_WEAK, t->scope = SIM_SCOPE_CTA;
    t->mask = 0, t->data = NULL;
    uint32_t most = source_bytes(w, op, bytes), mask = 0;
    sim_addresses(w, &op->from, t->address);
    SIM_EACH_LANE(w, mask |= (uint32_t)(bytes[l] != 0) << l;);
    // A shorter read is reported and checked as one of the next power of two.
    t->bytes = 1;
    while (t->bytes < most) t->bytes *= 2;
    t->mask = mask;
    if (mask) sim_touch(w, i, t);
}

static void destinations(SimWarp *w, const SimInstr *i, const SimCopyOp *op, SimTouch *t) {
    t->space = SIM_SPACE_SHARED, t->far = false, t->kind = SIM_ACCESS_ASYNC_START;
    t->order = SIM_ORDER_WEAK, t->scope = SIM_SCOPE_CTA;
    t->mask = w->mask, t->bytes = op->from.width, t->data = NULL;
    SimAccessOp to = {
        .address = op->to, .wide = op->to_wide, .fixed = op->to_fixed, .offset = op->to_offset};
    sim_addresses(w, &to, t->address);
    SIM_EACH_LANE(w, t->address[l] &= ~SIM_WINDOW_MASK;);
    sim_touch(w, i, t);
}

// Issues a copy: the lanes' bytes, padded with zeros.
static void issue(SimWarp *w, SimCopy *c, uint32_t lanes, const uint32_t *bytes,
                  const SimTouch *from, const SimTouch *to) {
    uint8_t *poison = w->block->shared_poison;
    c->mask = lanes, c->bytes = to->bytes, c->group = w->group[sim_first_lane(lanes)];
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(lanes >> l & 1)) continue;
        c->to[l] = (uint32_t)to->address[l];
        if (bytes[l] == 16) {
            memcpy(c->data[l], from->host[l], 16);
        } else {
            memset(c->data[l], 0, sizeof c->data[l]);
            if (bytes[l]) memcpy(c->data[l], from->host[l], bytes[l]);
        }
        if (poison) sim_poison_set_few(poison, c->to[l], c->bytes, true);
    }
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
    for (uint32_t left = w->mask; left && !w->run->stop;) {
        uint32_t lanes = same_group(w, left);
        left &= ~lanes;
        if (make_room(w, i)) issue(w, &w->copies[w->copy_count++], lanes, bytes, &from, &to);
    }
}

void sim_copy_commit(SimWarp *w, const SimInstr *i) {
    (void)i;
    SIM_EACH_LANE(w, w->group[l]++;);
}

static void notify_landing(SimWarp *w, const SimInstr *i, const SimCopy *c, uint32_t lanes) {
    uint64_t address[SIM_LANES] = {0};
    uint8_t data[32 * SIM_LANES];
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(lanes >> l & 1)) continue;
        address[l] = c->to[l];
        memcpy(data + 32 * (size_t)l, c->data[l], 16);
    }
    SimAccess a = {.at = sim_place(w, i),
                   .space = SIM_SPACE_SHARED,
                   .owner = w->block->rank,
                   .kind = SIM_ACCESS_ASYNC_LAND,
                   .mask = lanes,
                   .lanes = SIM_LANES,
                   .bytes = c->bytes,
                   .address = address,
                   .data = data};
    SIM_NOTIFY(w->run, access, &a);
}

static void land(SimWarp *w, const SimInstr *i, SimCopy *c, uint32_t lanes) {
    uint8_t *shared = w->block->shared, *poison = w->block->shared_poison;
    if (w->run->access_observed) notify_landing(w, i, c, lanes);
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(lanes >> l & 1)) continue;
        if (c->bytes == 16)
            memcpy(shared + c->to[l], c->data[l], 16);
        else
            memcpy(shared + c->to[l], c->data[l], c->bytes);
        if (poison) sim_poison_set_few(poison, c->to[l], c->bytes, false);
    }
    c->mask &= ~lanes;
}

// Lands the copies of lanes with the same open group whose own group is complete: those with at
// least `pending` younger groups.
static void wait_for(SimWarp *w, const SimInstr *i, uint32_t lanes, uint32_t pending, bool all) {
    uint64_t group = w->group[sim_first_lane(lanes)];
    for (uint32_t n = w->copy_first; n < w->copy_count; n++) {
        SimCopy *c = &w->copies[n];
        if (c->mask & lanes && (all || (uint64_t)c->group + pending < group))
            land(w, i, c, c->mask & lanes);
        if (!c->mask && n == w->copy_first) w->copy_first++;
    }
    if (w->copy_first == w->copy_count) w->copy_first = w->copy_count = 0;
}

static void wait_each(SimWarp *w, const SimInstr *i, uint32_t pending, bool all) {
    for (uint32_t left = w->mask; left;) {
        uint32_t lanes = same_group(w, left);
        left &= ~lanes;
        wait_for(w, i, lanes, pending, all);
    }
}

// immediate: groups that may stay in flight; UINT64_MAX: wait_all.
void sim_copy_wait(SimWarp *w, const SimInstr *i) {
    bool all = i->immediate == UINT64_MAX;
    wait_each(w, i, all ? 0 : (uint32_t)i->immediate, all);
}

void sim_copies_land(SimWarp *w, const SimInstr *i) { wait_each(w, i, 0, true); }

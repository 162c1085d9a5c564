// Maps lanes' addresses to host memory, for every instruction that accesses memory.
#include <string.h>

#include "sim/machine/hopper/cluster.h"
#include "sim/machine/refuse.h"
#include "sim/machine/warp.h"

enum { CLEAN_MAX = 8192 };  // bytes whose poison is worth one check in advance

static SimSpace window_of(uint64_t address) {
    switch (address & SIM_WINDOW_MASK) {
    case SIM_SHARED_BASE: return SIM_SPACE_SHARED;
    case SIM_LOCAL_BASE: return SIM_SPACE_LOCAL;
    case SIM_PARAM_BASE: return SIM_SPACE_PARAM;
    default: return SIM_SPACE_GLOBAL;
    }
}

void sim_addresses(const SimWarp *w, const SimAccessOp *op, uint64_t *address) {
    uint64_t offset = (uint64_t)op->offset;
    if (op->fixed) {
        SIM_EACH_LANE(w, address[l] = offset;);
    } else if (op->wide) {
        const LaneU64 *a = SIM_REG(w, op->address, LaneU64);
        SIM_EACH_LANE(w, address[l] = a[l] + offset;);
    } else {
        const LaneU32 *a = SIM_REG(w, op->address, LaneU32);
        SIM_EACH_LANE(w, address[l] = (uint32_t)(a[l] + (uint32_t)offset););
    }
}

// Converts generic addresses to addresses of their space.
static void classify(SimTouch *t) {
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(t->mask >> l & 1)) continue;
        t->lane_space[l] = t->space;
        if (t->space != SIM_SPACE_GENERIC) continue;
        t->lane_space[l] = window_of(t->address[l]);
        if (t->lane_space[l] != SIM_SPACE_GLOBAL) t->address[l] &= ~SIM_WINDOW_MASK;
    }
}

static bool is_write(SimAccessKind kind) {
    switch (kind) {
    case SIM_ACCESS_STORE:
    case SIM_ACCESS_ATOMIC:
    case SIM_ACCESS_ASYNC_START:
    case SIM_ACCESS_ASYNC_LAND:
    case SIM_ACCESS_FLIGHT_WRITE:
    case SIM_ACCESS_MATRIX_STORE: return true;
    case SIM_ACCESS_LOAD:
    case SIM_ACCESS_ASYNC_READ:
    case SIM_ACCESS_MBARRIER:
    case SIM_ACCESS_FLIGHT_READ:
    case SIM_ACCESS_FLIGHT_LAND:
    case SIM_ACCESS_MATRIX_LOAD: return false;
    }
    return false;
}

static bool within(uint64_t address, uint64_t size, uint64_t bytes) {
    return address <= size && bytes <= size - address;
}

// The host address of one lane's access; false when there is none.
static bool place(SimWarp *w, SimTouch *t, uint32_t l) {
    uint64_t a = t->address[l];
    switch (t->lane_space[l]) {
    case SIM_SPACE_SHARED: {
        uint64_t at;
        SimBlock *b = sim_block_at(w->block, a, &at);
        if (!b || (a != at && !t->far) || !within(at, b->shared_bytes, t->bytes)) return false;
        t->address[l] = at, t->owner[l] = (uint8_t)b->rank;
        t->host[l] = b->shared + at;
        t->poison[l] = b->shared_poison;
        t->poison_at[l] = at;
        return b == w->block || b->running;
    }
    case SIM_SPACE_LOCAL: {
        uint64_t size = w->run->launch->kernel->local_bytes;
        if (!within(a, size, t->bytes)) return false;
        t->host[l] = w->local + size * l + a;
        t->poison[l] = w->local_poison;
        t->poison_at[l] = size * l + a;
        return true;
    }
    case SIM_SPACE_PARAM: {
        const uint8_t *params = w->run->launch->params;
        if (!within(a, w->run->launch->kernel->param_bytes, t->bytes)) return false;
        memcpy(&t->host[l], &params, sizeof params);
        t->host[l] += a;
        t->poison[l] = NULL;
        return !is_write(t->kind);
    }
    case SIM_SPACE_GENERIC:
    case SIM_SPACE_GLOBAL:
    case SIM_SPACE_CONST: break;
    }
    SimRegion *r = sim_memory_find(w->run->launch->memory, a, t->bytes);
    if (!r) return false;
    t->host[l] = r->bytes + (a - r->base);
    t->poison[l] = r->poison;
    t->poison_at[l] = a - r->base;
    return !r->constant || !is_write(t->kind);
}

static void fault(SimWarp *w, const SimInstr *i, const SimTouch *t, uint32_t lanes,
                  SimFaultKind kind) {
    uint32_t l = sim_first_lane(lanes);
    SimFault f = {.kind = kind,
                  .space = t->lane_space[l],
                  .mask = lanes,
                  .address = t->address[l],
                  .bytes = t->bytes};
    char text[SIM_FAULT_TEXT];
    sim_fault_describe(text, &f, w->index * SIM_LANES + l, w->block->linear);
    sim_fail(w, i, f, "'%s': %s", i->name, text);
}

static void notify_space(SimWarp *w, const SimInstr *i, const SimTouch *t, SimSpace space,
                         uint32_t owner, uint32_t mask) {
    SimAccess a = {.at = sim_place(w, i),
                   .space = space,
                   .kind = t->kind,
                   .order = t->order,
                   .scope = t->scope,
                   .mask = mask,
                   .lanes = SIM_LANES,
                   .bytes = t->bytes,
                   .owner = owner,
                   .address = t->address,
                   .data = t->data,
                   .there = t->host};
    SIM_NOTIFY(w->run, access, &a);
}

// An instruction that accesses several spaces, or blocks, is reported once for each.
static void notify_access(SimWarp *w, const SimInstr *i, const SimTouch *t) {
    uint32_t left = t->mask;
    while (left) {
        SimSpace space = t->lane_space[sim_first_lane(left)];
        uint32_t mask = 0, owner = t->owner[sim_first_lane(left)];
        for (uint32_t l = 0; l < SIM_LANES; l++)
            if ((left >> l & 1) && t->lane_space[l] == space && t->owner[l] == owner)
                mask |= 1u << l;
        left &= ~mask;
        notify_space(w, i, t, space, owner, mask);
    }
}

// ---- The fast path: all lanes within one region, at aligned addresses ----

typedef struct AccessPiece {
    SimSpace space;
    uint64_t base, size;
    uint8_t *bytes, *poison;
} AccessPiece;

// The region that the first lane accesses.
static bool find_piece(SimWarp *w, const SimTouch *t, AccessPiece *p) {
    const SimBlock *b = w->block;
    uint64_t first = t->address[sim_first_lane(t->mask)];
    if (t->space == SIM_SPACE_SHARED) {
        *p = (AccessPiece){t->space, 0, b->shared_bytes, b->shared, b->shared_poison};
        return p->size >= t->bytes;
    }
    bool generic = t->space == SIM_SPACE_GENERIC;
    if (t->space == SIM_SPACE_LOCAL || (generic && window_of(first) != SIM_SPACE_GLOBAL))
        return false;
    const SimRegion *r = sim_memory_find(w->run->launch->memory, first, t->bytes);
    if (!r || (r->constant && is_write(t->kind))) return false;
    *p =
        (AccessPiece){generic ? SIM_SPACE_GLOBAL : t->space, r->base, r->size, r->bytes, r->poison};
    return true;
}

SIM_CLONES static bool all_within(SimTouch *t, const AccessPiece *p) {
    uint64_t last = p->size - t->bytes, low_bits = t->bytes - 1, first = t->address[0];
    uint64_t wrong = 0, skew = 0, low = UINT64_MAX, high = 0;
    SIM_EACH_OF(t->mask, uint64_t at = t->address[l] - p->base;
                wrong |= (uint64_t)(at > last) | (t->address[l] & low_bits);
                skew |= t->address[l] - first - (uint64_t)l * t->bytes; low = at < low ? at : low;
                high = at > high ? at : high;);
    t->dense = t->mask == UINT32_MAX && !skew;
    t->low = low, t->high = high + t->bytes;
    return !wrong;
}

SIM_CLONES static void fill(SimTouch *t, const AccessPiece *p) {
    uint8_t *bytes = p->bytes, *poison = p->poison;
    uint64_t base = p->base;
    SimSpace space = p->space;
    SIM_EACH_OF(t->mask, t->host[l] = bytes + (t->address[l] - base);
                t->poison_at[l] = t->address[l] - base; t->poison[l] = poison;
                t->lane_space[l] = space;);
}

bool sim_touch_is_clean(const SimTouch *t) {
    return t->bits && t->high - t->low <= CLEAN_MAX &&
           !sim_poison_any(t->bits, t->low, t->high - t->low);
}

// ---- The general path: lane by lane ----

static SimFaultKind why_not(const SimTouch *t, uint32_t l) {
    if (!t->host[l]) return SIM_FAULT_BOUNDS;
    return t->lane_space[l] == SIM_SPACE_SHARED ? SIM_FAULT_ENDED_BLOCK : SIM_FAULT_READONLY;
}

static bool touch_each(SimWarp *w, const SimInstr *i, SimTouch *t) {
    classify(t);
    uint32_t misaligned = 0, outside = 0;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(t->mask >> l & 1)) continue;
        if (t->address[l] & (t->bytes - 1)) misaligned |= 1u << l;
        t->host[l] = NULL, t->owner[l] = (uint8_t)w->block->rank;
        if (!place(w, t, l)) outside |= 1u << l;
    }
    if (w->run->access_observed) notify_access(w, i, t);
    if (misaligned) fault(w, i, t, misaligned, SIM_FAULT_ALIGN);
    if (outside) fault(w, i, t, outside, why_not(t, sim_first_lane(outside)));
    return !misaligned && !outside;
}

bool sim_touch(SimWarp *w, const SimInstr *i, SimTouch *t) {
    AccessPiece p;
    w->run->changes += is_write(t->kind);
    t->dense = false, t->bits = NULL;
    if (!find_piece(w, t, &p) || !all_within(t, &p)) {
        t->dense = false;
        return touch_each(w, i, t);
    }
    t->bits = p.poison;
    fill(t, &p);
    if (w->run->access_observed) notify_space(w, i, t, p.space, w->block->rank, t->mask);
    return true;
}

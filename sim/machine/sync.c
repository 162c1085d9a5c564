// Communication between lanes of a warp, fences, and miscellaneous instructions.
#include <string.h>

#include "sim/machine/ops.h"

// The lane that lane l reads from; -1: itself, and the predicate is false.
static int32_t shfl_source(const SimShflOp *op, uint32_t l, uint32_t lane, uint32_t clamp) {
    uint32_t segment = clamp >> 8 & 31, c = clamp & 31;
    int32_t from = 0, last = (int32_t)((l & segment) | (c & ~segment));
    int32_t first = (int32_t)(l & segment), at = (int32_t)(lane & 31);
    switch (op->mode) {
    case SIM_SHFL_UP: from = (int32_t)l - at; return from >= last ? from : -1;
    case SIM_SHFL_DOWN: from = (int32_t)l + at; break;
    case SIM_SHFL_BFLY: from = (int32_t)l ^ at; break;
    case SIM_SHFL_IDX: from = first | (at & (int32_t)~segment); break;
    }
    return from <= last ? from : -1;
}

// An inactive lane contributes the contents of its register; the hardware does the same, without a
// guarantee.
void sim_shfl(SimWarp *w, const SimInstr *i) {
    const SimShflOp *op = i->detail;
    uint32_t value[SIM_LANES], good = 0, poison = 0;
    memcpy(value, w->regs + op->value.at, sizeof value);
    LaneU32 *d = SIM_REG(w, i->d, LaneU32);
    const LaneU32 *lane = SIM_REG(w, op->lane, LaneU32), *clamp = SIM_REG(w, op->clamp, LaneU32);
    uint32_t bad = w->poison ? sim_poison_of(w, op->value) | ~w->mask : 0;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(w->mask >> l & 1)) continue;
        int32_t from = shfl_source(op, l, lane[l], clamp[l]);
        uint32_t at = from < 0 ? l : (uint32_t)from & 31;
        if (from >= 0) good |= 1u << l;
        poison |= (bad >> at & 1) << l;
        d[l] = value[at];
    }
    if (op->other.number >= 0) sim_set_pred(w, op->other, good);
    if (!w->poison) return;
    poison |= sim_poison_of(w, op->lane) | sim_poison_of(w, op->clamp);
    sim_poison_put(w, i->d, poison);
    sim_poison_put(w, op->other, 0);
}

static uint32_t voted(const SimWarp *w, const SimInstr *i) {
    return sim_pred(w, i->a, i->flags & SIM_NOT_A) & w->mask;
}
static void spread(SimWarp *w, const SimInstr *i) {
    if (w->poison) sim_poison_put(w, i->d, sim_poison_of(w, i->a) & w->mask ? UINT32_MAX : 0);
}
void sim_vote_all(SimWarp *w, const SimInstr *i) {
    spread(w, i);
    sim_set_pred(w, i->d, voted(w, i) == w->mask ? UINT32_MAX : 0);
}
void sim_vote_any(SimWarp *w, const SimInstr *i) {
    spread(w, i);
    sim_set_pred(w, i->d, voted(w, i) ? UINT32_MAX : 0);
}
void sim_vote_uni(SimWarp *w, const SimInstr *i) {
    spread(w, i);
    uint32_t v = voted(w, i);
    sim_set_pred(w, i->d, v == 0 || v == w->mask ? UINT32_MAX : 0);
}
void sim_vote_ballot(SimWarp *w, const SimInstr *i) {
    spread(w, i);
    uint32_t v = voted(w, i);
    LaneU32 *d = SIM_REG(w, i->d, LaneU32);
    SIM_EACH_LANE(w, d[l] = v;);
}

static uint64_t value_at(const SimWarp *w, const SimInstr *i, uint32_t l) {
    return i->type == SIM_B64 ? SIM_REG(w, i->a, LaneU64)[l] : SIM_REG(w, i->a, LaneU32)[l];
}
static uint32_t equals(const SimWarp *w, const SimInstr *i, uint32_t l) {
    uint32_t mask = 0;
    for (uint32_t n = 0; n < SIM_LANES; n++)
        if ((w->mask >> n & 1) && value_at(w, i, n) == value_at(w, i, l)) mask |= 1u << n;
    return mask;
}
void sim_match_any(SimWarp *w, const SimInstr *i) {
    uint32_t out[SIM_LANES] = {0};
    for (uint32_t l = 0; l < SIM_LANES; l++)
        if (w->mask >> l & 1) out[l] = equals(w, i, l);
    LaneU32 *d = SIM_REG(w, i->d, LaneU32);
    spread(w, i);
    SIM_EACH_LANE(w, d[l] = out[l];);
}
// Operand e: the predicate of "d|p".
void sim_match_all(SimWarp *w, const SimInstr *i) {
    uint32_t same = equals(w, i, sim_first_lane(w->mask));
    bool all = same == w->mask;
    LaneU32 *d = SIM_REG(w, i->d, LaneU32);
    spread(w, i);
    SIM_EACH_LANE(w, d[l] = all ? same : 0;);
    if (i->e.number >= 0) sim_set_pred(w, i->e, all ? UINT32_MAX : 0);
    if (w->poison) sim_poison_put(w, i->e, sim_poison_of(w, i->d));
}

// immediate: a SimAtom.
void sim_redux(SimWarp *w, const SimInstr *i) {
    const LaneU32 *a = SIM_REG(w, i->a, LaneU32);
    uint32_t r = a[sim_first_lane(w->mask)], first = sim_first_lane(w->mask);
    bool sign = i->type == SIM_S32;
    for (uint32_t l = first + 1; l < SIM_LANES; l++) {
        if (!(w->mask >> l & 1)) continue;
        uint32_t x = a[l];
        bool less = sign ? (int32_t)x < (int32_t)r : x < r;
        switch (i->immediate) {
        case SIM_ATOM_ADD: r += x; break;
        case SIM_ATOM_MIN: r = less ? x : r; break;
        case SIM_ATOM_MAX: r = less ? r : x; break;
        case SIM_ATOM_AND: r &= x; break;
        case SIM_ATOM_OR: r |= x; break;
        default: r ^= x; break;
        }
    }
    LaneU32 *d = SIM_REG(w, i->d, LaneU32);
    spread(w, i);
    SIM_EACH_LANE(w, d[l] = r;);
}

void sim_activemask(SimWarp *w, const SimInstr *i) {
    LaneU32 *d = SIM_REG(w, i->d, LaneU32);
    uint32_t mask = w->mask;
    SIM_EACH_LANE(w, d[l] = mask;);
}

// d (may be absent): the elected lane; e: is it this one?
void sim_elect(SimWarp *w, const SimInstr *i) {
    uint32_t first = sim_first_lane(w->mask);
    if (i->d.number >= 0) {
        LaneU32 *d = SIM_REG(w, i->d, LaneU32);
        SIM_EACH_LANE(w, d[l] = first;);
    }
    sim_set_pred(w, i->e, 1u << first);
    if (!w->poison) return;
    sim_poison_put(w, i->d, 0);
    sim_poison_put(w, i->e, 0);
}

void sim_warp_sync(SimWarp *w, const SimInstr *i) {
    SimPlace at = sim_place(w, i);
    SIM_NOTIFY(w->run, warp_sync, &at, w->mask);
}

// detail: the kind of fence; immediate: its scope.
void sim_fence(SimWarp *w, const SimInstr *i) {
    const SimFence *kind = i->detail;
    SimPlace at = sim_place(w, i);
    SIM_NOTIFY(w->run, fence, &at, w->mask, *kind, (SimScope)i->immediate);
}

void sim_nothing(SimWarp *w, const SimInstr *i) { (void)w, (void)i; }
void sim_yield(SimWarp *w, const SimInstr *i) {
    (void)i;
    w->yield = true;
}
void sim_trap(SimWarp *w, const SimInstr *i) {
    sim_fail(w, i, (SimFault){.kind = SIM_FAULT_TRAP, .mask = w->mask},
             "the kernel trapped (thread %u of block %llu)",
             w->index * SIM_LANES + sim_first_lane(w->mask), (unsigned long long)w->block->linear);
}
// A clock that counts steps: it advances, but does not measure time.
void sim_clock(SimWarp *w, const SimInstr *i) {
    uint64_t now = w->run->steps;
    if (i->type == SIM_U64) {
        LaneU64 *d = SIM_REG(w, i->d, LaneU64);
        SIM_EACH_LANE(w, d[l] = now;);
    } else {
        LaneU32 *d = SIM_REG(w, i->d, LaneU32);
        SIM_EACH_LANE(w, d[l] = (uint32_t)now;);
    }
    if (w->poison) sim_poison_put(w, i->d, 0);
    w->yield = true;  // a thread that reads the clock may be waiting for others
}

// cvta and isspacep; immediate: the base of the window.
void sim_cvta_from(SimWarp *w, const SimInstr *i) {
    LaneU64 *d = SIM_REG(w, i->d, LaneU64);
    const LaneU64 *a = SIM_REG(w, i->a, LaneU64);
    uint64_t base = i->immediate;
    SIM_EACH_LANE(w, d[l] = a[l] | base;);
}
void sim_cvta_to(SimWarp *w, const SimInstr *i) {
    LaneU64 *d = SIM_REG(w, i->d, LaneU64);
    const LaneU64 *a = SIM_REG(w, i->a, LaneU64);
    SIM_EACH_LANE(w, d[l] = a[l] & ~SIM_WINDOW_MASK;);
}
void sim_isspacep(SimWarp *w, const SimInstr *i) {
    const LaneU64 *a = SIM_REG(w, i->a, LaneU64);
    uint32_t r = 0;
    for (uint32_t l = 0; l < SIM_LANES; l++)
        r |= (uint32_t)((a[l] & SIM_WINDOW_MASK) == i->immediate) << l;
    sim_set_pred(w, i->d, r);
}

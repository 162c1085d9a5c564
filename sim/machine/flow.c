#include "sim/machine/flow.h"

#include "sim/machine/hopper/bulk.h"
#include "sim/machine/hopper/cluster.h"

enum { DIVERGED_SLICE = 32, SPINS_MAX = 64 };

static uint32_t guard_lanes(const SimWarp *w, const SimInstr *i, uint32_t mask) {
    if (i->guard.number < 0) return mask;
    uint32_t p = SIM_PRED(w, i->guard);
    return mask & (i->flags & SIM_NOT_GUARD ? ~p : p);
}

static void remove_fragment(SimWarp *w, uint32_t index) {
    for (uint32_t n = index + 1; n < w->fragment_count; n++) w->fragments[n - 1] = w->fragments[n];
    w->fragment_count--;
}

static void set_join(SimWarp *w, SimFragment *f, int32_t join) {
    f->join = join;
    f->stop = join < 0 ? UINT32_MAX : w->joins[join].pc;
}

// When all lanes of a join have arrived, they become a fragment again, in the place of the one that
// arrived last.
static void complete(SimWarp *w, int32_t join, uint32_t index) {
    SimJoin *j = &w->joins[join];
    SimFragment f = {.pc = j->pc, .mask = j->arrived};
    set_join(w, &f, j->parent);
    j->expected = j->arrived = 0;  // free
    for (uint32_t n = w->fragment_count; n > index; n--) w->fragments[n] = w->fragments[n - 1];
    w->fragments[index] = f;
    w->fragment_count++;
    sim_fragment_reconverge(w, index);  // the parent may be waiting at this pc
}

void sim_fragment_reconverge(SimWarp *w, uint32_t index) {
    SimFragment *f = &w->fragments[index];
    if (f->pc != f->stop) return;
    int32_t join = f->join;
    SimJoin *j = &w->joins[join];
    j->arrived |= f->mask;
    remove_fragment(w, index);
    if (j->arrived == j->expected) complete(w, join, index);
}

static int32_t new_join(SimWarp *w, uint32_t pc, uint32_t mask, int32_t parent) {
    uint32_t n = 0;
    while (n < w->join_count && w->joins[n].expected) n++;
    if (n == SIM_JOINS) return SIM_NO_JOIN;  // does not happen: lanes diverge less often than that
    if (n == w->join_count) w->join_count++;
    w->joins[n] = (SimJoin){.pc = pc, .expected = mask, .parent = parent};
    return (int32_t)n;
}

// Splits a fragment in two; both stop where they reconverge.
static void part(SimWarp *w, uint32_t index, const SimInstr *i, uint32_t taken, uint32_t target) {
    SimFragment *f = &w->fragments[index];
    uint32_t end = w->run->launch->kernel->code_count;
    if (i->join < end && f->stop != i->join) set_join(w, f, new_join(w, i->join, f->mask, f->join));
    SimFragment other = *f;
    other.mask = taken, other.pc = target;
    f->mask &= ~taken;
    f->pc++;
    for (uint32_t n = w->fragment_count; n > index + 1; n--) w->fragments[n] = w->fragments[n - 1];
    w->fragments[index + 1] = other;
    w->fragment_count++;
    // Handle the later one first: reconverging may remove it, and even complete the join.
    sim_fragment_reconverge(w, index + 1);
    if (w->fragments[index].pc == w->fragments[index].stop) sim_fragment_reconverge(w, index);
}

static void branch(SimWarp *w, uint32_t index, const SimInstr *i, uint32_t taken, uint32_t target) {
    SimFragment *f = &w->fragments[index];
    if (taken && taken != f->mask) {
        part(w, index, i, taken, target);
        return;
    }
    f->pc = taken ? target : f->pc + 1;
    sim_fragment_reconverge(w, index);
}

// Each distinct target takes its lanes; the remaining lanes continue as the fragment.
static void jump_by_index(SimWarp *w, uint32_t index, const SimInstr *i) {
    const SimSwitch *s = i->detail;
    const LaneU32 *to = SIM_REG(w, i->a, LaneU32);
    SimFragment *f = &w->fragments[index];
    uint32_t mask = f->mask, first = to[sim_first_lane(mask)], taken = 0;
    if (first >= s->count) {
        sim_fail(w, i, (SimFault){.kind = SIM_FAULT_USE, .mask = mask},
                 "brx.idx: index %u of a list of %u targets", first, s->count);
        return;
    }
    for (uint32_t l = 0; l < SIM_LANES; l++)
        if ((mask >> l & 1) && to[l] == first) taken |= 1u << l;
    if (taken == mask) {
        f->pc = s->targets[first];
        sim_fragment_reconverge(w, index);
        return;
    }
    // The other lanes execute the same instruction again, with fewer lanes.
    f->pc--;
    part(w, index, i, taken, s->targets[first]);
}

static void leave(SimWarp *w, uint32_t index, uint32_t lanes) {
    SimFragment *f = &w->fragments[index];
    w->live &= ~lanes;
    w->run->changes++;
    w->block->running -= !w->live;
    if (!w->block->running) sim_bulk_block_ends(w, &w->run->launch->kernel->code[f->pc]);
    f->mask &= ~lanes;
    bool gone = !f->mask;
    f->pc++;
    if (gone) remove_fragment(w, index);
    for (uint32_t n = 0; n < w->join_count; n++) w->joins[n].expected &= ~lanes;
    for (uint32_t n = 0; n < w->join_count; n++) {
        SimJoin *j = &w->joins[n];
        if (j->expected && j->arrived == j->expected)
            complete(w, (int32_t)n, index < w->fragment_count ? index : w->fragment_count);
    }
    if (!gone) {
        for (uint32_t n = 0; n < w->fragment_count; n++)
            if (w->fragments[n].pc == w->fragments[n].stop) sim_fragment_reconverge(w, n);
    }
    sim_barriers_check(w->block);
    sim_cluster_barrier_check(w->run);
}

// ---- Collectives ----

static uint32_t members_of(const SimWarp *w, const SimInstr *i, uint32_t mask) {
    if (i->b.number < 0) return w->live;
    const LaneU32 *m = SIM_REG(w, i->b, LaneU32);
    return m[sim_first_lane(mask)] & w->live;
}

// A lane that executes a collective must be one of its members.
static bool are_members(SimWarp *w, const SimInstr *i, uint32_t mask) {
    if (i->b.number < 0) return true;
    const LaneU32 *m = SIM_REG(w, i->b, LaneU32);
    uint32_t others = mask & ~m[sim_first_lane(mask)];
    while (others && m[sim_first_lane(others)] >> sim_first_lane(others) & 1) others &= others - 1;
    if (!others) return true;
    sim_fail(w, i, (SimFault){.kind = SIM_FAULT_USE, .mask = others},
             "'%s': lane %u of warp %u executes it and is not in its mask %08x", i->name,
             sim_first_lane(others), w->index, (unsigned)m[sim_first_lane(others)]);
    return false;
}

// Runs the handler for all members when all of them have arrived, possibly in several fragments.
// Operand b of the instruction is the mask of members.
static bool collect(SimWarp *w, SimFragment *f, const SimInstr *i, uint32_t mask) {
    if (!are_members(w, i, mask)) return false;
    uint32_t members = members_of(w, i, mask), here = mask;
    if (members & ~here)
        for (uint32_t n = 0; n < w->fragment_count; n++)
            if (w->fragments[n].pc == f->pc && w->fragments[n].state == SIM_AT_COLLECTIVE)
                here |= guard_lanes(w, i, w->fragments[n].mask);
    if (members & ~here) {
        f->state = SIM_AT_COLLECTIVE;
        return false;
    }
    w->mask = here & (members | mask);
    i->run(w, i);
    if (w->poison && !(i->flags & SIM_OWN_POISON)) sim_poison_flow(w, i);
    uint32_t pc = f->pc;
    for (uint32_t n = 0; n < w->fragment_count; n++) {
        SimFragment *other = &w->fragments[n];
        if (other == f || other->pc != pc || other->state != SIM_AT_COLLECTIVE) continue;
        if (other->mask & ~(here & (members | mask))) continue;
        other->state = SIM_RUNS;
        other->pc++;
    }
    f->state = SIM_RUNS;
    return true;
}

// An aligned barrier is for the whole warp: diverged lanes wait here for the others. False: some
// have not arrived.
static bool warp_is_here(SimWarp *w, SimFragment *f, const SimInstr *i, uint32_t mask) {
    uint32_t here = mask;
    for (uint32_t n = 0; n < w->fragment_count; n++)
        if (w->fragments[n].pc == f->pc && w->fragments[n].state != SIM_RUNS)
            here |= w->fragments[n].mask;
    bool go = !(i->flags & SIM_UNIFORM) || (w->live & ~here) == 0 || w->force;
    if (go) w->force = false;
    f->state = go ? SIM_RUNS : SIM_AT_COLLECTIVE;
    return go;
}

// False: the instruction must run again later.
static bool try_to_go_on(SimWarp *w, SimFragment *f, const SimInstr *i, uint32_t mask) {
    if (!warp_is_here(w, f, i, mask)) return false;
    w->retry = false;
    i->run(w, i);
    f->state = w->retry ? SIM_AT_COLLECTIVE : SIM_RUNS;
    return !w->retry;
}

// ---- Steps ----

static void check_guard(SimWarp *w, const SimInstr *i, uint32_t mask) {
    w->mask = mask;
    sim_poison_check(w, i, i->guard, SIM_POISON_BRANCH);
}

static void notify_step(SimWarp *w, const SimInstr *i, uint32_t mask) {
    SimPlace at = sim_place(w, i);
    SIM_NOTIFY(w->run, step, &at, mask);
}

// Runs one instruction of a fragment. False: the fragment cannot continue now, or does not exist
// any more.
static bool step(SimWarp *w, uint32_t index, const SimInstr *i) {
    SimFragment *f = &w->fragments[index];
    uint32_t mask = guard_lanes(w, i, f->mask);
    if (w->poison && i->guard.number >= 0) check_guard(w, i, f->mask);
    if (w->run->step_observed && f->state == SIM_RUNS) notify_step(w, i, mask);
    w->run->lane_steps += sim_lane_count(mask);
    w->mask = mask;
    switch ((SimFlow)i->flow) {
    case SIM_WAIT:
        if (mask && !try_to_go_on(w, f, i, mask)) return false;
        break;
    case SIM_NEXT:
        if (mask) {
            i->run(w, i);
            if (w->poison && !(i->flags & SIM_OWN_POISON)) sim_poison_flow(w, i);
        }
        break;
    case SIM_JUMP: f->pc = i->target; return sim_fragment_reconverge(w, index), false;
    case SIM_BRANCH: return branch(w, index, i, mask, i->target), false;
    case SIM_SWITCH:
        if (w->poison) sim_poison_check(w, i, i->a, SIM_POISON_BRANCH);
        return jump_by_index(w, index, i), false;
    case SIM_EXIT:
        if (!mask) break;
        return leave(w, index, mask), false;
    case SIM_BARRIER:
        if (mask && (!warp_is_here(w, f, i, mask) || !sim_barrier_arrive(w, f, i, mask)))
            return false;
        break;
    case SIM_COLLECT:
        if (mask && !collect(w, f, i, mask)) return false;
        break;
    }
    f->pc++;
    if (f->pc != f->stop) return true;
    return sim_fragment_reconverge(w, index), false;
}

static bool over_limit(SimWarp *w, const SimInstr *i) {
    SimRun *run = w->run;
    if (!run->launch->step_limit || run->steps <= run->launch->step_limit) return false;
    sim_fail(w, i, (SimFault){.kind = SIM_FAULT_LIMIT},
             "the launch ran %llu warp instructions without an end: the limit",
             (unsigned long long)run->steps);
    return true;
}

// Must the fragment stop after a successful instruction?
static inline bool interrupted(const SimWarp *w) {
    return w->run->stop | w->yield | (w->spins > SPINS_MAX);
}

// Runs instructions that only call their handlers, up to the next other one or a join.
static uint32_t run_straight(SimWarp *w, SimFragment *f, const SimInstr *code, uint32_t steps) {
    SimRun *run = w->run;
    const bool watched = run->step_observed, poison = w->poison != NULL;
    uint32_t done = 0, pc = f->pc;
    uint64_t lanes = 0;
    while (done < steps && code[pc].flow == SIM_NEXT && !interrupted(w)) {
        const SimInstr *i = &code[pc];
        uint32_t mask = guard_lanes(w, i, f->mask);
        if (poison && i->guard.number >= 0) check_guard(w, i, f->mask);
        if (watched) notify_step(w, i, mask);
        w->mask = mask;
        if (mask) {
            i->run(w, i);
            if (poison && !(i->flags & SIM_OWN_POISON)) sim_poison_flow(w, i);
        }
        lanes += sim_lane_count(mask);
        done++;
        if (++pc == f->stop) break;
    }
    f->pc = pc;
    run->lane_steps += lanes, run->steps += done;
    return done;
}

// Straight code and uniform jumps of whole fragments stay in this function.
static uint32_t run_fragment(SimWarp *w, uint32_t index, uint32_t steps) {
    const SimInstr *code = w->run->launch->kernel->code;
    uint32_t done = 0;
    w->yield = false;
    while (done < steps && !interrupted(w)) {
        uint32_t count = w->fragment_count;
        if (index >= count || w->fragments[index].state == SIM_AT_BARRIER) break;
        SimFragment *f = &w->fragments[index];
        if (f->state == SIM_RUNS && code[f->pc].flow == SIM_NEXT) {
            done += run_straight(w, f, code, steps - done);
            if (f->pc == f->stop) {
                sim_fragment_reconverge(w, index);
                break;
            }
            continue;
        }
        uint32_t mask = w->fragments[index].mask;
        const SimInstr *i = &code[w->fragments[index].pc];
        bool collecting = w->fragments[index].state == SIM_AT_COLLECTIVE;
        bool on = step(w, index, i);
        if (collecting && !on && w->fragment_count == count &&
            w->fragments[index].state == SIM_AT_COLLECTIVE)
            break;
        done++;
        w->run->steps++;
        if (on) continue;
        if (over_limit(w, i)) break;
        // Go on with the same lanes, or else let the other fragments run.
        if (w->fragment_count != count || w->fragments[index].mask != mask ||
            w->fragments[index].state != SIM_RUNS)
            break;
    }
    return done;
}

// The lanes that wait at a join may be the ones that others wait for (such as a lock's holder,
// after the loop that takes the lock). So when the others poll many times, lanes at joins continue
// without them.
static void let_go(SimWarp *w) {
    w->spins = 0;
    for (uint32_t n = 0; n < w->join_count; n++) {
        SimJoin *j = &w->joins[n];
        if (!j->expected || !j->arrived || w->fragment_count == SIM_FRAGMENTS) continue;
        SimFragment f = {.pc = j->pc, .mask = j->arrived};
        set_join(w, &f, j->parent);
        j->expected &= ~j->arrived;
        j->arrived = 0;
        w->fragments[w->fragment_count++] = f;
        sim_fragment_reconverge(w, w->fragment_count - 1);
    }
}

bool sim_warp_run(SimWarp *w, uint32_t steps) {
    uint32_t done = 0;
    if (w->spins > SPINS_MAX) let_go(w);
    // Parts of a warp may wait for each other in loops, so each runs only a few instructions at a
    // time.
    if (w->fragment_count > 1 && steps > DIVERGED_SLICE) steps = DIVERGED_SLICE;
    // From the last to the first: lanes that diverged last reconverge first.
    for (uint32_t n = w->fragment_count; n-- > 0 && !w->run->stop;)
        if (n < w->fragment_count) done += run_fragment(w, n, steps);
    return done > 0;
}

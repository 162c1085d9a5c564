// Branches, barriers, waits, modes, and moves between lanes.
#include <string.h>

#include "sim/amd/wave.h"

// ---- Branches ----

static void branch_if(AmdWave *w, const AmdInstr *i, bool holds, bool poison) {
    if (poison) amd_report_poison(w, i, SIM_POISON_BRANCH, amd_exec(w));
    if (holds) w->pc = i->target;
}
static bool vcc_any(const AmdWave *w, const uint32_t *from) {
    return from[AMD_VCC] || (w->lanes == 64 && from[AMD_VCC + 1]);
}
void amd_branch(AmdWave *w, const AmdInstr *i) { branch_if(w, i, true, false); }
void amd_branch_scc0(AmdWave *w, const AmdInstr *i) { branch_if(w, i, !w->scc, w->scc_poison); }
void amd_branch_scc1(AmdWave *w, const AmdInstr *i) { branch_if(w, i, w->scc, w->scc_poison); }
void amd_branch_vccz(AmdWave *w, const AmdInstr *i) {
    branch_if(w, i, !vcc_any(w, w->scalars), vcc_any(w, w->scalar_shadows));
}
void amd_branch_vccnz(AmdWave *w, const AmdInstr *i) {
    branch_if(w, i, vcc_any(w, w->scalars), vcc_any(w, w->scalar_shadows));
}
void amd_branch_execz(AmdWave *w, const AmdInstr *i) { branch_if(w, i, !amd_exec(w), false); }
void amd_branch_execnz(AmdWave *w, const AmdInstr *i) { branch_if(w, i, amd_exec(w), false); }

void amd_endpgm(AmdWave *w, const AmdInstr *i) {
    (void)i;
    amd_land_all(w);
    w->state = AMD_ENDED;
}

void amd_trap(AmdWave *w, const AmdInstr *i) {
    amd_fail(w, i, (SimFault){.kind = SIM_FAULT_TRAP}, "the kernel trapped");
}

// ---- Barriers ----
// At a barrier, a wave arrives and waits until all waves that have not ended have arrived. Since
// gfx12 these are two instructions.

static void signal_barrier(AmdWave *w) { w->signaled = w->group->phase + 1; }

void amd_barrier(AmdWave *w, const AmdInstr *i) {
    (void)i;
    signal_barrier(w);
    w->state = AMD_AT_BARRIER;
}
void amd_barrier_signal(AmdWave *w, const AmdInstr *i) {
    if (i->s[0].kind != AMD_CONSTANT || (int32_t)i->s[0].value != -1) {
        amd_fail(w, i, (SimFault){.kind = SIM_FAULT_USE},
                 "only the workgroup's barrier is simulated");
        return;
    }
    signal_barrier(w);
}
void amd_barrier_wait(AmdWave *w, const AmdInstr *i) {
    if (!w->signaled) {
        amd_fail(w, i, (SimFault){.kind = SIM_FAULT_USE},
                 "a wave waits at the barrier without a signal to it");
        return;
    }
    if (w->group->phase < w->signaled)
        w->state = AMD_AT_BARRIER;
    else
        w->signaled = 0;
}

// ---- Waits and fences ----

static void fence(AmdWave *w, const AmdInstr *i, SimFence kind, SimScope scope) {
    SimPlace at = amd_place(w, i);
    SIM_NOTIFY(w->run, fence, &at, amd_exec(w), kind, scope);
}
static SimScope scope_of(const AmdInstr *i) { return (SimScope)i->immediate; }

void amd_wait(AmdWave *w, const AmdInstr *i) {
    const AmdWait *wait = i->detail;
    amd_land(w, wait->counts);
    // A release needs this: all stores of the wave are visible.
    bool all = w->kernel->generation >= 10 ? wait->counts[AMD_COUNT_STORE] == 0
                                           : wait->counts[AMD_COUNT_LOAD] == 0;
    if (all) fence(w, i, SIM_FENCE_RELEASE, SIM_SCOPE_GPU);
}

void amd_write_back(AmdWave *w, const AmdInstr *i) { fence(w, i, SIM_FENCE_RELEASE, scope_of(i)); }
void amd_invalidate(AmdWave *w, const AmdInstr *i) { fence(w, i, SIM_FENCE_ACQUIRE, scope_of(i)); }
// Those of gfx12 are counted as a load, and as a store if they write back.
void amd_invalidate_counted(AmdWave *w, const AmdInstr *i) {
    amd_pending_new(w, i, AMD_CLASS_VECTOR, 0);
    fence(w, i, SIM_FENCE_ACQUIRE, scope_of(i));
}
void amd_write_back_counted(AmdWave *w, const AmdInstr *i) {
    amd_pending_new(w, i, AMD_CLASS_STORE, 0);
    fence(w, i, SIM_FENCE_RELEASE, scope_of(i));
}
void amd_both_counted(AmdWave *w, const AmdInstr *i) {
    amd_pending_new(w, i, AMD_CLASS_STORE, 0);
    fence(w, i, SIM_FENCE_MEMORY, scope_of(i));
}

// ---- The MODE register, of which the low 8 bits are modelled ----

static uint32_t width_of(const AmdInstr *i) { return (uint32_t)(i->immediate >> 8 & 63); }
static uint32_t offset_of(const AmdInstr *i) { return (uint32_t)(i->immediate & 31); }

void amd_setreg(AmdWave *w, const AmdInstr *i) {
    uint32_t width = width_of(i), offset = offset_of(i);
    uint32_t field = width >= 32 ? UINT32_MAX : ((1u << width) - 1) << offset;
    uint32_t value = (uint32_t)amd_scalar(w, &i->s[0], 1) << offset;
    w->mode = (w->mode & ~field) | (value & field);
    if (w->mode & 15)
        amd_fail(w, i, (SimFault){.kind = SIM_FAULT_USE},
                 "only rounding to the nearest is simulated");
}
void amd_getreg(AmdWave *w, const AmdInstr *i) {
    uint32_t width = width_of(i);
    uint32_t value = w->mode >> offset_of(i) & (width >= 32 ? UINT32_MAX : (1u << width) - 1);
    amd_scalar_put(w, i, &i->d[0], 1, value, 0);
}
void amd_set_mode(AmdWave *w, const AmdInstr *i) {
    bool denormals = i->row->name[2] == 'd';
    uint32_t bits = (uint32_t)i->immediate & 15;
    w->mode = denormals ? (w->mode & ~0xf0u) | bits << 4 : (w->mode & ~15u) | bits;
    if (w->mode & 15)
        amd_fail(w, i, (SimFault){.kind = SIM_FAULT_USE},
                 "only rounding to the nearest is simulated");
}

void amd_clock(AmdWave *w, const AmdInstr *i) {
    amd_scalar_put(w, i, &i->d[0], 2, w->run->steps, 0);
}

// ---- Between lanes ----

void amd_readfirstlane(AmdWave *w, const AmdInstr *i) {
    uint64_t exec = amd_exec(w);
    uint32_t l = exec ? (uint32_t)__builtin_ctzll(exec) : 0;
    amd_scalar_put(w, i, &i->d[0], 1, amd_word(w, &i->s[0], 0, l),
                   amd_word_poison(w, &i->s[0], 0, l));
}

static uint32_t lane_named(AmdWave *w, const AmdInstr *i, const AmdOperand *o) {
    if (amd_scalar_poison(w, o, 1)) amd_report_poison(w, i, SIM_POISON_MEMBERS, amd_exec(w));
    return (uint32_t)amd_scalar(w, o, 1) & (w->lanes - 1);
}
void amd_readlane(AmdWave *w, const AmdInstr *i) {
    uint32_t l = lane_named(w, i, &i->s[1]);
    amd_scalar_put(w, i, &i->d[0], 1, amd_word(w, &i->s[0], 0, l),
                   amd_word_poison(w, &i->s[0], 0, l));
}
void amd_writelane(AmdWave *w, const AmdInstr *i) {
    uint32_t l = lane_named(w, i, &i->s[1]), values[AMD_LANES], poison[AMD_LANES];
    values[l] = (uint32_t)amd_scalar(w, &i->s[0], 1);
    poison[l] = (uint32_t)amd_scalar_poison(w, &i->s[0], 1);
    amd_put_word(w, &i->d[0], 0, UINT64_C(1) << l, values, poison);
}

// Copies each lane's value and poison from another lane; `from` AMD_LANES: 0.
static void gather(AmdWave *w, const AmdInstr *i, const AmdOperand *source, const uint32_t *from,
                   const uint32_t *selector_poison) {
    uint32_t values[AMD_LANES], poison[AMD_LANES];
    uint64_t exec = amd_exec(w);
    for (uint32_t l = 0; l < w->lanes; l++) {
        bool none = from[l] >= w->lanes;
        values[l] = none ? 0 : amd_word(w, source, 0, from[l]);
        poison[l] = none ? 0 : amd_word_poison(w, source, 0, from[l]);
        if (selector_poison && selector_poison[l]) poison[l] = UINT32_MAX;
    }
    amd_put_word(w, &i->d[0], 0, exec, values, poison);
}

void amd_permlane64(AmdWave *w, const AmdInstr *i) {
    uint32_t from[AMD_LANES];
    for (uint32_t l = 0; l < w->lanes; l++) from[l] = w->lanes == 64 ? l ^ 32 : l;
    gather(w, i, &i->s[0], from, NULL);
}

// Each lane of a row has four bits in two scalars, which select the source lane; x16 reads from the
// other row of the pair. The first bit of op_sel says that inactive lanes are read as well;
// otherwise the result is 0 or unchanged, as its second bit says.
void amd_permlane16(AmdWave *w, const AmdInstr *i) {
    uint64_t select = (uint32_t)amd_scalar(w, &i->s[1], 1) | amd_scalar(w, &i->s[2], 1) << 32;
    uint64_t exec = amd_exec(w), mask = 0;
    bool other = strncmp(i->row->name, "v_permlanex16", 13) == 0;
    bool inactive = i->op_sel & 1, zeros = i->op_sel & 2;
    uint32_t values[AMD_LANES], poison[AMD_LANES];
    if (amd_scalar_poison(w, &i->s[1], 1) || amd_scalar_poison(w, &i->s[2], 1))
        amd_report_poison(w, i, SIM_POISON_MEMBERS, exec);
    for (uint32_t l = 0; l < w->lanes; l++) {
        uint32_t row = (l & ~15u) ^ (other ? 16u : 0);
        uint32_t from = row + (uint32_t)(select >> (4 * (l & 15)) & 15);
        bool readable = inactive || exec >> from & 1;
        if (readable || zeros) mask |= UINT64_C(1) << l;
        values[l] = readable ? amd_word(w, &i->s[0], 0, from) : 0;
        poison[l] = readable ? amd_word_poison(w, &i->s[0], 0, from) : 0;
    }
    amd_put_word(w, &i->d[0], 0, mask & exec, values, poison);
}

// Swaps the odd rows of the result with the even rows of the operand.
void amd_permlane_swap(AmdWave *w, const AmdInstr *i) {
    uint32_t row = strncmp(i->row->name, "v_permlane32", 12) == 0 ? 32 : 16;
    uint32_t values[2][AMD_LANES], poison[2][AMD_LANES];
    for (uint32_t l = 0; l < w->lanes; l++) {
        bool odd = l & row;
        const AmdOperand *first = odd ? &i->s[0] : &i->d[0], *second = odd ? &i->s[0] : &i->d[0];
        uint32_t a = odd ? l ^ row : l, b = odd ? l : l ^ row;
        values[0][l] = amd_word(w, first, 0, a), poison[0][l] = amd_word_poison(w, first, 0, a);
        values[1][l] = amd_word(w, second, 0, b), poison[1][l] = amd_word_poison(w, second, 0, b);
    }
    amd_put_word(w, &i->d[0], 0, amd_exec(w), values[0], poison[0]);
    amd_put_word(w, &i->s[0], 0, amd_exec(w), values[1], poison[1]);
}

void amd_swap(AmdWave *w, const AmdInstr *i) {
    uint32_t values[2][AMD_LANES], poison[2][AMD_LANES];
    for (uint32_t l = 0; l < w->lanes; l++) {
        values[0][l] = amd_word(w, &i->s[0], 0, l),
        poison[0][l] = amd_word_poison(w, &i->s[0], 0, l);
        values[1][l] = amd_word(w, &i->d[0], 0, l),
        poison[1][l] = amd_word_poison(w, &i->d[0], 0, l);
    }
    amd_put_word(w, &i->d[0], 0, amd_exec(w), values[0], poison[0]);
    amd_put_word(w, &i->s[0], 0, amd_exec(w), values[1], poison[1]);
}

// Replaces one half of `to` by a half of `from`; for values and for poison.
static uint32_t with_half(uint32_t to, bool to_high, uint32_t from, bool from_high) {
    uint32_t shift = to_high ? 16 : 0, half = from >> (from_high ? 16 : 0) & 0xffff;
    return (to & ~(UINT32_C(0xffff) << shift)) | half << shift;
}

// Both may be halves of the same register.
void amd_swap_half(AmdWave *w, const AmdInstr *i) {
    const AmdOperand *to[] = {&i->d[0], &i->s[0]};
    uint32_t old[2][AMD_LANES], old_poison[2][AMD_LANES], values[AMD_LANES], poison[AMD_LANES];
    for (uint32_t n = 0; n < 2; n++)
        for (uint32_t l = 0; l < w->lanes; l++) {
            old[n][l] = amd_word(w, to[n], 0, l);
            old_poison[n][l] = amd_word_poison(w, to[n], 0, l);
        }
    for (uint32_t n = 0; n < 2; n++) {
        const AmdOperand *own = to[n], *other = to[!n];
        for (uint32_t l = 0; l < w->lanes; l++) {
            values[l] = with_half(amd_word(w, own, 0, l), own->high, old[!n][l], other->high);
            poison[l] =
                with_half(amd_word_poison(w, own, 0, l), own->high, old_poison[!n][l], other->high);
        }
        amd_put_word(w, own, 0, amd_exec(w), values, poison);
    }
}

// ---- Through the LDS hardware: results arrive like those of loads ----

AmdRun amd_bpermute, amd_permute, amd_swizzle;

static void exchange(AmdWave *w, const AmdInstr *i, const uint32_t *from, const AmdOperand *source,
                     const AmdOperand *selector) {
    AmdPending *p = amd_pending_new(w, i, AMD_CLASS_LDS, 1);
    uint64_t exec = amd_exec(w);
    p->kind = AMD_VECTOR, p->number = i->d[0].number, p->mask = exec;
    for (uint32_t l = 0; l < w->lanes; l++) {
        bool none = from[l] >= w->lanes || !(exec >> from[l] & 1);
        p->data[l] = none ? 0 : amd_word(w, source, 0, from[l]);
        p->data[AMD_LANES + l] = none ? 0 : amd_word_poison(w, source, 0, from[l]);
        if (selector && amd_word_poison(w, selector, 0, l)) p->data[AMD_LANES + l] = UINT32_MAX;
    }
    amd_pending_issue(w, p);
}

// gfx10 and later move only within each 32 of 64 lanes.
static uint32_t target_lane(const AmdWave *w, uint32_t l, uint32_t address) {
    uint32_t lane = address / 4 & (w->lanes - 1);
    return w->kernel->generation >= 10 && w->lanes == 64 ? (l & 32) + (lane & 31) : lane;
}

void amd_bpermute(AmdWave *w, const AmdInstr *i) {
    uint32_t from[AMD_LANES];
    for (uint32_t l = 0; l < w->lanes; l++)
        from[l] = target_lane(w, l, amd_word(w, &i->s[0], 0, l) + (uint32_t)i->immediate);
    exchange(w, i, from, &i->s[1], &i->s[0]);
}

// Writes to another lane; if several lanes write to one, the last wins.
void amd_permute(AmdWave *w, const AmdInstr *i) {
    uint32_t from[AMD_LANES];
    uint64_t exec = amd_exec(w), bad = 0;
    for (uint32_t l = 0; l < w->lanes; l++) from[l] = AMD_LANES;
    for (uint32_t l = 0; l < w->lanes; l++) {
        if (!(exec >> l & 1)) continue;
        if (amd_word_poison(w, &i->s[0], 0, l)) bad |= UINT64_C(1) << l;
        from[target_lane(w, l, amd_word(w, &i->s[0], 0, l) + (uint32_t)i->immediate)] = l;
    }
    if (bad) amd_report_poison(w, i, SIM_POISON_MEMBERS, bad);
    exchange(w, i, from, &i->s[1], NULL);
}

void amd_swizzle(AmdWave *w, const AmdInstr *i) {
    uint32_t from[AMD_LANES], offset = (uint32_t)i->immediate & 0xffff;
    for (uint32_t l = 0; l < w->lanes; l++) {
        uint32_t n = l & 31;
        uint32_t lane = offset & 0x8000
                            ? (n & ~3u) + (offset >> (2 * (n & 3)) & 3)
                            : ((n & (offset & 31)) | (offset >> 5 & 31)) ^ (offset >> 10 & 31);
        from[l] = (l & 32) + lane;
    }
    exchange(w, i, from, &i->s[0], NULL);
}

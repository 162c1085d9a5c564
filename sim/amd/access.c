// Maps lanes' addresses to host memory.
#include "sim/amd/wave.h"
#include "sim/machine/refuse.h"

static bool within(uint64_t address, uint64_t size, uint64_t bytes) {
    return address <= size && bytes <= size - address;
}

static bool is_write(SimAccessKind kind) {
    return kind == SIM_ACCESS_STORE || kind == SIM_ACCESS_ATOMIC || kind == SIM_ACCESS_ASYNC_START;
}

// The host address of one lane's access; false when there is none.
static bool place(AmdWave *w, AmdTouch *t, uint32_t l, SimRegion **last) {
    uint64_t a = t->address[l];
    if (t->lane_space[l] == SIM_SPACE_SHARED) {
        AmdGroup *g = w->group;
        if (!within(a, g->lds_bytes, t->bytes)) return false;
        t->host[l] = g->lds + a, t->poison[l] = g->lds_poison, t->poison_at[l] = a;
        return true;
    }
    if (t->lane_space[l] == SIM_SPACE_LOCAL) {
        if (!within(a, w->scratch_bytes, t->bytes)) return false;
        uint64_t at = (uint64_t)w->scratch_bytes * l + a;
        t->host[l] = w->scratch + at, t->poison[l] = w->scratch_poison, t->poison_at[l] = at;
        return true;
    }
    SimRegion *r = *last;
    if (!r || a < r->base || !within(a - r->base, r->size, t->bytes))
        r = *last = sim_memory_find(w->run->launch->memory, a, t->bytes);
    if (!r) return false;
    t->host[l] = r->bytes + (a - r->base);
    t->poison[l] = r->poison;
    t->poison_at[l] = a - r->base;
    return !r->constant || !is_write(t->kind);
}

// Arguments are stored in global memory, too, but observers count them as a space of their own.
static SimSpace global_or_param(const AmdWave *w, uint64_t address) {
    uint64_t offset = address - w->run->kernarg;
    return offset < w->kernel->source->descriptor.kernarg ? SIM_SPACE_PARAM : SIM_SPACE_GLOBAL;
}

static void classify(const AmdWave *w, AmdTouch *t, uint32_t l) {
    t->lane_space[l] = t->space == SIM_SPACE_GLOBAL ? global_or_param(w, t->address[l]) : t->space;
    if (t->space != SIM_SPACE_GENERIC) return;
    uint64_t window = t->address[l] & SIM_WINDOW_MASK;
    t->lane_space[l] = window == SIM_SHARED_BASE  ? SIM_SPACE_SHARED
                       : window == SIM_LOCAL_BASE ? SIM_SPACE_LOCAL
                                                  : SIM_SPACE_GLOBAL;
    if (t->lane_space[l] != SIM_SPACE_GLOBAL) t->address[l] &= UINT32_MAX;
}

static void fault(AmdWave *w, const AmdInstr *i, const AmdTouch *t, uint64_t lanes,
                  SimFaultKind kind) {
    uint32_t l = (uint32_t)__builtin_ctzll(lanes);
    SimFault f = {.kind = kind,
                  .space = t->lane_space[l],
                  .mask = lanes,
                  .address = t->address[l],
                  .bytes = t->bytes};
    char text[SIM_FAULT_TEXT];
    sim_fault_describe(text, &f, w->index * w->lanes + l, w->group->linear);
    amd_fail(w, i, f, "%s", text);
}

static void notify_access(AmdWave *w, const AmdInstr *i, const AmdTouch *t) {
    uint64_t left = t->mask;
    while (left) {
        SimSpace space = t->lane_space[__builtin_ctzll(left)];
        uint64_t mask = 0;
        for (uint32_t l = 0; l < w->lanes; l++)
            if (left >> l & 1 && t->lane_space[l] == space) mask |= UINT64_C(1) << l;
        left &= ~mask;
        SimAccess a = {.at = amd_place(w, i),
                       .space = space,
                       .kind = t->kind,
                       .order = t->order,
                       .scope = t->scope,
                       .mask = mask,
                       .lanes = w->lanes,
                       .bytes = t->bytes,
                       .address = t->address,
                       .data = t->data,
                       .there = t->host};
        SIM_NOTIFY(w->run, access, &a);
        if (w->run->late_observed) amd_pending_note_access(w, &a);
    }
}

bool amd_touch(AmdWave *w, const AmdInstr *i, AmdTouch *t) {
    uint64_t misaligned = 0, outside = 0;
    SimRegion *last = NULL;
    for (uint64_t left = t->mask; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctzll(left);
        classify(w, t, l);
        if (t->address[l] & (t->align - 1)) misaligned |= UINT64_C(1) << l;
        t->host[l] = NULL;
        if (!place(w, t, l, &last)) outside |= UINT64_C(1) << l;
    }
    if (w->run->access_observed && t->mask) notify_access(w, i, t);
    if (misaligned) fault(w, i, t, misaligned, SIM_FAULT_ALIGN);
    if (outside)
        fault(w, i, t, outside,
              t->host[__builtin_ctzll(outside)] ? SIM_FAULT_READONLY : SIM_FAULT_BOUNDS);
    return !misaligned && !outside;
}

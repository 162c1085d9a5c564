// Accesses outside every allocation, or at misaligned addresses.
#include "sim/observe/observe.h"

typedef struct ObserveBounds {
    SimObserver observer;
    SimFindings *findings;
    SimMemory *memory;
} ObserveBounds;

static void launch_begin(void *state, const SimLaunchFacts *launch) {
    ((ObserveBounds *)state)->memory = launch->memory;
}

// Host memory is below, memory of the simulated GPUs above this address.
static bool is_of_host(const SimFault *f) {
    enum { PAGES_AT_NULL = 1 << 16 };
    return f->space == SIM_SPACE_GLOBAL && f->address >= PAGES_AT_NULL &&
           f->address < UINT64_C(1) << 47;
}

static void outside(ObserveBounds *b, const SimFault *f) {
    if (is_of_host(f)) {
        sim_findings_add(b->findings, SIM_FINDING_BOUNDS, &f->at,
                         "%s: it is a host pointer, and a GPU cannot access host memory; give "
                         "the kernel a buffer of the device",
                         f->text);
        return;
    }
    const SimRegion *r = f->space == SIM_SPACE_GLOBAL && b->memory
                             ? sim_memory_nearest(b->memory, f->address)
                             : NULL;
    if (!r) {
        sim_findings_add(b->findings, SIM_FINDING_BOUNDS, &f->at, "%s", f->text);
        return;
    }
    bool before = f->address < r->base;
    uint64_t away = before ? r->base - f->address : f->address - r->base;
    sim_findings_add(b->findings, SIM_FINDING_BOUNDS, &f->at,
                     "%s: %llu bytes %s the beginning of %s%s, which has %llu bytes", f->text,
                     (unsigned long long)away, before ? "before" : "after", r->name,
                     r->bytes ? "" : " (freed)", (unsigned long long)r->size);
}

static void fault(void *state, const SimFault *f) {
    ObserveBounds *b = state;
    switch (f->kind) {
    case SIM_FAULT_BOUNDS:
    case SIM_FAULT_ENDED_BLOCK:
    case SIM_FAULT_READONLY: outside(b, f); return;
    case SIM_FAULT_ALIGN:
        sim_findings_add(b->findings, SIM_FINDING_ALIGNMENT, &f->at, "%s", f->text);
        return;
    case SIM_FAULT_TRAP:
    case SIM_FAULT_ASSERT:
    case SIM_FAULT_DEADLOCK:
    case SIM_FAULT_LIMIT:
    case SIM_FAULT_USE: return;
    }
}

const SimObserver *sim_observe_bounds(Arena *arena, SimFindings *f) {
    ObserveBounds *b = arena_new(arena, ObserveBounds, 1);
    b->findings = f;
    b->observer = (SimObserver){.state = b, .launch_begin = launch_begin, .fault = fault};
    return &b->observer;
}

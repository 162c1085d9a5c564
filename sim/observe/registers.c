// Registers of products in flight (wgmma): nothing else may touch the results, or write the
// operands, before the wait; and wgmma.fence stands between other uses of a register and a product
// that uses it. Products of one shape may follow each other on the same results.
#include <string.h>

#include "sim/observe/observe.h"

typedef struct RegisterUse {
    uint32_t results, sources;  // products in flight that write it, that read it
    uint32_t touched;           // the number of fences when another instruction used it last
    const char *shape;          // name of the last product that wrote it
} RegisterUse;

typedef struct RegisterWarp {
    uint32_t fences;
    RegisterUse *uses;
} RegisterWarp;

typedef struct Registers {
    SimObserver observer;
    Arena *arena;
    SimFindings *findings;
    uint32_t count;
    bool asked;  // the kernel has such products
    uint32_t warps_in_block;
    RegisterWarp *warps;  // of all blocks of the cluster
} Registers;

static RegisterWarp *warp_of(const Registers *r, const SimPlace *at) {
    return &r->warps[at->rank * r->warps_in_block + at->warp];
}

static void found(Registers *r, const SimPlace *at, const char *does) {
    sim_findings_add(r->findings, SIM_FINDING_FLIGHT, at,
                     "'%s' %s a product in flight: wgmma.wait_group must come first (warp %u, "
                     "block %llu)",
                     at->instr->name, does, at->warp, (unsigned long long)at->block);
}

static void touch(Registers *r, const SimPlace *at, int32_t number, bool writes) {
    RegisterWarp *w = warp_of(r, at);
    RegisterUse *u = &w->uses[number];
    u->touched = w->fences;
    if (u->results) found(r, at, writes ? "writes a result of" : "reads a result of");
    if (u->sources && writes) found(r, at, "writes an operand of");
}

static void step(void *state, const SimPlace *at, uint64_t mask) {
    Registers *r = state;
    const SimInstr *i = at->instr;
    if (!r->asked || !mask || i->flags & SIM_IN_FLIGHT) return;
    for (uint32_t n = 0; n < (uint32_t)i->writes + i->reads; n++)
        touch(r, at, i->registers[n], n < i->writes);
}

static void fence(void *state, const SimPlace *at, uint64_t mask, SimFence kind, SimScope scope) {
    Registers *r = state;
    (void)mask, (void)scope;
    if (kind == SIM_FENCE_PRODUCT && r->asked) warp_of(r, at)->fences++;
}

static void missing_fence(Registers *r, const SimPlace *at, const char *why) {
    sim_findings_add(r->findings, SIM_FINDING_FENCE, at,
                     "'%s': wgmma.fence must come before it, %s (warp %u, block %llu)",
                     at->instr->name, why, at->warp, (unsigned long long)at->block);
}

// A product takes its registers.
static void flight_begin(void *state, const SimFlight *f) {
    Registers *r = state;
    RegisterWarp *w = warp_of(r, &f->at);
    if (!f->result_count) return;
    bool touched = false, reshaped = false;
    for (uint32_t n = 0; n < f->source_count; n++) {
        RegisterUse *u = &w->uses[f->sources[n]];
        touched |= u->touched == w->fences;
        if (u->results) found(r, &f->at, "has as an operand a result of");
        u->sources++;
    }
    for (uint32_t n = 0; n < f->result_count; n++) {
        RegisterUse *u = &w->uses[f->results[n]];
        touched |= u->touched == w->fences;
        reshaped |= u->results && strcmp(u->shape, f->at.instr->name);
        if (u->sources) found(r, &f->at, "has as a result an operand of");
        u->results++, u->shape = f->at.instr->name;
    }
    if (w->fences == 1)
        missing_fence(r, &f->at, "as it is the first one");
    else if (touched)
        missing_fence(r, &f->at, "as another instruction used a register of it");
    else if (reshaped)
        missing_fence(r, &f->at, "as a product of another shape has the same results");
}

static void flight_end(void *state, const SimFlight *f) {
    Registers *r = state;
    if (!f->result_count) return;
    RegisterUse *uses = warp_of(r, &f->at)->uses;
    for (uint32_t n = 0; n < f->source_count; n++) uses[f->sources[n]].sources--;
    for (uint32_t n = 0; n < f->result_count; n++) uses[f->results[n]].results--;
}

static void launch_begin(void *state, const SimLaunchFacts *f) {
    Registers *r = state;
    r->asked = false, r->count = f->kernel->register_count;
    for (uint32_t n = 0; n < f->kernel->code_count; n++)
        r->asked |= (f->kernel->code[n].flags & SIM_IN_FLIGHT) != 0;
    uint32_t warps = f->ranks * f->warps;
    r->observer.step = r->asked ? step : NULL;
    r->warps_in_block = f->warps;
    r->warps = arena_new(r->arena, RegisterWarp, warps + 1);
    for (uint32_t w = 0; r->asked && w < warps; w++)
        r->warps[w].uses = arena_new(r->arena, RegisterUse, r->count + 1);
}

static void block_begin(void *state, uint64_t block, uint32_t rank) {
    Registers *r = state;
    (void)block;
    for (uint32_t w = 0; w < r->warps_in_block && r->asked; w++) {
        RegisterWarp *warp = &r->warps[rank * r->warps_in_block + w];
        warp->fences = 1;
        memset(warp->uses, 0, r->count * sizeof *warp->uses);
    }
}

const SimObserver *sim_observe_registers(Arena *arena, SimFindings *f) {
    Registers *r = arena_new(arena, Registers, 1);
    r->arena = arena, r->findings = f;
    r->observer = (SimObserver){.state = r,
                                .launch_begin = launch_begin,
                                .block_begin = block_begin,
                                .step = step,
                                .fence = fence,
                                .flight_begin = flight_begin,
                                .flight_end = flight_end};
    return &r->observer;
}

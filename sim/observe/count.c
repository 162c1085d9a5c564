// Counts how often each instruction ran.
#include "sim/observe/observe.h"

typedef struct Count {
    SimObserver observer;
    Arena *arena;
    SimCounts counts;
} Count;

static void launch_begin(void *state, const SimLaunchFacts *launch) {
    Count *c = state;
    c->counts = (SimCounts){.kernel = launch->kernel};
    c->counts.instructions = arena_new(c->arena, uint64_t, launch->kernel->code_count);
    c->counts.lanes = arena_new(c->arena, uint64_t, launch->kernel->code_count);
}

static void step(void *state, const SimPlace *at, uint64_t mask) {
    SimCounts *c = &((Count *)state)->counts;
    uint64_t lanes = (uint64_t)__builtin_popcountll(mask);
    c->instructions[at->pc]++;
    c->lanes[at->pc] += lanes;
    c->total++;
    c->total_lanes += lanes;
    c->matrix += (at->instr->flags & SIM_MATRIX) != 0;
}

static void barrier(void *state, const SimBarrierDone *done) {
    bool whole = false;  // else a warp goes on
    for (uint32_t n = 0; n < done->warp_count; n++) whole |= done->arrived[n] != 0;
    ((Count *)state)->counts.barriers += whole;
}

const SimObserver *sim_observe_counts(Arena *arena, SimCounts **counts) {
    Count *c = arena_new(arena, Count, 1);
    c->arena = arena;
    *counts = &c->counts;
    c->observer =
        (SimObserver){.state = c, .launch_begin = launch_begin, .step = step, .barrier = barrier};
    return &c->observer;
}

#include "tests/support/sim_fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/observe/observe.h"

enum { STEPS = 3000, KERNELS = 4, ORDERS = 2, BUFFER = 4096, BYTES_MAX = 1 << 16, OBSERVERS = 8 };

static uint32_t watch(Arena *arena, const SimObserver **list) {
    SimFindings *f = sim_findings_create(arena);
    SimCounts *counts;
    SimTrafficTable *global, *shared;
    const SimObserver *all[] = {
        sim_observe_bounds(arena, f),         sim_observe_poison(arena, f),
        sim_observe_races(arena, f),          sim_observe_divergence(arena, f),
        sim_observe_registers(arena, f),      sim_observe_coalescing(arena, f, &global),
        sim_observe_banks(arena, f, &shared), sim_observe_counts(arena, &counts)};
    memcpy(list, all, sizeof all);
    return sizeof all / sizeof *all;
}

static bool is_small(const SimProgram *p, const SimKernel *k, const SimFuzz *how) {
    uint64_t bytes = (uint64_t)k->shared_bytes + k->local_bytes + k->param_bytes;
    for (uint32_t i = 0; i < p->variable_count; i++) bytes += p->variables[i].size;
    return bytes <= BYTES_MAX && (!how->registers_max || k->register_count <= how->registers_max);
}

static SimMemory *memory_for(const SimProgram *p, const SimFuzz *how, uint64_t *buffer,
                             uint64_t *variables) {
    static const uint8_t zeros[BUFFER / 2];
    SimMemory *memory = how->base ? sim_memory_create_at(true, how->base) : sim_memory_create(true);
    if (!sim_memory_alloc(memory, BUFFER, "buffer", buffer) ||
        !sim_memory_write(memory, *buffer, zeros, sizeof zeros) ||
        !sim_program_load(p, memory, variables))
        abort();
    return memory;
}

static void launch(Arena *arena, const SimProgram *p, const SimKernel *k, const SimFuzz *how,
                   uint64_t seed) {
    uint64_t *variables = arena_new(arena, uint64_t, p->variable_count + 1), buffer;
    SimMemory *memory = memory_for(p, how, &buffer, variables);
    uint8_t *params = arena_alloc(arena, k->param_bytes + 8);
    for (uint32_t i = 0; i + 8 <= k->param_bytes; i += 8) memcpy(params + i, &buffer, 8);
    const SimObserver *list[OBSERVERS];
    SimLaunch l = {.kernel = k,
                   .memory = memory,
                   .variables = variables,
                   .grid = {2, 1, 1},
                   .block = {how->threads, 1, 1},
                   .device = how->device,
                   .shared = how->shared,
                   .params = params,
                   .seed = seed,
                   .step_limit = STEPS,
                   .observers = list,
                   .observer_count = watch(arena, list)};
    for (int d = 0; d < 3 && k->reqntid[0]; d++) l.block[d] = k->reqntid[d] ? k->reqntid[d] : 1;
    SimResult r = sim_run(&l);
    if (r.outcome != SIM_DONE && !r.text[0]) {
        fprintf(stderr, "a launch failed, and nothing was said\n");
        abort();
    }
    sim_memory_destroy(memory);
}

void sim_fuzz(Arena *arena, const SimProgram *p, const SimFuzz *how) {
    for (uint32_t i = 0; i < p->kernel_count && i < KERNELS; i++)
        for (uint64_t seed = 0; seed < ORDERS && is_small(p, &p->kernels[i], how); seed++)
            launch(arena, p, &p->kernels[i], how, seed);
}

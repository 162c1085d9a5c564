// Fuzzing the PTX reader and the warp machine: any bytes are a program or are refused with a word
// why; kernels of a program run on a small grid, in two orders, under a step limit and before the
// eyes of all observers, whatever they do.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/machine/machine.h"
#include "sim/observe/observe.h"
#include "sim/ptx/ptx.h"

enum {
    INPUT_MAX = 1 << 14,
    STEPS = 3000,
    KERNELS = 4,
    BUFFER = 4096,
    SHARED = 2048,
    REGISTERS_MAX = 4096,
    BYTES_MAX = 1 << 16
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t watch(Arena *arena, const SimObserver **list) {
    SimFindings *f = sim_findings_create(arena);
    SimCounts *counts;
    SimTrafficTable *global, *shared;
    const SimObserver *all[] = {sim_observe_bounds(arena, f),
                                sim_observe_poison(arena, f),
                                sim_observe_races(arena, f),
                                sim_observe_divergence(arena, f),
                                sim_observe_coalescing(arena, f, &global),
                                sim_observe_banks(arena, f, &shared),
                                sim_observe_counts(arena, &counts)};
    memcpy(list, all, sizeof all);
    return sizeof all / sizeof *all;
}

// What a launch needs time or memory for beyond its steps.
static bool is_small(const SimProgram *p, const SimKernel *k) {
    uint64_t bytes = (uint64_t)k->shared_bytes + k->local_bytes + k->param_bytes;
    for (uint32_t i = 0; i < p->variable_count; i++) bytes += p->variables[i].size;
    return bytes <= BYTES_MAX && k->register_count <= REGISTERS_MAX;
}

static void launch(Arena *arena, const SimProgram *p, const SimKernel *k, uint64_t seed) {
    SimMemory *memory = sim_memory_create(true);
    uint64_t *variables = arena_new(arena, uint64_t, p->variable_count + 1), buffer;
    uint8_t *params = arena_alloc(arena, k->param_bytes + 8), zeros[BUFFER / 2] = {0};
    if (!sim_memory_alloc(memory, BUFFER, "buffer", &buffer) ||
        !sim_memory_write(memory, buffer, zeros, sizeof zeros) ||
        !sim_program_load(p, memory, variables))
        abort();
    for (uint32_t i = 0; i + 8 <= k->param_bytes; i += 8) memcpy(params + i, &buffer, 8);
    const SimObserver *list[8];
    SimLaunch l = {.kernel = k,
                   .memory = memory,
                   .variables = variables,
                   .grid = {2, 1, 1},
                   .block = {64, 1, 1},
                   .device = {GPU_NVIDIA, p->arch, p->arch_a},
                   .shared = SHARED,
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > INPUT_MAX) return -1;
    Arena *arena = arena_create();
    Sources *sources = sources_create(arena);
    Diags *diags = diags_create(arena, sources);
    const SourceFile *file = source_add(sources, STR("fuzz.ptx"), (Str){(const char *)data, size});
    const SimProgram *p = file ? ptx_read(arena, file, diags) : NULL;
    if (!p && !diags_errors(diags)) {
        fprintf(stderr, "refused, and nothing was said\n");
        abort();
    }
    for (uint32_t i = 0; p && i < p->kernel_count && i < KERNELS; i++)
        for (uint64_t seed = 0; seed < 2 && is_small(p, &p->kernels[i]); seed++)
            launch(arena, p, &p->kernels[i], seed);
    StrBuf said = strbuf(arena);
    diags_text(diags, (DiagStyle){0}, &said);
    arena_destroy(arena);
    return 0;
}

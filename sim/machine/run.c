// Launches: blocks, and warps in rotation.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "base/status.h"
#include "sim/machine/flow.h"
#include "sim/machine/refuse.h"
#include "sim/machine/wgmma.h"
#include "target/chip.h"

enum { TURN = 4096, SEEDED_TURN = 48 };

SimPlace sim_place(const SimWarp *w, const SimInstr *i) {
    const SimKernel *k = w->run->launch->kernel;
    return (SimPlace){k, i, (uint32_t)(i - k->code), w->block->linear, w->index};
}

uint32_t sim_random(SimRun *run, uint32_t below) {
    run->random ^= run->random << 13;
    run->random ^= run->random >> 7;
    run->random ^= run->random << 17;
    return (uint32_t)((run->random >> 32) * below >> 32);
}

void sim_fail(SimWarp *w, const SimInstr *i, SimFault fault, const char *format, ...) {
    SimRun *run = w->run;
    if (run->stop) return;
    run->stop = true;
    SimResult *r = run->result;
    r->outcome = SIM_FAILED;
    r->fault = fault.kind;
    r->line = i->line;
    va_list args;
    va_start(args, format);
    vsnprintf(r->text, sizeof r->text, format, args);
    va_end(args);
    fault.at = sim_place(w, i);
    fault.text = r->text;
    SIM_TELL(run, fault, &fault);
}

// ---- Registers before a block begins ----

static uint64_t special_value(const SimBlock *b, const SimWarp *w, SimSpecial s, uint32_t l) {
    const SimLaunch *n = b->run->launch;
    uint32_t thread = w->index * SIM_LANES + l;
    uint32_t bit = 1u << l;
    switch (s) {
    case SIM_TID_X: return thread % n->block[0];
    case SIM_TID_Y: return thread / n->block[0] % n->block[1];
    case SIM_TID_Z: return thread / n->block[0] / n->block[1];
    case SIM_NTID_X: return n->block[0];
    case SIM_NTID_Y: return n->block[1];
    case SIM_NTID_Z: return n->block[2];
    case SIM_CTAID_X:
    case SIM_CLUSTERID_X: return b->ctaid[0];
    case SIM_CTAID_Y:
    case SIM_CLUSTERID_Y: return b->ctaid[1];
    case SIM_CTAID_Z:
    case SIM_CLUSTERID_Z: return b->ctaid[2];
    case SIM_NCTAID_X:
    case SIM_NCLUSTERID_X: return n->grid[0];
    case SIM_NCTAID_Y:
    case SIM_NCLUSTERID_Y: return n->grid[1];
    case SIM_NCTAID_Z:
    case SIM_NCLUSTERID_Z: return n->grid[2];
    case SIM_LANEID: return l;
    case SIM_WARPID: return w->index;
    case SIM_NWARPID: return b->warp_count;
    case SIM_SMID: return 0;
    case SIM_NSMID: return 1;
    case SIM_GRIDID: return 1;
    case SIM_LANEMASK_EQ: return bit;
    case SIM_LANEMASK_LE: return bit | (bit - 1);
    case SIM_LANEMASK_LT: return bit - 1;
    case SIM_LANEMASK_GE: return ~(bit - 1);
    case SIM_LANEMASK_GT: return ~(bit | (bit - 1));
    case SIM_CLUSTER_CTAID_X:
    case SIM_CLUSTER_CTAID_Y:
    case SIM_CLUSTER_CTAID_Z:
    case SIM_CLUSTER_CTARANK: return 0;
    case SIM_CLUSTER_NCTAID_X:
    case SIM_CLUSTER_NCTAID_Y:
    case SIM_CLUSTER_NCTAID_Z:
    case SIM_CLUSTER_NCTARANK: return 1;
    case SIM_DYNAMIC_SMEM_SIZE: return n->shared;
    case SIM_TOTAL_SMEM_SIZE: return b->shared_bytes;
    case SIM_SPECIAL_COUNT: break;
    }
    return 0;
}

static uint64_t constant_value(const SimBlock *b, const SimWarp *w, const SimConstant *c,
                               uint32_t l) {
    switch ((SimConstantKind)c->kind) {
    case SIM_CONSTANT_BITS: return c->value;
    case SIM_CONSTANT_VARIABLE: return b->run->launch->variables[c->index] + c->value;
    case SIM_CONSTANT_SPECIAL: return special_value(b, w, (SimSpecial)c->index, l);
    }
    return 0;
}

static void fill_constant(SimBlock *b, SimWarp *w, const SimConstant *c) {
    uint8_t *to = w->regs + c->to.at;
    if (!c->slot) {
        uint32_t lanes = c->value ? UINT32_MAX : 0;
        memcpy(to, &lanes, sizeof lanes);
    }
    for (uint32_t l = 0; c->slot && l < SIM_LANES; l++) {
        uint64_t value[2] = {constant_value(b, w, c, l), 0};
        memcpy(to + (size_t)l * c->slot, value, c->slot);
    }
    if (w->poison) w->poison[c->to.number] = 0;
}

// Initial contents of registers: the same in every run, and unlikely to be correct by chance.
static void begin_warp(SimBlock *b, SimWarp *w) {
    const SimKernel *k = b->run->launch->kernel;
    const SimLaunch *n = b->run->launch;
    memset(w->regs, 0xab, k->register_bytes);
    if (w->poison) memset(w->poison, 0xff, sizeof *w->poison * k->register_count);
    for (uint32_t i = 0; i < k->constant_count; i++) fill_constant(b, w, &k->constants[i]);
    if (w->local) memset(w->local, 0xab, (size_t)k->local_bytes * SIM_LANES);
    if (w->local_poison)
        memset(w->local_poison, 0xff, SIM_POISON_BYTES((uint64_t)k->local_bytes * SIM_LANES));
    uint32_t threads = n->block[0] * n->block[1] * n->block[2];
    uint32_t left = threads - w->index * SIM_LANES;
    w->live = left >= SIM_LANES ? UINT32_MAX : (1u << left) - 1;
    w->fragments[0] = (SimFragment){.mask = w->live, .stop = UINT32_MAX, .join = SIM_NO_JOIN};
    w->fragment_count = 1;
    w->join_count = 0;
    w->copy_first = w->copy_count = 0;
    sim_products_begin(w);
    w->carry = 0;
    w->spins = 0;
    w->force = false;
    memset(w->group, 0, sizeof w->group);
}

// ---- A block ----

static void deadlock(SimBlock *b) {
    for (uint32_t n = 0; n < b->warp_count; n++) {
        SimWarp *w = &b->warps[n];
        if (!w->fragment_count) continue;
        const SimFragment *f = &w->fragments[0];
        const SimInstr *i = &b->run->launch->kernel->code[f->pc];
        if (f->state == SIM_COLLECTS) {
            SimDiverged d = {sim_place(w, i), f->mask, w->live};
            SIM_TELL(b->run, diverged, &d);
        }
        sim_fail(w, i, (SimFault){.kind = SIM_FAULT_DEADLOCK, .mask = f->mask},
                 "block %llu cannot continue: lanes %08x of warp %u wait at '%s' for threads that "
                 "never arrive",
                 (unsigned long long)b->linear, (unsigned)f->mask, n, i->name);
        return;
    }
}

// Handles lanes that wait at an aligned barrier for the rest of their warp, if the rest never
// arrives.
static bool force_barrier(SimBlock *b) {
    const SimInstr *code = b->run->launch->kernel->code;
    for (uint32_t n = 0; n < b->warp_count; n++) {
        SimWarp *w = &b->warps[n];
        for (uint32_t k = 0; k < w->fragment_count; k++) {
            const SimFragment *f = &w->fragments[k];
            const SimInstr *i = &code[f->pc];
            if (f->state != SIM_COLLECTS || i->flow != SIM_BARRIER) continue;
            SimDiverged d = {sim_place(w, i), f->mask, w->live};
            SIM_TELL(b->run, diverged, &d);
            return w->force = true;
        }
    }
    return false;
}

static void run_block(SimBlock *b) {
    SimRun *run = b->run;
    bool live = true;
    while (live && !run->stop) {
        live = false;
        bool moved = false;
        uint32_t first = run->launch->seed ? sim_random(run, b->warp_count) : 0;
        for (uint32_t n = 0; n < b->warp_count && !run->stop; n++) {
            SimWarp *w = &b->warps[(first + n) % b->warp_count];
            if (!w->fragment_count) continue;
            live = true;
            uint32_t turn = run->launch->seed ? 1 + sim_random(run, SEEDED_TURN) : TURN;
            moved |= sim_warp_turn(w, turn);
        }
        if (live && !moved && !run->stop && !force_barrier(b)) deadlock(b);
    }
    if (!run->stop) sim_groups_end(b);
}

static void begin_block(SimBlock *b, uint64_t linear) {
    const SimLaunch *n = b->run->launch;
    b->linear = linear;
    b->ctaid[0] = (uint32_t)(linear % n->grid[0]);
    b->ctaid[1] = (uint32_t)(linear / n->grid[0] % n->grid[1]);
    b->ctaid[2] = (uint32_t)(linear / n->grid[0] / n->grid[1]);
    memset(b->shared, 0xab, b->shared_bytes);
    if (b->shared_poison) memset(b->shared_poison, 0xff, SIM_POISON_BYTES(b->shared_bytes));
    memset(b->barriers, 0, sizeof b->barriers);
    for (uint32_t i = 0; i < b->warp_count; i++) begin_warp(b, &b->warps[i]);
}

// Visits the blocks in some order: steps through all numbers with a step that is coprime to the
// count.
static uint64_t greatest_common(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b, b = rest;
    }
    return a;
}

static void run_blocks(SimRun *run) {
    const SimLaunch *n = run->launch;
    uint64_t count = (uint64_t)n->grid[0] * n->grid[1] * n->grid[2], at = 0, step = 1;
    if (n->seed && count > 1) {
        uint32_t below = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
        at = sim_random(run, below);
        step = 1 + sim_random(run, below);
        while (greatest_common(step, count) != 1) step++;
    }
    for (uint64_t i = 0; i < count && !run->stop; i++, at = (at + step) % count) {
        begin_block(&run->block, at);
        SIM_TELL(run, block_begin, at);
        run_block(&run->block);
        SIM_TELL(run, block_end, at);
    }
}

// ---- A launch ----

static bool make_warp(SimRun *run, SimWarp *w, uint32_t index) {
    const SimKernel *k = run->launch->kernel;
    w->run = run, w->block = &run->block, w->index = index;
    size_t bytes =
        (k->register_bytes + SIM_REGISTER_ALIGN) / SIM_REGISTER_ALIGN * (size_t)SIM_REGISTER_ALIGN;
    w->regs = aligned_alloc(SIM_REGISTER_ALIGN, bytes);
    if (!w->regs) return false;
    if (run->poison) {
        w->poison = malloc(sizeof *w->poison * (k->register_count + 1));
        if (!w->poison) return false;
    }
    if (!k->local_bytes) return true;
    w->local = malloc((size_t)k->local_bytes * SIM_LANES);
    if (w->local && run->poison)
        w->local_poison = malloc(SIM_POISON_BYTES((uint64_t)k->local_bytes * SIM_LANES));
    return w->local && (!run->poison || w->local_poison);
}

static bool make_block(SimRun *run) {
    const SimLaunch *n = run->launch;
    SimBlock *b = &run->block;
    b->run = run;
    b->shared_bytes = n->kernel->shared_bytes + n->shared;
    b->shared = aligned_alloc(1024, (b->shared_bytes / 1024 + 1) * (size_t)1024);
    if (!b->shared) return false;
    if (run->poison) {
        b->shared_poison = malloc(SIM_POISON_BYTES(b->shared_bytes));
        if (!b->shared_poison) return false;
    }
    uint32_t threads = n->block[0] * n->block[1] * n->block[2];
    uint32_t warps = (threads + SIM_LANES - 1) / SIM_LANES;
    b->warps = calloc(warps, sizeof *b->warps);
    b->groups = calloc(SIM_WARPGROUPS, sizeof *b->groups);
    if (!b->warps || !b->groups) return false;
    b->warp_count = warps;
    for (uint32_t i = 0; i < warps; i++)
        if (!make_warp(run, &b->warps[i], i)) return false;
    return true;
}

static void free_block(SimBlock *b) {
    for (uint32_t i = 0; i < b->warp_count; i++) {
        SimWarp *w = &b->warps[i];
        free(w->regs);
        free(w->poison);
        free(w->local);
        free(w->local_poison);
        free(w->copies);
        sim_products_free(w);
    }
    for (uint32_t i = 0; b->groups && i < SIM_WARPGROUPS; i++) free(b->groups[i].steps);
    free(b->groups);
    free(b->warps);
    free(b->shared);
    free(b->shared_poison);
}

// 1 for dimensions that the kernel leaves out.
static uint32_t threads_along(const uint32_t threads[3], int d) {
    return threads[d] ? threads[d] : 1;
}

static bool check_block(const SimLaunch *n, SimResult *r) {
    const SimKernel *k = n->kernel;
    SimBlockRule rule = {.name = k->name, .most = SIM_THREADS_MAX};
    for (int d = 0; d < 3 && k->reqntid[0]; d++) rule.required[d] = threads_along(k->reqntid, d);
    if (k->maxntid[0])
        rule.most =
            (uint64_t)k->maxntid[0] * threads_along(k->maxntid, 1) * threads_along(k->maxntid, 2);
    return sim_check_block(n, &rule, r);
}

static bool check(const SimLaunch *n, SimResult *r) {
    TRY(check_block(n, r));
    const SimKernel *k = n->kernel;
    char name[GPU_NAME_MAX];
    uint32_t most = chip_of(n->device)->shared_most;
    if (k->shared_bytes > GPU_SHARED_STATIC)
        return sim_refuse(r,
                          "kernel '%.*s' declares %u bytes of shared memory, and at most %d can be "
                          "declared: `.extern .shared` takes more, as the launch gives it",
                          STR_ARG(k->name), k->shared_bytes, GPU_SHARED_STATIC);
    if (k->shared_bytes > most || n->shared > most - k->shared_bytes)
        return sim_refuse(r,
                          "kernel '%.*s' needs %llu bytes of shared memory (%u declared, %u of the "
                          "launch), and a block of %s has at most %u",
                          STR_ARG(k->name), (unsigned long long)k->shared_bytes + n->shared,
                          k->shared_bytes, n->shared, gpu_target_name(n->device, name), most);
    return true;
}

static SimLaunchFacts facts(const SimRun *run) {
    const SimLaunch *n = run->launch;
    return (SimLaunchFacts){.kernel = n->kernel,
                            .memory = n->memory,
                            .grid = {n->grid[0], n->grid[1], n->grid[2]},
                            .block = {n->block[0], n->block[1], n->block[2]},
                            .warps = run->block.warp_count,
                            .lanes = SIM_LANES,
                            .shared_bytes = run->block.shared_bytes,
                            .banks = SIM_BANKS};
}

static void prepare(SimRun *run, const SimLaunch *launch, SimResult *r) {
    *run = (SimRun){.launch = launch, .result = r};
    run->random = (launch->seed + 1) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    for (uint32_t i = 0; i < launch->observer_count; i++) {
        const SimObserver *o = launch->observers[i];
        run->poison |= o->poison;
        run->step_asked |= o->step != NULL;
        run->access_asked |= o->access != NULL;
    }
}

typedef struct PtxOwnedRun {
    Owned owned;
    SimRun *run;
} PtxOwnedRun;

static void release_run(Owned *owned) {
    SimRun *run = ((PtxOwnedRun *)owned)->run;
    free_block(&run->block);
    free(run);
}

SimResult sim_run(const SimLaunch *launch) {
    if (launch->kernel->run) return launch->kernel->run(launch);
    SimResult r = {.outcome = SIM_DONE};
    if (!check(launch, &r)) return r;
    SimRun *run = malloc(sizeof *run);
    if (!run) os_out_of_memory();
    prepare(run, launch, &r);
    PtxOwnedRun own = {.run = run};
    recover_own(&own.owned, OWNED_FRAME, release_run);
    if (!make_block(run)) os_out_of_memory();
    SimLaunchFacts f = facts(run);
    SIM_TELL(run, launch_begin, &f);
    run_blocks(run);
    for (uint32_t i = 0; i < launch->observer_count; i++)
        if (launch->observers[i]->launch_end)
            launch->observers[i]->launch_end(launch->observers[i]->state);
    r.steps = run->steps, r.lane_steps = run->lane_steps;
    recover_keep(&own.owned);
    release_run(&own.owned);
    return r;
}

bool sim_program_load(const SimProgram *p, SimMemory *memory, uint64_t *addresses) {
    for (uint32_t i = 0; i < p->variable_count; i++) {
        const SimVariable *v = &p->variables[i];
        char name[48];
        snprintf(name, sizeof name, "%.*s", STR_ARG(v->name));
        TRY(sim_memory_alloc(memory, v->size, name, &addresses[i]));
        SimRegion *r = sim_memory_find(memory, addresses[i], 0);
        r->constant = v->constant;
        if (v->bytes) memcpy(r->bytes, v->bytes, (size_t)v->size);
        if (r->poison) sim_poison_set(r->poison, 0, v->size, false);
    }
    for (uint32_t i = 0; i < p->variable_count; i++)
        for (uint32_t n = 0; n < p->variables[i].relocation_count; n++) {
            uint64_t to = addresses[p->variables[i].relocations[n].index] +
                          p->variables[i].relocations[n].addend;
            sim_memory_write(memory, addresses[i] + p->variables[i].relocations[n].at, &to, 8);
        }
    return true;
}

// Launches: initial registers as the ABI promises, workgroups, and waves in rotation.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "base/status.h"
#include "sim/amd/launch.h"

enum { SLICE = 4096, SEEDED_SLICE = 48, PACKET = 64, PATTERN = 0xab };

SimPlace amd_place(const AmdWave *w, const AmdInstr *i) {
    const SimKernel *k = w->run->launch->kernel;
    uint32_t pc = (uint32_t)(i - w->kernel->code);
    // The second half of a pair is stored elsewhere: its position is the pair's.
    if (i < w->kernel->code || i >= w->kernel->code + w->kernel->count) pc = w->pc - 1;
    return (SimPlace){k, &k->code[pc], pc, w->group->linear, w->index, 0};
}

static uint32_t pick(AmdLaunch *run, uint32_t below) {
    run->random ^= run->random << 13;
    run->random ^= run->random >> 7;
    run->random ^= run->random << 17;
    return (uint32_t)((run->random >> 32) * below >> 32);
}

void amd_fail(AmdWave *w, const AmdInstr *i, SimFault fault, const char *format, ...) {
    AmdLaunch *run = w->run;
    if (run->stop) return;
    run->stop = true;
    fault.at = amd_place(w, i);
    SimResult *r = run->result;
    r->outcome = SIM_FAILED, r->fault = fault.kind, r->line = fault.at.instr->line;
    int size = snprintf(r->text, sizeof r->text, "'%s': ", fault.at.instr->name);
    if (size < 0 || (size_t)size >= sizeof r->text) size = 0;
    va_list args;
    va_start(args, format);
    vsnprintf(r->text + size, sizeof r->text - (size_t)size, format, args);
    va_end(args);
    fault.text = r->text;
    SIM_NOTIFY(run, fault, &fault);
}

void amd_report_poison(AmdWave *w, const AmdInstr *i, SimPoisonUse use, uint64_t lanes) {
    SimPoison p = {.at = amd_place(w, i), .use = use, .mask = lanes};
    SIM_NOTIFY(w->run, poisoned, &p);
}

// ---- Registers at the begin of a wave ----

static void give(AmdWave *w, uint32_t *at, uint64_t value, uint32_t words) {
    for (uint32_t n = 0; n < words && *at < AMD_VCC; n++, ++*at) {
        w->scalars[*at] = (uint32_t)(value >> (32 * n));
        w->scalar_shadows[*at] = 0;
    }
}

// User registers in the order of the descriptor's bits; those for features that the machine lacks
// are poison.
static void give_user(AmdWave *w, uint32_t *at) {
    const AmdDescriptor *d = &w->kernel->source->descriptor;
    const AmdLaunch *run = w->run;
    // The lanes' scratch as a swizzled buffer; the wave's part begins at 0, as in flat scratch.
    if (d->properties & AMD_PRIVATE_BUFFER) {
        give(w, at, UINT64_C(1) << 63, 2);
        give(w, at, UINT64_C(0x00e00000ffffffff), 2);
    }
    if (d->properties & AMD_DISPATCH_PTR) give(w, at, run->packet, 2);
    if (d->properties & AMD_QUEUE_PTR) *at += 2;
    if (d->properties & AMD_KERNARG_PTR) give(w, at, run->kernarg, 2);
    if (d->properties & AMD_DISPATCH_ID) give(w, at, 0, 2);
    if (d->properties & AMD_FLAT_SCRATCH) give(w, at, 0, 2);
    if (d->properties & AMD_PRIVATE_SIZE) give(w, at, d->scratch, 1);
    uint32_t length = d->preload & 127, offset = d->preload >> 7;
    for (uint32_t n = 0; n < length; n++) {
        uint32_t word = 0;
        sim_memory_read(run->launch->memory, run->kernarg + 4 * (uint64_t)(offset + n), &word, 4);
        give(w, at, word, 1);
    }
}

static void give_system(AmdWave *w) {
    const AmdDescriptor *d = &w->kernel->source->descriptor;
    const uint32_t *place = w->group->place;
    uint32_t at = d->rsrc2 >> 1 & 31;
    if (w->kernel->generation >= 12) {  // the trap handler registers that the ABI defines
        const uint32_t wave = 31u << 25;
        w->scalars[AMD_TTMP + 8] = w->index << 25 & wave;
        w->scalar_shadows[AMD_TTMP + 8] = ~wave;
        w->scalars[AMD_TTMP + 9] = place[0];
        w->scalars[AMD_TTMP + 7] = (place[1] & 0xffff) | place[2] << 16;
        w->scalar_shadows[AMD_TTMP + 9] = w->scalar_shadows[AMD_TTMP + 7] = 0;
        return;
    }
    for (uint32_t n = 0; n < 3; n++)
        if (d->rsrc2 >> (7 + n) & 1) give(w, &at, place[n], 1);
    if (d->rsrc2 >> 10 & 1) at++;
    if (d->rsrc2 & 1 && d->properties & AMD_PRIVATE_BUFFER) give(w, &at, 0, 1);
}

// Work-item ids: in one register on gfx90a and since gfx11, in three on gfx10.
static void give_items(AmdWave *w) {
    const uint32_t *block = w->run->launch->block;
    uint32_t dimensions = AMD_ITEM_DIMENSIONS(&w->kernel->source->descriptor);
    bool packed = w->kernel->generation != 10;
    for (uint32_t n = 0; n < (packed ? 1 : dimensions) && n < w->kernel->vectors; n++) {
        uint32_t *to = amd_vector(w, n), *shadow = amd_shadow(w, n), any = 0;
        for (uint32_t l = 0; l < w->lanes; l++) {
            uint32_t thread = w->index * w->lanes + l;
            uint32_t place[] = {thread % block[0], thread / block[0] % block[1],
                                thread / block[0] / block[1]};
            to[l] = place[n];
            for (uint32_t k = 1; packed && k < dimensions; k++) to[l] |= place[k] << (10 * k);
            shadow[l] = w->live >> l & 1 ? 0 : UINT32_MAX;
            any |= shadow[l];
        }
        w->dirty[n] = any != 0;
    }
}

static void begin_registers(AmdWave *w) {
    size_t size = (size_t)w->kernel->vectors * AMD_LANES * sizeof *w->vectors;
    memset(w->vectors, PATTERN, size);
    memset(w->shadows, 0xff, size);
    memset(w->dirty, 1, w->kernel->vectors);
    memset(w->scalars, PATTERN, sizeof w->scalars);
    memset(w->scalar_shadows, 0xff, sizeof w->scalar_shadows);
    w->scc = false, w->scc_poison = true;
    uint32_t at = 0;
    give_user(w, &at);
    give_system(w);
    give_items(w);
    w->scalars[AMD_EXEC] = (uint32_t)w->live;
    w->scalars[AMD_EXEC + 1] = (uint32_t)(w->live >> 32);
    w->scalar_shadows[AMD_EXEC] = w->scalar_shadows[AMD_EXEC + 1] = 0;
}

static void begin_wave(AmdWave *w) {
    const uint32_t *block = w->run->launch->block;
    const AmdDescriptor *d = &w->kernel->source->descriptor;
    uint32_t threads = block[0] * block[1] * block[2], left = threads - w->index * w->lanes;
    w->live = left >= w->lanes ? amd_wave_mask(w) : (UINT64_C(1) << left) - 1;
    w->pc = 0, w->state = AMD_RUNS, w->signaled = 0;
    w->mode = d->rsrc1 >> 12 & 0xff;
    w->ieee = w->kernel->generation < 12 && d->rsrc1 >> 23 & 1;
    w->dx10_clamp = w->kernel->generation >= 12 || d->rsrc1 >> 21 & 1;
    amd_pending_free(w);
    begin_registers(w);
    if (!w->scratch_bytes) return;
    uint64_t bytes = (uint64_t)w->scratch_bytes * w->lanes;
    memset(w->scratch, PATTERN, bytes);
    memset(w->scratch_poison, 0xff, SIM_POISON_BYTES(bytes));
}

// ---- A wave's turn ----

static bool limit_reached(AmdWave *w, const AmdInstr *i) {
    AmdLaunch *run = w->run;
    if (!run->launch->step_limit || run->steps < run->launch->step_limit) return false;
    amd_fail(w, i, (SimFault){.kind = SIM_FAULT_LIMIT},
             "the launch has run %llu instructions, which is its limit",
             (unsigned long long)run->launch->step_limit);
    return true;
}

static void run_slice(AmdWave *w, uint32_t steps) {
    AmdLaunch *run = w->run;
    for (; steps && w->state == AMD_RUNS && !run->stop; steps--) {
        const AmdInstr *i = &w->kernel->code[w->pc++];
        uint64_t exec = amd_exec(w);
        if (limit_reached(w, i)) return;
        run->steps++;
        run->lane_steps += (uint64_t)__builtin_popcountll(exec);
        if (run->step_observed) {
            SimPlace at = amd_place(w, i);
            SIM_NOTIFY(run, step, &at, exec);
        }
        if (i->run) i->run(w, i);
    }
}

// ---- Barriers ----

static void notify_barrier(AmdGroup *g) {
    uint32_t lanes[AMD_WAVES] = {0};
    for (uint32_t n = 0; n < g->wave_count; n++)
        if (g->waves[n].state != AMD_ENDED) lanes[n] = UINT32_MAX;
    SimBarrierDone done = {.block = g->linear,
                           .arrived = lanes,
                           .waited = lanes,
                           .warp_count = g->wave_count,
                           .hands_on = true};
    SIM_NOTIFY(g->run, barrier, &done);
}

// If all waves that have not ended have arrived, the waiting waves continue.
static bool check_barrier(AmdGroup *g) {
    bool any = false;
    for (uint32_t n = 0; n < g->wave_count; n++) {
        const AmdWave *w = &g->waves[n];
        if (w->state == AMD_ENDED) continue;
        if (w->signaled != g->phase + 1) return false;
        any |= w->state == AMD_AT_BARRIER;
    }
    if (!any) return false;
    g->phase++;
    notify_barrier(g);
    for (uint32_t n = 0; n < g->wave_count; n++) {
        AmdWave *w = &g->waves[n];
        amd_pending_report_late(w);
        if (w->state != AMD_AT_BARRIER) continue;
        w->state = AMD_RUNS;
        w->signaled = 0;
    }
    return true;
}

static void deadlock(AmdGroup *g) {
    for (uint32_t n = 0; n < g->wave_count; n++) {
        AmdWave *w = &g->waves[n];
        if (w->state != AMD_AT_BARRIER) continue;
        amd_fail(w, &w->kernel->code[w->pc - 1], (SimFault){.kind = SIM_FAULT_DEADLOCK},
                 "block %llu cannot continue: wave %u waits for waves that never arrive",
                 (unsigned long long)g->linear, n);
        return;
    }
}

static void run_group(AmdGroup *g) {
    AmdLaunch *run = g->run;
    uint64_t seed = run->launch->seed;
    while (!run->stop) {
        bool live = false, moved = false;
        uint32_t first = seed ? pick(run, g->wave_count) : 0;
        for (uint32_t n = 0; n < g->wave_count && !run->stop; n++) {
            AmdWave *w = &g->waves[(first + n) % g->wave_count];
            live |= w->state != AMD_ENDED;
            if (w->state != AMD_RUNS) continue;
            moved = true;
            run_slice(w, seed ? 1 + pick(run, SEEDED_SLICE) : SLICE);
        }
        if (!live) return;
        moved |= check_barrier(g);
        if (!moved && !run->stop) deadlock(g);
    }
}

static void begin_group(AmdGroup *g, uint64_t linear) {
    const SimLaunch *n = g->run->launch;
    g->linear = linear, g->phase = 0;
    g->place[0] = (uint32_t)(linear % n->grid[0]);
    g->place[1] = (uint32_t)(linear / n->grid[0] % n->grid[1]);
    g->place[2] = (uint32_t)(linear / n->grid[0] / n->grid[1]);
    memset(g->lds, PATTERN, g->lds_bytes);
    memset(g->lds_poison, 0xff, SIM_POISON_BYTES(g->lds_bytes));
    for (uint32_t i = 0; i < g->wave_count; i++) begin_wave(&g->waves[i]);
}

static uint64_t greatest_common(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b, b = rest;
    }
    return a;
}

// Visits the groups in some order: steps through all numbers with a step that is coprime to their
// count.
void amd_run_groups(AmdLaunch *run) {
    const SimLaunch *n = run->launch;
    uint64_t count = (uint64_t)n->grid[0] * n->grid[1] * n->grid[2], at = 0, step = 1;
    if (n->seed && count > 1) {
        uint32_t below = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
        at = pick(run, below);
        step = 1 + pick(run, below);
        while (greatest_common(step, count) != 1) step++;
    }
    for (uint64_t i = 0; i < count && !run->stop; i++, at = (at + step) % count) {
        begin_group(&run->group, at);
        SIM_NOTIFY(run, block_begin, at, 0);
        run_group(&run->group);
        SIM_NOTIFY(run, block_end, at);
    }
}

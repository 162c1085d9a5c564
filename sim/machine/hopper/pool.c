// setmaxnreg: registers that warps hand to each other through their block's pool.
#include "sim/machine/hopper/cluster.h"
#include "sim/machine/hopper/wgmma.h"
#include "sim/machine/ops.h"

enum { REGISTERS = 65536, REGISTERS_MAX = 256, STEP = 8 };

// The registers of each thread at its beginning: those that the kernel asks for, or all there are.
static uint32_t registers_at_entry(const SimLaunch *n) {
    uint32_t threads = n->block[0] * n->block[1] * n->block[2], asked = n->kernel->maxnreg;
    uint32_t each = asked ? asked : REGISTERS / threads;
    return (each > REGISTERS_MAX ? REGISTERS_MAX : each) & ~(uint32_t)(STEP - 1);
}

void sim_pool_begin(SimBlock *b) {
    b->registers = 0;
    for (uint32_t n = 0; n < b->warp_count; n++)
        b->warps[n].registers = registers_at_entry(b->run->launch);
}

static bool in_group(SimWarp *w, const SimInstr *i) {
    bool whole = w->index / SIM_GROUP_WARPS < w->block->warp_count / SIM_GROUP_WARPS;
    if (w->mask == UINT32_MAX && whole) return true;
    sim_fail(w, i, (SimFault){.kind = SIM_FAULT_USE, .mask = w->mask},
             "'%s' must be executed by whole warpgroups: found lanes %08x of warp %u of %u",
             i->name, (unsigned)w->mask, w->index, w->block->warp_count);
    return false;
}

static void wrong_way(SimWarp *w, const SimInstr *i) {
    sim_fail(w, i, (SimFault){.kind = SIM_FAULT_USE, .mask = w->mask},
             "'%s' to %u: warp %u has %u registers a thread", i->name, (unsigned)i->immediate,
             w->index, w->registers);
}

void sim_registers_fewer(SimWarp *w, const SimInstr *i) {
    SimGroupStep step = {.instr = i};
    if (!in_group(w, i) || !sim_group_step(w, &step)) return;
    if (i->immediate > w->registers) {
        wrong_way(w, i);
        return;
    }
    w->block->registers += (w->registers - (uint32_t)i->immediate) * SIM_LANES;
    w->registers = (uint32_t)i->immediate;
    w->run->changes++;
}

// Waits until the pool has enough.
void sim_registers_more(SimWarp *w, const SimInstr *i) {
    if (!in_group(w, i)) return;
    if (i->immediate < w->registers) {
        wrong_way(w, i);
        return;
    }
    uint32_t more = ((uint32_t)i->immediate - w->registers) * SIM_LANES;
    w->retry = more > w->block->registers;
    SimGroupStep step = {.instr = i};
    if (w->retry || !sim_group_step(w, &step)) return;
    w->block->registers -= more;
    w->registers = (uint32_t)i->immediate;
}

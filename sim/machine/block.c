// Blocks: their registers and memory before they begin.
#include <stdlib.h>
#include <string.h>

#include "sim/machine/hopper/cluster.h"
#include "sim/machine/hopper/wgmma.h"

// ---- Registers before a block begins ----

static uint64_t special_value(const SimBlock *b, const SimWarp *w, SimSpecial s, uint32_t l) {
    const SimLaunch *n = b->run->launch;
    uint32_t thread = w->index * SIM_LANES + l;
    uint32_t bit = 1u << l;
    const uint32_t *cluster = b->run->cluster;
    switch (s) {
    case SIM_TID_X: return thread % n->block[0];
    case SIM_TID_Y: return thread / n->block[0] % n->block[1];
    case SIM_TID_Z: return thread / n->block[0] / n->block[1];
    case SIM_NTID_X: return n->block[0];
    case SIM_NTID_Y: return n->block[1];
    case SIM_NTID_Z: return n->block[2];
    case SIM_CTAID_X: return b->ctaid[0];
    case SIM_CTAID_Y: return b->ctaid[1];
    case SIM_CTAID_Z: return b->ctaid[2];
    case SIM_NCTAID_X: return n->grid[0];
    case SIM_NCTAID_Y: return n->grid[1];
    case SIM_NCTAID_Z: return n->grid[2];
    case SIM_CLUSTERID_X: return b->ctaid[0] / cluster[0];
    case SIM_CLUSTERID_Y: return b->ctaid[1] / cluster[1];
    case SIM_CLUSTERID_Z: return b->ctaid[2] / cluster[2];
    case SIM_NCLUSTERID_X: return n->grid[0] / cluster[0];
    case SIM_NCLUSTERID_Y: return n->grid[1] / cluster[1];
    case SIM_NCLUSTERID_Z: return n->grid[2] / cluster[2];
    case SIM_LANEID: return l;
    case SIM_WARPID: return w->index;
    case SIM_NWARPID: return b->warp_count;
    case SIM_SMID: return b->linear % SIM_MULTIPROCESSORS;
    case SIM_NSMID: return SIM_MULTIPROCESSORS;
    case SIM_GRIDID: return 1;
    case SIM_LANEMASK_EQ: return bit;
    case SIM_LANEMASK_LE: return bit | (bit - 1);
    case SIM_LANEMASK_LT: return bit - 1;
    case SIM_LANEMASK_GE: return ~(bit - 1);
    case SIM_LANEMASK_GT: return ~(bit | (bit - 1));
    case SIM_CLUSTER_CTAID_X: return b->ctaid[0] % cluster[0];
    case SIM_CLUSTER_CTAID_Y: return b->ctaid[1] % cluster[1];
    case SIM_CLUSTER_CTAID_Z: return b->ctaid[2] % cluster[2];
    case SIM_CLUSTER_CTARANK: return b->rank;
    case SIM_CLUSTER_NCTAID_X: return cluster[0];
    case SIM_CLUSTER_NCTAID_Y: return cluster[1];
    case SIM_CLUSTER_NCTAID_Z: return cluster[2];
    case SIM_CLUSTER_NCTARANK: return b->run->block_count;
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
    w->carry = w->arrived = w->arrived_only = w->idle = 0;
    w->waits.instr = NULL;
    w->spins = 0;
    w->force = false;
    memset(w->group, 0, sizeof w->group);
    memset(w->bulk_group, 0, sizeof w->bulk_group);
}

static bool make_warp(SimBlock *b, SimWarp *w, uint32_t index) {
    SimRun *run = b->run;
    const SimKernel *k = run->launch->kernel;
    w->run = run, w->block = b, w->index = index;
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

static bool make_block(SimRun *run, SimBlock *b, uint32_t rank) {
    const SimLaunch *n = run->launch;
    b->run = run, b->rank = rank;
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
        if (!make_warp(b, &b->warps[i], i)) return false;
    return true;
}

bool sim_blocks_make(SimRun *run) {
    run->blocks = calloc(run->block_count, sizeof *run->blocks);
    if (!run->blocks) return false;
    for (uint32_t n = 0; n < run->block_count; n++)
        if (!make_block(run, &run->blocks[n], n)) return false;
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
    free(b->mbarriers);
    free(b->warps);
    free(b->shared);
    free(b->shared_poison);
}

void sim_blocks_free(SimRun *run) {
    for (uint32_t n = 0; run->blocks && n < run->block_count; n++) free_block(&run->blocks[n]);
    free(run->blocks);
}

// ---- A cluster ----

uint64_t sim_cluster_count(const SimRun *run) {
    uint64_t count = 1;
    for (int d = 0; d < 3; d++) count *= run->launch->grid[d] / run->cluster[d];
    return count;
}

// Block `b` of cluster `number`: both are counted along dimension 0 first.
static void begin_block(SimBlock *b, uint64_t number) {
    const SimLaunch *n = b->run->launch;
    uint64_t rank = b->rank, linear = 0, step = 1;
    for (int d = 0; d < 3; d++) {
        uint32_t size = b->run->cluster[d], along = n->grid[d] / size;
        b->ctaid[d] = (uint32_t)(number % along * size + rank % size);
        linear += b->ctaid[d] * step;
        number /= along, rank /= size, step *= n->grid[d];
    }
    b->linear = linear;
    memset(b->shared, 0xab, b->shared_bytes);
    if (b->shared_poison) memset(b->shared_poison, 0xff, SIM_POISON_BYTES(b->shared_bytes));
    memset(b->barriers, 0, sizeof b->barriers);
    b->running = b->warp_count;
    b->mbarrier_count = 0;
    sim_pool_begin(b);
    for (uint32_t i = 0; i < b->warp_count; i++) begin_warp(b, &b->warps[i]);
}

void sim_cluster_begin(SimRun *run, uint64_t number) {
    for (uint32_t n = 0; n < run->block_count; n++) begin_block(&run->blocks[n], number);
}

SimBlock *sim_block_at(SimBlock *b, uint64_t address, uint64_t *offset) {
    uint64_t rank = address >> SIM_RANK_SHIFT;
    *offset = address & SIM_RANK_MASK;
    if (!rank) return b;
    return rank <= b->run->block_count ? &b->run->blocks[rank - 1] : NULL;
}

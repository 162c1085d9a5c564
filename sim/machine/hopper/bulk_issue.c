// cp.async.bulk, cp.async.bulk.tensor, cp.reduce.async.bulk: their operands; groups of stores.
#include <stdlib.h>

#include "base/status.h"
#include "sim/machine/hopper/bulk.h"
#include "sim/machine/hopper/cluster.h"
#include "sim/machine/hopper/mbarrier.h"
#include "sim/machine/ops.h"

enum { UNIT = 16, BOX_ALIGN = 128 };

static bool wrong(SimWarp *w, const SimInstr *i, uint32_t lane, SimFaultKind kind, uint64_t address,
                  const char *what) {
    SimFault f = {.kind = kind, .mask = 1u << lane, .address = address};
    sim_fail(w, i, f, "'%s' of thread %u of block %llu: %s (%#llx)", i->name,
             w->index * SIM_LANES + lane, (unsigned long long)w->block->linear, what,
             (unsigned long long)address);
    return false;
}

static uint64_t address_of(const SimWarp *w, const SimAccessOp *op, uint32_t l) {
    uint64_t base = op->fixed  ? 0
                    : op->wide ? SIM_REG(w, op->address, LaneU64)[l]
                               : SIM_REG(w, op->address, LaneU32)[l];
    return base + (uint64_t)op->offset;
}

// The block and the offset of an address of shared memory.
static bool shared_place(SimWarp *w, const SimInstr *i, const SimAccessOp *op, uint32_t l,
                         uint32_t align, SimBlock **block, uint32_t *at) {
    uint64_t address = address_of(w, op, l) & ~SIM_WINDOW_MASK, offset;
    *block = sim_block_at(w->block, address, &offset);
    *at = (uint32_t)offset;
    if (!*block || (address != offset && !op->far))
        return wrong(w, i, l, SIM_FAULT_BOUNDS, address, "it is outside of the shared memory");
    if (!(*block)->running)
        return wrong(w, i, l, SIM_FAULT_ENDED_BLOCK, address, "that block has ended");
    if (offset % align == 0) return true;
    return wrong(w, i, l, SIM_FAULT_ALIGN, address,
                 align == BOX_ALIGN ? "a box begins at a multiple of 128 bytes in shared memory"
                                    : "the address is a multiple of 16");
}

// The pieces of one block's copy.
static bool find_pieces(SimWarp *w, const SimInstr *i, uint32_t l, SimBulk *b, uint32_t shared) {
    const SimBulkOp *op = i->detail;
    uint64_t address = address_of(w, &op->global, l);
    if (op->rank) {
        GpuMapFacts map;
        int32_t at[GPU_MAP_RANK];
        TRY(sim_map_read(w, i, address, op->rank, &map));
        if (sim_box_bytes(&map) > b->block->shared_bytes)
            return wrong(w, i, l, SIM_FAULT_BOUNDS, shared, "the box leaves the shared memory");
        for (uint32_t d = 0; d < op->rank; d++) at[d] = SIM_REG(w, op->coordinates[d], LaneS32)[l];
        sim_box_pieces(b, &map, at, shared);
        if (op->reduces) b->type = sim_map_type(map.type);
    } else {
        uint32_t bytes = SIM_REG(w, op->size, LaneU32)[l];
        if (op->kind == SIM_BULK_MOVE) address &= ~SIM_WINDOW_MASK;
        if (bytes % UNIT)
            return wrong(w, i, l, SIM_FAULT_USE, bytes, "its bytes are a multiple of 16");
        if (address % UNIT)
            return wrong(w, i, l, SIM_FAULT_ALIGN, address, "the address is a multiple of 16");
        sim_bulk_add_piece(b, (SimPiece){address, shared, bytes, false});
    }
    for (uint32_t n = 0; n < b->count; n++) b->bytes += b->pieces[n].bytes;
    return true;
}

static SimBulk new_bulk(SimWarp *w, const SimInstr *i, uint32_t l) {
    const SimBulkOp *op = i->detail;
    return (SimBulk){.kind = op->kind,
                     .instr = i,
                     .warp = w,
                     .lane = l,
                     .block = w->block,
                     .group = w->bulk_group[l],
                     .reduces = op->reduces,
                     .atom = op->atom,
                     .type = op->type};
}

// A copy into one block, which lands at the mbarrier there.
static bool load_into(SimWarp *w, const SimInstr *i, uint32_t l, SimBlock *block, uint32_t at,
                      uint32_t mbarrier) {
    SimBulk b = new_bulk(w, i, l);
    b.block = block, b.mbarrier = mbarrier;
    if (!block->running) return wrong(w, i, l, SIM_FAULT_ENDED_BLOCK, at, "that block has ended");
    TRY(sim_mbarrier_exists(w, i, block, mbarrier));
    if (find_pieces(w, i, l, &b, at)) return sim_bulk_issue(&b);
    free(b.pieces);
    return false;
}

static bool load(SimWarp *w, const SimInstr *i, uint32_t l) {
    const SimBulkOp *op = i->detail;
    SimBlock *block, *other;
    uint32_t at, mbarrier, count = w->run->block_count;
    TRY(shared_place(w, i, &op->shared, l, op->rank ? BOX_ALIGN : UNIT, &block, &at));
    TRY(shared_place(w, i, &op->mbarrier, l, 8, &other, &mbarrier));
    if (block != other)
        return wrong(w, i, l, SIM_FAULT_USE, mbarrier, "its mbarrier is in another block");
    if (!op->multicast) return load_into(w, i, l, block, at, mbarrier);
    uint32_t blocks = SIM_REG(w, op->blocks, LaneU16)[l];
    if (!blocks || blocks >> count)
        return wrong(w, i, l, SIM_FAULT_USE, blocks, "the mask names blocks that do not exist");
    for (uint32_t n = 0; n < count; n++)
        if (blocks >> n & 1) TRY(load_into(w, i, l, &w->run->blocks[n], at, mbarrier));
    return true;
}

static bool store(SimWarp *w, const SimInstr *i, uint32_t l) {
    const SimBulkOp *op = i->detail;
    SimBulk b = new_bulk(w, i, l);
    uint32_t at;
    TRY(shared_place(w, i, &op->shared, l, op->rank ? BOX_ALIGN : UNIT, &b.block, &at));
    if (find_pieces(w, i, l, &b, at)) return sim_bulk_issue(&b);
    free(b.pieces);
    return false;
}

static void check_poison(SimWarp *w, const SimInstr *i, const SimBulkOp *op) {
    const SimAccessOp *places[] = {&op->shared, &op->global, &op->mbarrier};
    for (int n = 0; n < 3; n++)
        if (!places[n]->fixed) sim_poison_check(w, i, places[n]->address, SIM_POISON_ADDRESS);
    for (uint32_t d = 0; d < op->rank; d++)
        sim_poison_check(w, i, op->coordinates[d], SIM_POISON_ADDRESS);
    sim_poison_check(w, i, op->size, SIM_POISON_ADDRESS);
    sim_poison_check(w, i, op->blocks, SIM_POISON_MEMBERS);
}

void sim_bulk(SimWarp *w, const SimInstr *i) {
    const SimBulkOp *op = i->detail;
    if (w->poison) check_poison(w, i, op);
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        if (!(w->mask >> l & 1)) continue;
        if (!(op->kind == SIM_BULK_STORE ? store(w, i, l) : load(w, i, l))) return;
    }
}

// ---- Groups: of each thread ----

void sim_bulk_commit(SimWarp *w, const SimInstr *i) {
    (void)i;
    SIM_EACH_LANE(w, w->bulk_group[l]++;);
}

// immediate: groups that may stay in flight; SIM_WRAP: only the sources must have been read.
void sim_bulk_wait(SimWarp *w, const SimInstr *i) {
    SimBulks *all = w->run->bulks;
    for (uint32_t n = 0; all && n < all->count && !w->run->stop; n++) {
        SimBulk *b = all->list[n];
        if (b->kind != SIM_BULK_STORE || b->warp != w || !(w->mask >> b->lane & 1)) continue;
        if (b->group + i->immediate < w->bulk_group[b->lane])
            sim_bulk_await(b, i->flags & SIM_WRAP);
    }
}

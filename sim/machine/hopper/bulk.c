// Bulk copies in flight: how they land, and what observers hear.
#include "sim/machine/hopper/bulk.h"

#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "sim/machine/hopper/cluster.h"
#include "sim/machine/hopper/mbarrier.h"
#include "sim/machine/hopper/span.h"

// ---- What observers hear ----

static SimFlight flight_of(const SimBulk *b) {
    return (SimFlight){.at = sim_place(b->warp, b->instr),
                       .mask = UINT64_C(1) << b->lane,
                       .owner = b->block->rank,
                       .lands = b->kind != SIM_BULK_STORE,
                       .mbarrier = b->mbarrier,
                       .mbarrier_owner = b->block->rank};
}

// The flight's part in shared memory, or the one in global memory (a move: in the source).
static void notify_part(const SimBulk *b, bool global, bool begins) {
    SimRun *run = b->warp->run;
    SimFlight f = flight_of(b);
    SimSpan *spans = malloc((b->count + 1) * sizeof *spans);
    if (!spans) os_out_of_memory();
    uint32_t count = 0;
    bool moves = b->kind == SIM_BULK_MOVE;
    for (uint32_t n = 0; n < b->count; n++) {
        const SimPiece *p = &b->pieces[n];
        if (global && p->outside) continue;
        count = sim_span_add(spans, count, global ? p->global : p->shared, p->bytes);
    }
    f.space = global && !moves ? SIM_SPACE_GLOBAL : SIM_SPACE_SHARED;
    f.owner = global && moves ? b->warp->block->rank : b->block->rank;
    f.writes = global == (b->kind == SIM_BULK_STORE);
    f.atomic = f.writes && b->reduces;
    f.spans = spans, f.span_count = count;
    if (begins)
        SIM_NOTIFY(run, flight_begin, &f);
    else
        SIM_NOTIFY(run, flight_end, &f);
    free(spans);
}

// ---- Memory ----

// The bytes of a piece on its global side, and their poison bits; NULL: no memory.
static uint8_t *global_bytes(const SimBulk *b, const SimPiece *p, uint8_t **poison, uint64_t *at) {
    if (b->kind == SIM_BULK_MOVE) {
        SimBlock *from = b->warp->block;
        *poison = from->shared_poison, *at = p->global;
        return from->shared + p->global;
    }
    SimRegion *r = sim_memory_find(b->warp->run->launch->memory, p->global, p->bytes);
    if (!r || (r->constant && b->kind == SIM_BULK_STORE)) return NULL;
    *poison = r->poison, *at = p->global - r->base;
    return r->bytes + *at;
}

static void fail_at(const SimBulk *b, SimFaultKind kind, SimSpace space, uint64_t address,
                    uint32_t bytes, const char *what) {
    SimFault f = {
        .kind = kind, .space = space, .mask = 1u << b->lane, .address = address, .bytes = bytes};
    sim_fail(b->warp, b->instr, f, "'%s' of thread %u of block %llu: %s (%#llx, %u bytes)",
             b->instr->name, b->warp->index * SIM_LANES + b->lane,
             (unsigned long long)b->warp->block->linear, what, (unsigned long long)address, bytes);
}

static void copy_poison(uint8_t *to, uint64_t to_at, const uint8_t *from, uint64_t from_at,
                        uint32_t bytes) {
    for (uint32_t n = 0; to && n < bytes; n++)
        sim_poison_set(to, to_at + n, 1, from && sim_poison_any(from, from_at + n, 1));
}

// An element outside: 0, or a NaN of all ones.
static void load_piece(const SimBulk *b, const SimPiece *p) {
    SimBlock *to = b->block;
    uint8_t *poison = NULL;
    uint64_t at = 0;
    const uint8_t *from = p->outside ? NULL : global_bytes(b, p, &poison, &at);
    if (from)
        memcpy(to->shared + p->shared, from, p->bytes);
    else
        memset(to->shared + p->shared, b->nan ? 0xff : 0, p->bytes);
    if (to->shared_poison && !poison)
        sim_poison_set(to->shared_poison, p->shared, p->bytes, false);
    else
        copy_poison(to->shared_poison, p->shared, poison, at, p->bytes);
}

static void land_load(SimBulk *b) {
    b->landed = true;
    if (!b->block->running) {
        fail_at(b, SIM_FAULT_ENDED_BLOCK, SIM_SPACE_SHARED, b->pieces[0].shared, b->bytes,
                "the block whose memory it writes has ended");
        return;
    }
    for (uint32_t n = 0; n < b->count; n++) load_piece(b, &b->pieces[n]);
    notify_part(b, true, false);
    notify_part(b, false, false);
    sim_mbarrier_complete(b->warp, b->instr, b->block, b->mbarrier, b->bytes);
}

// ---- Stores ----

static void read_source(SimBulk *b) {
    const SimBlock *from = b->block;
    uint64_t at = 0;
    b->read = true;
    b->data = malloc(b->bytes + 1);
    b->poison = calloc(1, SIM_POISON_BYTES(b->bytes));
    if (!b->data || !b->poison) os_out_of_memory();
    for (uint32_t n = 0; n < b->count; at += b->pieces[n++].bytes) {
        const SimPiece *p = &b->pieces[n];
        memcpy(b->data + at, from->shared + p->shared, p->bytes);
        if (from->shared_poison)
            copy_poison(b->poison, at, from->shared_poison, p->shared, p->bytes);
    }
}

static void notify_poison(const SimBulk *b) {
    SimPoison p = {sim_place(b->warp, b->instr), SIM_POISON_STORE, UINT64_C(1) << b->lane, -1};
    SIM_NOTIFY(b->warp->run, poisoned, &p);
}

static void write_target(SimBulk *b) {
    uint64_t at = 0, to_at;
    uint8_t *bits;
    bool bad = false;
    b->landed = true;
    for (uint32_t n = 0; n < b->count; at += b->pieces[n++].bytes) {
        const SimPiece *p = &b->pieces[n];
        uint8_t *to = p->outside ? NULL : global_bytes(b, p, &bits, &to_at);
        if (!to) continue;
        if (b->reduces)
            sim_reduce(b->type, b->atom, to, b->data + at, p->bytes);
        else
            memcpy(to, b->data + at, p->bytes);
        bad |= sim_poison_any(b->poison, at, p->bytes);
        if (!b->reduces || sim_poison_any(b->poison, at, p->bytes))
            copy_poison(bits, to_at, b->poison, at, p->bytes);
    }
    if (bad) notify_poison(b);
}

// ---- Steps ----

static void step(SimBulk *b) {
    b->warp->run->changes++;
    if (b->kind != SIM_BULK_STORE)
        land_load(b);
    else if (!b->read)
        read_source(b);
    else
        write_target(b);
}

static uint32_t pick_delay(SimRun *run) {
    static const uint32_t most[] = {1, 4, 64};
    if (!run->launch->seed) return 1;
    return sim_random(run, most[sim_random(run, 3)]);
}

static void free_bulk(SimBulk *b) {
    free(b->pieces);
    free(b->data);
    free(b->poison);
    free(b);
}

static bool is_over(const SimBulk *b) {
    return b->landed && (b->kind != SIM_BULK_STORE || b->ended);
}

static void forget(SimBulks *all) {
    uint32_t kept = 0;
    for (uint32_t n = 0; n < all->count; n++) {
        SimBulk *b = all->list[n];
        if (is_over(b))
            free_bulk(b);
        else
            all->list[kept++] = b;
    }
    all->count = kept;
}

void sim_bulks_advance(SimRun *run) {
    SimBulks *all = run->bulks;
    if (!all || !all->count) return;
    for (uint32_t n = 0; n < all->count && !run->stop; n++) {
        SimBulk *b = all->list[n];
        if (b->landed || b->delay--) continue;
        step(b);
        b->delay = pick_delay(run);
    }
    forget(all);
}

bool sim_bulk_land_all(SimRun *run) {
    SimBulks *all = run->bulks;
    bool any = false;
    for (uint32_t n = 0; all && n < all->count && !run->stop; n++)
        while (!all->list[n]->landed && !run->stop) step(all->list[n]), any = true;
    return any;
}

// ---- Issue ----

static bool in_memory(const SimBulk *b) {
    for (uint32_t n = 0; n < b->count; n++) {
        const SimPiece *p = &b->pieces[n];
        uint8_t *bits;
        uint64_t at;
        if ((uint64_t)p->shared + p->bytes > b->block->shared_bytes) {
            fail_at(b, SIM_FAULT_BOUNDS, SIM_SPACE_SHARED, p->shared, p->bytes,
                    "it leaves the block's shared memory");
            return false;
        }
        if (p->outside || global_bytes(b, p, &bits, &at)) continue;
        fail_at(b, SIM_FAULT_BOUNDS, SIM_SPACE_GLOBAL, p->global, p->bytes,
                "it leaves the accessible global memory");
        return false;
    }
    return true;
}

static void add(SimRun *run, SimBulk *b) {
    if (!run->bulks) run->bulks = calloc(1, sizeof *run->bulks);
    SimBulks *all = run->bulks;
    if (!all) os_out_of_memory();
    if (all->count == all->capacity) {
        all->capacity = all->capacity ? 2 * all->capacity : 16;
        SimBulk **list = realloc(all->list, all->capacity * sizeof *list);
        if (!list) os_out_of_memory();
        all->list = list;
    }
    all->list[all->count++] = b;
}

bool sim_bulk_issue(SimBulk *given) {
    SimRun *run = given->warp->run;
    if (!in_memory(given)) {
        free(given->pieces);
        return false;
    }
    SimBulk *b = malloc(sizeof *b);
    if (!b) os_out_of_memory();
    *b = *given;
    add(run, b);
    for (uint32_t n = 0; n < b->count; n++) {
        const SimPiece *p = &b->pieces[n];
        uint8_t *bits = b->kind == SIM_BULK_STORE ? NULL : b->block->shared_poison;
        if (bits) sim_poison_set(bits, p->shared, p->bytes, true);
    }
    notify_part(b, true, true);
    notify_part(b, false, true);
    b->delay = pick_delay(run);
    if (b->delay) return true;
    step(b);
    b->delay = pick_delay(run);
    return true;
}

// ---- Waits and ends ----

// The issuing thread learns that the source was read, or that all was written, too.
void sim_bulk_await(SimBulk *b, bool read_only) {
    while (read_only ? !b->read : !b->landed) step(b);
    if (!b->read_ended) notify_part(b, false, false);
    b->read_ended = true;
    if (read_only || b->ended) return;
    notify_part(b, true, false);
    b->ended = true;
}

void sim_bulk_block_ends(SimWarp *w, const SimInstr *i) {
    SimBulks *all = w->run->bulks;
    for (uint32_t n = 0; all && n < all->count && !w->run->stop; n++) {
        const SimBulk *b = all->list[n];
        bool open = b->kind == SIM_BULK_STORE ? !b->read_ended : !b->landed;
        bool source = b->kind == SIM_BULK_MOVE && b->warp->block == w->block;
        if (!open || (b->block != w->block && !source)) continue;
        sim_fail(w, i, (SimFault){.kind = SIM_FAULT_ENDED_BLOCK, .mask = w->mask},
                 "block %llu has ended, and nothing has waited for '%s' of thread %u of block "
                 "%llu, which accesses its shared memory",
                 (unsigned long long)w->block->linear, b->instr->name,
                 b->warp->index * SIM_LANES + b->lane, (unsigned long long)b->warp->block->linear);
    }
}

void sim_bulk_end(SimRun *run) {
    SimBulks *all = run->bulks;
    if (!all) return;
    if (!run->stop) sim_bulk_land_all(run);
    for (uint32_t n = 0; n < all->count; n++) free_bulk(all->list[n]);
    all->count = 0;
}

void sim_bulk_free(SimRun *run) {
    if (!run->bulks) return;
    for (uint32_t n = 0; n < run->bulks->count; n++) free_bulk(run->bulks->list[n]);
    free(run->bulks->list);
    free(run->bulks);
}

// wgmma.fence, mma_async, commit_group, wait_group: products in flight.
#include "sim/machine/hopper/wgmma.h"

#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "base/status.h"
#include "sim/machine/fragment.h"
#include "sim/machine/hopper/span.h"
#include "sim/machine/ops.h"

enum { PRODUCTS_MAX = 1 << 12 };

// ---- Registers of products in flight ----

static SimProducts *products(SimWarp *w) {
    if (w->products) return w->products;
    SimProducts *p = calloc(1, sizeof *p);
    uint32_t count = w->run->launch->kernel->register_count + 1;
    if (p && w->poison) {
        p->users = calloc(count, sizeof *p->users);
        p->real = calloc(count, sizeof *p->real);
    }
    if (!p || (w->poison && (!p->users || !p->real))) os_out_of_memory();
    return w->products = p;
}

void sim_products_begin(SimWarp *w) {
    SimProducts *p = w->products;
    if (!p) return;
    p->count = p->open = 0;
    if (p->users) memset(p->users, 0, w->run->launch->kernel->register_count * sizeof *p->users);
}

void sim_products_free(SimWarp *w) {
    SimProducts *p = w->products;
    if (!p) return;
    free(p->list);
    free(p->users);
    free(p->real);
    free(p);
}

// Results are poison until the wait, whatever they are then.
static void poison_results(SimWarp *w, const SimWgmmaOp *op) {
    SimProducts *all = w->products;
    for (uint32_t r = 0; r < op->results; r++) {
        int32_t number = op->rd[r].number;
        if (!all->users[number]++) all->real[number] = sim_poison_of(w, op->rd[r]);
        sim_poison_put(w, op->rd[r], UINT32_MAX);
    }
}

static void settle_results(SimWarp *w, const SimWgmmaOp *op) {
    SimProducts *all = w->products;
    for (uint32_t r = 0; r < op->results; r++) {
        int32_t number = op->rd[r].number;
        if (!--all->users[number]) sim_poison_put(w, op->rd[r], all->real[number]);
    }
}

// ---- What observers hear ----

static void notify_flight(SimWarp *w, const SimProduct *p, bool begins) {
    const SimWgmmaOp *op = p->instr->detail;
    SimSpan spans[SIM_A_CHUNKS + SIM_B_CHUNKS];
    uint32_t count = 0;
    for (uint32_t n = 0; !op->registers && n < SIM_A_CHUNKS; n++)
        count = sim_span_add(spans, count, p->a[n], SIM_CHUNK);
    for (uint32_t n = 0; n < op->n / 8u * SIM_CHUNKS_OF_8; n++)
        count = sim_span_add(spans, count, p->b[n], SIM_CHUNK);
    SimFlight f = {.at = sim_place(w, p->instr),
                   .mask = UINT32_MAX,
                   .space = SIM_SPACE_SHARED,
                   .owner = w->block->rank,
                   .spans = spans,
                   .span_count = count,
                   .results = op->numbers,
                   .result_count = op->results,
                   .sources = op->numbers + op->results,
                   .source_count = op->registers ? 4 : 0,
                   .adds = p->adds};
    if (begins)
        SIM_NOTIFY(w->run, flight_begin, &f);
    else
        SIM_NOTIFY(w->run, flight_end, &f);
}

// ---- A warpgroup ----

// All lanes of four warps of a whole warpgroup; `step` is what the others must execute, too.
static bool in_group(SimWarp *w, const SimInstr *i, uint64_t a, uint64_t b, bool adds) {
    const SimBlock *block = w->block;
    bool whole = w->index / SIM_GROUP_WARPS < block->warp_count / SIM_GROUP_WARPS;
    if (w->mask != UINT32_MAX || !whole) {
        sim_fail(w, i, (SimFault){.kind = SIM_FAULT_USE, .mask = w->mask},
                 "'%s' needs four whole warps, the first of which has a number divisible by four: "
                 "found lanes %08x of warp %u of %u",
                 i->name, (unsigned)w->mask, w->index, block->warp_count);
        return false;
    }
    SimGroupStep step = {i, a, b, adds};
    return sim_group_step(w, &step);
}

// ---- Products ----

// The value that all lanes must have.
static bool uniform(SimWarp *w, const SimInstr *i, SimOperand o, const char *what,
                    uint64_t *value) {
    const LaneU64 *lanes = SIM_REG(w, o, LaneU64);
    if (w->poison) sim_poison_check(w, i, o, SIM_POISON_ADDRESS);
    *value = lanes[0];
    for (uint32_t l = 1; l < SIM_LANES; l++) {
        if (lanes[l] == *value) continue;
        sim_fail(w, i, (SimFault){.kind = SIM_FAULT_USE, .mask = 1u << l},
                 "'%s': the descriptor of %s is %#llx in lane 0 and %#llx in lane %u of warp %u",
                 i->name, what, (unsigned long long)*value, (unsigned long long)lanes[l], l,
                 w->index);
        return false;
    }
    return true;
}

static bool adds_to(SimWarp *w, const SimInstr *i, const SimWgmmaOp *op, bool *adds) {
    uint32_t lanes = sim_pred(w, op->adds, op->adds_negated);
    if (w->poison) sim_poison_check(w, i, op->adds, SIM_POISON_BRANCH);
    *adds = lanes & 1;
    if (!lanes || lanes == UINT32_MAX) return true;
    sim_fail(w, i, (SimFault){.kind = SIM_FAULT_USE, .mask = lanes},
             "'%s': scale-d differs within warp %u", i->name, w->index);
    return false;
}

// Checks that a factor is in the block's memory.
static bool factor_is_there(SimWarp *w, const SimInstr *i, uint64_t bits, const char *what,
                            const uint32_t *chunks, uint32_t count) {
    SimDescriptor d = sim_descriptor(bits);
    const char *wrong = sim_descriptor_fault(&d);
    SimFault f = {.kind = SIM_FAULT_ALIGN,
                  .space = SIM_SPACE_SHARED,
                  .mask = w->mask,
                  .address = d.address,
                  .bytes = SIM_CHUNK};
    if (wrong)
        sim_fail(w, i, f, "'%s': the descriptor %#llx of %s: %s", i->name, (unsigned long long)bits,
                 what, wrong);
    f.kind = SIM_FAULT_BOUNDS;
    for (uint32_t n = 0; n < count; n++) {
        if (chunks[n] + SIM_CHUNK <= w->block->shared_bytes) continue;
        f.address = chunks[n];
        sim_fail(w, i, f,
                 "'%s': the descriptor %#llx of %s leads to byte %u of shared memory, and the "
                 "block has %u bytes",
                 i->name, (unsigned long long)bits, what, chunks[n], w->block->shared_bytes);
    }
    return !w->run->stop;
}

static bool find_factors(SimWarp *w, const SimInstr *i, SimProduct *p, uint64_t a, uint64_t b) {
    const SimWgmmaOp *op = i->detail;
    SimDescriptor da = sim_descriptor(a), db = sim_descriptor(b);
    uint32_t first = w->index % SIM_GROUP_WARPS * 2, groups = op->n / 8u;
    sim_descriptor_chunks(&db, op->transposed_b, 0, groups, p->b);
    TRY(factor_is_there(w, i, b, "B", p->b, groups * SIM_CHUNKS_OF_8));
    if (op->registers) return true;
    sim_descriptor_chunks(&da, op->transposed_a, first, 2, p->a);
    return factor_is_there(w, i, a, "A", p->a, SIM_A_CHUNKS);
}

static SimProduct *new_product(SimWarp *w, const SimInstr *i) {
    SimProducts *all = products(w);
    if (all->count == all->capacity) {
        uint32_t capacity = all->capacity ? 2 * all->capacity : 8;
        if (capacity > PRODUCTS_MAX) {
            sim_fail(w, i, (SimFault){.kind = SIM_FAULT_USE, .mask = w->mask},
                     "'%s': %u products are in flight, and no wait_group covers them", i->name,
                     all->count);
            return NULL;
        }
        SimProduct *list = realloc(all->list, capacity * sizeof *list);
        if (!list) os_out_of_memory();
        all->list = list, all->capacity = capacity;
    }
    return &all->list[all->count];
}

static SimMoment pick_moment(SimRun *run) {
    return run->launch->seed ? (SimMoment)sim_random(run, 3) : SIM_AT_WAIT;
}

// Computes the first products, in order.
static void compute_first(SimWarp *w, uint32_t count) {
    for (uint32_t n = 0; n < count; n++) {
        SimProduct *p = &w->products->list[n];
        if (!p->computed) sim_product_compute(w, p);
        p->computed = true;
    }
}

void sim_wgmma(SimWarp *w, const SimInstr *i) {
    const SimWgmmaOp *op = i->detail;
    uint64_t a = 0, b;
    bool adds;
    if ((!op->registers && !uniform(w, i, op->da, "A", &a)) || !uniform(w, i, op->db, "B", &b) ||
        !adds_to(w, i, op, &adds) || !in_group(w, i, a, b, adds))
        return;
    SimProduct *p = new_product(w, i);
    if (!p || !find_factors(w, i, p, a, b)) return;
    SimProducts *all = w->products;
    p->instr = i, p->adds = adds, p->computed = false;
    p->group = all->open, p->moment = (uint8_t)pick_moment(w->run);
    p->rows = w->poison && op->registers ? sim_rows_poison(w, op->ra, op->a) : 0;
    all->count++;
    notify_flight(w, p, true);
    if (w->poison) poison_results(w, op);
    if (p->moment == SIM_AT_ISSUE) compute_first(w, all->count);
}

void sim_wgmma_fence(SimWarp *w, const SimInstr *i) {
    if (!in_group(w, i, 0, 0, false)) return;
    SimPlace at = sim_place(w, i);
    SIM_NOTIFY(w->run, fence, &at, w->mask, SIM_FENCE_PRODUCT, SIM_SCOPE_CTA);
}

void sim_wgmma_commit(SimWarp *w, const SimInstr *i) {
    if (!in_group(w, i, 0, 0, false)) return;
    SimProducts *all = products(w);
    for (uint32_t n = all->count; n-- > 0;) {
        SimProduct *p = &all->list[n];
        if (p->group != all->open || p->moment != SIM_AT_COMMIT) continue;
        compute_first(w, n + 1);
        break;
    }
    all->open++;
}

// immediate: groups that may stay in flight.
void sim_wgmma_wait(SimWarp *w, const SimInstr *i) {
    if (!in_group(w, i, 0, 0, false)) return;
    SimProducts *all = products(w);
    uint32_t done = 0;
    while (done < all->count && all->list[done].group + i->immediate < all->open) done++;
    compute_first(w, done);
    for (uint32_t n = 0; n < done; n++) {
        notify_flight(w, &all->list[n], false);
        if (w->poison) settle_results(w, all->list[n].instr->detail);
    }
    all->count -= done;
    memmove(all->list, all->list + done, all->count * sizeof *all->list);
}

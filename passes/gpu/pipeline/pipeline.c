// gpu_pipeline: prefetches a loop's loads, so that they are in flight before their step.
//
// By copies, with n = stages - 1 (one group of copies a step; groups of steps past the end are
// empty):
//
//     ring = gpu.shared {stages}                    for i, read, write, … {
//     for j < n:                                        gpu.wait {n - 1}      one barrier a step
//         if lo + j*step < hi: copy step j to slot j    if i + n*step < hi: copy that step to write
//         gpu.commit                                    gpu.commit
//                                                       … gpu.read of slot read …
//                                                       next: read + 1 or 0, read
//                                                   }
//                                                   gpu.wait {0}           of empty groups
//
// By tensor maps, the copies of a step arrive at a barrier of their slot, which the step waits for.
// Bit s of `phases` says how often slot s was waited for, modulo 2, which is the parity of the
// phase to wait for:
//
//     bars = gpu.mbarrier {stages}                  for i, read, write, phases, … {
//     for j < n:                                        gpu.mbarrier_wait read, its bit of phases
//         if lo + j*step < hi:                          gpu.barrier
//             gpu.mbarrier_expect j                     if i + n*step < hi: expect and load write
//             gpu.tma_load to slot j                    … gpu.read of slot read …
//                                                       next: …, that bit changed
//                                                   }
//                                                   gpu.mbarrier_end
//
// The product of a step may run into the next one. The barrier then comes after it has begun, when
// that of the step before has ended.
//
// With producers a slot has a second barrier, `empty`, where each warp arrives that has read the
// slot, in place of the program's barrier: once for each step that reads it. So the copies that
// fill a slot for the k-th time wait for phase k - 1 of it, which has the other parity than the
// phase in which these copies arrive.
//
// The slot that is copied to was read in the step before, which the barrier ends.
// In registers: the value of the next step is loaded at the beginning of a step, if there is one,
// and carried. Addresses are recomputed for the step that is loaded, from the loop's counter and
// from other carried values (moving pointers) some steps ahead, which are carried as well. Values
// are loaded without a branch if the counter alone shows that a step past the end is outside of
// every view. Copies have the condition in their masks, which costs less than a proof that it is
// not needed. The last step in registers loads its own values again, if these follow from the
// counter alone and nothing is written.
// Needs: level gpu, before gpu_fences. Keeps: every value; loads are done early only if the loop
// writes nothing that they may read.
#include "passes/gpu/layout/dot_plan.h"
#include "passes/gpu/pipeline/pipeline_plan.h"

#include "base/facts.h"
#include "base/os/os.h"

#include "passes/passes.h"
#include "passes/rewrite.h"

typedef VEC(const IrOp *) Ops;

// Loads of one kind, which are the same number of steps ahead.
typedef struct Pipelined {
    bool copies;
    uint32_t distance, slots;
    VEC(const PipelineFeed *) feeds;
    Ops ops;          // of the body: the loads and the ops they need
    IrValue **ahead;  // the plan's carried values, that many steps ahead; before the loop, then
                      // within
    IrValue **in_registers;               // by feed: the value, if it is not copied
    uint32_t carried, carried_registers;  // the positions of these among the body's arguments
    bool unguarded;                       // a step past the end loads nothing anyway
} Pipelined;

typedef struct Pipeline {
    IrFunc *func;
    Arena *scratch;
    const Machine *machine;
    const PipelinePlan *plan;
    IrBuilder b;
    IrOp *loop;
    IrBlock *body;
    IrValue *lo, *hi;
    int64_t step, least_hi;
    uint32_t known;  // ops from this number on are newer than the plan
    bool writes;     // an op in the body changes memory
    Ops advance;
    VEC(IrValue *) more;     // carried values that are new
    IrValue **rings;         // by feed of the copies
    IrValue *bars;           // of copies by maps
    IrValue *empty;          // with a producer: barriers where warps arrive that have read a slot
    uint32_t read;           // argument of the body: the current slot; after it the slots that this
                             // step, and the next ones, fill
    uint32_t phases;         // of copies by maps: the argument of the body
    IrValue *before_copies;  // the phases when the next copies begin; NULL: all slots are empty
    VEC(uint64_t)
    tile;         // keys of values of the loop over tiles, each followed by that of its
                  // value for the tile whose first copies are made
    IrOp *tiles;  // that loop, remade
} Pipeline;

static IrValue *const_i64(Pipeline *p, int64_t n) { return ir_const_int(&p->b, DTYPE_I64, n); }
static IrValue *place(Pipeline *p, int64_t n) { return ir_const_int(&p->b, DTYPE_I32, n); }

static void effect(Pipeline *p, IrOpcode code) { ir_op(&p->b, code, 0, NULL, 0, NULL, 0, NULL); }

static void wait_for(Pipeline *p, uint32_t count, bool brings) {
    IrOp *op = ir_op(&p->b, IR_GPU_WAIT, 0, NULL, 0, NULL, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_COUNT, count);
    if (brings) ir_attr_set_int(op, IR_ATTR_GLOBAL, true);
}

static IrValue *slot(Pipeline *p, IrValue *ring, IrValue *at) {
    IrValue *operands[2] = {ring, at};
    const IrType *type = ring->type;
    return ir_result(ir_op(&p->b, IR_GPU_SLOT, 2, operands, 1, &type, 0, NULL), 0);
}

// ---- steps to come ------------------------------------------------------------------------------

// The counter is below it if the step j further on is one of the loop's: hi - j*step, if that is a
// number; nothing is below the least number.
static IrValue *bound_of(Pipeline *p, uint32_t j) {
    if (j == 0) return p->hi;
    int64_t ahead = (int64_t)j * p->step, known;
    if (rewrite_constant_int(p->hi, &known) && known >= INT64_MIN + ahead)
        return const_i64(p, known - ahead);
    IrValue *hi = p->hi;
    if (p->least_hi < INT64_MIN + ahead)
        hi = ir_binary(&p->b, IR_MAX, hi, const_i64(p, INT64_MIN + ahead));
    return ir_binary(&p->b, IR_SUB, hi, const_i64(p, ahead));
}

static IrValue *some_steps_on(Pipeline *p, IrValue *counter, uint32_t steps) {
    if (!steps) return counter;
    return ir_binary(&p->b, IR_ADD, counter, const_i64(p, (int64_t)steps * p->step));
}

// The body's arguments at the step that is loaded.
static Map map_of(Pipeline *p, IrValue *counter, IrValue *const *ahead) {
    Map map = {0};
    for (size_t i = 0; i < p->tile.count; i += 2)
        map_put(p->scratch, &map, p->tile.data[i], p->tile.data[i + 1]);
    map_put(p->scratch, &map, map_key(p->body->args[0]), map_key(counter));
    for (size_t i = 0; i < p->plan->ahead.count; i++) {
        const IrValue *arg = p->body->args[p->plan->ahead.data[i]];
        map_put(p->scratch, &map, map_key(arg), map_key(ahead[i]));
    }
    return map;
}

static IrValue *mapped(const Map *map, IrValue *v) {
    uint64_t *found = map_find(map, map_key(v));
    return found ? (IrValue *)(uintptr_t)*found : v;
}

static void clone_all(Pipeline *p, const Ops *ops, Map *map) {
    for (size_t i = 0; i < ops->count; i++) ir_clone(&p->b, ops->data[i], map, p->scratch);
}

// The values that are ahead, as they are at the next step.
static void advance(Pipeline *p, Pipelined *e, IrValue *counter) {
    Map map = map_of(p, counter, e->ahead);
    clone_all(p, &p->advance, &map);
    IrValue **next = arena_new(p->scratch, IrValue *, p->plan->ahead.count + 1);
    for (size_t i = 0; i < p->plan->ahead.count; i++)
        next[i] = mapped(&map, ir_operand(p->body->last, p->plan->ahead.data[i] - 1));
    e->ahead = next;
}

// ---- a step's loads -----------------------------------------------------------------------------

// Is everything that it loads outside of its view once the loop's counter is at its end? Dimensions
// that are marked as inside must not depend on the counter.
static bool ends_with_loop(const Pipeline *p, const IrOp *op) {
    if (op->code != IR_VIEW_LOAD || !p->hi->def || p->hi->def->code != IR_EXTENT) return false;
    const IrParam *param = &p->func->params.data[ir_operand(op, 0)->index];
    bool ends = false;
    for (uint32_t d = 0; d < ir_operand(op, 0)->type->rank; d++) {
        const IrValue *index = ir_operand(op, ir_view_index_start(op->code) + d);
        bool inside = ir_attr(op, IR_ATTR_INSIDE)->u.ints.items[d] != 0;
        bool varies = index->block == p->body || (index->def && index->def->block == p->body);
        if (inside && varies) return false;
        ends |= !inside && index == p->body->args[0] &&
                param->dims[d].extent == ir_attr(p->hi->def, IR_ATTR_EXTENT)->u.name;
    }
    return ends;
}

static bool all_end_with_loop(const Pipeline *p, const Pipelined *e) {
    for (size_t i = 0; i < e->ops.count; i++) {
        const IrOp *op = e->ops.data[i];
        if (ir_op_info(op->code)->effect != IR_EFFECT_PURE && !ends_with_loop(p, op)) return false;
    }
    return true;
}

static IrBlock *region(Pipeline *p, IrBuilder *around) {
    IrBlock *block = ir_block_create(p->func);
    *around = p->b;
    p->b = ir_builder_at_end(block);
    p->b.span = around->span;
    return block;
}

// The op is executed by the warp that only copies, if there is one.
static void for_producer(Pipeline *p, IrOp *op) {
    if (p->plan->producers) ir_attr_set_int(op, IR_ATTR_PRODUCER, true);
}

static void copy_feed(Pipeline *p, const PipelineFeed *feed, IrValue *ring, IrValue *at,
                      const Map *map) {
    IrValue *x = mapped(map, ir_result(feed->load, 0));
    x->type = ir_with_layout(p->func->module, x->type, &feed->load_layout);
    IrValue *operands[4] = {slot(p, ring, at), x, p->bars, at};
    IrBuilder here = p->b;
    p->b.span = feed->load->span;
    if (p->plan->by_map) {
        IrOp *op = ir_op(&p->b, IR_GPU_TMA_LOAD, 4, operands, 0, NULL, 0, NULL);
        ir_attr_set_int(op, IR_ATTR_MAP, feed->map);
        for_producer(p, op);
    } else {
        ir_op(&p->b, IR_GPU_COPY, 2, operands, 0, NULL, 0, NULL);
    }
    p->b.span = here.span;
}

// The bytes that arrive at the slot's barrier.
static void expect(Pipeline *p, const Pipelined *e, IrValue *at) {
    int64_t bytes = 0;
    for (size_t i = 0; i < e->feeds.count; i++) {
        const IrType *x = e->feeds.data[i]->load->results[0].type;
        bytes += (int64_t)x->count * ir_elem_size(x);
    }
    IrValue *operands[2] = {p->bars, at};
    IrOp *op = ir_op(&p->b, IR_GPU_MBARRIER_EXPECT, 2, operands, 0, NULL, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_COUNT, bytes);
    for_producer(p, op);
}

// The parity of the phase in which the next copies to the slot arrive.
static IrValue *parity_of(Pipeline *p, IrValue *phases, IrValue *at) {
    IrValue *bits = ir_binary(&p->b, IR_SHR, phases, at);
    return ir_binary(&p->b, IR_AND, bits, place(p, 1));
}

// The producer waits until all warps have read what is in the slot.
static void wait_until_empty(Pipeline *p, IrValue *at) {
    IrValue *parity = parity_of(p, p->before_copies, at);
    IrValue *operands[3] = {p->empty, at, ir_binary(&p->b, IR_XOR, parity, place(p, 1))};
    for_producer(p, ir_op(&p->b, IR_GPU_MBARRIER_WAIT, 3, operands, 0, NULL, 0, NULL));
}

// The value carried past the end: it is not used.
static IrValue *nothing(Pipeline *p, const IrType *type) {
    if (type->kind == IR_TILE) return ir_const_bits(&p->b, type, 0);
    const IrType *bits = ir_tile(p->func->module, DTYPE_U64, type->rank, type->shape);
    bits = ir_with_layout(p->func->module, bits, type->layout);
    return ir_bitcast(&p->b, ir_const_bits(&p->b, bits, 0), type);
}

// The values of the step that many steps ahead; with `at` they are copied to that slot.
static IrValue **step_values(Pipeline *p, const Pipelined *e, IrValue *counter, uint32_t steps,
                             IrValue *at) {
    IrValue **values = arena_new(p->scratch, IrValue *, e->feeds.count + 1);
    Map map = map_of(p, some_steps_on(p, counter, steps), e->ahead);
    clone_all(p, &e->ops, &map);
    if (at && p->empty && p->before_copies) wait_until_empty(p, at);
    if (at && p->plan->by_map) expect(p, e, at);
    for (size_t i = 0; i < e->feeds.count; i++) {
        values[i] = mapped(&map, ir_result(e->feeds.data[i]->load, 0));
        if (at) copy_feed(p, e->feeds.data[i], p->rings[i], at, &map);
    }
    return values;
}

// Under the condition that there is such a step. Its counter is computed where `on` holds, so that
// it is known to be below the loop's end.
static void load_if(Pipeline *p, Pipelined *e, IrValue *counter, uint32_t steps, IrValue *on,
                    IrValue *at) {
    IrBuilder here, inside;
    size_t results = at ? 0 : e->feeds.count;
    const IrType **types = arena_new(p->scratch, const IrType *, results + 1);
    IrValue **none = arena_new(p->scratch, IrValue *, results + 1);
    IrBlock *regions[2];
    regions[0] = region(p, &here);
    IrValue **values = step_values(p, e, counter, steps, at);
    ir_yield(&p->b, (uint32_t)results, values);
    p->b = here;
    regions[1] = region(p, &inside);
    for (size_t i = 0; i < results; i++) types[i] = values[i]->type, none[i] = nothing(p, types[i]);
    ir_yield(&p->b, (uint32_t)results, none);
    p->b = here;
    IrOp *op = ir_op(&p->b, IR_IF, 1, &on, (uint32_t)results, types, 2, regions);
    for (size_t i = 0; i < results; i++) e->in_registers[i] = ir_result(op, (uint32_t)i);
}

// Copies the loads of the step that many steps ahead to slot `at`; or, with `at` NULL, loads them:
// e->in_registers. If a step past the end loads nothing anyway, there is no test.
static void load_step(Pipeline *p, Pipelined *e, IrValue *counter, uint32_t steps, IrValue *on,
                      IrValue *at) {
    if (e->unguarded) {
        IrValue **values = step_values(p, e, counter, steps, at);
        if (!at) e->in_registers = values;
    } else {
        load_if(p, e, counter, steps, on, at);
    }
    if (at && !p->plan->by_map) effect(p, IR_GPU_COMMIT);
}

static IrValue *below(Pipeline *p, IrValue *counter, IrValue *bound) {
    return ir_binary(&p->b, IR_LT, counter, bound);
}

// ---- before the loop ----------------------------------------------------------------------------

static IrOp *make_bars(Pipeline *p, uint32_t count, int arrivals) {
    const IrType *type = ir_ptr(p->func->module, DTYPE_U64, 0, NULL);
    IrOp *op = ir_op(&p->b, IR_GPU_MBARRIER, 0, NULL, 1, &type, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_COUNT, count);
    ir_attr_set_int(op, IR_ATTR_ARRIVALS, arrivals);
    return op;
}

static void make_rings(Pipeline *p, const Pipelined *e) {
    p->rings = arena_new(p->scratch, IrValue *, e->feeds.count + 1);
    for (size_t i = 0; i < e->feeds.count; i++) {
        const PipelineFeed *feed = e->feeds.data[i];
        const IrType *x = feed->load->results[0].type;
        const IrType *type = ir_ptr(p->func->module, x->elem, x->rank, x->shape);
        type = ir_with_layout(p->func->module, type, &feed->memory);
        p->b.span = feed->load->span;
        IrOp *op = ir_op(&p->b, IR_GPU_SHARED, 0, NULL, 1, &type, 0, NULL);
        ir_attr_set_int(op, IR_ATTR_COUNT, e->slots);
        p->rings[i] = ir_result(op, 0);
    }
    p->b.span = p->loop->span;
    if (!p->plan->by_map) return;
    p->bars = ir_result(make_bars(p, e->slots, 1), 0);
    if (!p->plan->producers) return;
    IrOp *empty = make_bars(p, e->slots, p->func->warps);
    for_producer(p, empty);
    p->empty = ir_result(empty, 0);
}

static void load_first_steps(Pipeline *p, Pipelined *e) {
    e->ahead = arena_new(p->scratch, IrValue *, p->plan->ahead.count + 1);
    for (size_t i = 0; i < p->plan->ahead.count; i++)
        e->ahead[i] = ir_operand(p->loop, 2 + p->plan->ahead.data[i]);
    for (uint32_t j = 0; j < e->distance; j++) {
        IrValue *on = below(p, p->lo, bound_of(p, j));
        load_step(p, e, p->lo, j, on, e->copies ? place(p, j) : NULL);
        advance(p, e, some_steps_on(p, p->lo, j));
    }
}

// ---- the loop with more carried values ----------------------------------------------------------

// The argument that a carried value will be.
static uint32_t carry(Pipeline *p, IrValue *init) {
    vec_push(p->scratch, &p->more, init);
    return ir_block_add_arg(p->body, init->type)->index;
}

static void carry_pipelined(Pipeline *p, Pipelined *e) {
    e->carried = p->body->arg_count;
    for (size_t i = 0; i < p->plan->ahead.count; i++) carry(p, e->ahead[i]);
    e->carried_registers = p->body->arg_count;
    for (size_t i = 0; !e->copies && i < e->feeds.count; i++) carry(p, e->in_registers[i]);
}

static void remake(Pipeline *p) {
    IrOp *old = p->loop;
    uint32_t operands = old->operand_count, results = old->result_count, n = 0;
    uint32_t more = (uint32_t)p->more.count;
    IrValue **values = arena_new(p->scratch, IrValue *, operands + more);
    const IrType **types = arena_new(p->scratch, const IrType *, results + more);
    for (; n < operands; n++) values[n] = ir_operand(old, n);
    for (uint32_t i = 0; i < results; i++) types[i] = old->results[i].type;
    for (uint32_t i = 0; i < more; i++) {
        values[n++] = p->more.data[i];
        types[results + i] = p->more.data[i]->type;
    }
    p->loop = ir_remake(old, n, values, results + more, types);
    for (uint32_t i = 0; i < results; i++) ir_replace_all(ir_result(old, i), ir_result(p->loop, i));
}

// ---- in the loop --------------------------------------------------------------------------------

// Waits for this step's copies; the places that they went to.
static IrValue **arrive(Pipeline *p, const Pipelined *e) {
    IrValue **places = arena_new(p->scratch, IrValue *, e->feeds.count + 1);
    if (p->plan->by_map) {
        IrValue *at = p->body->args[p->read];
        IrValue *operands[3] = {p->bars, at, parity_of(p, p->body->args[p->phases], at)};
        ir_op(&p->b, IR_GPU_MBARRIER_WAIT, 3, operands, 0, NULL, 0, NULL);
    } else {
        wait_for(p, e->distance - 1, true);
    }
    for (size_t i = 0; i < e->feeds.count; i++)
        places[i] = slot(p, p->rings[i], p->body->args[p->read]);
    return places;
}

// Copies begin after the first product that the unit computes by itself: meanwhile threads are free
// to begin them.
static void go_behind_product(Pipeline *p) {
    for (IrOp *op = p->body->first; op; op = op->next)
        if (op->code == IR_DOT && gpu_dot_by_wgmma(op)) {
            p->b.before = op->next;
            return;
        }
}

// Each warp has read the slot.
static void arrive_at_empty(Pipeline *p, IrValue *at) {
    IrValue *operands[2] = {p->empty, at};
    ir_op(&p->b, IR_GPU_MBARRIER_ARRIVE, 2, operands, 0, NULL, 0, NULL);
}

static void arrive_if(Pipeline *p, IrValue *on, IrValue *at) {
    IrBuilder here, inside;
    IrBlock *regions[2];
    regions[0] = region(p, &here);
    arrive_at_empty(p, at);
    ir_yield(&p->b, 0, NULL);
    p->b = here;
    regions[1] = region(p, &inside);
    ir_yield(&p->b, 0, NULL);
    p->b = here;
    ir_op(&p->b, IR_IF, 1, &on, 0, NULL, 2, regions);
}

// The slot of the step before, whose product has ended: this step's copies go there. A tile's first
// step has none before it.
static void release_before(Pipeline *p) {
    if (!p->plan->producers) {
        effect(p, IR_GPU_BARRIER);
        return;
    }
    IrValue *later = ir_binary(&p->b, IR_GT, p->body->args[0], p->lo);
    arrive_if(p, later, p->body->args[p->read + 1]);
}

static void load_ahead(Pipeline *p, Pipelined *e, IrValue *bound) {
    IrValue *counter = p->body->args[0], *at = e->copies ? p->body->args[p->read + 1] : NULL;
    for (size_t i = 0; i < p->plan->ahead.count; i++) e->ahead[i] = p->body->args[e->carried + i];
    IrValue *on = below(p, counter, bound);
    if (e->copies || e->unguarded || p->plan->ahead.count || p->writes) {
        load_step(p, e, counter, e->distance, on, at);
        return;
    }
    // The last step loads its own values once more: a branch would delay the code around it. If the
    // loop writes, the loads may read what it writes.
    IrValue *next = some_steps_on(p, counter, e->distance);
    e->in_registers = step_values(p, e, ir_ternary(&p->b, IR_SELECT, on, next, counter), 0, NULL);
}

static void yield_more(Pipeline *p, Pipelined *e) {
    advance(p, e, some_steps_on(p, p->body->args[0], e->distance));
    for (size_t i = 0; i < p->plan->ahead.count; i++) ir_add_operand(p->body->last, e->ahead[i]);
    for (size_t i = 0; !e->copies && i < e->feeds.count; i++)
        ir_add_operand(p->body->last, e->in_registers[i]);
}

// The next slot, without a division; the slot that is read now is the last of those to fill. If
// products do not run into the next step, the slot has been read.
static void yield_slots(Pipeline *p, const Pipelined *e) {
    IrValue *read = p->body->args[p->read];
    IrValue *next = ir_binary(&p->b, IR_ADD, read, place(p, 1));
    IrValue *over = ir_binary(&p->b, IR_EQ, next, place(p, e->slots));
    ir_add_operand(p->body->last, ir_ternary(&p->b, IR_SELECT, over, place(p, 0), next));
    for (uint32_t i = 2; e->distance + i <= e->slots; i++)
        ir_add_operand(p->body->last, p->body->args[p->read + i]);
    ir_add_operand(p->body->last, read);
    if (!p->plan->by_map) return;
    if (p->empty && !p->plan->ahead_dot) arrive_at_empty(p, read);
    IrValue *bit = ir_binary(&p->b, IR_SHL, place(p, 1), read);
    IrValue *phases = ir_binary(&p->b, IR_XOR, p->body->args[p->phases], bit);
    ir_add_operand(p->body->last, phases);
}

// ---- uses ---------------------------------------------------------------------------------------

static IrValue *read_place(Pipeline *p, IrValue *at, const Layout *wanted) {
    const IrType *t = ir_tile(p->func->module, at->type->elem, at->type->rank, at->type->shape);
    t = ir_with_layout(p->func->module, t, wanted);
    return ir_result(ir_op(&p->b, IR_GPU_READ, 1, &at, 1, &t, 0, NULL), 0);
}

// The slot becomes one of the permuted tile, so that products read their factors from it.
static void read_permuted(Pipeline *p, IrOp *op, IrValue *at) {
    const IrType *x = op->results[0].type;
    uint32_t order[IR_MAX_RANK];
    const IrAttr *perm = ir_attr(op, IR_ATTR_PERM);
    for (uint32_t d = 0; d < x->rank; d++) order[d] = (uint32_t)perm->u.ints.items[d];
    Layout memory = layout_permute(at->type->layout, order), wanted;
    const IrType *type = ir_ptr(p->func->module, x->elem, x->rank, x->shape);
    type = ir_with_layout(p->func->module, type, &memory);
    IrOp *transposed = ir_op(&p->b, IR_PERMUTE, 1, &at, 1, &type, 0, NULL);
    transposed->attrs[0] = op->attrs[0];
    while (op->results[0].uses) {
        IrUse *use = op->results[0].uses;
        IrOp *user = use->user;
        CHECK(pipeline_use(use, &wanted), "a use that was a product");
        p->b = ir_builder_before(user);
        p->b.span = user->span;
        ir_set_operand(user, (uint32_t)(use - user->operands),
                       read_place(p, ir_result(transposed, 0), &wanted));
    }
    ir_erase(op);
}

static void read_for(Pipeline *p, IrUse *use, IrValue *at) {
    IrOp *user = use->user;
    Layout wanted = *use->value->type->layout, other;
    bool special = pipeline_use(use, &other);
    p->b = ir_builder_before(user);
    p->b.span = user->span;
    if (special && user->code == IR_PERMUTE) {
        read_permuted(p, user, at);
        return;
    }
    IrValue *x = read_place(p, at, special ? &other : &wanted);
    if (special && user->code == IR_GPU_CONVERT) {
        ir_replace_all(ir_result(user, 0), x);
        ir_erase(user);
        return;
    }
    ir_set_operand(user, (uint32_t)(use - user->operands), x);
}

static void use_pipelined(Pipeline *p, const Pipelined *e, IrValue *const *places) {
    for (size_t i = 0; i < e->feeds.count; i++) {
        IrOp *load = e->feeds.data[i]->load;
        IrValue *x = ir_result(load, 0);
        if (!e->copies) ir_replace_all(x, p->body->args[e->carried_registers + i]);
        while (x->uses) read_for(p, x->uses, places[i]);
        ir_erase(load);
    }
}

// ---- all ----------------------------------------------------------------------------------------

static Ops marked(Pipeline *p, const Pipelined *e) {
    Ops ops = {0};
    for (const IrOp *op = p->body->first; op; op = op->next) {
        bool wanted = false;
        for (size_t i = 0; i < e->feeds.count; i++)
            wanted |= op->id < p->known && e->feeds.data[i]->needed[op->id];
        if (wanted) vec_push(p->scratch, &ops, op);
    }
    return ops;
}

static Pipelined early_of(Pipeline *p, bool copies) {
    const PipelinePlan *plan = p->plan;
    Pipelined e = {
        .copies = copies, .slots = plan->stages, .distance = copies ? plan->distance : 1};
    for (size_t i = 0; i < plan->feeds.count; i++)
        if (plan->feeds.data[i].copied == copies)
            vec_push(p->scratch, &e.feeds, &plan->feeds.data[i]);
    e.in_registers = arena_new(p->scratch, IrValue *, e.feeds.count + 1);
    e.ops = marked(p, &e);
    e.unguarded = !copies && all_end_with_loop(p, &e);
    return e;
}

static void rewrite_body(Pipeline *p, Pipelined *pipelined, uint32_t count,
                         IrValue *const *bounds) {
    p->b = ir_builder_before(p->body->first);
    p->b.span = p->loop->span;
    IrValue **places = NULL;
    for (uint32_t k = 0; k < count; k++) {
        IrBuilder here = p->b;
        if (pipelined[k].copies) {
            bool late = p->plan->by_map && p->plan->ahead_dot;
            places = arrive(p, &pipelined[k]);
            if (p->plan->by_map && !late && !p->empty) effect(p, IR_GPU_BARRIER);
            go_behind_product(p);
            if (late) release_before(p);
            if (p->plan->by_map) p->before_copies = p->body->args[p->phases];
        }
        load_ahead(p, &pipelined[k], bounds[k]);
        p->before_copies = NULL;
        p->b = here;
    }
    p->b = ir_builder_before(p->body->last);
    p->b.span = p->loop->span;
    for (uint32_t k = 0; k < count; k++) {
        if (pipelined[k].copies) yield_slots(p, &pipelined[k]);
        yield_more(p, &pipelined[k]);
    }
    for (uint32_t k = 0; k < count; k++) use_pipelined(p, &pipelined[k], places);
}

// The product of a step ends during the next one.
static void settle(Pipeline *p) {
    IrOp *dot = p->plan->ahead_dot;
    const IrValue *acc = ir_operand(dot, 2);
    IrValue *sum = ir_result(p->loop, acc->index - 1);
    ir_attr_set_int(dot, IR_ATTR_AHEAD, 1);
    IrOp *op = ir_op(&p->b, IR_GPU_SETTLE, 1, &sum, 1, &sum->type, 0, NULL);
    ir_replace_all(sum, ir_result(op, 0));
    ir_set_operand(op, 0, sum);
    // The slot of the last step, if there was a step, is for the next tile.
    if (p->plan->tiles && p->empty)
        arrive_if(p, below(p, p->lo, p->hi), ir_result(p->loop, p->read));
}

// ---- from tile to tile --------------------------------------------------------------------------
//
// In a loop over tiles the ring is made before it, and the first copies of a tile are begun before
// the tile before it is stored. Each tile begins with slot 0:
//
//     ring, bars; the first copies for tile t0                if there is one
//     for t, phases, … {
//         the loop, from these phases on
//         gpu.barrier
//         the first copies for tile t + step    if there is one
//         … stores
//     }
//     gpu.mbarrier_end

// The values that the copies need, for the tile with this number.
static void begin_tile(Pipeline *p, IrValue *number) {
    const IrBlock *tile = p->plan->tiles->regions[0];
    Map map = {0};
    p->tile.count = 0;
    vec_push(p->scratch, &p->tile, map_key(tile->args[0]));
    vec_push(p->scratch, &p->tile, map_key(number));
    map_put(p->scratch, &map, map_key(tile->args[0]), map_key(number));
    for (const IrOp *op = tile->first; op != p->loop; op = op->next) {
        if (op->id >= p->known || !p->plan->around[op->id]) continue;
        const IrOp *copy = ir_clone(&p->b, op, &map, p->scratch);
        for (uint32_t i = 0; i < op->result_count; i++) {
            vec_push(p->scratch, &p->tile, map_key(&op->results[i]));
            vec_push(p->scratch, &p->tile, map_key(&copy->results[i]));
        }
    }
}

static IrValue *of_tile(const Pipeline *p, IrValue *v) {
    for (size_t i = 0; i < p->tile.count; i += 2)
        if (p->tile.data[i] == map_key(v)) return (IrValue *)(uintptr_t)p->tile.data[i + 1];
    return v;
}

// The first copies of a tile.
static void load_tile(Pipeline *p, Pipelined *e, IrValue *number) {
    IrValue *lo = p->lo, *hi = p->hi;
    IrValue *exists = below(p, number, ir_operand(p->plan->tiles, 1));
    begin_tile(p, number);
    p->lo = of_tile(p, lo);
    p->hi = of_tile(p, hi);
    for (uint32_t j = 0; j < e->distance; j++) {
        IrValue *on = below(p, p->lo, bound_of(p, j));
        on = ir_binary(&p->b, IR_AND, exists, on);
        load_step(p, e, p->lo, j, on, place(p, j));
    }
    p->tile.count = 0;
    p->lo = lo;
    p->hi = hi;
}

// Carries the phases, which are the loop's last carried value, through the loop over tiles.
static void carry_through_tiles(Pipeline *p) {
    IrOp *old = p->plan->tiles;
    IrBlock *tile = old->regions[0];
    uint32_t operands = old->operand_count, results = old->result_count;
    uint32_t init = p->loop->operand_count - 1, result = p->loop->result_count - 1;
    IrValue **values = arena_new(p->scratch, IrValue *, operands + 1);
    const IrType **types = arena_new(p->scratch, const IrType *, results + 1);
    for (uint32_t i = 0; i < operands; i++) values[i] = ir_operand(old, i);
    for (uint32_t i = 0; i < results; i++) types[i] = old->results[i].type;
    values[operands] = ir_operand(p->loop, init);
    types[results] = values[operands]->type;
    ir_set_operand(p->loop, init, ir_block_add_arg(tile, types[results]));
    ir_add_operand(tile->last, ir_result(p->loop, result));
    p->tiles = ir_remake(old, operands + 1, values, results + 1, types);
    for (uint32_t i = 0; i < results; i++)
        ir_replace_all(ir_result(old, i), ir_result(p->tiles, i));
}

// The copies of the next tile begin when all threads are done with the slots.
static void load_next_tile(Pipeline *p, Pipelined *e) {
    IrValue *number = p->plan->tiles->regions[0]->args[0];
    IrValue *step = ir_operand(p->plan->tiles, 2);
    p->before_copies = ir_result(p->loop, p->phases - 1);
    if (!p->plan->producers) effect(p, IR_GPU_BARRIER);
    load_tile(p, e, ir_binary(&p->b, IR_ADD, number, step));
    p->before_copies = NULL;
}

static void end_bars(Pipeline *p) {
    ir_op(&p->b, IR_GPU_MBARRIER_END, 1, &p->bars, 0, NULL, 0, NULL);
    if (p->empty) ir_op(&p->b, IR_GPU_MBARRIER_END, 1, &p->empty, 0, NULL, 0, NULL);
}

static void build_before(Pipeline *p, IrOp *op) {
    p->b = ir_builder_before(op);
    p->b.span = p->loop->span;
}

static void build_after(Pipeline *p, const IrOp *op) {
    p->b = ir_builder_at_end(op->block);
    p->b.before = op->next;
    p->b.span = p->loop->span;
}

static void pipeline_loop(Pipeline *p) {
    Pipelined pipelined[2];
    IrValue *bounds[2];
    uint32_t count = 0;
    for (int copies = 1; copies >= 0; copies--) {
        Pipelined e = early_of(p, copies);
        if (e.feeds.count) pipelined[count++] = e;
    }
    IrOp *outside = p->plan->tiles ? p->plan->tiles : p->loop;
    for (uint32_t k = 0; k < count; k++) {
        Pipelined *e = &pipelined[k];
        build_before(p, outside);
        if (e->copies) make_rings(p, e);
        if (p->plan->tiles)
            load_tile(p, e, ir_operand(p->plan->tiles, 0));
        else
            load_first_steps(p, e);
        if (e->copies) {
            p->read = carry(p, place(p, 0));
            for (uint32_t at = e->distance; at < e->slots; at++) carry(p, place(p, at));
            if (p->plan->by_map) p->phases = carry(p, place(p, 0));
        }
        build_before(p, p->loop);
        bounds[k] = bound_of(p, e->distance);
        carry_pipelined(p, e);
    }
    remake(p);
    build_after(p, p->loop);
    if (p->plan->tiles) load_next_tile(p, &pipelined[0]);
    rewrite_body(p, pipelined, count, bounds);
    if (!pipelined[0].copies) return;
    build_after(p, p->loop);
    if (p->plan->ahead_dot) settle(p);
    if (p->plan->tiles) {
        carry_through_tiles(p);
        build_after(p, p->tiles);
    }
    if (p->plan->by_map)
        end_bars(p);
    else
        wait_for(p, 0, false);
}

static void loops_in(IrBlock *block, Arena *scratch, Ops *loops) {
    for (IrOp *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->region_count; i++) loops_in(op->regions[i], scratch, loops);
        if (op->code == IR_FOR) vec_push(scratch, loops, op);
    }
}

static bool is_for_it(const IrFunc *f) {
    return f->is_kernel && ir_body(f) && f->level == IR_LEVEL_GPU;
}

static GpuFacts facts_of(const IrFunc *f, PassContext *context, bool changed) {
    GpuFacts facts = {.machine = context->machine, .facts = context->facts};
    facts.ranges =
        changed ? ir_ranges(context->scratch, f, IR_TRUST_CHECKED) : pass_ranges(context, f);
    return facts;
}

bool pass_gpu_pipeline(IrFunc *f, PassContext *context) {
    bool changed = false;
    int producers = 0;
    if (!is_for_it(f)) return false;
    Ops loops = {0};
    loops_in(ir_body(f), context->scratch, &loops);
    // The loop over tiles is the outermost, and so the last one. It is changed with one within it.
    if (context->facts & FACT_PERSISTENT && loops.count) loops.count--;
    // Facts about the function hold until a loop is changed; those found about one loop are dropped
    // after it.
    ArenaMark before = arena_mark(context->scratch), known_by = before;
    GpuFacts facts = {0};
    bool stale = true;
    for (size_t i = 0; i < loops.count; i++) {
        IrOp *loop = (IrOp *)(uintptr_t)loops.data[i];
        arena_reset(context->scratch, stale ? before : known_by);
        if (stale) facts = facts_of(f, context, changed);
        if (stale) known_by = arena_mark(context->scratch);
        stale = false;
        uint32_t known = f->op_count;
        PipelinePlan plan = pipeline_plan(f, context, &facts, loop);
        if (!plan.feeds.count) continue;
        Pipeline p = {.func = f,
                      .scratch = context->scratch,
                      .machine = context->machine,
                      .plan = &plan,
                      .loop = loop,
                      .known = known,
                      .body = loop->regions[0],
                      .lo = ir_operand(loop, 0),
                      .hi = ir_operand(loop, 1)};
        IrRange hi = ir_range_of(facts.ranges, p.hi);
        p.least_hi = hi.known ? hi.min : INT64_MIN;
        CHECK(rewrite_constant_int(ir_operand(loop, 2), &p.step), "a step that is known");
        for (const IrOp *op = p.body->first; op; op = op->next) {
            p.writes |= rewrite_clobbers_memory(op);
            if (plan.advances && plan.advances[op->id]) vec_push(p.scratch, &p.advance, op);
        }
        pipeline_loop(&p);
        changed = stale = true;
        if (plan.producers > producers) producers = plan.producers;
    }
    changed |= f->producers != producers;
    f->producers = producers;
    return changed;
}

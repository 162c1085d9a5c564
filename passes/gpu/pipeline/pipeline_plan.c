// Decides which loads of a loop are prefetched, and how.
#include "passes/gpu/pipeline/pipeline_plan.h"

#include <stdio.h>
#include <string.h>

#include "base/facts.h"
#include "base/gpu_abi.h"
#include "passes/alias.h"
#include "passes/gpu/layout/dot_plan.h"
#include "passes/gpu/tuning.h"
#include "passes/iterations.h"
#include "passes/rewrite.h"

typedef struct PipelinePlanner {
    IrFunc *func;
    const PassContext *context;
    const GpuFacts *facts;
    PipelinePlan *plan;
    IrBlock *body;
    bool product, asserts;
    VEC(const IrOp *) writes;
    uint32_t carried, registers;  // 32-bit words per thread: of the loop's values, of the values
                                  // kept
} PipelinePlanner;

static bool is_load(const IrOp *op) { return op->code == IR_VIEW_LOAD || op->code == IR_LOAD; }

// Remarks of passes about a load name the parameter it reads.
static void add_remark(const PipelinePlanner *p, const IrOp *op, Reason reason,
                       RemarkNumbers numbers) {
    char what[96];
    if (!p->context->remarks) return;
    bool view = op->code == IR_VIEW_LOAD;
    const char *name = view ? p->func->params.data[ir_operand(op, 0)->index].name : "a pointer";
    snprintf(what, sizeof what, view ? "load of '%.64s'" : "load through %s", name);
    remark(p->context->remarks, op->span, reason, is_load(op) ? what : NULL, numbers);
}

// ---- the loop -----------------------------------------------------------------------------------

// Visits everything in the loop; false: it contains another loop.
static bool survey(PipelinePlanner *p, const IrBlock *block) {
    bool flat = true;
    for (const IrOp *op = block->first; op; op = op->next) {
        if (op->code == IR_FOR || op->code == IR_WHILE) flat = false;
        p->product |= op->code == IR_DOT;
        p->asserts |= op->code == IR_ASSERT || op->code == IR_ASSUME;
        if (ir_op_info(op->code)->effect == IR_EFFECT_WRITE)
            vec_push(p->context->scratch, &p->writes, op);
        for (uint32_t i = 0; i < op->region_count; i++) flat &= survey(p, op->regions[i]);
    }
    return flat;
}

static bool loads_tiles(const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next) {
        if (is_load(op) && ir_value_is_tile(&op->results[0])) return true;
        for (uint32_t i = 0; i < op->region_count; i++)
            if (loads_tiles(op->regions[i])) return true;
    }
    return false;
}

// The reason why no load of the loop can be early; REASONS: there is none.
static Reason loop_reason(PipelinePlanner *p) {
    const IrOp *loop = p->plan->loop;
    int64_t step;
    bool flat = survey(p, p->body);
    if (p->func->stages == 1) return REASON_PIPELINE_ONE_STAGE;
    if (!flat) return REASON_PIPELINE_NESTED;
    if (!p->product && p->func->stages == 0) return REASON_PIPELINE_NOT_ASKED;
    if (ir_attr_int(loop, IR_ATTR_EXIT)) return REASON_PIPELINE_EXIT;
    bool counts = rewrite_constant_int(ir_operand(loop, 2), &step);
    bool up = !ir_attr_int(loop, IR_ATTR_DOWN);
    if (!counts || !up || step <= 0 || step > INT64_MAX / TUNE_STAGES_MAX)
        return REASON_PIPELINE_STEP;
    return REASONS;
}

// ---- needs of a load ----------------------------------------------------------------------------

static bool needs(PipelinePlanner *p, const IrValue *v, bool *marks, bool pure);

// A carried value: its value some steps ahead follows from its current one.
static bool needs_carried(PipelinePlanner *p, const IrValue *arg) {
    PipelinePlan *plan = p->plan;
    if (arg->index == 0) return true;
    for (size_t i = 0; i < plan->ahead.count; i++)
        if (plan->ahead.data[i] == arg->index) return true;
    vec_push(p->context->scratch, &plan->ahead, arg->index);
    return needs(p, ir_operand(p->body->last, arg->index - 1), plan->advances, true);
}

// A store to elements that the step has loaded before, or to others: no step then writes elements
// that a later step loads.
static bool writes_own_step(const PipelinePlanner *p, const IrOp *store, const IrOp *load) {
    const Iterations iterations = {p->func, p->facts->ranges};
    if (store->code != IR_VIEW_STORE || store->block != p->body || load->block != p->body)
        return false;
    if (dtype_is(ir_operand(load, 0)->type->elem, DTYPE_CLASS_PACKED)) return false;
    for (const IrOp *op = load; op != store; op = op->next)
        if (!op->next) return false;  // the load comes after it
    return alias_same_elements(p->facts->facts, store, load) &&
           iterations_disjoint(&iterations, p->plan->loop, load);
}

static Reason memory_reason(const PipelinePlanner *p, const IrOp *load) {
    for (size_t i = 0; i < p->writes.count; i++) {
        const IrOp *op = p->writes.data[i];
        bool atomic = ir_op_is(op->code, IR_FAMILY_ATOMIC);
        if (atomic && ir_attr_int(op, IR_ATTR_ORDER) != IR_ORDER_RELAXED)
            return REASON_PIPELINE_ORDERED;
        if (alias_conflict(p->func, p->facts->facts, op, load) && !writes_own_step(p, op, load))
            return REASON_PIPELINE_WRITTEN;
    }
    return REASONS;
}

static bool moves(const PipelinePlanner *p, const IrOp *op, bool pure) {
    if (op->region_count) return false;
    IrEffect effect = ir_op_info(op->code)->effect;
    if (effect == IR_EFFECT_PURE) return true;
    return !pure && is_load(op) && !p->asserts && memory_reason(p, op) == REASONS;
}

// Marks the values within the loop that the value depends on; `pure`: not from memory.
static bool needs(PipelinePlanner *p, const IrValue *v, bool *marks, bool pure) {
    if (!v || rewrite_defined_outside(v, p->plan->loop)) return true;
    if (v->block == p->body) return needs_carried(p, v);
    const IrOp *op = v->def;
    if (!op || op->block != p->body || !moves(p, op, pure)) return false;
    if (marks[op->id]) return true;
    marks[op->id] = true;
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (!needs(p, ir_operand(op, i), marks, pure)) return false;
    return true;
}

static bool follows(PipelinePlanner *p, PipelineFeed *feed) {
    PipelinePlan *plan = p->plan;
    Arena *scratch = p->context->scratch;
    size_t ahead = plan->ahead.count, ops = p->func->op_count;
    bool *before = plan->advances, fine = true;
    plan->advances = arena_new(scratch, bool, ops);
    if (before) memcpy(plan->advances, before, ops * sizeof *before);
    feed->needed = arena_new(scratch, bool, ops);
    feed->needed[feed->load->id] = true;
    for (uint32_t i = 0; i < feed->load->operand_count; i++)
        fine = fine && needs(p, ir_operand(feed->load, i), feed->needed, false);
    if (fine) return true;
    plan->ahead.count = ahead;
    plan->advances = before;
    return false;
}

// Loads that might fault if the program does not reach them.
static bool is_checked(const IrOp *load) {
    if (load->code != IR_VIEW_LOAD) return false;
    const IrAttr *inside = ir_attr(load, IR_ATTR_INSIDE);
    for (uint32_t i = 0; i < inside->u.ints.count; i++)
        if (inside->u.ints.items[i]) return false;
    return true;
}

// The reason why a load must stay; REASONS: it may be early.
static Reason load_reason(PipelinePlanner *p, PipelineFeed *feed) {
    const IrOp *load = feed->load;
    if (load->block != p->body) return REASON_PIPELINE_CONDITION;
    if (p->asserts && !is_checked(load)) return REASON_PIPELINE_GUARDED;
    Reason reason = memory_reason(p, load);
    if (reason != REASONS) return reason;
    return follows(p, feed) ? REASONS : REASON_PIPELINE_DEPENDS;
}

// ---- uses ---------------------------------------------------------------------------------------

static bool factor_layout(const IrUse *use, Layout *wanted) {
    GpuDot d = gpu_dot_of(use->user);
    bool b = use == &use->user->operands[1];
    if (!d.matrix || use == &use->user->operands[2]) return false;
    if (use->value->type->elem != (b ? d.b_elem : d.a_elem) && !d.split) return false;
    *wanted = b ? d.b : d.a;
    return true;
}

bool pipeline_use(const IrUse *use, Layout *wanted) {
    const IrOp *user = use->user;
    if (user->code == IR_GPU_CONVERT) {
        *wanted = *user->results[0].type->layout;
        return true;
    }
    if (user->code == IR_DOT) return factor_layout(use, wanted);
    if (user->code != IR_PERMUTE || !user->results[0].uses) return false;
    Layout first = {0}, other;
    for (const IrUse *of = user->results[0].uses; of; of = of->next) {
        if (of->user->code != IR_DOT || !factor_layout(of, &other)) return false;
        if (of != user->results[0].uses && !layout_equal(&first, &other)) return false;
        first = other;
    }
    return layout_infer_operand(user, &first, wanted);
}

// Is the value a factor as it is, or turned? One that pipeline_use does not know is brought to its
// product through shared memory of its own.
static bool is_factor(const IrUse *use) {
    const IrOp *user = use->user;
    if (user->code == IR_DOT) return true;
    if (user->code != IR_PERMUTE) return false;
    for (const IrUse *of = user->results[0].uses; of; of = of->next)
        if (is_factor(of)) return true;
    return false;
}

// ---- by copies ----------------------------------------------------------------------------------

// The memory that a matrix unit reads a factor from, if one does.
static bool memory_of_unit(const IrValue *v, Layout *memory) {
    for (const IrUse *use = v->uses; use; use = use->next)
        if (gpu_factor_memory(use, memory)) return true;
    return false;
}

// A memory in which the elements of one copy are contiguous, and, at each place, those of a load of
// `wanted`, at least 4 bytes. Wide loads are tried first; they may need another order.
static bool memory_for(PipelinePlanner *p, PipelineFeed *feed, const Layout *wanted,
                       uint32_t vector) {
    const IrType *type = feed->load->results[0].type;
    uint32_t bits = dtype_bits(type->elem), bytes = vector * bits / 8;
    LayoutSide copy = {.layout = type->layout, .max_bytes = bytes, .min_bytes = bytes};
    LayoutSide load = {.layout = wanted, .max_bytes = GPU_ACCESS_BYTES, .min_bytes = 4};
    if (memory_of_unit(feed->load->results, &feed->memory)) {
        feed->load_layout = *type->layout;
        if (gpu_copy_vector(p->func, p->facts, feed->load, &feed->memory) == vector) return true;
    }
    for (; load.max_bytes >= 4; load.max_bytes /= 2) {
        GpuTrip trip;
        if (!gpu_trip(&copy, &load, bits, p->facts->machine, &trip)) continue;
        feed->memory = trip.shared.memory;
        feed->load_layout = *type->layout;
        if (gpu_copy_vector(p->func, p->facts, feed->load, &feed->memory) == vector) return true;
    }
    return false;
}

// A memory in which the elements that a warp's lanes copy are consecutive.
static bool direct_memory_for(PipelinePlanner *p, PipelineFeed *feed, const Layout *wanted) {
    GpuDirect direct;
    if (!gpu_direct(p->func, p->facts, feed->load, wanted, &direct)) return false;
    feed->memory = direct.memory;
    feed->load_layout = direct.load_layout;
    return true;
}

// The memory for it, or why there is none.
static Reason ring_reason(PipelinePlanner *p, PipelineFeed *feed) {
    const IrOp *load = feed->load;
    const IrType *type = load->results[0].type;
    const Machine *machine = p->facts->machine;
    Layout wanted = *type->layout, other;
    bool first = true;
    if (!gpu_copy_bytes(p->func, p->facts, GPU_ACCESS_BYTES)) return REASON_PIPELINE_NO_COPY;
    if (load->code == IR_LOAD && !machine->async_copy) return REASON_PIPELINE_POINTERS;
    const IrValue *pad = gpu_load_pad(load);
    if (pad && !rewrite_is_zero(pad)) return REASON_PIPELINE_PAD;
    uint32_t vector = gpu_copy_vector(p->func, p->facts, load, NULL);
    if (!vector && load->code == IR_LOAD) return REASON_PIPELINE_POINTERS;
    if (!vector && machine->async_copy) return REASON_PIPELINE_NARROW;
    for (const IrUse *use = load->results[0].uses; use; use = use->next) {
        if (!pipeline_use(use, &other)) {
            if (p->product && (p->context->mapped || is_factor(use)))
                return REASON_PIPELINE_CHANGED;
            feed->changed = p->product;
            continue;
        }
        if (first) wanted = other;
        first = false;
    }
    if (!machine->async_copy)
        return direct_memory_for(p, feed, &wanted) ? REASONS : REASON_PIPELINE_UNORDERED;
    return memory_for(p, feed, &wanted, vector) ? REASONS : REASON_PIPELINE_TURNED;
}

static uint64_t bytes_of(const IrValue *v) {
    return ir_value_is_tile(v) ? (uint64_t)v->type->count * ir_elem_size(v->type) : 0;
}

static bool is_copied(const PipelinePlan *plan, const IrValue *v) {
    for (size_t i = 0; i < plan->feeds.count; i++)
        if (plan->feeds.data[i].copied && v->def == plan->feeds.data[i].load) return true;
    return false;
}

// The bytes through shared memory, in addition to the copies.
static uint64_t moved_bytes(const PipelinePlan *plan, const IrOp *op) {
    uint64_t bytes = 0;
    bool product = op->code == IR_DOT, converts = op->code == IR_GPU_CONVERT;
    bool by_number = op->code == IR_GATHER || op->code == IR_SORT;
    if (converts && layout_conversion(ir_operand(op, 0)->type->layout,
                                      op->results[0].type->layout) <= LAYOUT_CONVERT_REGISTERS)
        return 0;
    for (uint32_t i = 0; i < op->operand_count && (product || converts || by_number); i++) {
        const IrValue *v = ir_operand(op, i);
        if (product && i == 2) continue;  // the sum
        if (product && i == 0 && gpu_factor_in_registers(op)) continue;
        if (v && v->def && v->def->code == IR_PERMUTE) v = ir_operand(v->def, 0);
        if (v && !is_copied(plan, v)) bytes += bytes_of(v);
    }
    return bytes;
}

// An upper bound on the other shared memory of a step: one op after the other.
static uint64_t other_bytes(const PipelinePlan *plan, const IrBlock *block) {
    uint64_t most = 0;
    for (const IrOp *op = block->first; op; op = op->next) {
        uint64_t bytes = moved_bytes(plan, op);
        for (uint32_t i = 0; i < op->region_count; i++) {
            uint64_t inner = other_bytes(plan, op->regions[i]);
            if (inner > bytes) bytes = inner;
        }
        if (bytes > most) most = bytes;
    }
    return most;
}

uint64_t pipeline_step_bytes(const PipelinePlan *plan) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < plan->feeds.count; i++)
        if (plan->feeds.data[i].copied) bytes += bytes_of(plan->feeds.data[i].load->results);
    return bytes;
}

// The number of stages that the option asks for and that fit in shared memory in addition to what
// the block needs; 0: not even two.
static uint32_t stages_that_fit(const PipelinePlanner *p, const IrBlock *block) {
    uint32_t stages = p->func->stages ? (uint32_t)p->func->stages : TUNE_STAGES;
    uint64_t room = p->facts->machine->shared_bytes, step = pipeline_step_bytes(p->plan);
    uint64_t other = other_bytes(p->plan, block) + TUNE_SHARED_SPARE;
    if (stages > TUNE_STAGES_MAX) stages = TUNE_STAGES_MAX;
    while (stages >= 2 && room && stages * step + other > room) stages--;
    return stages >= 2 ? stages : 0;
}

uint64_t pipeline_place_bytes(const IrBlock *body) {
    uint64_t bytes = 0;
    for (const IrOp *op = body->first; op; op = op->next) {
        if (op->code == IR_GPU_SHARED)
            bytes += (uint64_t)op->results[0].type->count * dtype_size(op->results[0].type->elem) *
                     (uint64_t)ir_attr_int(op, IR_ATTR_COUNT);
        for (uint32_t i = 0; i < op->region_count; i++)
            bytes += pipeline_place_bytes(op->regions[i]);
    }
    return bytes;
}

// ---- in registers -------------------------------------------------------------------------------

uint32_t pipeline_registers(const IrType *type) {
    if (!type->layout) return 1;
    return layout_size(type->layout, LAYOUT_REG) * ir_elem_size(type) / 4;
}

// ---- all ----------------------------------------------------------------------------------------

static void drop(PipelinePlan *plan, size_t i) {
    for (; i + 1 < plan->feeds.count; i++) plan->feeds.data[i] = plan->feeds.data[i + 1];
    plan->feeds.count--;
}

// Prefetches into registers, for the reason that it is not copied; false: there are too few.
static bool keep_in_registers(PipelinePlanner *p, PipelineFeed *feed, Reason reason) {
    uint32_t words = pipeline_registers(feed->load->results[0].type);
    feed->copied = false;
    bool fits = p->registers + words <= TUNE_STAGED_REGISTERS &&
                p->carried + p->registers + words <= TUNE_CARRIED_REGISTERS;
    add_remark(p, feed->load, fits ? reason : REASON_PIPELINE_REGISTERS_FULL, REMARK(words));
    if (!fits) return false;
    add_remark(p, feed->load, REASON_PIPELINED_REGISTERS, REMARK(words));
    p->registers += words;
    return true;
}

static bool map_of(const PipelinePlanner *p, const PipelineFeed *feed, IrMap *map);

// Maps have no need of neighbours that one thread could copy at once: their strides may be any that
// the launch allows, and their boxes may begin anywhere.
static bool only_maps_copy(const PipelinePlanner *p, PipelineFeed *feed, Reason reason) {
    const IrOp *load = feed->load;
    Layout wanted;
    IrMap map;
    if (reason != REASON_PIPELINE_NARROW || p->asserts || !p->context->mapped) return false;
    for (const IrUse *use = load->results[0].uses; use; use = use->next)
        if (!pipeline_use(use, &wanted)) return false;
    if (!memory_of_unit(load->results, &feed->memory) || !map_of(p, feed, &map)) return false;
    feed->load_layout = *load->results[0].type->layout;
    feed->needs_map = true;
    feed->without = reason;
    return true;
}

static void plan_load(PipelinePlanner *p, IrOp *load) {
    PipelineFeed feed = {.load = load};
    if (!ir_value_is_tile(&load->results[0]))
        return;  // a scalar: all threads load it, and it
                 // arrives soon
    Reason reason = load_reason(p, &feed);
    if (reason != REASONS) {
        add_remark(p, load, reason, REMARK(0));
        return;
    }
    reason = ring_reason(p, &feed);
    feed.copied = reason == REASONS || only_maps_copy(p, &feed, reason);
    if (!feed.copied && !keep_in_registers(p, &feed, reason)) return;
    vec_push(p->context->scratch, &p->plan->feeds, feed);
}

static void plan_block(PipelinePlanner *p, IrBlock *block) {
    IR_EACH_OP(op, block) {
        if (is_load(op)) plan_load(p, op);
        for (uint32_t i = 0; i < op->region_count; i++) plan_block(p, op->regions[i]);
    }
}

// The stages with the copies of loads that become factors later, unless these copies take stages
// from the others: then those loads go to registers.
static uint32_t stages_of_all(PipelinePlanner *p) {
    PipelinePlan *plan = p->plan;
    uint32_t stages = stages_that_fit(p, p->body), with;
    for (size_t i = plan->feeds.count; i-- > 0;) {
        PipelineFeed *feed = &plan->feeds.data[i];
        if (!feed->copied || !feed->changed) continue;
        feed->copied = false;
        with = stages, stages = stages_that_fit(p, p->body);
        feed->copied = stages == with;
        if (!feed->copied && !keep_in_registers(p, feed, REASON_PIPELINE_CHANGED)) drop(plan, i);
    }
    return stages;
}

static void decide_stages(PipelinePlanner *p) {
    PipelinePlan *plan = p->plan;
    plan->stages = stages_of_all(p);
    if (plan->tiles) {
        uint32_t fewer = stages_that_fit(p, plan->tiles->regions[0]);
        if (fewer >= TUNE_AHEAD_STAGES_MAP || fewer == plan->stages)
            plan->stages = fewer;
        else
            plan->tiles = NULL;
    }
    for (size_t i = plan->feeds.count; i-- > 0;) {
        PipelineFeed *feed = &plan->feeds.data[i];
        if (!feed->copied) continue;
        if (!plan->stages && !keep_in_registers(p, feed, REASON_PIPELINE_SHARED_FULL))
            drop(plan, i);
    }
}

// ---- a product that runs into the next step -----------------------------------------------------

static bool is_copied_factor(const PipelinePlan *plan, const IrOp *dot, uint32_t i) {
    const IrValue *v = ir_operand(dot, i);
    const IrUse *use = &dot->operands[i];
    while (v->def && v->def->code == IR_PERMUTE) use = v->def->operands, v = ir_operand(v->def, 0);
    Layout box;
    if (!gpu_factor_memory(use, &box)) return false;
    for (size_t k = 0; k < plan->feeds.count; k++) {
        const PipelineFeed *feed = &plan->feeds.data[k];
        if (feed->copied && v->def == feed->load) return layout_equal(&feed->memory, &box);
    }
    return false;
}

static uint32_t products_in(const IrBlock *block) {
    uint32_t count = 0;
    for (const IrOp *op = block->first; op; op = op->next) {
        count += op->code == IR_DOT;
        for (uint32_t i = 0; i < op->region_count; i++) count += products_in(op->regions[i]);
    }
    return count;
}

static bool has_one_use(const IrValue *v) { return v->uses && !v->uses->next; }

// wgmma computes by itself, so a product need not be complete before the next step's begins, if its
// sum goes to that one only, and its factors stay where they are. Threads then wait, copy and start
// products while others run.
static IrOp *ahead_dot(const PipelinePlanner *p) {
    const PipelinePlan *plan = p->plan;
    IrOp *dot = p->body->first;
    uint32_t least = plan->by_map ? TUNE_AHEAD_STAGES_MAP : TUNE_AHEAD_STAGES;
    if (plan->stages < least || products_in(p->body) != 1) return NULL;
    while (dot && dot->code != IR_DOT) dot = dot->next;
    if (!dot || !gpu_dot_by_wgmma(dot)) return NULL;
    const IrValue *acc = ir_operand(dot, 2), *sum = &dot->results[0];
    if (!acc || acc->block != p->body || acc->def || acc->index == 0) return NULL;
    bool carried = has_one_use(acc) && has_one_use(sum) && sum->uses->user == p->body->last &&
                   sum->uses == &p->body->last->operands[acc->index - 1];
    GpuDot d = gpu_dot_of(dot);
    if (!carried || d.sum != sum->type->elem || !layout_equal(sum->type->layout, &d.c)) return NULL;
    return is_copied_factor(plan, dot, 0) && is_copied_factor(plan, dot, 1) ? dot : NULL;
}

static void decide_distance(PipelinePlanner *p) {
    PipelinePlan *plan = p->plan;
    if (!plan->stages) return;
    plan->ahead_dot = ahead_dot(p);
    plan->distance = plan->stages - (plan->ahead_dot && !plan->by_map ? 2 : 1);
    for (size_t i = plan->feeds.count; i-- > 0;) {
        const IrOp *load = plan->feeds.data[i].load;
        if (plan->feeds.data[i].copied)
            add_remark(p, load, plan->by_map ? REASON_PIPELINED_MAP : REASON_PIPELINED,
                       REMARK(plan->distance, (int64_t)bytes_of(load->results)));
    }
}

// ---- by maps ------------------------------------------------------------------------------------

// The launch has checked that what maps copy is not what the kernel writes by another parameter.
static bool is_apart(const IrOp *op, const IrOp *load) {
    const IrValue *view = op->operand_count ? ir_operand(op, 0) : NULL;
    return view && view->type->kind == IR_VIEW && view->index != ir_operand(load, 0)->index;
}

static bool writes_in(const PipelinePlanner *p, const IrOp *op, const IrOp *load) {
    // The ring of another loop has memory of its own.
    bool ring = op->code == IR_GPU_COPY || op->code == IR_GPU_TMA_LOAD;
    if (ir_op_info(op->code)->effect == IR_EFFECT_WRITE && !ring && !is_apart(op, load) &&
        alias_conflict(p->func, p->facts->facts, op, load))
        return true;
    for (uint32_t r = 0; r < op->region_count; r++)
        for (const IrOp *in = op->regions[r]->first; in; in = in->next)
            if (writes_in(p, in, load)) return true;
    return false;
}

// May the program have written what the load reads? Copies by maps take another path to memory, on
// which the program's stores are not ordered with them.
static bool may_be_written(const PipelinePlanner *p, const IrOp *load) {
    for (const IrOp *at = p->plan->loop; at; at = at->block->parent) {
        const IrOp *around = at->block->parent;
        bool again = around && (around->code == IR_FOR || around->code == IR_WHILE);
        for (const IrOp *op = at->block->first; op != at; op = op->next)
            if (writes_in(p, op, load)) return true;
        for (const IrOp *op = at->next; again && op; op = op->next)
            if (writes_in(p, op, load)) return true;
    }
    return false;
}

// The map that copies the load to its slots, as wgmma reads them (layout_box): rows of up to 128
// bytes, one below the other, then the next columns. False: there is none.
static bool map_of(const PipelinePlanner *p, const PipelineFeed *feed, IrMap *map) {
    enum { WIDEST = 128 };
    const IrOp *load = feed->load;
    const IrValue *view = ir_operand(load, 0);
    const IrType *x = load->results[0].type;
    const int64_t *widths = ir_attr(load, IR_ATTR_SELECT)->u.ints.items;
    Layout box;
    if (view->block || view->def || !(p->context->mapped >> view->index & 1)) return false;
    if (!memory_of_unit(load->results, &box) || !layout_equal(&box, &feed->memory)) return false;
    uint32_t rank = view->type->rank, axis = x->rank, size = (uint32_t)ir_elem_size(x);
    *map = (IrMap){.param = view->index, .rank = (uint8_t)rank, .promotion = 256};
    for (uint32_t i = 0; i < rank; i++) {
        uint32_t d = rank - 1 - i;
        if (ir_operand(load, ir_view_index_start(load->code) + d)->type->rank) return false;
        map->axes[i] = (uint8_t)d;
        map->box[i] = 1;
        if (!widths[d]) continue;
        axis--;
        if (axis + 2 == x->rank)
            map->box[i] = x->shape[axis] < GPU_MAP_BOX ? x->shape[axis] : GPU_MAP_BOX;
    }
    uint32_t columns = x->shape[x->rank - 1];
    if (!widths[rank - 1] || axis) return false;
    map->box[0] = columns * size < WIDEST ? columns : WIDEST / size;
    map->swizzle = (uint8_t)(map->box[0] * size);
    return !may_be_written(p, load);
}

// The copies that only maps could make.
static bool forgo_maps(PipelinePlanner *p) {
    PipelinePlan *plan = p->plan;
    bool changed = false;
    for (size_t i = plan->feeds.count; i-- > 0;) {
        PipelineFeed *feed = &plan->feeds.data[i];
        if (!feed->needs_map || !feed->copied) continue;
        if (!keep_in_registers(p, feed, feed->without)) drop(plan, i);
        changed = true;
    }
    return changed;
}

static bool equal_maps(const IrMap *a, const IrMap *b) {
    bool equal = a->param == b->param && a->rank == b->rank && a->swizzle == b->swizzle &&
                 a->promotion == b->promotion;
    for (uint32_t i = 0; equal && i < a->rank; i++)
        equal = a->axes[i] == b->axes[i] && a->box[i] == b->box[i];
    return equal;
}

static uint32_t add_map(IrFunc *f, const IrMap *map) {
    for (uint32_t i = 0; i < f->maps.count; i++)
        if (equal_maps(&f->maps.data[i], map)) return i;
    vec_push(f->module->arena, &f->maps, *map);
    return (uint32_t)f->maps.count - 1;
}

// All copies of a loop are made in one way, because they are waited for together.
static void decide_maps(PipelinePlanner *p) {
    enum { BYTES = 1 << 20 };  // that a barrier counts
    PipelinePlan *plan = p->plan;
    size_t count = plan->feeds.count;
    if (!p->context->mapped || !plan->stages || p->asserts || pipeline_step_bytes(plan) >= BYTES)
        return;
    if (p->func->maps.count + count > GPU_MAPS) return;
    IrMap *maps = arena_new(p->context->scratch, IrMap, count + 1);
    for (size_t i = 0; i < count; i++)
        if (plan->feeds.data[i].copied && !map_of(p, &plan->feeds.data[i], &maps[i])) return;
    for (size_t i = 0; i < count; i++) {
        if (!plan->feeds.data[i].copied) continue;
        plan->feeds.data[i].map = add_map(p->func, &maps[i]);
        plan->by_map = true;
    }
}

// ---- from tile to tile --------------------------------------------------------------------------

static bool is_needed_around(PipelinePlanner *p, const IrValue *v) {
    const IrBlock *tile = p->plan->tiles->regions[0];
    const IrOp *op = v ? v->def : NULL;
    if (!op || op->block != tile) return true;  // its counter, or a value from before it
    if (p->plan->around[op->id]) return true;
    if (op->region_count || ir_op_info(op->code)->effect != IR_EFFECT_PURE) return false;
    p->plan->around[op->id] = true;
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (!is_needed_around(p, ir_operand(op, i))) return false;
    return true;
}

// Marks the ops of the loop over tiles that the copies of a step need; false: they are not all
// arithmetic.
static bool finds_around(PipelinePlanner *p) {
    PipelinePlan *plan = p->plan;
    plan->around = arena_new(p->context->scratch, bool, p->func->op_count);
    for (uint32_t i = 0; i < 2; i++)
        if (!is_needed_around(p, ir_operand(plan->loop, i))) return false;
    for (const IrOp *op = p->body->first; op; op = op->next) {
        bool needed = false;
        for (size_t i = 0; i < plan->feeds.count; i++) needed |= plan->feeds.data[i].needed[op->id];
        for (uint32_t i = 0; needed && i < op->operand_count; i++)
            if (!is_needed_around(p, ir_operand(op, i))) return false;
    }
    return true;
}

// The loop over tiles that gpu_persistent has made, if this loop is in it.
static IrOp *tiles_around(const PipelinePlanner *p) {
    IrOp *around = p->plan->loop->block->parent;
    bool tiles = around && around->code == IR_FOR && around->block == ir_body(p->func);
    return tiles && p->context->facts & FACT_PERSISTENT ? around : NULL;
}

static void decide_tiles(PipelinePlanner *p) {
    PipelinePlan *plan = p->plan;
    for (size_t i = 0; i < plan->feeds.count; i++)
        if (!plan->feeds.data[i].copied) plan->tiles = NULL;
    if (!plan->by_map || plan->ahead.count) plan->tiles = NULL;
    if (plan->tiles && !finds_around(p)) plan->tiles = NULL;
}

PipelinePlan pipeline_plan(IrFunc *f, const PassContext *context, const GpuFacts *facts,
                           IrOp *loop) {
    PipelinePlan plan = {.loop = loop};
    PipelinePlanner p = {
        .func = f, .context = context, .facts = facts, .plan = &plan, .body = loop->regions[0]};
    if (!loads_tiles(p.body)) return plan;
    Reason reason = loop_reason(&p);
    if (reason != REASONS) {
        add_remark(&p, loop, reason, REMARK(0));
        return plan;
    }
    for (uint32_t i = 0; i < loop->result_count; i++)
        p.carried += pipeline_registers(loop->results[i].type);
    plan_block(&p, p.body);
    plan.tiles = tiles_around(&p);
    decide_stages(&p);
    decide_maps(&p);
    if (!plan.by_map && forgo_maps(&p)) decide_stages(&p);
    decide_tiles(&p);
    decide_distance(&p);
    plan.producers = pipeline_producers(f, facts, &plan, context->scratch);
    if (plan.producers) add_remark(&p, loop, REASON_PIPELINED_PRODUCER, REMARK(plan.producers));
    return plan;
}

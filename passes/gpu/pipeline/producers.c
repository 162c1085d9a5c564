// Decides whether a warp of its own begins the copies of a loop. It computes their addresses and
// conditions itself, so these must follow from the kernel's arguments; and only the matrix unit may
// read what is copied, because a warp arrives for all its lanes when its products are complete.
#include "passes/gpu/layout/dot_plan.h"
#include "passes/gpu/pipeline/pipeline_plan.h"
#include "passes/gpu/tuning.h"
#include "target/occupancy.h"

static bool is_scalar(const IrValue *v) { return !v || v->type->rank == 0; }

// Do the loop, or the loop over tiles, count it?
static bool is_counter(const PipelinePlan *plan, const IrValue *v) {
    const IrOp *around = v->block->parent;
    return v->index == 0 && (around == plan->loop || around == plan->tiles);
}

// Can a thread compute it from the kernel's arguments and these counters alone? `known`, by op id:
// what was found so.
static bool follows_arguments(const PipelinePlan *plan, const IrValue *v, bool *known) {
    const IrOp *op = v ? v->def : NULL;
    if (!op) return !v || !v->block || is_counter(plan, v);
    if (known[op->id]) return true;
    if (op->region_count || ir_op_info(op->code)->effect != IR_EFFECT_PURE) return false;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const IrValue *x = ir_operand(op, i);
        if (!is_scalar(x) || !follows_arguments(plan, x, known)) return false;
    }
    known[op->id] = true;
    return true;
}

static bool bounds_follow_arguments(const PipelinePlan *plan, const IrOp *loop, bool *known) {
    for (uint32_t i = 0; loop && i < 3; i++)
        if (!follows_arguments(plan, ir_operand(loop, i), known)) return false;
    return true;
}

// Does the matrix unit alone read what is copied?
static bool only_unit_reads(const IrValue *v, const Layout *memory) {
    for (const IrUse *use = v->uses; use; use = use->next) {
        Layout box;
        if (!gpu_factor_memory(use, &box) || !layout_equal(&box, memory)) return false;
    }
    return true;
}

static bool asserts_in(const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next) {
        if (op->code == IR_ASSERT) return true;
        for (uint32_t i = 0; i < op->region_count; i++)
            if (asserts_in(op->regions[i])) return true;
    }
    return false;
}

// Programs that a failed assert ends would leave the producer waiting for them.
static bool suits_producer(const IrFunc *f, const PipelinePlan *plan, Arena *scratch) {
    const IrOp *outside = plan->tiles ? plan->tiles : plan->loop;
    if (f->producers < 0 || !plan->by_map || plan->ahead.count || f->ctas > 1) return false;
    if (f->warps > TUNE_PRODUCER_WARPS_MAX || outside->block != ir_body(f)) return false;
    bool *known = arena_new(scratch, bool, f->op_count);
    if (!bounds_follow_arguments(plan, plan->loop, known)) return false;
    if (!bounds_follow_arguments(plan, plan->tiles, known) || asserts_in(ir_body(f))) return false;
    for (size_t i = 0; i < plan->feeds.count; i++) {
        const PipelineFeed *feed = &plan->feeds.data[i];
        const IrOp *load = feed->load;
        if (!feed->copied || !only_unit_reads(&load->results[0], &feed->memory)) return false;
        for (uint32_t k = 0; k < load->operand_count; k++)
            if (!follows_arguments(plan, ir_operand(load, k), known)) return false;
    }
    return true;
}

// ---- how many -----------------------------------------------------------------------------------

// The products of a step, and the registers of a thread for their sums, for the factors that they
// take from registers, and for what is held meanwhile.
typedef struct Products {
    uint32_t count, words;
} Products;

static void find_products(const IrBlock *block, Products *found) {
    for (const IrOp *op = block->first; op; op = op->next) {
        if (op->code == IR_DOT) {
            found->count++;
            found->words += pipeline_registers(op->results[0].type);
            if (gpu_factor_in_registers(op))
                found->words += pipeline_registers(ir_operand(op, 0)->type);
        }
        for (uint32_t i = 0; i < op->region_count; i++) find_products(op->regions[i], found);
    }
}

static bool is_used_after(const IrValue *v, const IrOp *loop) {
    for (const IrUse *use = v->uses; use; use = use->next) {
        const IrOp *user = use->user;
        while (user && user->block != loop->block) user = user->block->parent;
        for (const IrOp *op = loop->next; op && user; op = op->next)
            if (op == user) return true;
    }
    return false;
}

// Registers of a thread for values that are needed only when the loop is over.
static uint32_t carried_registers(const IrOp *loop) {
    uint32_t words = 0;
    for (const IrOp *op = loop->block->first; op != loop; op = op->next)
        for (uint32_t i = 0; i < op->result_count; i++)
            if (op->results[i].type->layout && is_used_after(&op->results[i], loop))
                words += pipeline_registers(op->results[i].type);
    return words;
}

// Would a multiprocessor run one program at a time? Another one multiplies while this one waits.
static bool runs_alone(const IrFunc *f, const GpuFacts *facts, const PipelinePlan *plan,
                       const Products *products) {
    uint32_t threads = gpu_thread_count(gpu_threads(f));
    uint32_t ring = (uint32_t)(plan->stages * pipeline_step_bytes(plan));
    uint32_t words = products->words + TUNE_UNCARRIED_REGISTERS;
    return gpu_occupancy(facts->machine->chip, threads, words, ring).blocks < 2;
}

// One warp is enough for the copies. With eight of the program, nine would leave each thread 168
// registers, because they are dealt to four warps at a time; four that copy give up most of theirs.
// One warp on an H100: attention is 3 to 8 % faster, products in tiles of 128x256 up to 8 %, except
// f16 of 8192^3, which is 3 % slower; those in tiles of 128x128 are 0 to 3 % slower. Two runs of
// one program differ by up to 4 %.
int pipeline_producers(const IrFunc *f, const GpuFacts *facts, const PipelinePlan *plan,
                       Arena *scratch) {
    enum { GROUP = 4 };
    if (!suits_producer(f, plan, scratch)) return 0;
    if (f->producers) return f->producers;
    Products products = {0};
    find_products(plan->loop->regions[0], &products);
    products.words += carried_registers(plan->loop);
    if (products.count == 1 && !runs_alone(f, facts, plan, &products)) return 0;
    bool trades = f->warps == 2 * GROUP && products.words >= TUNE_PRODUCERS_TRADE_REGISTERS;
    return trades ? GROUP : 1;
}

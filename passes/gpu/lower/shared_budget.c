// How much shared memory a tile may take on its way, in addition to the places that a kernel keeps
// for the tiles of its loops.
//
// A place is held from the first to the last op of the body that uses it; a loop counts as one op,
// as in passes/places.h. Places that are not held share their memory with the tile.
#include "passes/gpu/layout/dot_plan.h"
#include "passes/gpu/lower/threads.h"
#include "passes/gpu/pipeline/pipeline_plan.h"
#include "passes/gpu/tuning.h"
#include "target/occupancy.h"

struct SharedBudget {
    const IrBlock *body;
    const uint32_t *numbers;     // by op id: of the ops of the body
    uint64_t *live_bytes;        // by number: bytes of the places that are held
    uint64_t peak_bytes;         // held at once, with the factors of a product on their way
    uint32_t carried_registers;  // of a thread, for the values that a loop carries, at most
    uint32_t count;
};

static uint32_t number_in_body(const SharedBudget *r, const IrOp *op) {
    while (op->block != r->body) op = op->block->parent;
    return r->numbers[op->id];
}

// The last op of the body that uses the place; the end, if a loop or an `if` carries its pointer.
static uint32_t last_use(const SharedBudget *r, const IrValue *place) {
    uint32_t last = 0;
    for (const IrUse *use = place->uses; use; use = use->next) {
        const IrOp *op = use->user;
        uint32_t at = number_in_body(r, op);
        if (op->region_count || op->code == IR_YIELD) at = r->count - 1;
        for (uint32_t i = 0; i < op->result_count; i++) {
            if (op->results[i].type->kind != IR_PTR) continue;
            uint32_t later = last_use(r, &op->results[i]);
            if (later > at) at = later;
        }
        if (at > last) last = at;
    }
    return last;
}

static void add_live_bytes(SharedBudget *r, const IrOp *op) {
    const IrType *type = op->results[0].type;
    uint64_t bytes =
        (uint64_t)type->count * dtype_size(type->elem) * (uint64_t)ir_attr_int(op, IR_ATTR_COUNT);
    uint32_t last = last_use(r, &op->results[0]);
    for (uint32_t n = number_in_body(r, op); n <= last; n++) {
        r->live_bytes[n] += bytes;
        if (r->live_bytes[n] > r->peak_bytes) r->peak_bytes = r->live_bytes[n];
    }
}

// The bytes of the factors that a product brings to the matrix unit through shared memory, from
// registers of other layouts.
static uint64_t factor_bytes(const IrOp *op) {
    uint64_t bytes = 0;
    for (uint32_t i = gpu_factor_in_registers(op); i < 2; i++) {
        const IrValue *v = ir_operand(op, i);
        bool there = v->def && v->def->code == IR_GPU_READ;
        if (!there) bytes += (uint64_t)v->type->count * ir_elem_size(v->type);
    }
    return bytes;
}

static void survey(SharedBudget *r, const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next) {
        uint32_t words = 0;
        if (op->code == IR_GPU_SHARED) add_live_bytes(r, op);
        if (op->code == IR_DOT) {
            uint64_t bytes = r->live_bytes[number_in_body(r, op)] + factor_bytes(op);
            if (bytes > r->peak_bytes) r->peak_bytes = bytes;
        }
        for (uint32_t i = 0; i < op->result_count && op->region_count; i++)
            words += pipeline_registers(op->results[i].type);
        if (words > r->carried_registers) r->carried_registers = words;
        for (uint32_t i = 0; i < op->region_count; i++) survey(r, op->regions[i]);
    }
}

SharedBudget *threads_shared_budget(Arena *scratch, const IrFunc *f, const IrBlock *body) {
    SharedBudget *r = arena_new(scratch, SharedBudget, 1);
    uint32_t *numbers = arena_new(scratch, uint32_t, f->op_count);
    r->body = body, r->numbers = numbers;
    for (const IrOp *op = body->first; op; op = op->next) numbers[op->id] = r->count++;
    r->live_bytes = arena_new(scratch, uint64_t, r->count);
    survey(r, body);
    return r;
}

// Programs at once on a multiprocessor, as far as shared memory and the carried registers say.
static uint32_t programs(const Threads *t, uint64_t shared) {
    uint32_t threads = gpu_thread_count(gpu_threads(t->func));
    uint32_t registers = t->budget->carried_registers + TUNE_UNCARRIED_REGISTERS;
    const Chip *chip = t->machine->chip;
    if (chip->vendor == GPU_NVIDIA)
        return gpu_occupancy(chip, threads, registers, (uint32_t)shared).blocks;
    AmdNeeds needs = {.threads = threads,
                      .lanes = t->machine->warp,
                      .vectors = registers,
                      .shared_bytes = (uint32_t)shared};
    return amd_occupancy(chip, &needs).blocks;
}

static uint64_t live_now(const Threads *t) {
    return t->budget->live_bytes[number_in_body(t->budget, t->op)];
}

bool threads_fits_shared(const Threads *t, uint64_t bytes) {
    uint64_t room = t->machine->shared_bytes;
    return !room || live_now(t) + bytes <= room;
}

bool threads_costs_occupancy(const Threads *t, uint64_t bytes) {
    uint64_t most = t->budget->peak_bytes;
    bool beside = !most || live_now(t) || bytes <= most || !t->machine->shared_bytes;
    return !beside && programs(t, bytes) < programs(t, most);
}

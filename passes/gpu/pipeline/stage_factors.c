// gpu_stage_factors: factors that a loop does not change are kept in shared memory.
//
// A product of the matrix unit reads its factors fragment by fragment, through shared memory if
// they have another layout. A factor computed before the loop goes there once instead of in each
// step. A factor in the layout of fragments, such as the queries of attention, would fill registers
// of every thread during the whole loop; if registers are few, its fragments come from shared
// memory when they are needed.
//
// Needs: level gpu, after gpu_pipeline, which gets shared memory first. Keeps: every value.
// How: factors in the layout of fragments are kept only if necessary. At each product, the
// registers of all live tiles are counted (ir/analysis/analysis.h); other elementwise values may be
// computed a few elements at a time. If there are more than Machine.tile_registers, one factor
// after the other is kept, until there are not, as far as shared memory has room.
#include "passes/gpu/layout/dot_plan.h"
#include "passes/gpu/pipeline/pipeline_plan.h"
#include "passes/gpu/tuning.h"
#include "passes/passes.h"

typedef struct Staging {
    IrFunc *func;
    PassContext *context;
    const IrLiveness *live;
    uint32_t *registers;  // per thread, by value: 32 bits each
    uint32_t *words;      // by position: registers per thread that become live there, less those
                          // that die
    bool *products;       // by position
    uint32_t positions;
    uint64_t places;  // bytes of shared memory
    bool changed;
} Staging;

// ---- registers that tiles take ------------------------------------------------------------------

// Values computed from thread ids and scalars are recomputed where they are needed.
static bool is_made_anew(const Staging *k, const IrOp *op) {
    LayoutRule rule = layout_rule(op);
    if (op->code == IR_CONST || op->code == IR_IOTA) return true;
    if (ir_op_info(op->code)->effect != IR_EFFECT_PURE) return false;
    if (rule != LAYOUT_RULE_SAME && rule != LAYOUT_RULE_SHAPE) return false;
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (ir_operand(op, i) && k->registers[ir_operand(op, i)->id]) return false;
    return true;
}

static uint32_t registers_of(const Staging *k, const IrValue *v) {
    if (!ir_value_is_tile(v) || ir_is_shared_pointer(v)) return 0;
    if (v->def && is_made_anew(k, v->def)) return 0;
    uint32_t own = pipeline_registers(v->type);
    if (!v->def || layout_rule(v->def) != LAYOUT_RULE_SHAPE) return own;
    uint32_t from = k->registers[ir_operand(v->def, 0)->id];  // renamed only
    return from < own ? from : own;
}

// The loads for a loop's next step are moved after the last use of this step's values
// (gpu_sink_loads).
static uint32_t begin_of(const Staging *k, const IrValue *v) {
    uint32_t begin = ir_live_begin(k->live, v), end;
    const IrUse *use = v->uses;
    if (!v->def || ir_op_info(v->def->code)->effect != IR_EFFECT_READ) return begin;
    if (!use || use->next || use->user->code != IR_YIELD) return begin;
    const IrBlock *body = use->user->block;
    if (body != v->def->block || !body->parent || body->parent->code != IR_FOR) return begin;
    end = ir_live_end(k->live, body->args[1 + (use - use->user->operands)]);
    return end > begin ? end : begin;
}

static void count_value(Staging *k, const IrValue *v) {
    uint32_t registers = registers_of(k, v);
    k->registers[v->id] = registers;
    k->words[begin_of(k, v)] += registers;
    k->words[ir_live_end(k->live, v)] -= registers;
}

static void count_block(Staging *k, const IrBlock *block) {
    for (uint32_t i = 0; i < block->arg_count; i++) count_value(k, block->args[i]);
    for (const IrOp *op = block->first; op; op = op->next) {
        if (op->code == IR_DOT) k->products[ir_live_begin(k->live, op->results)] = true;
        for (uint32_t i = 0; i < op->result_count; i++) count_value(k, &op->results[i]);
        for (uint32_t i = 0; i < op->region_count; i++) count_block(k, op->regions[i]);
    }
}

// The most registers that are live at a product while the value is.
static uint32_t peak_registers(const Staging *k, const IrValue *v) {
    uint32_t live = 0, most = 0;
    for (uint32_t at = 0; at < k->positions; at++) {
        live += k->words[at];
        bool beside = at >= ir_live_begin(k->live, v) && at < ir_live_end(k->live, v);
        if (beside && k->products[at] && live > most) most = live;
    }
    return most;
}

// ---- factors ------------------------------------------------------------------------------------

static bool is_in_inner_loop(const IrOp *op, const IrBlock *home) {
    for (const IrBlock *b = op->block; b != home; b = b->parent->block)
        if (b->parent->code == IR_FOR || b->parent->code == IR_WHILE) return true;
    return false;
}

// Is the value used by products of the matrix unit alone, all in one layout, in some loop after it?
static bool is_factor(const IrValue *v, Layout *wanted) {
    Layout other;
    bool transposed = false;
    if (!ir_value_is_tile(v) || v->def->region_count) return false;
    for (const IrUse *use = v->uses; use; use = use->next) {
        if (use->user->code != IR_DOT) return false;
        if (!pipeline_use(use, &other)) return false;
        if (use == v->uses) *wanted = other;
        if (!layout_equal(&other, wanted)) return false;
        transposed |= is_in_inner_loop(use->user, v->def->block);
    }
    return transposed;
}

// The last op of the value's own block that uses it, or contains a use.
static const IrOp *last_of(const IrValue *v) {
    const IrOp *last = v->def;
    for (const IrUse *use = v->uses; use; use = use->next) {
        const IrOp *op = use->user, *at = last;
        while (op->block != v->def->block) op = op->block->parent;
        while (at && at != op) at = at->next;
        if (at) last = op;
    }
    return last;
}

// The size of a tile that is not in shared memory yet.
static uint64_t tile_bytes(const IrValue *v) {
    if (!ir_value_is_tile(v) || ir_is_shared_pointer(v)) return 0;
    if (v->def && v->def->code == IR_GPU_READ) return 0;
    uint32_t size = ir_elem_size(v->type);
    return (uint64_t)v->type->count * (size > 2 ? size : 2);  // bytes may be converted to halves
}

// Sorts, prints and atomics each need memory of their own.
static bool has_own_need(const IrOp *op) {
    switch (op->code) {
    case IR_SORT:
    case IR_SCAN:
    case IR_HISTOGRAM: return true;
    case IR_LOAD:
    case IR_STORE:
    case IR_VIEW_LOAD:
    case IR_VIEW_STORE:
    case IR_REDUCE:
    case IR_GPU_SHARED:
    case IR_GPU_MBARRIER:
    case IR_GPU_MBARRIER_EXPECT:
    case IR_GPU_MBARRIER_ARRIVE:
    case IR_GPU_MBARRIER_WAIT:
    case IR_GPU_MBARRIER_END:
    case IR_GPU_TMA_LOAD:
    case IR_GPU_COPY:
    case IR_GPU_COMMIT:
    case IR_GPU_WAIT:
    case IR_GPU_READ:
    case IR_GPU_SETTLE:
    case IR_GPU_BARRIER: return false;
    default: break;
    }
    IrEffect effect = ir_op_info(op->code)->effect;
    return effect != IR_EFFECT_PURE && effect != IR_EFFECT_END &&
           layout_rule(op) != LAYOUT_RULE_CONTROL;
}

// Do several warps hold parts of what is reduced to one element?
static bool crosses_warps(const IrOp *reduce) {
    const Layout *l = ir_operand(reduce, 1)->type->layout;
    uint32_t axis = (uint32_t)ir_attr_int(reduce, IR_ATTR_AXIS);
    for (uint32_t i = 0; l && i < l->dim_bits[LAYOUT_WARP]; i++) {
        uint32_t coords[IR_MAX_RANK];
        layout_coords(l, layout_basis(l, LAYOUT_WARP, i), coords);
        if (coords[axis]) return true;
    }
    return false;
}

// An upper bound on the shared memory that an op and its regions need, without the factor that is
// kept: the values that warps and lanes exchange are a part of the operands.
static uint64_t moved_at(const IrOp *op, const IrValue *kept) {
    uint64_t most = TUNE_SHARED_SPARE;
    bool exchanges = op->code == IR_DOT || op->code == IR_GPU_CONVERT || op->code == IR_GATHER ||
                     (op->code == IR_REDUCE && crosses_warps(op));
    if (has_own_need(op)) return UINT32_MAX;
    bool product = op->code == IR_DOT, in_registers = product && gpu_factor_in_registers(op);
    for (uint32_t i = in_registers; i < op->operand_count && exchanges; i++)
        if (ir_operand(op, i) != kept && (!product || i != 2))
            most += tile_bytes(ir_operand(op, i));
    for (uint32_t r = 0; r < op->region_count; r++)
        for (const IrOp *in = op->regions[r]->first; in; in = in->next) {
            uint64_t inner = moved_at(in, kept);
            if (inner > most) most = inner;
        }
    return most;
}

// An upper bound from after an op to the last one.
static uint64_t moved_between(const IrOp *first, const IrOp *last, const IrValue *kept) {
    uint64_t most = 0;
    for (const IrOp *op = first; op != last; op = op->next) {
        uint64_t bytes = moved_at(op->next, kept);
        if (bytes > most) most = bytes;
    }
    return most;
}

static IrOp *effect(IrBuilder *b, IrOpcode code) {
    return ir_op(b, code, 0, NULL, 0, NULL, 0, NULL);
}

static IrOp *wait_for_all(IrBuilder *b) {
    IrOp *wait = effect(b, IR_GPU_WAIT);
    ir_attr_set_int(wait, IR_ATTR_COUNT, 0);
    return wait;
}

static IrValue *make_place(Staging *k, IrBuilder *b, IrValue *x, const Layout *memory) {
    const IrType *type = ir_ptr(k->func->module, x->type->elem, x->type->rank, x->type->shape);
    type = ir_with_layout(k->func->module, type, memory);
    IrOp *shared = ir_op(b, IR_GPU_SHARED, 0, NULL, 1, &type, 0, NULL);
    ir_attr_set_int(shared, IR_ATTR_COUNT, 1);
    IrValue *operands[2] = {ir_result(shared, 0), x};
    ir_op(b, IR_GPU_COPY, 2, operands, 0, NULL, 0, NULL);
    effect(b, IR_GPU_COMMIT);
    ir_attr_set_int(wait_for_all(b), IR_ATTR_GLOBAL, true);
    return operands[0];
}

static void read_at_uses(Staging *k, IrValue *v, IrValue *place, const Layout *wanted) {
    const IrType *type = ir_with_layout(k->func->module, v->type, wanted);
    VEC(IrUse *) uses = {0};
    for (IrUse *use = v->uses; use; use = use->next)
        if (use->user->code == IR_DOT) vec_push(k->context->scratch, &uses, use);
    for (size_t i = 0; i < uses.count; i++) {
        IrOp *user = uses.data[i]->user;
        IrBuilder b = ir_builder_before(user);
        b.span = user->span;
        IrOp *read = ir_op(&b, IR_GPU_READ, 1, &place, 1, &type, 0, NULL);
        ir_set_operand(user, (uint32_t)(uses.data[i] - user->operands), ir_result(read, 0));
    }
}

static void stage_factor(Staging *k, IrOp *op, const Layout *wanted) {
    IrValue *v = ir_result(op, 0), *x = op->code == IR_GPU_CONVERT ? ir_operand(op, 0) : v;
    const Machine *machine = k->context->machine;
    uint32_t most = peak_registers(k, v), registers = k->registers[v->id];
    uint64_t bytes = (uint64_t)v->type->count * ir_elem_size(v->type);
    // Directly after the op that computes it, so that a load may become a copy.
    const IrOp *last = last_of(v), *first = x->def && x->def->block == op->block ? x->def : op;
    GpuTrip trip;
    LayoutSide store = {.layout = x->type->layout}, load = {.layout = wanted};
    Layout memory;
    bool by_unit = gpu_factor_memory(v->uses, &memory);
    bool moves = by_unit || !layout_equal(wanted, v->type->layout);
    if (!moves && (!machine->tile_registers || most <= machine->tile_registers)) return;
    if (k->places + bytes + moved_between(first, last, v) > machine->shared_bytes) return;
    if (!gpu_trip(&store, &load, dtype_bits(v->type->elem), machine, &trip)) return;
    if (!by_unit) memory = trip.shared.memory;
    remark(k->context->remarks, op->span, moves ? REASON_FACTOR_STORED : REASON_FACTOR_KEPT, NULL,
           REMARK((int64_t)bytes, registers, most));
    k->words[ir_live_begin(k->live, v)] -= registers;
    k->words[ir_live_end(k->live, v)] += registers;
    k->places += bytes;
    IrBuilder b = ir_builder_at_end(op->block);
    b.before = first->next;
    b.span = op->span;
    IrBuilder after = b;  // from here on something else may use the memory
    after.before = last->next;
    wait_for_all(&after);
    read_at_uses(k, v, make_place(k, &b, x, &memory), wanted);
    if (op->code == IR_GPU_CONVERT) ir_erase(op);
    k->changed = true;
}

static void keep_in(Staging *k, IrBlock *block) {
    IR_EACH_OP(op, block) {
        for (uint32_t i = 0; i < op->region_count; i++) keep_in(k, op->regions[i]);
        Layout wanted;
        if (op->result_count == 1 && is_factor(ir_result(op, 0), &wanted))
            stage_factor(k, op, &wanted);
    }
}

bool pass_gpu_stage_factors(IrFunc *f, PassContext *context) {
    if (!f->is_kernel || !ir_body(f) || f->level != IR_LEVEL_GPU) return false;
    Staging k = {.func = f, .context = context, .live = ir_liveness(context->scratch, f)};
    k.positions = 2 * f->op_count + 2;
    k.registers = arena_new(context->scratch, uint32_t, f->value_count);
    k.words = arena_new(context->scratch, uint32_t, k.positions);
    k.products = arena_new(context->scratch, bool, k.positions);
    k.places = pipeline_place_bytes(ir_body(f));
    count_block(&k, ir_body(f));
    keep_in(&k, ir_body(f));
    return k.changed;
}

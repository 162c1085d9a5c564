// The walk over the body, control, elementwise ops.
#include "passes/gpu/lower/threads.h"

#include "passes/passes.h"

// ---- ops that stay the same ---------------------------------------------------------------------

// Reports arithmetic of f64 if the machine has few units for it.
static void remark_slow(Threads *t, const IrOp *op) {
    enum { SLOW = 8 };
    bool works = ir_op_is(op->code, IR_FAMILY_ARITHMETIC | IR_FAMILY_FUNCTION);
    if (!t->remarks || !works || op->results[0].type->elem != DTYPE_F64) return;
    uint32_t ratio = t->machine->f64_ratio;
    if (ratio >= SLOW)
        remark(t->remarks, op->span, REASON_F64_SLOW, ir_op_info(op->code)->text, REMARK(ratio));
}

// The same op on the values that the thread holds.
static void again(Threads *t, const IrOp *op) {
    remark_slow(t, op);
    IrValue **operands = arena_new(t->scratch, IrValue *, op->operand_count + 1);
    const IrType **types = arena_new(t->scratch, const IrType *, op->result_count + 1);
    for (uint32_t i = 0; i < op->operand_count; i++) operands[i] = threads_operand(t, op, i);
    for (uint32_t i = 0; i < op->result_count; i++) types[i] = threads_type(t, op->results[i].type);
    IrOp *made =
        ir_op(&t->b, op->code, op->operand_count, operands, op->result_count, types, 0, NULL);
    const IrOpInfo *info = ir_op_info(op->code);
    for (int i = 0; i < info->attr_count; i++) made->attrs[i] = op->attrs[i];
    for (uint32_t i = 0; i < op->result_count; i++) threads_define(t, op, i, ir_result(made, i));
}

static void lower_iota(Threads *t, const IrOp *op) {
    const Layout *l = op->results[0].type->layout;
    uint32_t count = layout_size(l, LAYOUT_REG);
    IrValue **parts = arena_new(t->scratch, IrValue *, count);
    for (uint32_t r = 0; r < count; r++) parts[r] = threads_coord_of(t, l, 0, r);
    threads_define(t, op, 0, threads_pack(t, count, parts));
}

// ---- control ------------------------------------------------------------------------------------

static void lower_op(Threads *t, const IrOp *op);

// Do all numbers that the loop counts with fit 32 bits?
static bool counts_narrow(Threads *t, const IrOp *op) {
    for (uint32_t i = 0; i < 3; i++) {
        IrRange range = ir_range_of(t->ranges, ir_operand(op, i));
        if (!range.known || range.min < INT32_MIN || range.max > INT32_MAX) return false;
    }
    return true;
}

static void narrow_counter(Threads *t, const IrOp *op, IrValue **operands, IrBlock *body) {
    for (uint32_t i = 0; i < 3; i++) operands[i] = ir_cast(&t->b, operands[i], DTYPE_I32, false);
    IrBuilder inside = ir_builder_at_end(body);
    inside.span = op->span;
    IrValue *counter = ir_block_add_arg(body, ir_scalar(t->module, DTYPE_I32));
    threads_bind(t, op->regions[0]->args[0], ir_cast(&inside, counter, DTYPE_I64, false));
}

// If registers are few, values computed from thread ids are rematerialized after the products: they
// would otherwise occupy registers during the loop.
static IrValue *thread_id(Threads *t) {
    const IrType *number = ir_scalar(t->module, DTYPE_I32);
    IrOp *op = ir_op(&t->b, IR_THREAD_ID, 0, NULL, 1, &number, 0, NULL);
    if (t->thread) ir_attr_set_int(op, IR_ATTR_AGAIN, true);
    return ir_result(op, 0);
}

static bool multiplies(const IrOp *op) {
    if (op->code == IR_DOT) return true;
    for (uint32_t i = 0; i < op->region_count; i++)
        IR_EACH_OP(in, op->regions[i]) if (multiplies(in)) return true;
    return false;
}

// Is this the last op of its block with products, on a machine with few registers?
static bool fills_registers(const Threads *t, const IrOp *op) {
    bool few = t->machine->tile_registers && t->machine->warp == 32;  // 256 of them
    if (!few || !multiplies(op)) return false;
    for (op = op->next; op; op = op->next)
        if (multiplies(op)) return false;
    return true;
}

static void lower_control(Threads *t, const IrOp *op) {
    bool narrow = op->code == IR_FOR && counts_narrow(t, op);
    IrBlock *regions[2] = {0};
    IrValue **operands = arena_new(t->scratch, IrValue *, op->operand_count + 1);
    const IrType **types = arena_new(t->scratch, const IrType *, op->result_count + 1);
    for (uint32_t i = 0; i < op->operand_count; i++) operands[i] = threads_operand(t, op, i);
    for (uint32_t i = 0; i < op->result_count; i++) types[i] = threads_type(t, op->results[i].type);
    for (uint32_t r = 0; r < op->region_count; r++) {
        const IrBlock *from = op->regions[r];
        regions[r] = ir_block_create(t->func);
        if (narrow) narrow_counter(t, op, operands, regions[r]);
        for (uint32_t i = narrow; i < from->arg_count; i++)
            threads_bind(t, from->args[i],
                         ir_block_add_arg(regions[r], threads_type(t, from->args[i]->type)));
    }
    IrBuilder here = t->b;
    IrOp *made = ir_op(&here, op->code, op->operand_count, operands, op->result_count, types,
                       op->region_count, regions);
    const IrOpInfo *info = ir_op_info(op->code);
    for (int i = 0; i < info->attr_count; i++) made->attrs[i] = op->attrs[i];
    IrValue *thread = t->thread;
    for (uint32_t r = 0; r < op->region_count; r++, t->thread = thread)
        threads_block(t, op->regions[r], regions[r]);
    t->b = here;
    if (fills_registers(t, op)) t->thread = thread_id(t);
    for (uint32_t i = 0; i < op->result_count; i++) threads_define(t, op, i, ir_result(made, i));
}

// The `if` contains only copies and arrivals: they get its condition as their mask, and there is no
// branch.
static bool only_copies(Threads *t, const IrOp *op) {
    bool copies = false;
    if (op->code != IR_IF || op->result_count || op->regions[1]->first->code != IR_YIELD)
        return false;
    for (const IrOp *in = op->regions[0]->first; in; in = in->next) {
        IrEffect effect = ir_op_info(in->code)->effect;
        bool part = effect == IR_EFFECT_READ && threads_load_is_copy(t, in);
        bool copy = (in->code == IR_GPU_COPY && threads_copies(t, in)) ||
                    in->code == IR_GPU_TMA_LOAD || in->code == IR_GPU_MBARRIER_EXPECT ||
                    in->code == IR_GPU_MBARRIER_ARRIVE;
        if (in->code != IR_YIELD && effect != IR_EFFECT_PURE && !part && !copy) return false;
        copies |= copy;
    }
    return copies;
}

static void lower_copies(Threads *t, const IrOp *op) {
    t->when = threads_operand(t, op, 0);
    for (const IrOp *in = op->regions[0]->first; in->code != IR_YIELD; in = in->next)
        lower_op(t, in);
    t->when = NULL;
}

// ---- by op --------------------------------------------------------------------------------------

static void lower_op(Threads *t, const IrOp *op) {
    t->b.span = op->span;
    t->op = op;
    if (op->result_count && op->code == IR_PERMUTE && ir_is_shared_pointer(&op->results[0])) {
        threads_ring(t, op);
        return;
    }
    switch (ir_op_family(op->code)) {
    case IR_FAMILY_CONSTANT: (op->code == IR_IOTA ? lower_iota : again)(t, op); return;
    case IR_FAMILY_COMPARE: threads_compare(t, op); return;
    case IR_FAMILY_SHAPE: threads_shape(t, op); return;
    case IR_FAMILY_ORDER: threads_order(t, op); return;
    case IR_FAMILY_DOT: threads_dot(t, op); return;
    case IR_FAMILY_REDUCTION: (op->code == IR_SCAN ? threads_scan : threads_reduce)(t, op); return;
    case IR_FAMILY_MEMORY: threads_access(t, op); return;
    case IR_FAMILY_ATOMIC:
    case IR_FAMILY_EFFECT: threads_effect(t, op); return;
    case IR_FAMILY_CONTROL: (only_copies(t, op) ? lower_copies : lower_control)(t, op); return;
    case IR_FAMILY_CONVERT: threads_convert(t, op); return;
    case IR_FAMILY_STAGE: threads_ring(t, op); return;
    case IR_FAMILY_POINTER:
        if (!threads_pointer_sum(t, op)) again(t, op);
        return;
    case IR_FAMILY_LAUNCH:
    case IR_FAMILY_ARITHMETIC:
    case IR_FAMILY_FUNCTION:
    case IR_FAMILY_SELECT:
    case IR_FAMILY_CAST:
    case IR_FAMILY_TABLE:
    case IR_FAMILY_RANDOM:
    case IR_FAMILY_END:
    case IR_FAMILY_CALL:
    case IR_FAMILY_THREAD:
    case IR_FAMILY_VECTOR:
    case IR_FAMILY_CPU: again(t, op); return;
    }
}

void threads_block(Threads *t, const IrBlock *from, IrBlock *to) {
    t->b = ir_builder_at_end(to);
    for (const IrOp *op = from->first; op; op = op->next) lower_op(t, op);
}

static IrSection *body_section(IrFunc *f) {
    for (size_t i = 0; i < f->sections.count; i++)
        if (f->sections.data[i].kind == IR_BODY) return &f->sections.data[i];
    return NULL;
}

static void erase_all(IrBlock *block) {
    for (IrOp *op = block->last, *before; op; op = before) {
        before = op->prev;
        ir_erase(op);
    }
}

bool pass_gpu_threads(IrFunc *f, PassContext *context) {
    IrSection *section = f->is_kernel ? body_section(f) : NULL;
    if (!section || f->level != IR_LEVEL_GPU) return false;
    Threads t = {.func = f,
                 .module = f->module,
                 .scratch = context->scratch,
                 .diags = context->diags,
                 .machine = context->machine,
                 .facts = context->facts,
                 .remarks = context->remarks};
    // The facts of the variant hold for the function from here on; the kept analysis has fewer.
    gpu_apply_guard_facts(f, t.facts);
    t.ranges = ir_ranges(context->scratch, f, IR_TRUST_CHECKED);
    IrBlock *body = ir_block_create(f), *old = section->block;
    t.budget = threads_shared_budget(t.scratch, f, old);
    t.b = ir_builder_at_end(body);
    t.thread = thread_id(&t);
    threads_block(&t, old, body);
    erase_all(old);
    section->block = body;
    f->level = IR_LEVEL_THREAD;
    return true;
}

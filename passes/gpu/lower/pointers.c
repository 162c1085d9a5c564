// Loads and stores through pointers. If the ranges show that the registers of a lane point at
// neighbours, aligned, all under one mask, they are accesses of up to 16 bytes; else register by
// register.
#include "passes/gpu/lower/access.h"
#include "passes/gpu/lower/affine.h"

enum { WHOLE = 1 << 30, DEPTH = 16 };

// ---- facts along an axis ------------------------------------------------------------------------

// AccessRuns of pointers, in aligned groups: neighbours, or all the same; `align` is that of the
// first of a run, in bytes.
typedef struct PointerRun {
    uint32_t contiguous, constant;
    uint64_t align;
} PointerRun;

static uint64_t low_bit(uint64_t x) { return x ? x & (0 - x) : IR_ZERO_DIVISOR; }

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t base_align(const GpuFuncFacts *g, const IrValue *p) {
    bool param = !p->def && !p->block;
    uint64_t known = param ? g->func->params.data[p->index].facts.divisor : 1;
    if (param && g->facts & FACT_WIDE && known < GPU_ACCESS_BYTES) known = GPU_ACCESS_BYTES;
    uint64_t size = dtype_size(p->type->elem);
    return low_bit(known > size ? known : size);
}

static PointerRun run_of(const GpuFuncFacts *g, const IrValue *p, uint32_t axis, int depth);

// The axis of a permute's operand that is this one of its result.
static uint32_t permuted(const IrOp *op, uint32_t axis) {
    return (uint32_t)ir_attr(op, IR_ATTR_PERM)->u.ints.items[axis];
}

static PointerRun run_of_sum(const GpuFuncFacts *g, const IrOp *op, uint32_t axis, int depth) {
    const IrValue *by = ir_operand(op, 1);
    uint64_t size = dtype_size(op->results[0].type->elem);
    uint32_t width = op->results[0].type->rank ? op->results[0].type->shape[axis] : 1;
    PointerRun base = run_of(g, ir_operand(op, 0), axis, depth + 1);
    IrRange range = ir_range_of(g->ranges, by);
    PointerRun none = {1, 1, least(base.align, size)};
    if (!range.known) return none;
    bool flat = !by->type->rank || range.constant[axis] >= width;
    if (flat) {
        base.align = least(base.align, least(low_bit(range.divisor), WHOLE) * size);
        return base;
    }
    if (base.constant < width) return none;
    uint64_t first = least(low_bit(range.first[axis]), WHOLE) * size;
    return (PointerRun){range.contiguous[axis], 1, least(base.align, first)};
}

// Pointers that a loop carries: each iteration moves all of them by the same number of elements.
static PointerRun run_of_carried(const GpuFuncFacts *g, const IrValue *p, uint32_t axis,
                                 int depth) {
    PointerRun none = {1, 1, dtype_size(p->type->elem)};
    const IrOp *loop = p->block ? p->block->parent : NULL;
    if (!loop || loop->code != IR_FOR || p->index < 1) return none;
    const IrValue *next = ir_operand(p->block->last, p->index - 1);
    while (next->def && next->def->code == IR_GPU_CONVERT) next = ir_operand(next->def, 0);
    if (!next->def || next->def->code != IR_PTR_ADD || ir_operand(next->def, 0) != p) return none;
    const IrValue *by = ir_operand(next->def, 1);
    IrRange range = ir_range_of(g->ranges, by);
    bool flat = !by->type->rank || range.constant[axis] >= by->type->shape[axis];
    if (!range.known || !flat) return none;
    PointerRun run = run_of(g, ir_operand(loop, 3 + p->index - 1), axis, depth + 1);
    run.align = least(run.align, least(low_bit(range.divisor), WHOLE) * none.align);
    return run;
}

static PointerRun run_of(const GpuFuncFacts *g, const IrValue *p, uint32_t axis, int depth) {
    PointerRun flat = {1, WHOLE, base_align(g, p)}, none = {1, 1, dtype_size(p->type->elem)};
    const IrOp *def = p->def;
    if (depth > DEPTH) return none;
    if (!def && p->block) return run_of_carried(g, p, axis, depth);
    if (!p->type->rank && (!def || def->code != IR_PTR_ADD)) return flat;
    if (!def) return none;
    switch (def->code) {
    case IR_PTR_ADD: return run_of_sum(g, def, axis, depth);
    case IR_GPU_CONVERT: return run_of(g, ir_operand(def, 0), axis, depth + 1);
    case IR_PERMUTE: return run_of(g, ir_operand(def, 0), permuted(def, axis), depth + 1);
    case IR_BROADCAST: {
        const IrValue *x = ir_operand(def, 0);
        bool same = x->type->rank && x->type->shape[axis] == p->type->shape[axis];
        PointerRun run = run_of(g, x, x->type->rank ? axis : 0, depth + 1);
        return same ? run : (PointerRun){1, WHOLE, run.align};
    default: break;
    }
    case IR_RESHAPE: {
        int before = gpu_axis_before(def, axis);
        return before < 0 ? none : run_of(g, ir_operand(def, 0), (uint32_t)before, depth + 1);
    }
    }
    return none;
}

// The size of the aligned groups along the axis in which a mask is the same.
static uint32_t mask_run(const GpuFuncFacts *g, const IrValue *m, uint32_t axis, int depth) {
    const IrOp *def = m->def;
    if (!m->type->rank || m->type->shape[axis] == 1) return WHOLE;
    if (!def || depth > DEPTH) return 1;
    const IrValue *x = def->operand_count ? ir_operand(def, 0) : NULL;
    switch (ir_op_info(def->code)->rule) {
    case IR_RULE_CONST: return WHOLE;
    case IR_RULE_COMPARE: return gpu_compare_run(g->ranges, def, axis);
    case IR_RULE_BROADCAST:
        if (!x->type->rank || x->type->shape[axis] == 1) return WHOLE;
        return mask_run(g, x, axis, depth + 1);
    case IR_RULE_RESHAPE: {
        int before = gpu_axis_before(def, axis);
        return before < 0 ? 1 : mask_run(g, x, (uint32_t)before, depth + 1);
    default: break;
    }
    case IR_RULE_GPU_CONVERT: return mask_run(g, x, axis, depth + 1);
    case IR_RULE_PERMUTE: return mask_run(g, x, permuted(def, axis), depth + 1);
    }
    if (def->code == IR_NOT) return mask_run(g, x, axis, depth + 1);
    if (def->code != IR_AND && def->code != IR_OR && def->code != IR_XOR) return 1;
    uint32_t a = mask_run(g, x, axis, depth + 1);
    uint32_t b = mask_run(g, ir_operand(def, 1), axis, depth + 1);
    return a < b ? a : b;
}

// ---- how wide -----------------------------------------------------------------------------------

uint32_t gpu_pointer_run(const GpuFuncFacts *g, const IrOp *op, uint32_t axis) {
    uint32_t at = op->code == IR_LOAD ? 1 : 2;
    const IrValue *p = ir_operand(op, 0);
    const IrValue *mask = op->operand_count > at ? ir_operand(op, at) : NULL;
    if (p->type->elem == DTYPE_BOOL) return 1;
    PointerRun run = run_of(g, p, axis, 0);
    uint64_t most =
        least(run.contiguous, least(run.align, GPU_ACCESS_BYTES) / dtype_size(p->type->elem));
    if (mask) most = least(most, mask_run(g, mask, axis, 0));
    while (most & (most - 1)) most &= most - 1;
    return most ? (uint32_t)most : 1;
}

uint32_t gpu_pointer_neighbours(const GpuFuncFacts *g, const IrValue *p, uint32_t axis) {
    return run_of(g, p, axis, 0).contiguous;
}

static uint32_t vector_of(const Threads *t, const IrOp *op, const Layout *l, uint32_t *axis) {
    GpuFuncFacts known = {t->func, t->ranges, t->facts};
    uint32_t best = 1;
    for (uint32_t d = 0; l && d < l->rank; d++) {
        uint32_t run = gpu_pointer_run(&known, op, d), most = layout_contiguity(l, d);
        if (run < most) most = run;
        if (most <= best || !threads_disjoint(l, d)) continue;
        best = most;
        *axis = d;
    }
    if (best == 1 && l && layout_size(l, LAYOUT_REG) > 1) access_remarks_pointer(t, op);
    return best;
}

// ---- sums ---------------------------------------------------------------------------------------

// The scalar from which operand `at` is stretched; NULL: none.
static IrValue *stretched(const IrOp *op, uint32_t at) {
    const IrOp *def = ir_operand(op, at)->def;
    bool is = def && def->code == IR_BROADCAST && !ir_operand(def, 0)->type->rank;
    return is ? ir_operand(def, 0) : NULL;
}

static bool is_offset(const Threads *t, const IrValue *x) {
    IrRange range = ir_range_of(t->ranges, x);
    return range.known && range.min >= 0 && range.max < WHOLE / GPU_ACCESS_BYTES;
}

bool threads_pointer_sum(Threads *t, const IrOp *op) {
    const IrOp *sum = ir_operand(op, 1)->def;
    IrValue *p = stretched(op, 0);
    if (!t->machine->scalar_bases || !p || !sum || sum->code != IR_ADD) return false;
    for (uint32_t i = 0; i < 2; i++) {
        IrValue *s = stretched(sum, i);
        if (!s || !is_offset(t, ir_operand(sum, 1 - i))) continue;
        IrValue *base = threads_at(t, threads_value(t, p), threads_value(t, s));
        IrValue *x = threads_operand(t, sum, 1 - i);
        IrValue *bases = threads_splat(t, base, x->type->count);
        threads_define(t, op, 0, ir_ptr_add(&t->b, bases, x));
        return true;
    }
    return false;
}

// ---- the ops ------------------------------------------------------------------------------------

static void load_each(Threads *t, const IrOp *op, IrValue **operands) {
    const IrType *type = threads_type(t, op->results[0].type);
    IrOp *made = ir_op(&t->b, IR_LOAD, 3, operands, 1, &type, 0, NULL);
    threads_copy_hint(op, made);
    threads_define(t, op, 0, ir_result(made, 0));
}

static IrValue *some(Threads *t, IrValue *x, uint32_t count, const uint32_t *regs) {
    if (!x || !x->type->rank) return x ? threads_splat(t, x, count) : NULL;
    return threads_pick(t, x, count, regs);
}

void access_load_pointers(Threads *t, const IrOp *op) {
    if (threads_load_is_copy(t, op)) return;
    const Layout *l = op->results[0].type->layout;
    IrValue *operands[3];
    for (uint32_t i = 0; i < 3; i++) operands[i] = threads_operand(t, op, i);
    uint32_t axis = 0, vector = vector_of(t, op, l, &axis);
    if (vector == 1) {
        load_each(t, op, operands);
        return;
    }
    AccessRuns r = access_runs(t, l, axis, vector);
    IrValue **parts = arena_new(t->scratch, IrValue *, r.count);
    for (uint32_t i = 0; i < r.count; i++) {
        const uint32_t *regs = &r.registers[i * vector];
        IrValue *p = threads_get(t, operands[0], regs[0]);
        IrValue *on = operands[1] ? threads_get(t, operands[1], regs[0]) : NULL;
        uint32_t align = vector * (uint32_t)dtype_size(p->type->elem);
        parts[i] = threads_load(t, p, vector, align, on, some(t, operands[2], vector, regs));
        threads_copy_hint(op, parts[i]->def);
    }
    threads_define(t, op, 0, access_in_order(t, &r, parts));
}

void access_store_pointers(Threads *t, const IrOp *op) {
    const Layout *l = ir_operand(op, 0)->type->layout;
    IrValue *p = threads_operand(t, op, 0), *x = threads_operand(t, op, 1);
    IrValue *masks = threads_operand(t, op, 2), *owner = access_owner(t, l);
    uint32_t axis = 0, vector = vector_of(t, op, l, &axis);
    AccessRuns r = access_runs(t, l, axis, vector);
    for (uint32_t i = 0; i < r.count; i++) {
        const uint32_t *regs = &r.registers[i * vector];
        if (l && threads_first_holder(l, regs[0]) != regs[0]) continue;
        IrValue *on = access_both(t, masks ? threads_get(t, masks, regs[0]) : NULL, owner);
        IrValue *part = vector == 1 ? threads_get(t, x, regs[0]) : some(t, x, vector, regs);
        uint32_t align = vector == 1 ? 0 : vector * (uint32_t)dtype_size(p->type->elem);
        threads_copy_hint(op, threads_store(t, threads_get(t, p, regs[0]), part, align, on));
    }
}

// Views of i4 and u4: two elements in a byte, the first one low.
//
// If a lane holds neighbours along the innermost dimension, it accesses whole bytes: selections
// begin at even positions, and innermost extents are even. Stores are moved to a layout in which
// that is so. Only views with strides scatter single elements; they are put into their half of the
// byte by atomics, as another thread may write the other half.
#include "passes/gpu/lower/access.h"

static IrValue *like(Threads *t, const IrValue *x, uint64_t bits) {
    return ir_const_bits(&t->b, x->type, bits);
}

static const IrParam *param_of(const Threads *t, const IrOp *op) {
    return &t->func->params.data[ir_operand(op, 0)->index];
}

// ---- how wide -----------------------------------------------------------------------------------

static bool in_pairs(const Threads *t, const Selection *s) {
    const SelectionDim *last = &s->dims[s->rank - 1];
    return s->layout && last->axis >= 0 && !param_of(t, s->op)->strided &&
           threads_disjoint(s->layout, (uint32_t)last->axis) &&
           layout_contiguity(s->layout, (uint32_t)last->axis) >= 2;
}

// Elements of an access: neighbours in a lane, all inside or all outside.
static uint32_t vector_of(const Threads *t, const Selection *s) {
    const SelectionDim *last = &s->dims[s->rank - 1];
    if (!in_pairs(t, s)) return 1;
    uint64_t row = access_extent_divisor(t, param_of(t, s->op), s->rank - 1);
    uint32_t most = layout_contiguity(s->layout, (uint32_t)last->axis);
    if (most > 2 * GPU_ACCESS_BYTES) most = 2 * GPU_ACCESS_BYTES;
    while (most > 2 && ((row | last->divisor) & (most - 1))) most /= 2;
    return most;
}

static uint32_t align_of(const Threads *t, const Selection *s, uint32_t vector) {
    uint64_t base = param_of(t, s->op)->facts.divisor;
    if ((t->facts & FACT_WIDE) && base < GPU_ACCESS_BYTES) base = GPU_ACCESS_BYTES;
    uint64_t all = (base ? base : 1) | vector / 2;
    return (uint32_t)(all & (0 - all));
}

static AccessRuns runs(Threads *t, const Selection *s) {
    int axis = s->dims[s->rank - 1].axis;
    return access_runs(t, s->layout, axis < 0 ? 0 : (uint32_t)axis, vector_of(t, s));
}

// ---- bytes --------------------------------------------------------------------------------------

static IrValue *byte_at(Threads *t, const Selection *s, IrValue *number) {
    return threads_at(t, s->data, ir_binary(&t->b, IR_SHR, number, threads_i64(t, 1)));
}

// By how many bits the element is shifted in its byte: u8.
static IrValue *shift_of(Threads *t, IrValue *number) {
    IrValue *odd = ir_binary(&t->b, IR_AND, number, threads_i64(t, 1));
    odd = ir_cast(&t->b, odd, DTYPE_U8, false);
    return ir_binary(&t->b, IR_SHL, odd, like(t, odd, 2));
}

// The low four bits of u8 elements as i8 or u8.
static IrValue *widened(Threads *t, IrValue *x, Dtype packed) {
    if (packed == DTYPE_U4) return ir_binary(&t->b, IR_AND, x, like(t, x, 15));
    IrValue *s = ir_bitcast(&t->b, x, ir_with_elem(t->module, x->type, DTYPE_I8));
    s = ir_binary(&t->b, IR_SHL, s, like(t, s, 4));
    return ir_binary(&t->b, IR_SHR, s, like(t, s, 4));
}

static IrValue *narrowed(Threads *t, IrValue *x) {
    if (x->type->elem == DTYPE_I8)
        x = ir_bitcast(&t->b, x, ir_with_elem(t->module, x->type, DTYPE_U8));
    return ir_binary(&t->b, IR_AND, x, like(t, x, 15));
}

// ---- loads --------------------------------------------------------------------------------------

static IrValue *load_bytes(Threads *t, const Selection *s, IrValue *number, uint32_t vector,
                           IrValue *mask) {
    Dtype packed = ir_operand(s->op, 0)->type->elem;
    uint32_t half = vector / 2, *order = arena_new(t->scratch, uint32_t, vector);
    IrValue *x = threads_load(t, byte_at(t, s, number), half, align_of(t, s, vector), mask, NULL);
    threads_copy_hint(s->op, x->def);
    IrValue *both[2] = {widened(t, x, packed), NULL};
    both[1] = widened(t, ir_binary(&t->b, IR_SHR, x, like(t, x, 4)), packed);
    for (uint32_t i = 0; i < vector; i++) order[i] = i / 2 + i % 2 * half;
    return threads_pick(t, threads_pack(t, 2, both), vector, order);
}

static IrValue *load_one(Threads *t, const Selection *s, IrValue *number, IrValue *mask) {
    IrValue *x = threads_load(t, byte_at(t, s, number), 1, 0, mask, NULL);
    threads_copy_hint(s->op, x->def);
    x = ir_binary(&t->b, IR_SHR, x, shift_of(t, number));
    return widened(t, x, ir_operand(s->op, 0)->type->elem);
}

void access_load_packed(Threads *t, const IrOp *op) {
    const IrType *type = op->results[0].type;
    Selection s = access_select(t, op, type->layout);
    AccessRuns r = runs(t, &s);
    IrValue **parts = arena_new(t->scratch, IrValue *, r.count), *pad = threads_operand(t, op, 1);
    for (uint32_t i = 0; i < r.count; i++) {
        uint32_t reg = r.registers[i * r.vector];
        IrValue *mask = access_mask(t, &s, reg), *number = access_number(t, &s, reg);
        IrValue *x = r.vector > 1 ? load_bytes(t, &s, number, r.vector, mask)
                                  : load_one(t, &s, number, mask);
        parts[i] = x;
        if (!mask) continue;
        IrValue *other = pad ? pad : ir_const_bits(&t->b, ir_scalar(t->module, type->elem), 0);
        if (x->type->rank) {
            mask = threads_splat(t, mask, r.vector);
            other = threads_splat(t, other, r.vector);
        }
        parts[i] = ir_ternary(&t->b, IR_SELECT, mask, x, other);
    }
    threads_define(t, op, 0, type->rank ? access_in_order(t, &r, parts) : parts[0]);
}

// ---- stores -------------------------------------------------------------------------------------

// A layout in which the two elements of a byte are in one lane: the bit that separates them becomes
// a register bit, and the bit that did so before replicates.
static Layout paired(const Layout *l, uint32_t axis) {
    uint32_t step = 1u << layout_axis_start(l, axis), shape[IR_MAX_RANK];
    layout_shape(l, shape);
    Layout r = layout_empty(l->rank, shape);
    layout_add(&r, LAYOUT_REG, step);
    for (LayoutDim dim = LAYOUT_REG; dim <= LAYOUT_WARP; dim++)
        for (uint32_t i = 0; i < l->dim_bits[dim]; i++) {
            uint32_t basis = layout_basis(l, dim, i);
            if (basis != step)
                layout_add(&r, dim, basis);
            else if (dim != LAYOUT_REG)
                layout_add(&r, dim, 0);
        }
    return r;
}

static void store_bytes(Threads *t, const Selection *s, IrValue *number, IrValue *x,
                        const uint32_t *regs, uint32_t vector, IrValue *mask) {
    uint32_t half = vector / 2, *some = arena_new(t->scratch, uint32_t, half);
    IrValue *nibbles[2];
    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < half; i++) some[i] = regs[2 * i + k];
        nibbles[k] =
            narrowed(t, half == 1 ? threads_get(t, x, some[0]) : threads_pick(t, x, half, some));
    }
    IrValue *high = ir_binary(&t->b, IR_SHL, nibbles[1], like(t, nibbles[1], 4));
    IrValue *bytes = ir_binary(&t->b, IR_OR, nibbles[0], high);
    uint32_t align = align_of(t, s, vector);
    threads_copy_hint(s->op, threads_store(t, byte_at(t, s, number), bytes, align, mask));
}

static void change(Threads *t, IrRmw rmw, IrValue *p, IrValue *x, IrValue *mask) {
    IrValue *operands[3] = {p, x, mask};
    const IrType *type = x->type;
    IrOp *op = ir_op(&t->b, IR_ATOMIC, 3, operands, 1, &type, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_RMW, rmw);
    ir_attr_set_int(op, IR_ATTR_ORDER, IR_ORDER_RELAXED);
    ir_attr_set_int(op, IR_ATTR_SCOPE, IR_SCOPE_DEVICE);
}

static void store_one(Threads *t, const Selection *s, IrValue *number, IrValue *x, IrValue *mask) {
    IrValue *p = byte_at(t, s, number), *shift = shift_of(t, number);
    IrValue *others = ir_binary(&t->b, IR_SHR, like(t, shift, 0xf0), shift);
    change(t, IR_RMW_AND, p, others, mask);
    change(t, IR_RMW_OR, p, ir_binary(&t->b, IR_SHL, narrowed(t, x), shift), mask);
}

void access_store_packed(Threads *t, const IrOp *op) {
    const Layout *l = ir_operand(op, 1)->type->layout;
    IrValue *x = threads_operand(t, op, 1);
    Selection s = access_select(t, op, l);
    const SelectionDim *last = &s.dims[s.rank - 1];
    Layout pairs;
    if (!param_of(t, op)->strided && last->axis >= 0 && !in_pairs(t, &s)) {
        pairs = paired(l, (uint32_t)last->axis);
        x = threads_move(t, x, l, &pairs);
        s = access_select(t, op, &pairs);
    }
    IrValue *owner = access_owner(t, s.layout);
    AccessRuns r = runs(t, &s);
    for (uint32_t i = 0; i < r.count; i++) {
        const uint32_t *regs = &r.registers[i * r.vector];
        if (threads_first_holder(s.layout, regs[0]) != regs[0]) continue;
        IrValue *mask = access_both(t, access_mask(t, &s, regs[0]), owner);
        IrValue *number = access_number(t, &s, regs[0]);
        if (r.vector > 1)
            store_bytes(t, &s, number, x, regs, r.vector, mask);
        else
            store_one(t, &s, number, threads_get(t, x, regs[0]), mask);
    }
}

// Shapes: the data stays where it is; registers are renumbered.
#include "passes/gpu/lower/threads.h"

// Register r of the result is the register of the operand that holds the same element; `same` maps
// an element of the result to an element of the operand.
typedef uint32_t SameElement(const IrOp *op, uint32_t element);

static uint32_t element_of(const IrType *t, const uint32_t *coords) {
    uint32_t element = 0;
    for (uint32_t d = 0; d < t->rank; d++) element = element * t->shape[d] + coords[d];
    return element;
}

static void coords_of(const IrType *t, uint32_t element, uint32_t *coords) {
    for (uint32_t d = t->rank; d-- > 0; element /= t->shape[d]) coords[d] = element % t->shape[d];
}

static uint32_t same_broadcast(const IrOp *op, uint32_t element) {
    const IrType *from = ir_operand(op, 0)->type, *to = op->results[0].type;
    uint32_t coords[IR_MAX_RANK];
    coords_of(to, element, coords);
    for (uint32_t d = 0; d < to->rank; d++)
        if (from->shape[d] == 1) coords[d] = 0;
    return element_of(from, coords);
}

static uint32_t same_reshape(const IrOp *op, uint32_t element) {
    (void)op;
    return element;
}

static uint32_t same_permute(const IrOp *op, uint32_t element) {
    const IrType *from = ir_operand(op, 0)->type, *to = op->results[0].type;
    const IrAttr *perm = ir_attr(op, IR_ATTR_PERM);
    uint32_t coords[IR_MAX_RANK], source[IR_MAX_RANK];
    coords_of(to, element, coords);
    for (uint32_t d = 0; d < to->rank; d++) source[perm->u.ints.items[d]] = coords[d];
    return element_of(from, source);
}

// Lane 0 of warp 0 represents all: the maps are linear, and follow one another.
static uint32_t holder(const Layout *l, uint32_t element) {
    for (uint32_t r = 0; r < layout_size(l, LAYOUT_REG); r++)
        if (layout_apply(l, layout_at(r, 0, 0)) == element) return r;
    UNREACHABLE("no register holds element %u", element);
}

static void renumber(Threads *t, const IrOp *op, SameElement *same) {
    const Layout *from = ir_operand(op, 0)->type->layout, *to = op->results[0].type->layout;
    uint32_t count = layout_size(to, LAYOUT_REG);
    uint32_t *regs = arena_new(t->scratch, uint32_t, count);
    for (uint32_t r = 0; r < count; r++)
        regs[r] = holder(from, same(op, layout_apply(to, layout_at(r, 0, 0))));
    threads_define(t, op, 0, threads_pick(t, threads_operand(t, op, 0), count, regs));
}

// The lowest register bit chooses a or b.
static void join(Threads *t, const IrOp *op) {
    const Layout *l = op->results[0].type->layout;
    if (!ir_operand(op, 0)->type->rank) {  // two scalars: each register chooses by its coordinate
        IrValue *parts[64];
        uint32_t regs = layout_size(l, LAYOUT_REG);
        for (uint32_t r = 0; r < regs; r++) {
            IrValue *second = ir_cast(&t->b, threads_coord_of(t, l, 0, r), DTYPE_BOOL, false);
            parts[r] = ir_ternary(&t->b, IR_SELECT, second, threads_operand(t, op, 1),
                                  threads_operand(t, op, 0));
        }
        threads_define(t, op, 0, threads_pack(t, regs, parts));
        return;
    }
    uint32_t count = layout_size(op->results[0].type->layout, LAYOUT_REG);
    uint32_t *regs = arena_new(t->scratch, uint32_t, count);
    for (uint32_t r = 0; r < count; r++) regs[r] = r / 2 + (r % 2) * (count / 2);
    IrValue *both[2] = {threads_operand(t, op, 0), threads_operand(t, op, 1)};
    threads_define(t, op, 0, threads_pick(t, threads_pack(t, 2, both), count, regs));
}

static void split(Threads *t, const IrOp *op) {
    Layout half;
    const Layout *l = op->results[0].type->layout;
    uint32_t bit, count = l ? layout_size(l, LAYOUT_REG) : 1;
    CHECK(layout_split(ir_operand(op, 0)->type->layout, &half, &bit), "a split of threads");
    uint32_t *regs = arena_new(t->scratch, uint32_t, count), low = (1u << bit) - 1;
    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t r = 0; r < count; r++) regs[r] = (r & low) | (r & ~low) << 1 | k << bit;
        IrValue *x = threads_operand(t, op, 0);
        threads_define(t, op, k, l ? threads_pick(t, x, count, regs) : threads_get(t, x, regs[0]));
    }
}

// From a scalar, or to one: every thread has it.
static bool of_scalars(Threads *t, const IrOp *op) {
    const IrType *from = ir_operand(op, 0)->type, *to = op->results[0].type;
    IrValue *x = threads_operand(t, op, 0);
    if (from->rank && to->rank) return false;
    if (!from->rank && !to->rank)
        threads_define(t, op, 0, x);
    else if (to->rank)
        threads_define(t, op, 0, threads_splat(t, x, layout_size(to->layout, LAYOUT_REG)));
    else
        threads_define(t, op, 0, threads_get(t, x, 0));
    return true;
}

void threads_shape(Threads *t, const IrOp *op) {
    IrValue *both[2];
    switch (op->code) {
    case IR_JOIN: join(t, op); return;
    case IR_SPLIT: split(t, op); return;
    case IR_CAT:
        for (uint32_t i = 0; i < 2; i++) both[i] = threads_operand(t, op, i);
        threads_define(t, op, 0, threads_pack(t, 2, both));
        return;
    default: break;
    }
    if (of_scalars(t, op)) return;
    renumber(t, op,
             op->code == IR_BROADCAST ? same_broadcast
             : op->code == IR_PERMUTE ? same_permute
                                      : same_reshape);
}

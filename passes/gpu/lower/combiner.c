// Combiners of the program's own, on whole vectors: each of their ops is elementwise.
//
// Registers and threads may take different branches, but control is uniform. So both sides of an
// `if` are computed, and each register selects its own. A loop whose steps depend on the values
// runs until no register of any thread of the program continues; registers that have ended keep
// their values. Combiners have no effects, so computing an unused side is not visible; but a loop
// could be endless for values that are not needed. So the set of registers that are `active` is
// passed down to the loops.
#include "passes/gpu/lower/combine.h"

enum { BOUNDS = 3 };

typedef struct CombinerRegion {
    Threads *t;
    const IrValue *shape;  // a vector of as many registers
    IrValue *active;       // a bool vector; NULL: all
} CombinerRegion;

static void bind(CombinerRegion *r, const IrValue *from, IrValue *to) {
    map_put(r->t->scratch, &r->t->map, map_key(from), map_key(to));
}

static IrValue *broadcast(const CombinerRegion *r, IrValue *x) {
    if (!x || x->type->rank) return x;
    return threads_splat(r->t, x, r->shape->type->count);
}

static IrValue *operand(CombinerRegion *r, const IrOp *op, uint32_t i) {
    return broadcast(r, threads_operand(r->t, op, i));
}

static IrValue *both(CombinerRegion *r, IrValue *a, IrValue *b) {
    return a ? ir_binary(&r->t->b, IR_AND, a, b) : b;
}

static IrValue *choose(CombinerRegion *r, IrValue *which, IrValue *x, IrValue *y) {
    return ir_ternary(&r->t->b, IR_SELECT, which, x, y);
}

static void call_block(CombinerRegion *r, const IrBlock *block, IrValue **out);

// Values that all registers share stay scalars; the others are vectors.
static void call_op(CombinerRegion *r, const IrOp *op) {
    Threads *t = r->t;
    IrValue **operands = arena_new(t->scratch, IrValue *, op->operand_count + 1);
    const IrType **types = arena_new(t->scratch, const IrType *, op->result_count + 1);
    uint32_t rank = 0;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        operands[i] = threads_operand(t, op, i);
        if (operands[i] && operands[i]->type->rank) rank = 1;
    }
    for (uint32_t i = 0; rank && i < op->operand_count; i++)
        operands[i] = broadcast(r, operands[i]);
    for (uint32_t i = 0; i < op->result_count; i++)
        types[i] = ir_with_shape(t->module, op->results[i].type, rank, r->shape->type->shape);
    IrOp *made =
        ir_op(&t->b, op->code, op->operand_count, operands, op->result_count, types, 0, NULL);
    for (int i = 0; i < ir_op_info(op->code)->attr_count; i++) made->attrs[i] = op->attrs[i];
    for (uint32_t i = 0; i < op->result_count; i++) bind(r, ir_result(op, i), ir_result(made, i));
}

static void call_if(CombinerRegion *r, const IrOp *op) {
    Threads *t = r->t;
    IrValue **ways[2], *which = operand(r, op, 0), *active = r->active;
    for (int i = 0; i < 2; i++) {
        ways[i] = arena_new(t->scratch, IrValue *, op->result_count + 1);
        r->active = both(r, active, i ? ir_unary(&t->b, IR_NOT, which) : which);
        call_block(r, op->regions[i], ways[i]);
    }
    r->active = active;
    for (uint32_t i = 0; i < op->result_count; i++)
        bind(r, ir_result(op, i), choose(r, which, ways[0][i], ways[1][i]));
}

// ---- loops of as many steps for every register --------------------------------------------------

static void call_for(CombinerRegion *r, const IrOp *op) {
    Threads *t = r->t;
    const IrBlock *block = op->regions[0];
    IrBlock *made = ir_block_create(t->func);
    IrValue **operands = arena_new(t->scratch, IrValue *, op->operand_count);
    const IrType **types = arena_new(t->scratch, const IrType *, op->result_count + 1);
    for (uint32_t i = 0; i < op->operand_count; i++)
        operands[i] = i < BOUNDS ? threads_operand(t, op, i) : operand(r, op, i);
    for (uint32_t i = 0; i < block->arg_count; i++) {
        const IrType *type = i ? operands[BOUNDS + i - 1]->type : block->args[0]->type;
        if (i) types[i - 1] = type;
        bind(r, block->args[i], ir_block_add_arg(made, type));
    }
    IrOp *loop =
        ir_op(&t->b, IR_FOR, op->operand_count, operands, op->result_count, types, 1, &made);
    for (int i = 0; i < ir_op_info(op->code)->attr_count; i++) loop->attrs[i] = op->attrs[i];
    IrBuilder here = t->b;
    IrValue **out = arena_new(t->scratch, IrValue *, op->result_count + 1);
    t->b = ir_builder_at_end(made);
    t->b.span = op->span;
    call_block(r, block, out);
    ir_yield(&t->b, op->result_count, out);
    t->b = here;
    for (uint32_t i = 0; i < op->result_count; i++) bind(r, ir_result(op, i), ir_result(loop, i));
}

static bool same_for_all(CombinerRegion *r, const IrOp *op) {
    if (ir_attr_int(op, IR_ATTR_EXIT)) return false;
    for (uint32_t i = 0; i < BOUNDS; i++)
        if (threads_operand(r->t, op, i)->type->rank) return false;
    return true;
}

// ---- loops in which registers end one by one ----------------------------------------------------

// The state of a loop; its last value says which registers continue.
typedef struct CombinerLoop {
    const IrOp *op;
    uint32_t count;  // of values except the last
    IrValue **state;
    IrValue *hi, *step;
} CombinerLoop;

// Is there a further step between i and hi, which is ahead of it? The difference of two that are
// less than 2^64 apart is exact as a u64.
static IrValue *is_further(CombinerRegion *r, const CombinerLoop *l, IrValue *i) {
    IrBuilder *b = &r->t->b;
    bool down = ir_attr_int(l->op, IR_ATTR_DOWN) != 0;
    const IrType *wide = ir_with_elem(r->t->module, i->type, DTYPE_U64);
    IrValue *left = down ? ir_binary(b, IR_SUB, i, l->hi) : ir_binary(b, IR_SUB, l->hi, i);
    IrValue *step = down ? ir_unary(b, IR_NEG, l->step) : l->step;
    return ir_binary(b, IR_GT, ir_bitcast(b, left, wide), ir_bitcast(b, step, wide));
}

// The registers that enter a `for`.
static IrValue *enters(CombinerRegion *r, const CombinerLoop *l) {
    IrBuilder *b = &r->t->b;
    bool down = ir_attr_int(l->op, IR_ATTR_DOWN) != 0;
    IrValue *zero = ir_const_bits(b, l->step->type, 0);
    IrValue *ahead = ir_binary(b, down ? IR_GT : IR_LT, l->state[0], l->hi);
    IrValue *right_way = ir_binary(b, down ? IR_LT : IR_GT, l->step, zero);
    return ir_binary(b, IR_AND, ahead, right_way);
}

// The registers for which a `while` continues.
static IrValue *holds(CombinerRegion *r, const CombinerLoop *l, IrValue *const *state) {
    const IrBlock *test = l->op->regions[0];
    IrValue *goes_on;
    for (uint32_t i = 0; i < test->arg_count; i++) bind(r, test->args[i], state[i]);
    call_block(r, test, &goes_on);
    return goes_on;
}

static IrValue *first_active(CombinerRegion *r, const CombinerLoop *l) {
    if (l->op->code == IR_WHILE) return both(r, r->active, holds(r, l, l->state));
    IrValue *active = both(r, r->active, enters(r, l));
    if (ir_attr_int(l->op, IR_ATTR_EXIT)) active = both(r, active, l->state[1]);
    return active;
}

// One step for the registers of state[count]; `next` gets those of the following step.
static void step(CombinerRegion *r, const CombinerLoop *l, IrValue *const *state, IrValue **next) {
    const IrBlock *body = l->op->regions[l->op->region_count - 1];
    bool counts = l->op->code == IR_FOR;
    uint32_t first = counts ? 1 : 0;
    IrValue *active = state[l->count], *outer = r->active;
    r->active = active;
    for (uint32_t i = 0; i < l->count; i++) bind(r, body->args[i], state[i]);
    call_block(r, body, next + first);
    IrValue *goes_on = active;
    if (counts) {
        next[0] = ir_binary(&r->t->b, IR_ADD, state[0], l->step);
        goes_on = both(r, goes_on, is_further(r, l, state[0]));
        if (ir_attr_int(l->op, IR_ATTR_EXIT)) goes_on = both(r, goes_on, next[1]);
    }
    for (uint32_t i = 0; i < l->count; i++) next[i] = choose(r, active, next[i], state[i]);
    if (!counts) goes_on = both(r, goes_on, holds(r, l, next));
    next[l->count] = goes_on;
    r->active = outer;
}

static CombinerLoop loop_of(CombinerRegion *r, const IrOp *op) {
    bool counts = op->code == IR_FOR;
    uint32_t first = counts ? 1 : 0;
    CombinerLoop l = {.op = op, .count = op->result_count + first};
    l.state = arena_new(r->t->scratch, IrValue *, l.count + 1);
    if (counts) {
        l.state[0] = operand(r, op, 0);
        l.hi = operand(r, op, 1), l.step = operand(r, op, 2);
    }
    for (uint32_t i = 0; i < op->result_count; i++)
        l.state[first + i] = operand(r, op, (counts ? BOUNDS : 0) + i);
    l.state[l.count] = first_active(r, &l);
    return l;
}

// Does any register of any thread continue? The result is the same for all threads.
static IrValue *any_active(CombinerRegion *r, IrValue *active) {
    IrBuilder *b = &r->t->b;
    IrValue *one = threads_get(r->t, active, 0);
    for (uint32_t i = 1; i < active->type->count; i++)
        one = ir_binary(b, IR_OR, one, threads_get(r->t, active, i));
    IrValue *least = ir_ternary(b, IR_SELECT, one, threads_i32(r->t, 0), threads_i32(r->t, 1));
    return ir_binary(b, IR_EQ, threads_minimum(r->t, least), threads_i32(r->t, 0));
}

static void call_loop(CombinerRegion *r, const IrOp *op) {
    Threads *t = r->t;
    CombinerLoop l = loop_of(r, op);
    uint32_t total = l.count + 1;
    IrBlock *regions[2];
    const IrType **types = arena_new(t->scratch, const IrType *, total);
    for (uint32_t i = 0; i < total; i++) types[i] = l.state[i]->type;
    for (int k = 0; k < 2; k++) {
        regions[k] = ir_block_create(t->func);
        for (uint32_t i = 0; i < total; i++) ir_block_add_arg(regions[k], types[i]);
    }
    IrOp *loop = ir_op(&t->b, IR_WHILE, total, l.state, total, types, 2, regions);
    IrBuilder here = t->b;
    t->b = ir_builder_at_end(regions[0]);
    t->b.span = op->span;
    IrValue *goes_on = any_active(r, regions[0]->args[l.count]);
    ir_yield(&t->b, 1, &goes_on);
    t->b = ir_builder_at_end(regions[1]);
    t->b.span = op->span;
    IrValue **next = arena_new(t->scratch, IrValue *, total);
    step(r, &l, regions[1]->args, next);
    ir_yield(&t->b, total, next);
    t->b = here;
    uint32_t first = op->code == IR_FOR ? 1 : 0;
    for (uint32_t i = 0; i < op->result_count; i++)
        bind(r, ir_result(op, i), ir_result(loop, first + i));
}

// ---- all ----------------------------------------------------------------------------------------

static void call_block(CombinerRegion *r, const IrBlock *block, IrValue **out) {
    for (const IrOp *op = block->first; op; op = op->next) {
        if (op->code == IR_YIELD) {
            for (uint32_t i = 0; i < op->operand_count; i++) out[i] = operand(r, op, i);
        } else if (op->code == IR_IF) {
            call_if(r, op);
        } else if (op->code == IR_FOR && same_for_all(r, op)) {
            call_for(r, op);
        } else if (op->region_count) {
            call_loop(r, op);
        } else {
            call_op(r, op);
        }
    }
}

void region_call(Threads *t, const IrBlock *block, IrValue *const *x, IrValue *const *y,
                 IrValue *where, IrValue **out) {
    CombinerRegion r = {.t = t, .shape = x[0], .active = where};
    uint32_t count = block->arg_count / 2;
    for (uint32_t i = 0; i < count; i++) {
        bind(&r, block->args[i], x[i]);
        bind(&r, block->args[count + i], y[i]);
    }
    call_block(&r, block, out);
}

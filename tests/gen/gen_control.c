// Control: loops that end, branches, calls; asserts that hold, prints.
#include "tests/gen/gen_internal.h"

enum { CARRIED_MAX = 4, FOR_MAX = 9, WHILE_MAX = 5 };  // iterations

// ---- scopes -------------------------------------------------------------------------------------

typedef struct Scope {
    IrBuilder outer;
    size_t pool, places, accesses;
} Scope;

static Scope scope_enter(Gen *g, IrBlock *block) {
    Scope s = {g->b, g->pool.count, g->places.count, g->accesses.count};
    g->b = ir_builder_at_end(block);
    g->depth++;
    return s;
}

static void scope_leave(Gen *g, Scope s) {
    g->b = s.outer;
    g->pool.count = s.pool;
    g->places.count = s.places;
    g->accesses.count = s.accesses;
    g->depth--;
}

static void gen_inner(Gen *g) { gen_statements(g, (uint32_t)dice_below(&g->dice, 6) + 1); }

static void yield_like(Gen *g, uint32_t first, uint32_t count, IrValue *const *like,
                       IrValue **values) {
    for (uint32_t i = first; i < count; i++) values[i] = gen_like(g, like[i]->type);
    ir_yield(&g->b, count, values);
}

static uint32_t carried(Gen *g, IrValue **values) {
    uint32_t count = (uint32_t)dice_below(&g->dice, CARRIED_MAX - 1);
    for (uint32_t i = 0; i < count; i++)
        values[i] = gen_pick(g, DTYPE_CLASS_ANY | IR_CLASS_POINTER);
    return count;
}

static void take_args(Gen *g, IrBlock *block, uint32_t count, IrValue *const *values) {
    for (uint32_t i = 0; i < count; i++) gen_push(g, ir_block_add_arg(block, values[i]->type));
}

static void finish(Gen *g, IrOpcode code, uint32_t operands, IrValue *const *values, uint32_t first,
                   IrBlock *const *regions, const char *flags) {
    const IrType *types[CARRIED_MAX + 1];
    uint32_t count = operands - first;
    for (uint32_t i = 0; i < count; i++) types[i] = values[first + i]->type;
    IrOp *op = ir_op(&g->b, code, operands, values, count, types,
                     (uint32_t)ir_op_info(code)->regions, regions);
    if (code == IR_FOR) {
        ir_attr_set_int(op, IR_ATTR_DOWN, flags[0] == 'd');
        ir_attr_set_int(op, IR_ATTR_EXIT, flags[1] == 'e');
    }
    for (uint32_t i = 0; i < count; i++) gen_push(g, ir_result(op, i));
}

// ---- for ----------------------------------------------------------------------------------------

static IrValue *small(Gen *g) {
    IrValue *x = gen_scalar(g, DTYPE_I64);
    return ir_binary(&g->b, IR_AND, x, gen_int(g, DTYPE_I64, 3));
}

// At most nine iterations, whatever values stand in scope.
static void for_bounds(Gen *g, bool down, IrValue **lo, IrValue **hi, IrValue **step) {
    int64_t sign = down ? -1 : 1, by = (int64_t)dice_below(&g->dice, 3) + 1;
    int64_t from = (int64_t)dice_below(&g->dice, 7) - 3;
    int64_t end = down ? INT64_MIN : INT64_MAX;
    *lo = gen_int(g, DTYPE_I64, from);
    *hi = gen_int(g, DTYPE_I64, from + sign * ((int64_t)dice_below(&g->dice, 6) - 1));
    *step = gen_int(g, DTYPE_I64, sign * by);
    switch (dice_below(&g->dice, 6)) {
    case 0:  // up to the end of all numbers
        *lo = gen_int(g, DTYPE_I64, end - sign * 3);
        *hi = gen_int(g, DTYPE_I64, end);
        return;
    case 1: *hi = ir_binary(&g->b, down ? IR_SUB : IR_ADD, *lo, small(g)); return;
    case 2:
        *step = small(g);
        if (down) *step = ir_unary(&g->b, IR_NEG, *step);
        return;
    case 3:
        if (!g->f->extents.count) return;
        *(down ? lo : hi) = ir_extent(&g->b, g->f->extents.data[0].name);
        *(down ? hi : lo) = gen_int(g, DTYPE_I64, 0);
        return;
    }
}

static void gen_for(Gen *g) {
    IrValue *operands[4 + CARRIED_MAX], *out[1 + CARRIED_MAX];
    bool down = dice_chance(&g->dice, 30), leave = dice_chance(&g->dice, 30);
    for_bounds(g, down, &operands[0], &operands[1], &operands[2]);
    IrValue **init = operands + 3;
    if (leave) init[0] = gen_scalar(g, DTYPE_BOOL);
    uint32_t count = leave + carried(g, init + leave);
    IrBlock *body = ir_block_create(g->f);
    Scope s = scope_enter(g, body);
    gen_push(g, ir_block_add_arg(body, ir_scalar(g->m, DTYPE_I64)));
    take_args(g, body, count, init);
    gen_inner(g);
    yield_like(g, 0, count, init, out);
    scope_leave(g, s);
    char flags[] = {down ? 'd' : '-', leave ? 'e' : '-', 0};
    finish(g, IR_FOR, 3 + count, operands, 3, &body, flags);
}

// ---- while, if ----------------------------------------------------------------------------------

// The first carried value counts, so that it ends.
static void gen_while(Gen *g) {
    IrValue *init[1 + CARRIED_MAX], *out[1 + CARRIED_MAX];
    init[0] = gen_int(g, DTYPE_I64, 0);
    uint32_t count = 1 + carried(g, init + 1);
    IrBlock *regions[] = {ir_block_create(g->f), ir_block_create(g->f)};
    Scope s = scope_enter(g, regions[0]);
    take_args(g, regions[0], count, init);
    gen_statements(g, (uint32_t)dice_below(&g->dice, 3));
    IrValue *limit = gen_int(g, DTYPE_I64, (int64_t)dice_below(&g->dice, 5));
    IrValue *more = ir_binary(&g->b, IR_LT, regions[0]->args[0], limit);
    if (dice_chance(&g->dice, 50)) more = ir_binary(&g->b, IR_AND, more, gen_scalar(g, DTYPE_BOOL));
    ir_yield(&g->b, 1, &more);
    scope_leave(g, s);
    s = scope_enter(g, regions[1]);
    take_args(g, regions[1], count, init);
    gen_inner(g);
    out[0] = ir_binary(&g->b, IR_ADD, regions[1]->args[0], gen_int(g, DTYPE_I64, 1));
    yield_like(g, 1, count, init, out);
    scope_leave(g, s);
    finish(g, IR_WHILE, count, init, 0, regions, "");
}

static void gen_if(Gen *g) {
    IrValue *like[CARRIED_MAX], *out[CARRIED_MAX];
    const IrType *types[CARRIED_MAX];
    IrValue *c = gen_scalar(g, DTYPE_BOOL);
    uint32_t count = carried(g, like);
    IrBlock *regions[] = {ir_block_create(g->f), ir_block_create(g->f)};
    for (int i = 0; i < 2; i++) {
        Scope s = scope_enter(g, regions[i]);
        if (i == 0 || dice_chance(&g->dice, 60)) gen_inner(g);
        yield_like(g, 0, count, like, out);
        scope_leave(g, s);
    }
    for (uint32_t i = 0; i < count; i++) types[i] = like[i]->type;
    IrOp *op = ir_op(&g->b, IR_IF, 1, &c, count, types, 2, regions);
    for (uint32_t i = 0; i < count; i++) gen_push(g, ir_result(op, i));
}

// ---- calls, asserts, prints ---------------------------------------------------------------------

static void gen_call(Gen *g) {
    IrFunc *callee = g->callees.data[dice_below(&g->dice, g->callees.count)];
    IrValue *args[CARRIED_MAX];
    for (size_t i = 0; i < callee->params.count; i++)
        args[i] = gen_like(g, callee->params.data[i].value->type);
    IrOp *op = ir_op(&g->b, IR_CALL, (uint32_t)callee->params.count, args,
                     (uint32_t)callee->results.count, callee->results.data, 0, NULL);
    ir_attr_set_name(op, IR_ATTR_CALLEE, callee->name);
    for (uint32_t i = 0; i < op->result_count; i++) gen_push(g, ir_result(op, i));
}

static IrValue *true_condition(Gen *g) {
    IrValue *x = gen_pick(g, DTYPE_CLASS_INT);
    const IrType *t = x->type;
    switch (dice_below(&g->dice, 4)) {
    case 0: return ir_binary(&g->b, IR_EQ, x, x);
    case 1: x = ir_binary(&g->b, IR_MIN, x, gen_fill(g, t, t->elem, 5)); break;
    case 2: {
        IrValue *c = gen_like(g, ir_with_elem(g->m, t, DTYPE_BOOL));
        return ir_binary(&g->b, IR_OR, c, ir_unary(&g->b, IR_NOT, c));
    }
    default: x = ir_binary(&g->b, IR_AND, x, gen_fill(g, t, t->elem, 7));
    }
    return ir_binary(&g->b, IR_LT, x, gen_fill(g, t, t->elem, 8));
}

static void gen_assert(Gen *g, IrOpcode code) {
    IrValue *c = true_condition(g);
    IrOp *op = ir_op(&g->b, code, 1, &c, 0, NULL, 0, NULL);
    if (code == IR_ASSERT) ir_attr_set_text(op, IR_ATTR_TEXT, STR("holds \"always\""));
}

static void gen_print(Gen *g) {
    static const Str texts[] = {{"a = ", 4}, {", b = ", 6}, {".", 1}};
    IrValue *x[2];
    uint32_t count = (uint32_t)dice_below(&g->dice, 3);
    for (uint32_t i = 0; i < count; i++) x[i] = gen_no_nan(g, gen_pick(g, DTYPE_CLASS_ANY));
    IrOp *op = ir_op(&g->b, IR_PRINT, count, x, 0, NULL, 0, NULL);
    ir_attr_set_texts(op, IR_ATTR_TEXTS, count + 1, texts);
}

// Loops in loops would run for long: where they would, there is a branch instead.
static void gen_loop(Gen *g, void (*make)(Gen *g), uint32_t times) {
    if (g->repeats * times > g->repeats_max) {
        gen_if(g);
        return;
    }
    g->repeats *= times;
    make(g);
    g->repeats /= times;
}

void gen_control_op(Gen *g, IrOpcode code) {
    IrRule rule = ir_op_info(code)->rule;
    if (rule == IR_RULE_FOR) gen_loop(g, gen_for, FOR_MAX);
    if (rule == IR_RULE_WHILE) gen_loop(g, gen_while, WHILE_MAX);
    if (rule == IR_RULE_IF) gen_if(g);
    if (rule == IR_RULE_CALL) gen_call(g);
    if (rule == IR_RULE_ASSERT) gen_assert(g, code);
    if (rule == IR_RULE_PRINT) gen_print(g);
}

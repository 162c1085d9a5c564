#include "tests/gen/gen_chain.h"

#include <stdio.h>

enum { INPUTS_MAX = 5, SCALARS_MAX = 3, STATEMENTS_MAX = 14, OUTPUTS_MAX = 12, MOVES = 2 };

// ---- types --------------------------------------------------------------------------------------

static Dtype any_float(GenChain *c) {
    static const Dtype floats[] = {DTYPE_F32,    DTYPE_F32,        DTYPE_F32,       DTYPE_F16,
                                   DTYPE_F16,    DTYPE_F16,        DTYPE_BF16,      DTYPE_BF16,
                                   DTYPE_F64,    DTYPE_F8E4M3,     DTYPE_F8E5M2,    DTYPE_F32,
                                   DTYPE_F8E4M3, DTYPE_F8E4M3FNUZ, DTYPE_F8E5M2FNUZ};
    return floats[dice_below(&c->g.dice, sizeof floats / sizeof *floats)];
}

static Dtype favourite(GenChain *c, unsigned classes, Dtype otherwise) {
    if (dice_chance(&c->g.dice, 20)) return otherwise;
    uint64_t first = dice_below(&c->g.dice, CHAIN_FAVOURITES);
    for (uint64_t i = 0; i < CHAIN_FAVOURITES; i++) {
        Dtype t = c->favourites[(first + i) % CHAIN_FAVOURITES];
        if (dtype_is(t, classes)) return t;
    }
    return otherwise;
}

Dtype chain_float(GenChain *c) { return favourite(c, DTYPE_CLASS_ANYFLOAT, any_float(c)); }

Dtype chain_int(GenChain *c) {
    return favourite(c, DTYPE_CLASS_INT, gen_elem(&c->g, DTYPE_CLASS_INT));
}

// ---- values -------------------------------------------------------------------------------------

IrValue *chain_bits(GenChain *c, Dtype elem, uint64_t bits) {
    return ir_const_bits(&c->g.b, ir_with_elem(c->g.m, c->shape, elem), bits);
}

IrValue *chain_number(GenChain *c, Dtype elem, double value) {
    if (dtype_is(elem, DTYPE_CLASS_ANYFLOAT))
        return chain_bits(c, elem, dtype_from_double(elem, value, true));
    return chain_bits(c, elem, dtype_wrap(elem, (uint64_t)(int64_t)value));
}

IrValue *chain_constant(GenChain *c, Dtype elem) {
    return gen_const(&c->g, ir_with_elem(c->g.m, c->shape, elem));
}

// The last that fits, or one before it; from `first` to `end` of the pool.
static IrValue *pooled(GenChain *c, Dtype elem, size_t first, size_t end) {
    IrValue *found = NULL;
    uint64_t seen = 0;
    for (size_t i = end; i-- > first;) {
        IrValue *x = c->g.pool.data[i];
        if (x->type->elem == elem && dice_below(&c->g.dice, ++seen) == 0) found = x;
    }
    return found;
}

IrValue *chain_value(GenChain *c, Dtype elem) {
    IrValue *x = NULL;
    uint64_t way = dice_below(&c->g.dice, 20);
    if (way < 8) x = pooled(c, elem, 0, c->inputs);
    if (way >= 8 && way < 16) x = pooled(c, elem, c->inputs, c->g.pool.count);
    if (x) return x;
    if (way >= 18) return chain_constant(c, elem);
    x = pooled(c, elem, 0, c->g.pool.count);
    if (x) return x;
    // None has the type: one of another is cast.
    x = c->g.pool.data[dice_below(&c->g.dice, c->inputs)];
    return ir_cast(&c->g.b, x, elem, dice_chance(&c->g.dice, 70));
}

// ---- memory -------------------------------------------------------------------------------------

static Symbol named(GenChain *c, const char *prefix) {
    char text[32];
    snprintf(text, sizeof text, "%s%u", prefix, c->g.names++);
    return intern(c->g.m->names, str(text));
}

static IrValue *own_half(GenChain *c) {
    IrValue *half = gen_int(&c->g, DTYPE_I64, GEN_HALF);
    return ir_binary(&c->g.b, IR_MUL, ir_program(&c->g.b, 0), half);
}

static IrValue *load_pointer(GenChain *c, Dtype elem, const IrType *shape) {
    Gen *g = &c->g;
    IrValue *p = ir_func_add_param(g->f, named(c, "r"), ir_ptr(g->m, elem, 0, NULL))->value;
    p = ir_ptr_add(&g->b, p, own_half(c));
    if (shape->rank) {
        p = ir_broadcast(&g->b, p, shape->rank, shape->shape);
        p = ir_ptr_add(&g->b, p, gen_iota(g, shape, DTYPE_I64));
    }
    const IrType *to = ir_with_elem(g->m, shape, elem);
    IrValue *operands[] = {p, NULL, NULL};
    return ir_result(ir_op(&g->b, IR_LOAD, 3, operands, 1, &to, 0, NULL), 0);
}

static IrValue *load_view(GenChain *c, Dtype elem) {
    Gen *g = &c->g;
    IrParam *p = ir_func_add_param(g->f, named(c, "x"), ir_view(g->m, elem, 1));
    p->dims[0].value = 2 * GEN_HALF;
    int64_t width = c->shape->count, inside = 0;
    const IrType *to = ir_tile(g->m, elem, 1, &c->shape->count);
    IrValue *operands[] = {p->value, NULL, own_half(c)};
    IrOp *op = ir_op(&g->b, IR_VIEW_LOAD, 3, operands, 1, &to, 0, NULL);
    ir_attr_set_ints(op, IR_ATTR_SELECT, 1, &width);
    ir_attr_set_ints(op, IR_ATTR_INSIDE, 1, &inside);
    IrValue *x = ir_result(op, 0);
    return c->shape->rank == 1 ? x : ir_reshape(&g->b, x, c->shape->rank, c->shape->shape);
}

static IrValue *input(GenChain *c, Dtype elem) {
    Gen *g = &c->g;
    if (c->shape->rank && dice_chance(&g->dice, 15)) {  // one element for all lanes
        IrValue *x = load_pointer(c, elem, ir_scalar(g->m, elem));
        return ir_broadcast(&g->b, x, c->shape->rank, c->shape->shape);
    }
    if (c->shape->rank && dice_chance(&g->dice, 50)) return load_view(c, elem);
    return load_pointer(c, elem, c->shape);
}

static IrValue *scalar(GenChain *c, Dtype elem) {
    Gen *g = &c->g;
    IrValue *x = ir_func_add_param(g->f, named(c, "s"), ir_scalar(g->m, elem))->value;
    return c->shape->rank ? ir_broadcast(&g->b, x, c->shape->rank, c->shape->shape) : x;
}

// Values that were only moved are stored as bits: the payload of a NaN is still there.
static void store_moved(GenChain *c) {
    Gen *g = &c->g;
    static const Dtype bits[] = {[1] = DTYPE_U8, [2] = DTYPE_U16, [4] = DTYPE_U32, [8] = DTYPE_U64};
    IrValue *x = g->pool.data[dice_below(&g->dice, c->inputs)];
    IrValue *y = pooled(c, x->type->elem, 0, c->inputs);
    IrValue *way = chain_value(c, DTYPE_BOOL);
    x = ir_ternary(&g->b, IR_SELECT, way, x, y);
    if (!dtype_is(x->type->elem, DTYPE_CLASS_ANYFLOAT)) return;
    if (dice_chance(&g->dice, 30)) x = ir_unary(&g->b, IR_NEG, ir_unary(&g->b, IR_ABS, x));
    Dtype to = bits[dtype_size(x->type->elem)];
    gen_store_result(g, ir_bitcast(&g->b, x, ir_with_elem(g->m, x->type, to)));
}

// ---- statements ---------------------------------------------------------------------------------

static IrValue *float_op(GenChain *c) {
    static const IrOpcode unary[] = {IR_NEG, IR_ABS, IR_FLOOR, IR_CEIL, IR_ROUND, IR_SQRT, IR_NEG};
    static const IrOpcode binary[] = {IR_ADD, IR_SUB, IR_MUL, IR_MUL,    IR_DIV,   IR_MIN,
                                      IR_MAX, IR_ADD, IR_REM, IR_MINNUM, IR_MAXNUM};
    static const IrOpcode rare[] = {IR_RSQRT, IR_EXP,   IR_EXP2, IR_LOG,     IR_LOG2, IR_SIN,
                                    IR_COS,   IR_TAN,   IR_TANH, IR_SIGMOID, IR_ERF,  IR_LOG1P,
                                    IR_EXPM1, IR_LOG10, IR_SINH, IR_COSH,    IR_ATAN, IR_ASIN,
                                    IR_ACOS,  IR_CBRT,  IR_ERFC};
    Gen *g = &c->g;
    Dtype t = chain_float(c);
    IrValue *x = chain_value(c, t);
    uint64_t way = dice_below(&g->dice, 40);
    if (way == 0) return ir_unary(&g->b, rare[dice_below(&g->dice, 21)], x);
    if (way < 12) return ir_unary(&g->b, unary[dice_below(&g->dice, 7)], x);
    if (way == 12) return ir_binary(&g->b, IR_COPYSIGN, x, gen_no_nan(g, chain_value(c, t)));
    if (way < 16) return ir_ternary(&g->b, IR_FMA, x, chain_value(c, t), chain_value(c, t));
    return ir_binary(&g->b, binary[dice_below(&g->dice, 11)], x, chain_value(c, t));
}

static IrValue *int_op(GenChain *c) {
    static const IrOpcode binary[] = {IR_ADD, IR_SUB, IR_MUL, IR_DIV, IR_REM, IR_MIN,  IR_MAX,
                                      IR_AND, IR_OR,  IR_XOR, IR_SHL, IR_SHR, IR_MULHI};
    static const IrOpcode unary[] = {IR_NEG, IR_NOT, IR_ABS, IR_POPCOUNT, IR_CLZ, IR_CTZ, IR_BREV};
    Gen *g = &c->g;
    Dtype t = chain_int(c);
    IrValue *x = chain_value(c, t);
    if (dice_chance(&g->dice, 15)) return ir_unary(&g->b, unary[dice_below(&g->dice, 7)], x);
    return ir_binary(&g->b, binary[dice_below(&g->dice, 13)], x, chain_value(c, t));
}

static IrValue *comparison(GenChain *c) {
    static const IrOpcode codes[] = {IR_EQ, IR_NE, IR_LT, IR_LE, IR_GT, IR_GE};
    Gen *g = &c->g;
    Dtype t = dice_chance(&g->dice, 70) ? chain_float(c) : chain_int(c);
    IrValue *x = chain_value(c, t);
    return ir_binary(&g->b, codes[dice_below(&g->dice, 6)], x, chain_value(c, t));
}

static IrValue *statement(GenChain *c) {
    Gen *g = &c->g;
    uint64_t way = dice_below(&g->dice, 20);
    if (way < 5) return float_op(c);
    if (way == 5) return int_op(c);
    if (way < 8) {
        Dtype t = dice_chance(&g->dice, 75) ? chain_float(c) : chain_int(c);
        Dtype to = dice_chance(&g->dice, 75) ? chain_float(c) : chain_int(c);
        return ir_cast(&g->b, chain_value(c, t), to, dice_chance(&g->dice, 60));
    }
    if (way == 8) return comparison(c);
    if (way == 9) {
        Dtype t = chain_float(c);
        IrValue *x = chain_value(c, t);
        return ir_ternary(&g->b, IR_SELECT, comparison(c), x, chain_value(c, t));
    }
    return chain_idiom(c);
}

// ---- the kernel ---------------------------------------------------------------------------------

static void begin(GenChain *c) {
    Gen *g = &c->g;
    g->f = ir_func_create(g->m, intern(g->m->names, STR("k")), true);
    g->b = ir_builder_at_end(ir_func_add_section(g->f, IR_GRID, (Str){0}, (Span){0}));
    IrValue *two = gen_int(g, DTYPE_I64, 2);
    ir_yield(&g->b, 1, &two);
    g->b = ir_builder_at_end(ir_func_add_section(g->f, IR_BODY, (Str){0}, (Span){0}));
    for (int i = 0; i < CHAIN_FAVOURITES; i++)
        c->favourites[i] = i + 1 < CHAIN_FAVOURITES || dice_chance(&g->dice, 50)
                               ? any_float(c)
                               : gen_elem(g, DTYPE_CLASS_INT);
    static const uint32_t shapes[][3] = {{1, 64}, {1, 64},   {1, 32},    {1, 16},
                                         {1, 4},  {2, 8, 8}, {2, 4, 16}, {0}};
    const uint32_t *shape = shapes[dice_below(&g->dice, sizeof shapes / sizeof *shapes)];
    c->shape = ir_tile(g->m, DTYPE_F32, shape[0], shape + 1);
}

static void store_results(GenChain *c) {
    uint32_t stored = 0;
    for (size_t i = c->g.pool.count; i-- > c->inputs && stored < OUTPUTS_MAX;) {
        IrValue *x = c->g.pool.data[i];
        if (x->uses && !dice_chance(&c->g.dice, 40)) continue;
        gen_store_result(&c->g, x);
        stored++;
    }
}

IrFunc *gen_chain(IrModule *m, uint64_t seed) {
    GenChain c = {.g = {.dice = dice_roll(seed), .seed = seed, .m = m}};
    Gen *g = &c.g;
    begin(&c);
    for (uint64_t n = dice_below(&g->dice, INPUTS_MAX - 1) + 2; n > 0; n--)
        gen_push(g, input(&c, dice_chance(&g->dice, 85) ? chain_float(&c) : chain_int(&c)));
    for (uint64_t n = dice_below(&g->dice, SCALARS_MAX); n > 0; n--)
        gen_push(g, scalar(&c, chain_float(&c)));
    c.inputs = g->pool.count;
    for (uint64_t n = dice_below(&g->dice, STATEMENTS_MAX) + 3; n > 0; n--)
        gen_push(g, statement(&c));
    store_results(&c);
    for (int i = 0; i < MOVES; i++) store_moved(&c);
    ir_return(&g->b, 0, NULL);
    return g->f;
}

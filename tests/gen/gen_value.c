// Types and values: picking one in scope, or making one.
#include "tests/gen/gen_internal.h"
#include "tests/support/special.h"

static const Dtype elems[] = {
    DTYPE_BOOL,       DTYPE_I8,         DTYPE_I16, DTYPE_I32,    DTYPE_I64,
    DTYPE_U8,         DTYPE_U16,        DTYPE_U32, DTYPE_U64,    DTYPE_F16,
    DTYPE_BF16,       DTYPE_F32,        DTYPE_F64, DTYPE_F8E4M3, DTYPE_F8E5M2,
    DTYPE_F8E4M3FNUZ, DTYPE_F8E5M2FNUZ, DTYPE_I32, DTYPE_I64,    DTYPE_F32,
};

Dtype gen_elem(Gen *g, unsigned classes) {
    for (;;) {
        Dtype t = elems[dice_below(&g->dice, sizeof elems / sizeof *elems)];
        if (dtype_is(t, classes)) return t;
    }
}

uint32_t gen_shape(Gen *g, uint32_t rank, uint32_t count_max, uint32_t *shape) {
    uint32_t count = 1;
    for (uint32_t d = 0; d < rank; d++) {
        shape[d] = 1u << dice_below(&g->dice, 4);
        while (count * shape[d] > count_max) shape[d] /= 2;
        count *= shape[d];
    }
    return count;
}

const IrType *gen_type(Gen *g, unsigned classes) {
    uint32_t shape[GEN_RANK_MAX], rank = 0;
    if (!g->combining) rank = (uint32_t)dice_below(&g->dice, GEN_RANK_MAX + 1);
    gen_shape(g, rank, GEN_COUNT_MAX, shape);
    return ir_tile(g->m, gen_elem(g, classes), rank, shape);
}

void gen_push(Gen *g, IrValue *value) { vec_push(g->m->arena, &g->pool, value); }

static bool fits(const IrValue *v, unsigned classes) {
    if (v->type->kind == IR_PTR) return (classes & IR_CLASS_POINTER) != 0;
    return dtype_is(v->type->elem, classes);
}

IrValue *gen_pick(Gen *g, unsigned classes) {
    if (!g->f->is_kernel) classes &= DTYPE_CLASS_ANY;  // functions have no buffers
    for (int tries = 0; tries < 12 && g->pool.count; tries++) {
        // The newest value is the most likely: chains grow, and few values stay unused.
        size_t back = dice_below(&g->dice, dice_below(&g->dice, g->pool.count) + 1);
        IrValue *v = g->pool.data[g->pool.count - 1 - back];
        if (fits(v, classes) && (!g->combining || v->type->rank == 0)) return v;
    }
    unsigned tiles = classes & DTYPE_CLASS_ANY;
    if (!tiles || ((classes & IR_CLASS_POINTER) && dice_chance(&g->dice, 30))) {
        const IrType *t = gen_type(g, DTYPE_CLASS_ANY);
        return gen_like(g, ir_ptr(g->m, t->elem, t->rank, t->shape));
    }
    return gen_like(g, gen_type(g, tiles));
}

// ---- constants ----------------------------------------------------------------------------------

uint64_t gen_const_bits(Gen *g, Dtype t) {
    if (t == DTYPE_BOOL) return dice_below(&g->dice, 2);
    if (dtype_is(t, DTYPE_CLASS_ANYFLOAT)) return special_float(t, &g->dice);
    switch (dice_below(&g->dice, 8)) {
    case 0: return dtype_wrap(t, (uint64_t)dtype_int_min(t));
    case 1: return dtype_int_max(t);
    case 2: return dtype_wrap(t, dice_next(&g->dice));
    case 3: return dtype_wrap(t, (uint64_t)1 << dice_below(&g->dice, 64));
    }
    return dtype_wrap(t, dice_below(&g->dice, 12) - 4);
}

IrValue *gen_const(Gen *g, const IrType *type) {
    return ir_const_bits(&g->b, type, gen_const_bits(g, type->elem));
}

IrValue *gen_int(Gen *g, Dtype elem, int64_t value) { return ir_const_int(&g->b, elem, value); }

IrValue *gen_fill(Gen *g, const IrType *like, Dtype elem, int64_t value) {
    const IrType *t = ir_tile(g->m, elem, like->rank, like->shape);
    uint64_t bits = dtype_is(elem, DTYPE_CLASS_ANYFLOAT)
                        ? dtype_from_double(elem, (double)value, true)
                        : dtype_wrap(elem, (uint64_t)value);
    return ir_const_bits(&g->b, t, bits);
}

IrValue *gen_iota(Gen *g, const IrType *like, Dtype elem) {
    if (like->rank == 0) return gen_fill(g, like, elem, 0);
    IrValue *x = ir_iota(&g->b, like->count);
    if (elem != DTYPE_I32) x = ir_cast(&g->b, x, elem, true);
    if (like->rank == 1) return x;
    return ir_reshape(&g->b, x, like->rank, like->shape);
}

// ---- values of a type ---------------------------------------------------------------------------

static IrValue *known(Gen *g, const IrType *type) {
    IrValue *found = NULL;
    uint64_t seen = 0;
    for (size_t i = 0; i < g->pool.count; i++)
        if (g->pool.data[i]->type == type && dice_below(&g->dice, ++seen) == 0)
            found = g->pool.data[i];
    return found;
}

static IrValue *same_shape(Gen *g, const IrType *type) {
    IrValue *found = NULL;
    uint64_t seen = 0;
    for (size_t i = 0; i < g->pool.count; i++) {
        const IrType *t = g->pool.data[i]->type;
        if (t->kind == IR_TILE && ir_same_shape(t, type) && dice_below(&g->dice, ++seen) == 0)
            found = g->pool.data[i];
    }
    return found;
}

static IrValue *make(Gen *g, const IrType *type) {
    uint64_t way = dice_below(&g->dice, 8);
    IrValue *x;
    if (way < 4 && (x = same_shape(g, type)))
        return ir_cast(&g->b, x, type->elem, dice_chance(&g->dice, 70));
    if (way < 6 && type->rank > 0 && (x = known(g, ir_scalar(g->m, type->elem))))
        return ir_broadcast(&g->b, x, type->rank, type->shape);
    if (way < 7 && type->rank > 0 && !g->combining && dtype_is(type->elem, DTYPE_CLASS_NUMBER))
        return gen_iota(g, type, type->elem);
    return gen_const(g, type);
}

IrValue *gen_like(Gen *g, const IrType *type) {
    IrValue *x = dice_chance(&g->dice, 75) ? known(g, type) : NULL;
    if (x) return x;
    x = type->kind == IR_PTR ? gen_places(g, gen_read_buffer(g, type->elem), type, false, false)
                             : make(g, type);
    if (dice_chance(&g->dice, 50)) gen_push(g, x);
    return x;
}

IrValue *gen_scalar(Gen *g, Dtype elem) { return gen_like(g, ir_scalar(g->m, elem)); }

IrValue *gen_mask(Gen *g, const IrType *like) {
    if (dice_chance(&g->dice, 40)) return NULL;
    return gen_like(g, ir_tile(g->m, DTYPE_BOOL, like->rank, like->shape));
}

IrValue *gen_no_nan(Gen *g, IrValue *x) {
    if (!dtype_is(x->type->elem, DTYPE_CLASS_ANYFLOAT)) return x;
    IrValue *number = ir_binary(&g->b, IR_EQ, x, x);
    return ir_ternary(&g->b, IR_SELECT, number, x, gen_fill(g, x->type, x->type->elem, 0));
}

IrValue *gen_exact(Gen *g, IrValue *x, bool product) {
    const IrType *t = x->type;
    if (!dtype_is(t->elem, DTYPE_CLASS_ANYFLOAT)) return x;
    IrValue *n = gen_like(g, ir_tile(g->m, DTYPE_I32, t->rank, t->shape));
    if (!product) {
        n = ir_binary(&g->b, IR_AND, n, gen_fill(g, t, DTYPE_I32, 3));
        return ir_cast(&g->b, n, t->elem, true);
    }
    IrValue *odd =
        ir_cast(&g->b, ir_binary(&g->b, IR_AND, n, gen_fill(g, t, DTYPE_I32, 1)), DTYPE_BOOL, true);
    return ir_ternary(&g->b, IR_SELECT, odd, gen_fill(g, t, t->elem, 1),
                      gen_fill(g, t, t->elem, -1));
}

IrValue *gen_places(Gen *g, uint32_t param, const IrType *like, bool own, bool distinct) {
    IrValue *n;
    const IrType *wide = ir_tile(g->m, DTYPE_I64, like->rank, like->shape);
    if (distinct) {
        int64_t odd = (int64_t)dice_below(&g->dice, 4) * 2 + 1;
        n = gen_iota(g, like, DTYPE_I64);
        n = ir_binary(&g->b, IR_MUL, n, gen_fill(g, like, DTYPE_I64, odd));
        n = ir_binary(&g->b, IR_ADD, n,
                      gen_fill(g, like, DTYPE_I64, (int64_t)dice_below(&g->dice, 9)));
    } else {
        n = gen_like(g, wide);
    }
    int64_t room = own ? GEN_HALF : 2 * GEN_HALF;
    n = ir_binary(&g->b, IR_AND, n, gen_fill(g, like, DTYPE_I64, room - 1));
    if (own) {
        IrValue *start =
            ir_binary(&g->b, IR_MUL, ir_program(&g->b, 0), gen_int(g, DTYPE_I64, GEN_HALF));
        if (like->rank > 0) start = ir_broadcast(&g->b, start, like->rank, like->shape);
        n = ir_binary(&g->b, IR_ADD, start, n);
    }
    IrValue *p = g->f->params.data[param].value;
    if (like->rank > 0) p = ir_broadcast(&g->b, p, like->rank, like->shape);
    return ir_ptr_add(&g->b, p, n);
}

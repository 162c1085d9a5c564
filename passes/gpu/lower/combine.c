#include "passes/gpu/lower/combine.h"

#include "ir/reduce.h"

static bool is_float(Dtype t) { return dtype_is(t, DTYPE_CLASS_ANYFLOAT); }

Combiner combine_of(const IrOp *op, uint32_t values, bool has) {
    Combiner c = {.op = op, .kind = (IrReduce)ir_attr_int(op, IR_ATTR_REDUCE), .values = values};
    c.arg = c.kind == IR_REDUCE_ARGMIN || c.kind == IR_REDUCE_ARGMAX;
    c.custom = c.kind == IR_REDUCE_CUSTOM;
    c.has = has;
    c.parts = values + (c.arg ? 1 : 0) + (has ? 1 : 0);
    return c;
}

CombineState combine_empty(Threads *t, const Combiner *c) {
    return (CombineState){arena_new(t->scratch, IrValue *, c->parts)};
}

Dtype combine_elem(IrReduce kind, Dtype elem) {
    bool adds = kind == IR_REDUCE_SUM || kind == IR_REDUCE_PROD;
    return adds && is_float(elem) && elem != DTYPE_F64 ? DTYPE_F32 : elem;
}

// ---- parts --------------------------------------------------------------------------------------

static IrValue *like(Threads *t, IrValue *scalar, const IrValue *x) {
    if (scalar->type->rank == x->type->rank) return scalar;
    return threads_splat(t, scalar, x->type->count);
}

CombineState combine_choose(Threads *t, const Combiner *c, IrValue *which, const CombineState *x,
                            const CombineState *y) {
    CombineState r = combine_empty(t, c);
    IrValue *mask = like(t, which, x->part[0]);
    for (uint32_t i = 0; i < c->parts; i++)
        r.part[i] = ir_ternary(&t->b, IR_SELECT, mask, x->part[i], y->part[i]);
    return r;
}

CombineState combine_pick(Threads *t, const Combiner *c, const CombineState *x, uint32_t count,
                          const uint32_t *regs) {
    CombineState r = combine_empty(t, c);
    for (uint32_t i = 0; i < c->parts; i++) r.part[i] = threads_pick(t, x->part[i], count, regs);
    return r;
}

CombineState combine_pack(Threads *t, const Combiner *c, uint32_t count,
                          const CombineState *states) {
    IrValue **all = arena_new(t->scratch, IrValue *, count);
    CombineState r = combine_empty(t, c);
    for (uint32_t i = 0; i < c->parts; i++) {
        for (uint32_t k = 0; k < count; k++) all[k] = states[k].part[i];
        r.part[i] = threads_pack(t, count, all);
    }
    return r;
}

void combine_quiet_nan(Threads *t, const Combiner *c, CombineState *x) {
    if (c->custom || c->arg) return;
    for (uint32_t i = 0; i < c->values; i++) {
        const IrType *type = x->part[i]->type;
        if (!is_float(type->elem)) continue;
        IrValue *nothing = ir_const_bits(&t->b, type, ir_reduce_identity(c->kind, type->elem));
        x->part[i] = ir_binary(&t->b, ir_reduce_opcode(c->kind, type->elem), nothing, x->part[i]);
    }
}

// ---- argmin, argmax -----------------------------------------------------------------------------

// Is x before y: better, or a NaN when y is not?
static IrValue *before(Threads *t, const Combiner *c, IrValue *x, IrValue *y) {
    IrBuilder *b = &t->b;
    bool least = c->kind == IR_REDUCE_ARGMIN;
    if (x->type->elem == DTYPE_BOOL) {
        IrValue *low = least ? x : y, *high = least ? y : x;
        return ir_binary(b, IR_AND, high, ir_unary(b, IR_NOT, low));
    }
    IrValue *better = ir_binary(b, least ? IR_LT : IR_GT, x, y);
    if (!is_float(x->type->elem)) return better;
    IrValue *x_nan = ir_binary(b, IR_NE, x, x), *y_number = ir_binary(b, IR_EQ, y, y);
    return ir_binary(b, IR_OR, better, ir_binary(b, IR_AND, x_nan, y_number));
}

// Does y replace x? Ties go to the lower position.
static IrValue *second_wins(Threads *t, const Combiner *c, const CombineState *x,
                            const CombineState *y) {
    IrBuilder *b = &t->b;
    IrValue *second = before(t, c, y->part[0], x->part[0]);
    IrValue *first = before(t, c, x->part[0], y->part[0]);
    IrValue *lower = ir_binary(b, IR_LT, y->part[1], x->part[1]);
    IrValue *tie = ir_binary(b, IR_AND, ir_unary(b, IR_NOT, first), lower);
    return ir_binary(b, IR_OR, second, tie);
}

static CombineState combine_arg(Threads *t, const Combiner *c, const CombineState *x,
                                const CombineState *y) {
    IrBuilder *b = &t->b;
    IrValue *take = second_wins(t, c, x, y);
    if (c->has) {
        IrValue *x_has = x->part[2], *y_has = y->part[2];
        take = ir_binary(b, IR_OR, take, ir_unary(b, IR_NOT, x_has));
        take = ir_binary(b, IR_AND, take, y_has);
        CombineState r = combine_choose(t, c, take, y, x);
        r.part[2] = ir_binary(b, IR_OR, x_has, y_has);
        return r;
    }
    return combine_choose(t, c, take, y, x);
}

// ---- both ---------------------------------------------------------------------------------------

// A bool vector of the registers where both hold; NULL means everywhere.
static IrValue *both_hold(Threads *t, IrValue *a, IrValue *b) {
    if (!a || !b) return a ? a : b;
    return ir_binary(&t->b, IR_AND, like(t, a, b), like(t, b, a));
}

static CombineState combine_custom(Threads *t, const Combiner *c, IrValue *where,
                                   const CombineState *x, const CombineState *y) {
    const IrBlock *block = c->op->regions[0];
    CombineState both = combine_empty(t, c);
    IrValue *x_has = c->has ? x->part[c->values] : NULL,
            *y_has = c->has ? y->part[c->values] : NULL;
    where = both_hold(t, where, both_hold(t, x_has, y_has));
    if (where) where = like(t, where, x->part[0]);
    region_call(t, block, x->part, y->part, where, both.part);
    if (!c->has) return both;
    both.part[c->values] = x_has;
    CombineState r = combine_choose(t, c, x_has, &both, y);
    r = combine_choose(t, c, y_has, &r, x);
    r.part[c->values] = ir_binary(&t->b, IR_OR, x_has, y_has);
    return r;
}

CombineState combine_where(Threads *t, const Combiner *c, IrValue *where, const CombineState *x,
                           const CombineState *y) {
    if (c->custom) return combine_custom(t, c, where, x, y);
    if (c->arg) return combine_arg(t, c, x, y);
    CombineState r = combine_empty(t, c);
    for (uint32_t i = 0; i < c->values; i++) {
        IrOpcode code = ir_reduce_opcode(c->kind, x->part[i]->type->elem);
        r.part[i] = ir_binary(&t->b, code, x->part[i], y->part[i]);
    }
    if (c->has) r.part[c->values] = ir_binary(&t->b, IR_OR, x->part[c->values], y->part[c->values]);
    return r;
}

CombineState combine_states(Threads *t, const Combiner *c, const CombineState *x,
                            const CombineState *y) {
    return combine_where(t, c, NULL, x, y);
}

// ---- through shared memory ----------------------------------------------------------------------

ExchangeBuffer combine_exchange_buffer(Threads *t, const Combiner *c, const CombineState *x) {
    ExchangeBuffer buffer = {.memory = arena_new(t->scratch, IrValue *, c->parts),
                             .regs = x->part[0]->type->count,
                             .threads = ir_thread_count(t->func)};
    for (uint32_t i = 0; i < c->parts; i++)
        buffer.memory[i] = threads_shared(t, x->part[i]->type->elem, buffer.regs * buffer.threads);
    return buffer;
}

static IrValue *further(Threads *t, IrValue *p, uint32_t by) {
    return by ? threads_at(t, p, threads_i64(t, by)) : p;
}

void combine_store(Threads *t, const Combiner *c, const ExchangeBuffer *buffer,
                   const CombineState *x) {
    for (uint32_t i = 0; i < c->parts; i++) {
        IrValue *p = threads_at(t, buffer->memory[i], t->thread);
        for (uint32_t r = 0; r < buffer->regs; r++)
            threads_store(t, further(t, p, r * buffer->threads), threads_get(t, x->part[i], r), 0,
                          NULL);
    }
}

CombineState combine_load(Threads *t, const Combiner *c, const ExchangeBuffer *buffer,
                          IrValue *from, uint32_t by) {
    CombineState r = combine_empty(t, c);
    IrValue **parts = arena_new(t->scratch, IrValue *, buffer->regs);
    for (uint32_t i = 0; i < c->parts; i++) {
        IrValue *p = threads_at(t, buffer->memory[i], from);
        for (uint32_t k = 0; k < buffer->regs; k++)
            parts[k] = threads_load(t, further(t, p, k * buffer->threads + by), 1, 0, NULL, NULL);
        r.part[i] = threads_pack(t, buffer->regs, parts);
    }
    return r;
}

// cpu_pairs: integer sums over all lanes of a vector add the products of neighbours in pairs.
//
//     x = mul(cast a, cast b) : i32[16]        y = vec.dot2(s', cast a, cast b) : i32[8]
//     s = add(s', x)                    ─▶     with a and b cast to i16[16]
//     … = vec.reduce s {kind = sum}            … = vec.reduce y {kind = sum}
//
// Only the sum of all lanes is used, and it wraps, so any lane may have any part of it. a and b are
// of 8 bits, or i16; a value that is not a product counts as one by 1. The vectors s may be carried
// by loops, one after the other. A loop whose steps beyond an end add the same again and again may
// compare s before and after a step, to see whether that is nothing; pairs tell that as well.
//
// Needs: level cpu, a machine with i16_dot. Keeps: every bit.
#include "ir/edit.h"
#include "passes/passes.h"
#include "target/machine.h"

enum { SUMS_MAX = 1000 };  // of one reduction; the recursion is as deep

typedef struct Carried {
    IrOp *loop;
    uint32_t place;  // among the carried values
} Carried;

// The vectors of one sum, which get half the lanes.
typedef struct Pairs {
    Arena *scratch;
    IrModule *module;
    Map seen;  // by value
    VEC(IrValue *) sums;
    VEC(Carried) carried;
    uint32_t terms;
} Pairs;

// The value that was widened to i32, if it fits in i16; else NULL.
static IrValue *narrow(const IrValue *x) {
    if (!x->def || x->def->code != IR_CAST) return NULL;
    IrValue *from = ir_operand(x->def, 0);
    Dtype t = from->type->elem;
    return t == DTYPE_I8 || t == DTYPE_U8 || t == DTYPE_I16 ? from : NULL;
}

static bool is_product(const IrValue *x) {
    return x->def && x->def->code == IR_MUL && narrow(ir_operand(x->def, 0)) &&
           narrow(ir_operand(x->def, 1));
}

static bool is_term(const IrValue *x) { return is_product(x) || narrow(x); }

static bool is_zero(const IrValue *x) {
    return x->def && x->def->code == IR_CONST && ir_attr(x->def, IR_ATTR_VALUE)->u.bits == 0;
}

static bool add_sum(Pairs *p, IrValue *x);

// The vector that a loop carries: where it begins, in the loop, and at the end.
static bool add_carried(Pairs *p, IrOp *loop, uint32_t place) {
    if (loop->code != IR_FOR) return false;
    for (size_t i = 0; i < p->carried.count; i++)
        if (p->carried.data[i].loop == loop && p->carried.data[i].place == place) return true;
    Carried c = {loop, place};
    vec_push(p->scratch, &p->carried, c);
    IrBlock *body = loop->regions[0];
    return add_sum(p, ir_operand(loop, 3 + place)) && add_sum(p, body->args[1 + place]) &&
           add_sum(p, ir_result(loop, place)) && add_sum(p, ir_operand(body->last, place));
}

// The values of `ne (bitcast s'), (bitcast s)`, of which only is asked whether any lane is true.
static bool add_comparison(Pairs *p, IrValue *x) {
    if (map_find(&p->seen, map_key(x))) return true;
    map_put(p->scratch, &p->seen, map_key(x), 1);
    vec_push(p->scratch, &p->sums, x);
    for (const IrUse *u = x->uses; u; u = u->next) {
        bool compared = u->user->code == IR_NE && x->def->code == IR_BITCAST;
        bool reduced = u->user->code == IR_VEC_REDUCE && x->def->code == IR_NE;
        if (!reduced && (!compared || !add_comparison(p, ir_result(u->user, 0)))) return false;
    }
    return true;
}

// Both sides of comparisons must be sums.
static bool compares_sums(const Pairs *p) {
    for (size_t i = 0; i < p->sums.count; i++) {
        const IrOp *op = p->sums.data[i]->def;
        for (uint32_t k = 0; op && op->code == IR_NE && k < 2; k++)
            if (!map_find(&p->seen, map_key(ir_operand(op, k)))) return false;
    }
    return true;
}

// Can this user have a sum with half the lanes? The sums that it makes are added, too.
static bool add_user(Pairs *p, const IrUse *u) {
    IrOp *op = u->user;
    uint32_t i = (uint32_t)(u - op->operands);
    switch (op->code) {
    case IR_ADD: return add_sum(p, ir_result(op, 0));
    case IR_FOR: return i >= 3 && add_carried(p, op, i - 3);
    case IR_YIELD: return op->block->parent && add_carried(p, op->block->parent, i);
    case IR_BITCAST: return add_comparison(p, ir_result(op, 0));
    case IR_VEC_REDUCE: return ir_attr_int(op, IR_ATTR_REDUCE) == IR_REDUCE_SUM;
    default: return false;
    }
}

static bool add_sum(Pairs *p, IrValue *x) {
    if (is_zero(x) || map_find(&p->seen, map_key(x))) return true;
    map_put(p->scratch, &p->seen, map_key(x), 1);
    if (is_term(x)) {
        p->terms++;
        return true;
    }
    if (p->sums.count == SUMS_MAX) return false;
    vec_push(p->scratch, &p->sums, x);
    for (const IrUse *u = x->uses; u; u = u->next)
        if (!add_user(p, u)) return false;
    if (x->block)
        return x->block->parent && x->index && add_carried(p, x->block->parent, x->index - 1);
    if (x->def && x->def->code == IR_FOR) return add_carried(p, x->def, x->index);
    return x->def && x->def->code == IR_ADD && add_sum(p, ir_operand(x->def, 0)) &&
           add_sum(p, ir_operand(x->def, 1));
}

// ---- the change ---------------------------------------------------------------------------------

static const IrType *halved(const Pairs *p, const IrValue *x) {
    uint32_t lanes = x->type->count / 2;
    return ir_with_shape(p->module, x->type, 1, &lanes);
}

// Adds a term to a sum of half its lanes.
static IrValue *add_term(IrBuilder *b, IrValue *sum, IrValue *x) {
    bool product = is_product(x);
    IrValue *a = ir_cast(b, narrow(product ? ir_operand(x->def, 0) : x), DTYPE_I16, false);
    IrValue *other = product ? ir_cast(b, narrow(ir_operand(x->def, 1)), DTYPE_I16, false)
                             : ir_const_bits(b, a->type, 1);
    IrValue *operands[3] = {sum, a, other};
    return ir_result(ir_op(b, IR_VEC_DOT2, 3, operands, 1, &sum->type, 0, NULL), 0);
}

static IrValue *zero_of(const Pairs *p, IrBuilder *b, const IrValue *like) {
    return ir_const_bits(b, halved(p, like), 0);
}

// Zeros and terms, which are of the old width, get new values; a sum has its type already.
static IrValue *halve(const Pairs *p, IrBuilder *b, IrValue *x) {
    if (is_zero(x)) return zero_of(p, b, x);
    return is_term(x) ? add_term(b, zero_of(p, b, x), x) : x;
}

// Sums are halved in the order in which they are computed.
static void halve_add(const Pairs *p, IrOp *op) {
    IrBuilder b = ir_builder_before(op);
    b.span = op->span;
    for (uint32_t i = 0; i < 2; i++) {
        IrOp *before = ir_operand(op, i)->def;
        bool sum =
            before && before->code == IR_ADD && map_find(&p->seen, map_key(ir_operand(op, i)));
        if (sum) halve_add(p, before);
    }
    IrValue *x = ir_operand(op, 0), *y = ir_operand(op, 1);
    bool first = is_term(x);
    IrValue *to = halve(p, &b, first ? y : x), *more = first ? x : y;
    to = is_term(more) ? add_term(&b, to, more) : ir_binary(&b, IR_ADD, to, halve(p, &b, more));
    ir_replace_all(ir_result(op, 0), to);
    ir_erase(op);
}

static void halve_at(const Pairs *p, IrOp *op, uint32_t i) {
    IrBuilder b = ir_builder_before(op);
    b.span = op->span;
    ir_set_operand(op, i, halve(p, &b, ir_operand(op, i)));
}

static void change(const Pairs *p) {
    for (size_t i = 0; i < p->sums.count; i++)
        if (!p->sums.data[i]->def || p->sums.data[i]->def->code != IR_ADD)
            p->sums.data[i]->type = halved(p, p->sums.data[i]);
    for (size_t i = 0; i < p->carried.count; i++) {
        const Carried *c = &p->carried.data[i];
        halve_at(p, c->loop, 3 + c->place);
        halve_at(p, c->loop->regions[0]->last, c->place);
    }
    for (size_t i = 0; i < p->sums.count; i++) {
        IrOp *op = p->sums.data[i]->def;
        if (op && op->code == IR_ADD && op->block) halve_add(p, op);
    }
}

// With half its lanes a sum should fill a register.
static bool is_wide(const IrValue *x, const Machine *m) {
    enum { BYTES = 4 };
    return x->type->elem == DTYPE_I32 && x->type->count >= 2 * m->vector_bytes / BYTES;
}

static bool pair_in(IrFunc *f, const IrBlock *block, Arena *scratch, const Machine *m) {
    bool changed = false;
    // The ops around a reduction may be erased, but not itself.
    for (IrOp *op = block->first; op; op = op->next) {
        for (uint32_t r = 0; r < op->region_count; r++)
            changed |= pair_in(f, op->regions[r], scratch, m);
        if (op->code != IR_VEC_REDUCE || ir_attr_int(op, IR_ATTR_REDUCE) != IR_REDUCE_SUM) continue;
        Pairs p = {.scratch = scratch, .module = f->module};
        if (!is_wide(ir_operand(op, 0), m) || !add_sum(&p, ir_operand(op, 0)) || !p.terms ||
            !compares_sums(&p))
            continue;
        if (is_term(ir_operand(op, 0)))
            halve_at(&p, op, 0);
        else
            change(&p);
        changed = true;
    }
    return changed;
}

bool pass_cpu_pairs(IrFunc *f, PassContext *context) {
    const Machine *m = context->machine;
    if (!m->i16_dot || m->gpu.vendor || !f->is_kernel || f->level != IR_LEVEL_CPU) return false;
    return pair_in(f, ir_body(f), context->scratch, m);
}

// Reductions inside a nest: vectors of accumulators around the loop, halves combined at its end.
//
// For each operand the loop carries a value (sums and products of narrow floats in f32). argmin and
// argmax carry the place as well. Masked argmin, argmax and float sums, and custom combiners, carry
// a bool that says whether a lane has taken any element.
#include <string.h>

#include "ir/reduce.h"
#include "passes/cpu/emit/lower.h"

typedef struct Reduction {
    const IrOp *op;
    IrReduce kind;
    uint32_t count;  // of values
    bool arg, custom;
    bool has;     // carries whether a lane has taken any element
    bool vector;  // false: scalars
} Reduction;

static bool is_float(Dtype t) { return dtype_is(t, DTYPE_CLASS_ANYFLOAT); }

static Reduction reduction_of(const Nest *nest, const IrOp *op) {
    Reduction r = {.op = op, .kind = (IrReduce)ir_attr_int(op, IR_ATTR_REDUCE)};
    r.count = op->operand_count - 1;
    r.arg = r.kind == IR_REDUCE_ARGMIN || r.kind == IR_REDUCE_ARGMAX;
    r.custom = r.kind == IR_REDUCE_CUSTOM;
    bool masked = ir_operand(op, 0) != NULL;
    bool sum = r.kind == IR_REDUCE_SUM && is_float(ir_operand(op, 1)->type->elem);
    r.has = r.custom || (masked && (r.arg || sum));
    r.vector = nest->lanes > 1;
    return r;
}

bool reduce_is_wide(IrReduce kind, Dtype elem) {
    return (kind == IR_REDUCE_SUM || kind == IR_REDUCE_PROD) && is_float(elem) && elem != DTYPE_F64;
}

static Dtype carried_elem(const Reduction *r, uint32_t i) {
    Dtype elem = ir_operand(r->op, 1 + i)->type->elem;
    return reduce_is_wide(r->kind, elem) ? DTYPE_F32 : elem;
}

// ---- one set of values --------------------------------------------------------------------------

// The carried values or those of one step: `count` values, perhaps a place, perhaps `has`.
typedef struct Accumulated {
    IrValue **value;
    IrValue *place;
    IrValue *has;
} Accumulated;

static Accumulated new_accumulated(Lower *l, const Reduction *r) {
    return (Accumulated){.value = arena_new(l->scratch, IrValue *, r->count)};
}

static const IrType *type_like(IrModule *m, Dtype elem, const IrValue *like) {
    return ir_tile(m, elem, like->type->rank, like->type->shape);
}

static IrValue *number_like(IrBuilder *b, Dtype elem, uint64_t bits, const IrValue *like) {
    return ir_const_bits(b, type_like(b->module, elem, like), bits);
}

// Does x come before y: is it better, or the first NaN?
static IrValue *before(IrBuilder *b, IrReduce kind, IrValue *x, IrValue *y) {
    bool least = kind == IR_REDUCE_ARGMIN;
    if (x->type->elem == DTYPE_BOOL) {
        IrValue *low = least ? x : y, *high = least ? y : x;
        return ir_binary(b, IR_AND, high, ir_unary(b, IR_NOT, low));
    }
    IrValue *better = ir_binary(b, least ? IR_LT : IR_GT, x, y);
    if (!is_float(x->type->elem)) return better;
    IrValue *is_nan = ir_binary(b, IR_NE, x, x), *was_nan = ir_binary(b, IR_NE, y, y);
    IrValue *first_nan = ir_binary(b, IR_AND, is_nan, ir_unary(b, IR_NOT, was_nan));
    return ir_binary(b, IR_OR, better, first_nan);
}

static IrValue *choose(IrBuilder *b, IrValue *c, IrValue *x, IrValue *y) {
    return ir_ternary(b, IR_SELECT, c, x, y);
}

// Combines the best of two places; ties go to the lower place.
static Accumulated combine_arg(Lower *l, IrBuilder *b, const Reduction *r, const Accumulated *x,
                               const Accumulated *y) {
    IrValue *second = before(b, r->kind, y->value[0], x->value[0]);
    IrValue *first = before(b, r->kind, x->value[0], y->value[0]);
    IrValue *lower = ir_binary(b, IR_LT, y->place, x->place);
    IrValue *tie = ir_binary(b, IR_AND, ir_unary(b, IR_NOT, first), lower);
    IrValue *take = ir_binary(b, IR_OR, second, tie);
    Accumulated s = new_accumulated(l, r);
    if (r->has) {
        take = ir_binary(b, IR_AND, y->has, ir_binary(b, IR_OR, take, ir_unary(b, IR_NOT, x->has)));
        s.has = ir_binary(b, IR_OR, x->has, y->has);
    }
    s.value[0] = choose(b, take, y->value[0], x->value[0]);
    s.place = choose(b, take, y->place, x->place);
    return s;
}

// ---- custom combiners ---------------------------------------------------------------------------

static IrValue *as_lanes(IrBuilder *b, IrValue *v, const IrValue *like) {
    if (v->type->rank == like->type->rank) return v;
    return ir_broadcast(b, v, like->type->rank, like->type->shape);
}

typedef struct Pair {
    const IrValue *from;
    IrValue *to;
} Pair;
typedef VEC(Pair) Pairs;

static IrValue *mapped(const Pairs *map, IrValue *v) {
    for (size_t i = map->count; i-- > 0;)
        if (map->data[i].from == v) return map->data[i].to;
    return v;
}

// Emits the combiner's ops on whole vectors; each op is elementwise.
static void emit_combiner(Lower *l, IrBuilder *b, const IrBlock *block, Pairs *map,
                          const IrValue *like) {
    IR_EACH_OP(op, block) {
        if (op->code == IR_YIELD) return;
        enum { OPERANDS = 4 };
        CHECK(op->operand_count <= OPERANDS && op->result_count == 1 && !op->region_count,
              "'%s' in a combiner of vectors", ir_op_info(op->code)->text);
        bool same_for_all = op->operand_count == 0 && op->code != IR_CONST;
        IrValue *operands[OPERANDS];
        for (uint32_t i = 0; i < op->operand_count; i++)
            operands[i] = as_lanes(b, mapped(map, ir_operand(op, i)), like);
        uint32_t rank = same_for_all ? 0 : like->type->rank;
        const IrType *t = ir_with_shape(l->module, op->results[0].type, rank, like->type->shape);
        IrOp *made = ir_op(b, op->code, op->operand_count, operands, 1, &t, 0, NULL);
        for (int i = 0; i < ir_op_info(op->code)->attr_count; i++) made->attrs[i] = op->attrs[i];
        Pair pair = {ir_result(op, 0), ir_result(made, 0)};
        vec_push(l->scratch, map, pair);
    }
}

bool reduce_is_straight(const IrBlock *block) {
    IR_EACH_OP(op, block) {
        if (op->region_count) return false;
    }
    return true;
}

bool reduce_needs_scalars(const IrOp *op) {
    return op && op->code == IR_REDUCE && op->region_count && !reduce_is_straight(op->regions[0]);
}

// A combiner on scalars with control flow: copies the region.
static void clone_combiner(Lower *l, IrBuilder *b, const IrBlock *block, Pairs *map,
                           IrValue **yielded) {
    Map names = {0};
    for (size_t i = 0; i < map->count; i++)
        map_put(l->scratch, &names, map_key(map->data[i].from), map_key(map->data[i].to));
    IR_EACH_OP(op, block) {
        if (op->code == IR_YIELD) {
            for (uint32_t i = 0; i < op->operand_count; i++) {
                const uint64_t *to = map_find(&names, map_key(ir_operand(op, i)));
                yielded[i] = to ? (IrValue *)(uintptr_t)*to : ir_operand(op, i);
            }
            return;
        }
        ir_clone(b, op, &names, l->scratch);
    }
}

void reduce_call_combiner(Lower *l, IrBuilder *b, const IrBlock *block, IrValue *const *x,
                          IrValue *const *y, IrValue **out) {
    uint32_t count = block->arg_count / 2;
    Pairs map = {0};
    for (uint32_t i = 0; i < 2 * count; i++) {
        Pair pair = {block->args[i], i < count ? x[i] : y[i - count]};
        vec_push(l->scratch, &map, pair);
    }
    if (!reduce_is_straight(block)) {
        clone_combiner(l, b, block, &map, out);
        return;
    }
    emit_combiner(l, b, block, &map, x[0]);
    for (uint32_t i = 0; i < count; i++)
        out[i] = as_lanes(b, mapped(&map, ir_operand(block->last, i)), x[0]);
}

// x comes before y; either may have taken no element.
static Accumulated combine_custom(Lower *l, IrBuilder *b, const Reduction *r, const Accumulated *x,
                                  const Accumulated *y) {
    Accumulated s = new_accumulated(l, r);
    reduce_call_combiner(l, b, r->op->regions[0], x->value, y->value, s.value);
    s.has = ir_binary(b, IR_OR, x->has, y->has);
    for (uint32_t i = 0; i < r->count; i++) {
        IrValue *joined = choose(b, x->has, s.value[i], y->value[i]);
        s.value[i] = choose(b, y->has, joined, x->value[i]);
    }
    return s;
}

static Accumulated combine(Lower *l, IrBuilder *b, const Reduction *r, const Accumulated *x,
                           const Accumulated *y) {
    if (r->custom) return combine_custom(l, b, r, x, y);
    if (r->arg) return combine_arg(l, b, r, x, y);
    Accumulated s = new_accumulated(l, r);
    for (uint32_t i = 0; i < r->count; i++)
        s.value[i] = ir_binary(b, ir_reduce_opcode(r->kind, ir_operand(r->op, 1 + i)->type->elem),
                               x->value[i], y->value[i]);
    if (r->has) s.has = ir_binary(b, IR_OR, x->has, y->has);
    return s;
}

// ---- a set as the loop carries it ---------------------------------------------------------------

static void put_accumulated(Lower *l, Nest *nest, Root *root, const Reduction *r,
                            const Accumulated *s) {
    root->accumulator_count = r->count + (r->arg ? 1 : 0) + (r->has ? 1 : 0);
    if (!root->accumulators)
        root->accumulators = arena_new(l->scratch, NestValue, root->accumulator_count);
    uint32_t at = 0;
    for (uint32_t i = 0; i < r->count; i++) root->accumulators[at++].value = s->value[i];
    if (r->arg) root->accumulators[at++].value = s->place;
    if (r->has) root->accumulators[at++].value = s->has;
    for (uint32_t i = 0; i < at; i++) root->accumulators[i].depth = nest->depth;
}

static Accumulated get_accumulated(Lower *l, const Root *root, const Reduction *r) {
    Accumulated s = new_accumulated(l, r);
    uint32_t at = 0;
    for (uint32_t i = 0; i < r->count; i++) s.value[i] = root->accumulators[at++].value;
    if (r->arg) s.place = root->accumulators[at++].value;
    if (r->has) s.has = root->accumulators[at++].value;
    return s;
}

// The lanes' places before any element is taken: those of the first elements, so that if all
// elements equal the identity, the first one's place is the result.
static IrValue *first_places(Nest *nest, IrBuilder *b, bool vector) {
    bool lanes = vector && nest->axis == nest->lane;
    if (lanes) return ir_iota(b, nest->lanes);
    IrValue *zero = ir_const_int(b, DTYPE_I32, 0);
    return vector ? ir_broadcast(b, zero, 1, &nest->lanes) : zero;
}

void reduce_begin(Lower *l, Nest *nest, Root *root) {
    Reduction r = reduction_of(nest, root->op);
    IrBuilder *b = nest_builder(nest, nest->depth);
    Accumulated s = new_accumulated(l, &r);
    for (uint32_t i = 0; i < r.count; i++) {
        const IrType *t = ir_tile(l->module, carried_elem(&r, i), r.vector ? 1 : 0, &nest->lanes);
        s.value[i] = ir_const_bits(b, t, ir_reduce_identity(r.kind, t->elem));
    }
    if (r.arg) s.place = first_places(nest, b, r.vector);
    if (r.has) s.has = number_like(b, DTYPE_BOOL, 0, s.value[0]);
    put_accumulated(l, nest, root, &r, &s);
}

// ---- a step -------------------------------------------------------------------------------------

static IrValue *operand_value(Lower *l, Nest *nest, const Reduction *r, uint32_t i,
                              LanePlace place) {
    NestValue x = value_at(l, nest, ir_operand(r->op, i), place);
    return r->vector ? value_splat(nest, x).value : x.value;
}

static IrValue *place_value(Nest *nest, const Reduction *r) {
    Coord c = {COORD_LOOP, (uint8_t)nest->axis, 0, NULL};
    if (nest->shape[nest->axis] == 1) c.kind = COORD_ZERO;
    IrBuilder *b = nest_builder(nest, nest->depth);
    IrValue *at = ir_cast(b, nest_coord(nest, c).value, DTYPE_I32, true);
    if (!r->vector) return at;
    at = ir_broadcast(b, at, 1, &nest->lanes);
    if (!nest_is_lane(nest, c)) return at;
    return ir_binary(b, IR_ADD, at, ir_iota(b, nest->lanes));
}

// Places come in ascending order, so that the first of equal values is kept.
static Accumulated step_arg(Lower *l, IrBuilder *b, const Reduction *r, const Accumulated *s,
                            const Accumulated *x) {
    IrValue *take = before(b, r->kind, x->value[0], s->value[0]);
    Accumulated next = new_accumulated(l, r);
    if (r->has) {
        IrValue *first = ir_unary(b, IR_NOT, s->has);
        take = ir_binary(b, IR_AND, x->has, ir_binary(b, IR_OR, take, first));
        next.has = ir_binary(b, IR_OR, s->has, x->has);
    }
    next.value[0] = choose(b, take, x->value[0], s->value[0]);
    next.place = choose(b, take, x->place, s->place);
    return next;
}

void reduce_step(Lower *l, Nest *nest, Root *root, LanePlace place) {
    Reduction r = reduction_of(nest, root->op);
    IrValue *mask = ir_operand(root->op, 0) ? operand_value(l, nest, &r, 0, place) : NULL;
    Accumulated x = new_accumulated(l, &r);
    for (uint32_t i = 0; i < r.count; i++) x.value[i] = operand_value(l, nest, &r, 1 + i, place);
    IrBuilder *b = nest_builder(nest, nest->depth);
    b->span = root->op->span;
    for (uint32_t i = 0; i < r.count; i++) {
        Dtype elem = carried_elem(&r, i);
        if (x.value[i]->type->elem != elem) x.value[i] = ir_cast(b, x.value[i], elem, true);
        if (mask && !r.custom && !r.arg) {
            IrValue *nothing = number_like(b, elem, ir_reduce_identity(r.kind, elem), x.value[i]);
            x.value[i] = choose(b, mask, x.value[i], nothing);
        }
    }
    if (r.arg) x.place = place_value(nest, &r);
    if (r.has) x.has = mask ? mask : number_like(b, DTYPE_BOOL, 1, x.value[0]);
    Accumulated s = get_accumulated(l, root, &r);
    bool first = nest->one_vector && !r.arg && !r.has;  // the identity would not change it
    s = first ? x : r.arg ? step_arg(l, b, &r, &s, &x) : combine(l, b, &r, &s, &x);
    put_accumulated(l, nest, root, &r, &s);
}

// ---- the end ------------------------------------------------------------------------------------

static IrValue *only_lane(IrBuilder *b, IrValue *x) {
    if (!x) return NULL;
    const IrType *t = ir_with_shape(b->module, x->type, 0, NULL);
    return ir_result(ir_op(b, IR_VEC_LANE, 1, &x, 1, &t, 0, NULL), 0);
}

static Accumulated halves(Lower *l, IrBuilder *b, const Reduction *r, const Accumulated *s,
                          bool second) {
    Accumulated h = new_accumulated(l, r);
    h.place = reduce_half(l, b, s->place, second);
    h.has = reduce_half(l, b, s->has, second);
    for (uint32_t i = 0; i < r->count; i++) h.value[i] = reduce_half(l, b, s->value[i], second);
    return h;
}

// Reduces each value from all lanes to one scalar.
static Accumulated across_lanes(Lower *l, IrBuilder *b, const Reduction *r, Accumulated s) {
    while (s.value[0]->type->count > 1) {
        Accumulated low = halves(l, b, r, &s, false), high = halves(l, b, r, &s, true);
        s = combine(l, b, r, &low, &high);
    }
    for (uint32_t i = 0; i < r->count; i++) s.value[i] = only_lane(b, s.value[i]);
    s.place = only_lane(b, s.place);
    s.has = only_lane(b, s.has);
    return s;
}

static IrValue *horizontal(IrBuilder *b, IrReduce kind, IrValue *x) {
    const IrType *t = ir_with_shape(b->module, x->type, 0, NULL);
    IrOp *op = ir_op(b, IR_VEC_REDUCE, 1, &x, 1, &t, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_REDUCE, kind);
    return ir_result(op, 0);
}

// Computes the greatest or least f32 through integers of the same order, with −0 below +0: a
// float's max takes three instructions because of NaNs and zeros, an integer's max takes one. NaN
// is beyond all others, or, where a number wins over it, before them.
static IrValue *ordered(IrBuilder *b, IrValue *bits) {
    enum { SIGN = 31 };
    IrValue *sign = ir_binary(b, IR_SHR, bits, ir_const_bits(b, bits->type, SIGN));
    IrValue *turned = ir_binary(b, IR_AND, sign, ir_const_bits(b, bits->type, INT32_MAX));
    return ir_binary(b, IR_XOR, bits, turned);
}

static IrValue *horizontal_extreme(Lower *l, IrBuilder *b, IrReduce kind, IrValue *x) {
    bool greatest = kind == IR_REDUCE_MAX || kind == IR_REDUCE_MAXNUM;
    bool above = kind == IR_REDUCE_MAX || kind == IR_REDUCE_MINNUM;
    const uint32_t nan = above ? 0x7fc00000 : 0xffc00000;
    while (x->type->count * sizeof(float) > l->machine->vector_bytes) {
        IrValue *second = reduce_half(l, b, x, true);
        IrValue *first = reduce_half(l, b, x, false);
        x = ir_binary(b, ir_reduce_opcode(kind, DTYPE_F32), first, second);
    }
    const IrType *t = ir_with_elem(l->module, x->type, DTYPE_I32);
    IrValue *is_nan = ir_binary(b, IR_NE, x, x);
    IrValue *bits = ir_bitcast(b, x, t);
    bits = choose(b, is_nan, ir_const_bits(b, t, nan), bits);
    kind = greatest ? IR_REDUCE_MAX : IR_REDUCE_MIN;
    IrValue *best = horizontal(b, kind, ordered(b, bits));
    return ir_bitcast(b, ordered(b, best), ir_scalar(l->module, DTYPE_F32));
}

static bool is_extreme(IrReduce kind, const IrValue *x) {
    return kind >= IR_REDUCE_MIN && kind <= IR_REDUCE_MAXNUM && x->type->elem == DTYPE_F32;
}

static bool has_instruction(const Reduction *r) {
    return !r->custom && !r->arg && ir_operand(r->op, 1)->type->elem != DTYPE_BOOL;
}

static Accumulated finish_lanes(Lower *l, IrBuilder *b, const Reduction *r, Accumulated s) {
    if (!has_instruction(r)) return across_lanes(l, b, r, s);
    for (uint32_t i = 0; i < r->count; i++)
        s.value[i] = is_extreme(r->kind, s.value[i]) ? horizontal_extreme(l, b, r->kind, s.value[i])
                                                     : horizontal(b, r->kind, s.value[i]);
    if (r->has) s.has = horizontal(b, IR_REDUCE_ANY, s.has);
    return s;
}

static IrValue *final_value(Lower *l, IrBuilder *b, const Reduction *r, const Accumulated *s,
                            uint32_t i) {
    IrValue *x = r->arg ? s->place : s->value[i];
    if (r->has) x = choose(b, s->has, x, number_like(b, x->type->elem, 0, x));
    Dtype elem = ir_result(r->op, i)->type->elem;
    (void)l;
    return x->type->elem == elem ? x : ir_cast(b, x, elem, true);
}

static void keep_result(Lower *l, Nest *nest, const Root *root, uint32_t i, LanePlace place,
                        NestValue x) {
    IrValue *result = ir_result(root->op, i);
    if (result->type->rank == 0) {
        ir_replace_all(result, x.value);
        return;
    }
    LanePlace at = {.rank = 0};
    for (uint32_t d = 0; d < place.rank; d++)
        if ((int)d != nest->axis) at.at[at.rank++] = place.at[d];
    access_buffer_store(l, nest, lower_buffer_of(l, result), at, x);
}

void reduce_end(Lower *l, Nest *nest, Root *root, LanePlace place) {
    Reduction r = reduction_of(nest, root->op);
    IrBuilder *b = nest_builder(nest, nest->depth);
    b->span = root->op->span;
    Accumulated s = get_accumulated(l, root, &r);
    if (r.vector && nest->axis == nest->lane) s = finish_lanes(l, b, &r, s);
    for (uint32_t i = 0; i < root->op->result_count; i++) {
        NestValue x = {final_value(l, b, &r, &s, i), nest->depth};
        keep_result(l, nest, root, i, place, x);
    }
}

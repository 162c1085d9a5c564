// Ops on whole tiles: cat, gather, products, reductions, orders, histogram, random.
#include <string.h>

#include "tests/gen/gen_internal.h"

// A tile of rank 1 or more, and an axis of it.
static IrValue *pick_tile(Gen *g, unsigned classes, uint32_t *axis) {
    IrValue *x = gen_pick(g, classes);
    for (int tries = 0; x->type->rank == 0 && tries < 6; tries++) x = gen_pick(g, classes);
    if (x->type->rank == 0) {
        uint32_t shape[GEN_RANK_MAX], rank = (uint32_t)dice_below(&g->dice, 3) + 1;
        gen_shape(g, rank, GEN_COUNT_MAX, shape);
        Dtype elem = gen_elem(g, classes & DTYPE_CLASS_ANY);
        x = gen_like(g, ir_tile(g->m, elem, rank, shape));
    }
    *axis = (uint32_t)dice_below(&g->dice, x->type->rank);
    return x;
}

static const IrType *with_extent(Gen *g, const IrType *t, uint32_t axis, uint32_t extent) {
    uint32_t shape[IR_MAX_RANK];
    memcpy(shape, t->shape, sizeof shape);
    shape[axis] = extent;
    return ir_with_shape(g->m, t, t->rank, shape);
}

static const IrType *without_axis(Gen *g, const IrType *t, uint32_t axis) {
    uint32_t shape[IR_MAX_RANK] = {0};
    for (uint32_t d = 0, k = 0; d < t->rank; d++)
        if (d != axis) shape[k++] = t->shape[d];
    return ir_with_shape(g->m, t, t->rank - 1, shape);
}

static void gen_cat(Gen *g) {
    uint32_t axis;
    IrValue *a = pick_tile(g, DTYPE_CLASS_ANY | IR_CLASS_POINTER, &axis);
    if (a->type->count > GEN_COUNT_MAX / 2) return;
    IrValue *operands[] = {a, gen_like(g, a->type)};
    const IrType *to = with_extent(g, a->type, axis, a->type->shape[axis] * 2);
    IrOp *op = ir_op(&g->b, IR_CAT, 2, operands, 1, &to, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_AXIS, axis);
    gen_push(g, ir_result(op, 0));
}

static void gen_gather(Gen *g) {
    uint32_t axis;
    IrValue *x = pick_tile(g, DTYPE_CLASS_ANY, &axis);
    uint32_t extent = 1u << dice_below(&g->dice, 4);
    while (x->type->count / x->type->shape[axis] * extent > GEN_COUNT_MAX) extent /= 2;
    const IrType *to = with_extent(g, x->type, axis, extent);
    IrValue *index = gen_like(g, ir_with_elem(g->m, to, gen_elem(g, DTYPE_CLASS_INT)));
    // Mostly inside, for the value is dull outside.
    if (dice_chance(&g->dice, 70))
        index = ir_binary(&g->b, IR_AND, index,
                          gen_fill(g, to, index->type->elem, x->type->shape[axis] - 1));
    IrValue *operands[] = {x, index};
    IrOp *op = ir_op(&g->b, IR_GATHER, 2, operands, 1, &to, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_AXIS, axis);
    gen_push(g, ir_result(op, 0));
}

// ---- dot ----------------------------------------------------------------------------------------

static Dtype dot_sum(Gen *g, Dtype a) {
    static const Dtype sums[] = {DTYPE_F32, DTYPE_F64, DTYPE_F16};
    if (a == DTYPE_I8 || a == DTYPE_U8) return DTYPE_I32;
    if (dtype_is(a, DTYPE_CLASS_INT) || a == DTYPE_F32 || a == DTYPE_F64) return a;
    return sums[dice_below(&g->dice, 3)];
}

static Dtype dot_right(Gen *g, Dtype a) {
    bool swap = dice_chance(&g->dice, 40);
    if (!swap) return a;
    if (a == DTYPE_I8) return DTYPE_U8;
    if (a == DTYPE_U8) return DTYPE_I8;
    if (a == DTYPE_F8E4M3) return DTYPE_F8E5M2;
    return a == DTYPE_F8E5M2 ? DTYPE_F8E4M3 : a;
}

static void gen_dot(Gen *g) {
    bool batch = dice_chance(&g->dice, 30);
    uint32_t rank = batch ? 3 : 2, m = 1u << dice_below(&g->dice, 3);
    uint32_t n = 1u << dice_below(&g->dice, 3), k = 1u << dice_below(&g->dice, batch ? 3 : 5);
    uint32_t a[] = {2, m, k}, b[] = {2, k, n}, c[] = {2, m, n};
    uint32_t from = batch ? 0 : 1;
    Dtype left = gen_elem(g, DTYPE_CLASS_NUMBER), right = dot_right(g, left);
    const IrType *to = ir_tile(g->m, dot_sum(g, left), rank, c + from);
    IrValue *operands[3] = {gen_like(g, ir_tile(g->m, left, rank, a + from)),
                            gen_like(g, ir_tile(g->m, right, rank, b + from)), NULL};
    operands[0] = gen_exact(g, operands[0], false);
    operands[1] = gen_exact(g, operands[1], false);
    if (dice_chance(&g->dice, 60)) operands[2] = gen_exact(g, gen_like(g, to), false);
    IrOp *op = ir_op(&g->b, IR_DOT, 3, operands, 1, &to, 0, NULL);
    if (left == DTYPE_F32) ir_attr_set_int(op, IR_ATTR_PRECISION, (int64_t)dice_below(&g->dice, 4));
    gen_push(g, ir_result(op, 0));
}

// ---- combiners ----------------------------------------------------------------------------------

// One value: associative and commutative, on floats only what is exact.
static IrValue *combine_one(Gen *g, IrValue *a, IrValue *b) {
    static const IrOpcode ints[] = {IR_ADD, IR_MUL, IR_MIN, IR_MAX, IR_AND, IR_OR, IR_XOR};
    static const IrOpcode bools[] = {IR_AND, IR_OR, IR_XOR};
    static const IrOpcode floats[] = {IR_MIN, IR_MAX, IR_MINNUM, IR_MAXNUM};
    IrOpcode code = floats[dice_below(&g->dice, 4)];
    if (a->type->elem == DTYPE_BOOL) code = bools[dice_below(&g->dice, 3)];
    if (dtype_is(a->type->elem, DTYPE_CLASS_INT)) code = ints[dice_below(&g->dice, 7)];
    return ir_binary(&g->b, code, a, b);
}

// The greater key with what belongs to it; of equal keys the lesser rest.
static void combine_pair(Gen *g, IrValue *const *args, IrValue **out) {
    IrValue *greater = ir_binary(&g->b, IR_GT, args[2], args[0]);
    IrValue *equal = ir_binary(&g->b, IR_EQ, args[2], args[0]);
    IrValue *less = ir_binary(&g->b, IR_MIN, args[1], args[3]);
    IrValue *rest = ir_ternary(&g->b, IR_SELECT, greater, args[3], args[1]);
    out[0] = ir_ternary(&g->b, IR_SELECT, greater, args[2], args[0]);
    out[1] = ir_ternary(&g->b, IR_SELECT, equal, less, rest);
}

static IrBlock *gen_combiner(Gen *g, IrValue *const *xs, uint32_t count) {
    IrBuilder outer = g->b;
    IrBlock *block = ir_block_create(g->f);
    for (uint32_t i = 0; i < 2 * count; i++)
        ir_block_add_arg(block, ir_scalar(g->m, xs[i % count]->type->elem));
    g->b = ir_builder_at_end(block);
    g->combining++;
    IrValue *out[2];
    bool pair = count == 2 && dtype_is(xs[0]->type->elem, DTYPE_CLASS_INT) &&
                dtype_is(xs[1]->type->elem, DTYPE_CLASS_INT);
    if (pair && dice_chance(&g->dice, 60)) {
        combine_pair(g, block->args, out);
    } else {
        for (uint32_t i = 0; i < count; i++)
            out[i] = combine_one(g, block->args[i], block->args[count + i]);
    }
    g->combining--;
    ir_yield(&g->b, count, out);
    g->b = outer;
    return block;
}

static unsigned reduce_classes(IrReduce kind) {
    switch (kind) {
    case IR_REDUCE_ANY:
    case IR_REDUCE_ALL: return DTYPE_CLASS_BOOL;
    case IR_REDUCE_CUSTOM: return DTYPE_CLASS_ANY;
    case IR_REDUCE_MINNUM:
    case IR_REDUCE_MAXNUM: return DTYPE_CLASS_ANYFLOAT;
    case IR_REDUCE_SUM:
    case IR_REDUCE_PROD:
    case IR_REDUCE_MIN:
    case IR_REDUCE_MAX:
    case IR_REDUCE_ARGMIN:
    case IR_REDUCE_ARGMAX: break;
    }
    return DTYPE_CLASS_NUMBER;
}

// The tiles of a reduce or scan from operands[1] on; how many there are.
static uint32_t reduce_tiles(Gen *g, IrReduce kind, uint32_t *axis, IrValue **operands) {
    IrValue *x = pick_tile(g, reduce_classes(kind), axis);
    if (kind == IR_REDUCE_SUM || kind == IR_REDUCE_PROD)
        x = gen_exact(g, x, kind == IR_REDUCE_PROD);
    operands[1] = x;
    if (kind != IR_REDUCE_CUSTOM || dice_chance(&g->dice, 50)) return 1;
    operands[2] = gen_like(g, ir_with_elem(g->m, x->type, gen_elem(g, DTYPE_CLASS_ANY)));
    return 2;
}

static void push_results(Gen *g, IrOp *op) {
    for (uint32_t i = 0; i < op->result_count; i++) gen_push(g, ir_result(op, i));
}

static void gen_reduce(Gen *g) {
    IrReduce kind = (IrReduce)dice_below(&g->dice, IR_REDUCE_CUSTOM + 1);
    uint32_t axis;
    IrValue *operands[3];
    uint32_t count = reduce_tiles(g, kind, &axis, operands);
    operands[0] = gen_mask(g, operands[1]->type);
    const IrType *to[2];
    for (uint32_t i = 0; i < count; i++) {
        to[i] = without_axis(g, operands[i + 1]->type, axis);
        if (kind == IR_REDUCE_ARGMIN || kind == IR_REDUCE_ARGMAX)
            to[i] = ir_with_elem(g->m, to[i], DTYPE_I32);
    }
    bool custom = kind == IR_REDUCE_CUSTOM;
    IrBlock *combiner = custom ? gen_combiner(g, operands + 1, count) : NULL;
    IrOp *op = ir_op(&g->b, IR_REDUCE, count + 1, operands, count, to, custom, &combiner);
    ir_attr_set_int(op, IR_ATTR_REDUCE, kind);
    ir_attr_set_int(op, IR_ATTR_AXIS, axis);
    push_results(g, op);
}

static void gen_scan(Gen *g) {
    static const IrReduce kinds[] = {IR_REDUCE_SUM,   IR_REDUCE_PROD,   IR_REDUCE_MIN,
                                     IR_REDUCE_MAX,   IR_REDUCE_MINNUM, IR_REDUCE_MAXNUM,
                                     IR_REDUCE_CUSTOM};
    IrReduce kind = kinds[dice_below(&g->dice, 7)];
    uint32_t axis;
    IrValue *operands[3];
    uint32_t count = reduce_tiles(g, kind, &axis, operands);
    const IrType *to[2];
    for (uint32_t i = 0; i < count; i++) to[i] = operands[i + 1]->type;
    bool custom = kind == IR_REDUCE_CUSTOM;
    IrBlock *combiner = custom ? gen_combiner(g, operands + 1, count) : NULL;
    IrOp *op = ir_op(&g->b, IR_SCAN, count, operands + 1, count, to, custom, &combiner);
    ir_attr_set_int(op, IR_ATTR_REDUCE, kind);
    ir_attr_set_int(op, IR_ATTR_AXIS, axis);
    ir_attr_set_int(op, IR_ATTR_REVERSE, dice_chance(&g->dice, 50));
    ir_attr_set_int(op, IR_ATTR_EXCLUSIVE, dice_chance(&g->dice, 50));
    push_results(g, op);
}

// ---- orders -------------------------------------------------------------------------------------

static void gen_sort(Gen *g) {
    uint32_t axis, count = (uint32_t)dice_below(&g->dice, 3) + 1;
    IrValue *operands[3];
    const IrType *to[3];
    operands[0] = pick_tile(g, DTYPE_CLASS_ANY, &axis);
    for (uint32_t i = 0; i < count; i++) {
        const IrType *t = operands[0]->type;
        if (i) operands[i] = gen_like(g, ir_with_elem(g->m, t, gen_elem(g, DTYPE_CLASS_ANY)));
        to[i] = operands[i]->type;
    }
    IrOp *op = ir_op(&g->b, IR_SORT, count, operands, count, to, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_AXIS, axis);
    ir_attr_set_int(op, IR_ATTR_DESCENDING, dice_chance(&g->dice, 50));
    push_results(g, op);
}

static void gen_topk(Gen *g) {
    uint32_t axis;
    IrValue *x = pick_tile(g, DTYPE_CLASS_NUMBER, &axis);
    uint32_t count = x->type->shape[axis];
    while (count > 1 && dice_chance(&g->dice, 60)) count /= 2;
    const IrType *to[2] = {with_extent(g, x->type, axis, count)};
    to[1] = ir_with_elem(g->m, to[0], DTYPE_I32);
    IrOp *op = ir_op(&g->b, IR_TOPK, 1, &x, 2, to, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_AXIS, axis);
    ir_attr_set_int(op, IR_ATTR_COUNT, count);
    push_results(g, op);
}

static void gen_histogram(Gen *g) {
    uint32_t bins = 1u << dice_below(&g->dice, 6);
    IrValue *x = gen_pick(g, DTYPE_CLASS_INT);
    uint32_t count = x->type->count;
    if (x->type->rank != 1) x = ir_reshape(&g->b, x, 1, &count);
    IrValue *operands[] = {gen_mask(g, x->type), x};
    const IrType *to = ir_tile(g->m, DTYPE_I32, 1, &bins);
    gen_push(g, ir_result(ir_op(&g->b, IR_HISTOGRAM, 2, operands, 1, &to, 0, NULL), 0));
}

static void gen_random(Gen *g) {
    IrValue *offset = gen_pick(g, DTYPE_CLASS_INT);
    IrValue *operands[] = {gen_scalar(g, gen_elem(g, DTYPE_CLASS_INT)), offset};
    const IrType *t = ir_with_elem(g->m, offset->type, DTYPE_U32);
    const IrType *to[] = {t, t, t, t};
    push_results(g, ir_op(&g->b, IR_RANDOM, 2, operands, 4, to, 0, NULL));
}

void gen_tile_op(Gen *g, IrOpcode code) {
    IrRule rule = ir_op_info(code)->rule;
    if (rule == IR_RULE_CAT) gen_cat(g);
    if (rule == IR_RULE_GATHER) gen_gather(g);
    if (rule == IR_RULE_DOT) gen_dot(g);
    if (rule == IR_RULE_REDUCE) gen_reduce(g);
    if (rule == IR_RULE_SCAN) gen_scan(g);
    if (rule == IR_RULE_SORT) gen_sort(g);
    if (rule == IR_RULE_TOPK) gen_topk(g);
    if (rule == IR_RULE_HISTOGRAM) gen_histogram(g);
    if (rule == IR_RULE_RANDOM) gen_random(g);
}

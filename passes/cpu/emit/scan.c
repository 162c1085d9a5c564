// Scans: lines along an axis, from the first element to the last (or in reverse).
//
// Along an outer axis, and for custom combiners, the lanes are neighbouring lines, and the
// accumulators are carried from place to place. Along the innermost axis, built-in kinds take a
// vector of places at a time: log2 steps of shifted lanes, then the result of all earlier vectors
// is joined to each lane.
//     x        a    b    c    d
//     step 1   a    ab   bc   cd
//     step 2   a    ab   abc  abcd
// Invariants: sums and products of narrow floats are carried in f32 and rounded once for each
// place; sums and products of integers are exact in any order.
#include "ir/reduce.h"
#include "passes/cpu/emit/lower.h"
#include "passes/cpu/tuning.h"

typedef struct ScanLoops {
    const IrOp *op;
    IrReduce kind;
    bool custom, reverse, exclusive;
    uint32_t count;           // of values
    int64_t outer, n, inner;  // of lines; row-major
    uint32_t lanes;           // 1: scalars
    bool along;               // lanes are along the axis
    TileBuffer *from, *to;
} ScanLoops;

static Dtype carried_elem(const ScanLoops *s, uint32_t i) {
    Dtype elem = s->from[i].type->elem;
    return !s->custom && reduce_is_wide(s->kind, elem) ? DTYPE_F32 : elem;
}

static uint32_t choose_lanes(const Lower *l, const ScanLoops *s) {
    if (s->custom && !reduce_is_straight(s->op->regions[0])) return 1;
    uint32_t size = 1;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t one = (uint32_t)dtype_size(carried_elem(s, i));
        if (one > size) size = one;
    }
    int64_t lanes = l->machine->vector_bytes / size, extent = s->along ? s->n : s->inner;
    if (!s->along) lanes *= TUNE_SCAN_REGISTERS;
    if (lanes > l->machine->vector_bytes) lanes = l->machine->vector_bytes;
    return (uint32_t)(lanes < extent ? lanes : extent);
}

static ScanLoops scan_of(Lower *l, const IrOp *op) {
    ScanLoops s = {
        .op = op, .kind = (IrReduce)ir_attr_int(op, IR_ATTR_REDUCE), .outer = 1, .inner = 1};
    const IrType *t = ir_operand(op, 0)->type;
    uint32_t axis = (uint32_t)ir_attr_int(op, IR_ATTR_AXIS);
    s.custom = s.kind == IR_REDUCE_CUSTOM;
    s.reverse = ir_attr_int(op, IR_ATTR_REVERSE) != 0;
    s.exclusive = ir_attr_int(op, IR_ATTR_EXCLUSIVE) != 0;
    s.count = op->operand_count;
    s.from = arena_new(l->scratch, TileBuffer, s.count);
    s.to = arena_new(l->scratch, TileBuffer, s.count);
    s.n = t->shape[axis];
    for (uint32_t d = 0; d < axis; d++) s.outer *= t->shape[d];
    for (uint32_t d = axis + 1; d < t->rank; d++) s.inner *= t->shape[d];
    for (uint32_t i = 0; i < s.count; i++) {
        s.from[i] = lower_buffer_of(l, ir_operand(op, i));
        s.to[i] = lower_buffer_of(l, ir_result(op, i));
    }
    s.along = s.inner == 1 && !s.custom;
    s.lanes = choose_lanes(l, &s);
    return s;
}

// ---- memory -------------------------------------------------------------------------------------

static const IrType *type_of(Lower *l, const ScanLoops *s, Dtype elem) {
    return ir_tile(l->module, elem, s->lanes > 1 ? 1 : 0, &s->lanes);
}

static IrValue *load(Lower *l, const ScanLoops *s, IrBuilder *b, uint32_t i, IrValue *at) {
    const IrType *t = type_of(l, s, s->from[i].type->elem);
    IrValue *operands[3] = {buffer_element(b, s->from[i], at), NULL, NULL};
    IrOpcode code = s->lanes > 1 ? IR_CPU_LOAD : IR_LOAD;
    IrValue *x = ir_result(ir_op(b, code, 3, operands, 1, &t, 0, NULL), 0);
    Dtype elem = carried_elem(s, i);
    return x->type->elem == elem ? x : ir_cast(b, x, elem, true);
}

static void store(const ScanLoops *s, IrBuilder *b, uint32_t i, IrValue *at, IrValue *x) {
    Dtype elem = s->to[i].type->elem;
    if (x->type->elem != elem) x = ir_cast(b, x, elem, true);
    IrValue *operands[3] = {buffer_element(b, s->to[i], at), x, NULL};
    ir_op(b, x->type->rank ? IR_CPU_STORE : IR_STORE, 3, operands, 0, NULL, 0, NULL);
}

// The identity in the first place of an exclusive scan: 0 for sums, although they start with -0.
static IrValue *shown_identity(const ScanLoops *s, IrBuilder *b, const IrType *t) {
    bool zero = s->custom || s->kind == IR_REDUCE_SUM;
    return ir_const_bits(b, t, zero ? 0 : ir_reduce_identity(s->kind, t->elem));
}

static void join(Lower *l, const ScanLoops *s, IrBuilder *b, IrValue *const *x, IrValue *const *y,
                 IrValue **out) {
    if (s->custom) {
        reduce_call_combiner(l, b, s->op->regions[0], x, y, out);
        return;
    }
    IrOpcode code = ir_reduce_opcode(s->kind, s->from[0].type->elem);
    out[0] = ir_binary(b, code, x[0], y[0]);
}

// ---- from place to place ------------------------------------------------------------------------

// The linear place of the k-th element in the scan's direction.
static IrValue *place_of(const ScanLoops *s, IrBuilder *b, IrValue *base, IrValue *k) {
    if (s->reverse) k = ir_binary(b, IR_SUB, lower_i64(b, s->n - 1), k);
    return lower_add(b, base, lower_mul(b, k, lower_i64(b, s->inner)));
}

// The first place has only its own element.
static void begin_lines(Lower *l, const ScanLoops *s, IrBuilder *b, IrValue *base,
                        IrValue **state) {
    IrValue *at = place_of(s, b, base, lower_i64(b, 0));
    for (uint32_t i = 0; i < s->count; i++) {
        IrValue *x = load(l, s, b, i, at);
        IrValue *nothing = shown_identity(s, b, type_of(l, s, s->to[i].type->elem));
        state[i] = x;
        if (!s->custom) {
            // The first element is combined with the identity, so that a NaN becomes the quiet one.
            IrValue *zero = ir_const_bits(b, x->type, ir_reduce_identity(s->kind, x->type->elem));
            join(l, s, b, &zero, &x, &state[i]);
        }
        store(s, b, i, at, s->exclusive ? nothing : state[i]);
    }
}

// Scans all places after the first, of as many lines as there are lanes.
static void scan_lines(Lower *l, const ScanLoops *s, IrBuilder *b, IrValue *base) {
    IrValue **state = arena_new(l->scratch, IrValue *, s->count);
    IrValue **x = arena_new(l->scratch, IrValue *, s->count);
    IrValue **next = arena_new(l->scratch, IrValue *, s->count);
    begin_lines(l, s, b, base, state);
    if (s->n == 1) return;
    IrOp *loop = lower_for(b, lower_i64(b, 1), lower_i64(b, s->n), 1, s->count, state);
    IrBlock *block = loop->regions[0];
    IrBuilder in = ir_builder_at_end(block);
    in.span = b->span;
    IrValue *at = place_of(s, &in, base, block->args[0]);
    for (uint32_t i = 0; i < s->count; i++) x[i] = load(l, s, &in, i, at);
    join(l, s, &in, block->args + 1, x, next);
    for (uint32_t i = 0; i < s->count; i++)
        store(s, &in, i, at, s->exclusive ? block->args[1 + i] : next[i]);
    ir_yield(&in, s->count, next);
}

// ---- a vector of places at a time ---------------------------------------------------------------

// Lane i takes lane i - by of x in the scan's direction; the first lanes take those of `before`.
static IrValue *shifted(Lower *l, const ScanLoops *s, IrBuilder *b, IrValue *before, IrValue *x,
                        uint32_t by) {
    int64_t *lanes = arena_new(l->scratch, int64_t, s->lanes);
    for (uint32_t i = 0; i < s->lanes; i++) {
        uint32_t k = s->reverse ? s->lanes - 1 - i : i;
        uint32_t from = s->reverse ? i + by : i - by;
        lanes[i] = k >= by ? s->lanes + from : i;
    }
    IrValue *operands[2] = {before, x};
    IrOp *op = ir_op(b, IR_VEC_SHUFFLE, 2, operands, 1, &x->type, 0, NULL);
    ir_attr_set_ints(op, IR_ATTR_LANES, s->lanes, lanes);
    return ir_result(op, 0);
}

static IrValue *last_lane(Lower *l, const ScanLoops *s, IrBuilder *b, IrValue *x) {
    const IrType *t = ir_with_shape(l->module, x->type, 0, NULL);
    IrOp *op = ir_op(b, IR_VEC_LANE, 1, &x, 1, &t, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_LANE, s->reverse ? 0 : s->lanes - 1);
    return ir_result(op, 0);
}

// Scans one vector of a line; `sum` is the result before it. Returns the result after it.
static IrValue *scan_vector(Lower *l, const ScanLoops *s, IrBuilder *b, IrValue *at, IrValue *sum) {
    IrValue *x = load(l, s, b, 0, at);
    IrValue *nothing = ir_const_bits(b, x->type, ir_reduce_identity(s->kind, x->type->elem));
    for (uint32_t by = 1; by < s->lanes; by *= 2) {
        IrValue *earlier = shifted(l, s, b, nothing, x, by);
        join(l, s, b, &earlier, &x, &x);
    }
    IrValue *all = ir_broadcast(b, sum, 1, &s->lanes);
    join(l, s, b, &all, &x, &x);
    store(s, b, 0, at, s->exclusive ? shifted(l, s, b, all, x, 1) : x);
    return last_lane(l, s, b, x);
}

static void scan_along(Lower *l, const ScanLoops *s, IrBuilder *b, IrValue *base) {
    Dtype elem = carried_elem(s, 0);
    const IrType *t = ir_scalar(l->module, elem);
    IrValue *sum = ir_const_bits(b, t, ir_reduce_identity(s->kind, elem));
    IrOp *loop = lower_for(b, lower_i64(b, 0), lower_i64(b, s->n), s->lanes, 1, &sum);
    IrBlock *block = loop->regions[0];
    IrBuilder in = ir_builder_at_end(block);
    in.span = b->span;
    IrValue *k = block->args[0];
    if (s->reverse) k = ir_binary(&in, IR_SUB, lower_i64(&in, s->n - s->lanes), k);
    IrValue *next = scan_vector(l, s, &in, lower_add(&in, base, k), block->args[1]);
    ir_yield(&in, 1, &next);
    if (!s->exclusive) return;
    IrValue *first = lower_add(b, base, lower_i64(b, s->reverse ? s->n - 1 : 0));
    store(s, b, 0, first, shown_identity(s, b, ir_scalar(l->module, s->to[0].type->elem)));
}

// ---- the op -------------------------------------------------------------------------------------

void scan_lower(Lower *l, IrOp *op) {
    for (uint32_t i = 0; i < op->result_count; i++) lower_result_buffer(l, ir_result(op, i));
    ScanLoops s = scan_of(l, op);
    IrBuilder b = lower_builder(l);
    IrValue *line, *i;
    IrBuilder outer = lower_open(&b, s.outer, 1, &line);
    IrValue *base = lower_mul(&outer, line, lower_i64(&outer, s.n * s.inner));
    IrBuilder inner = lower_open(&outer, s.inner, s.lanes, &i);
    if (s.along) inner = outer;
    base = lower_add(&inner, base, i);
    if (s.along && s.lanes > 1)
        scan_along(l, &s, &inner, base);
    else
        scan_lines(l, &s, &inner, base);
    lower_close(&inner, &outer);
    lower_close(&outer, &b);
}

// Sorts, topk, histograms.
//
// A line is sorted through numbers in the order of its keys (`ranks`), by merging runs of 1, 2, 4,
// … from one half of a scratch array to the other. Ranks of 32 bits and fewer share a u64 with
// their places, which makes all of them different; ranks of 64 bits have a separate array of
// places. The results are gathered by the places at the end.
//     ranks      for k: a[k] = rank(key[k]) << 32 | k
//     merges     for each width: for each pair of runs: for k: take the lesser head
//     results    for k: r[k] = x[place(a[k])]
// Invariants: equal keys keep their order; NaNs come last in either direction; zeros are equal.
#include "passes/cpu/emit/lower.h"
#include "passes/sort_key.h"

enum { RANK_BITS = 32 };

typedef struct SortLoops {
    const IrOp *op;
    bool descending;
    int64_t outer, n, inner;        // of lines; row-major
    int64_t taken;                  // results of each line, from its start
    bool packed;                    // a rank and its place share a number
    uint32_t lanes;                 // in loops along the line; 1: scalars
    TileBuffer key, order, places;  // order, places: two halves of n
} SortLoops;

static SortLoops sort_of(Lower *l, const IrOp *op) {
    enum { ORDER_BYTES = 8 };
    SortLoops s = {.op = op, .outer = 1, .inner = 1};
    const IrType *t = ir_operand(op, 0)->type;
    uint32_t axis = (uint32_t)ir_attr_int(op, IR_ATTR_AXIS);
    bool topk = op->code == IR_TOPK;
    s.descending = topk || ir_attr_int(op, IR_ATTR_DESCENDING) != 0;
    s.n = t->shape[axis];
    s.taken = topk ? ir_attr_int(op, IR_ATTR_COUNT) : s.n;
    for (uint32_t d = 0; d < axis; d++) s.outer *= t->shape[d];
    for (uint32_t d = axis + 1; d < t->rank; d++) s.inner *= t->shape[d];
    s.packed = dtype_size(t->elem) * 8 <= RANK_BITS;
    s.key = lower_buffer_of(l, ir_operand(op, 0));
    uint32_t both = (uint32_t)(2 * s.n);
    s.order = buffer_create(l, ir_tile(l->module, DTYPE_U64, 1, &both));
    if (!s.packed) s.places = buffer_create(l, ir_tile(l->module, DTYPE_U64, 1, &both));
    int64_t lanes = l->machine->vector_bytes / ORDER_BYTES;
    if (lanes > s.taken) lanes = s.taken;
    s.lanes = s.inner == 1 ? (uint32_t)lanes : 1;
    return s;
}

// ---- memory -------------------------------------------------------------------------------------

static IrValue *load_at(Lower *l, IrBuilder *b, TileBuffer buffer, IrValue *at, uint32_t lanes) {
    const IrType *t = ir_tile(l->module, buffer.data->type->elem, lanes > 1 ? 1 : 0, &lanes);
    IrValue *operands[3] = {buffer_element(b, buffer, at), NULL, NULL};
    return ir_result(ir_op(b, lanes > 1 ? IR_CPU_LOAD : IR_LOAD, 3, operands, 1, &t, 0, NULL), 0);
}

static void store_at(IrBuilder *b, TileBuffer buffer, IrValue *at, IrValue *x) {
    IrValue *operands[3] = {buffer_element(b, buffer, at), x, NULL};
    ir_op(b, x->type->rank ? IR_CPU_STORE : IR_STORE, 3, operands, 0, NULL, 0, NULL);
}

static IrValue *gather_at(Lower *l, IrBuilder *b, TileBuffer buffer, IrValue *at) {
    if (at->type->rank == 0) return load_at(l, b, buffer, at, 1);
    IrValue *data = ir_broadcast(b, buffer.data, 1, at->type->shape);
    const IrType *t = ir_with_elem(l->module, at->type, buffer.data->type->elem);
    IrValue *operands[3] = {ir_ptr_add(b, data, at), NULL, NULL};
    return ir_result(ir_op(b, IR_LOAD, 3, operands, 1, &t, 0, NULL), 0);
}

// ---- ranks --------------------------------------------------------------------------------------

static IrValue *number(IrBuilder *b, const IrValue *like, uint64_t bits) {
    return ir_const_bits(b, like->type, bits);
}

static IrValue *bits_as(IrBuilder *b, IrValue *x, Dtype elem) {
    return x->type->elem == elem ? x : ir_bitcast(b, x, ir_with_elem(b->module, x->type, elem));
}

// k, or k, k + 1, …, as u64.
static IrValue *places_from(IrBuilder *b, IrValue *k, uint32_t lanes) {
    IrValue *at = bits_as(b, k, DTYPE_U64);
    if (lanes == 1) return at;
    at = ir_broadcast(b, at, 1, &lanes);
    return ir_binary(b, IR_ADD, at, ir_cast(b, ir_iota(b, lanes), DTYPE_U64, true));
}

static void emit_ranks(Lower *l, const SortLoops *s, IrBuilder *b, IrValue *base) {
    IrValue *k;
    IrBuilder in = lower_open(b, s->n, s->lanes, &k);
    IrValue *at = lower_add(&in, base, lower_mul(&in, k, lower_i64(&in, s->inner)));
    IrValue *rank = rank_of(&in, load_at(l, &in, s->key, at, s->lanes), s->descending);
    IrValue *place = places_from(&in, k, s->lanes);
    if (s->packed) {
        rank = ir_cast(&in, rank, DTYPE_U64, true);
        rank = ir_binary(&in, IR_SHL, rank, number(&in, rank, RANK_BITS));
        rank = ir_binary(&in, IR_OR, rank, place);
    } else {
        store_at(&in, s->places, k, place);
    }
    store_at(&in, s->order, k, rank);
    lower_close(&in, b);
}

// ---- merges -------------------------------------------------------------------------------------

typedef struct SortMerge {
    IrValue *width, *from, *to;  // halves of the arrays
    IrValue *low, *middle, *high;
} SortMerge;

// The k-th element of the two merged runs: `a` is the head of the first run, and k + middle - a
// that of the second. Returns the next `a`.
static IrValue *merge_step(Lower *l, const SortLoops *s, IrBuilder *b, const SortMerge *m,
                           IrValue *k, IrValue *a) {
    IrValue *head = ir_binary(b, IR_SUB, ir_binary(b, IR_ADD, k, m->middle), a);
    IrValue *second_over = ir_binary(b, IR_GE, head, m->high);
    IrValue *c = lower_min(b, head, lower_i64(b, s->n - 1));
    IrValue *x_at = ir_binary(b, IR_ADD, m->from, a), *y_at = ir_binary(b, IR_ADD, m->from, c);
    IrValue *x = load_at(l, b, s->order, x_at, 1), *y = load_at(l, b, s->order, y_at, 1);
    IrValue *first = ir_binary(b, IR_OR, second_over, ir_binary(b, IR_LE, x, y));
    first = ir_binary(b, IR_AND, first, ir_binary(b, IR_LT, a, m->middle));
    IrValue *target = ir_binary(b, IR_ADD, m->to, k);
    store_at(b, s->order, target, ir_ternary(b, IR_SELECT, first, x, y));
    if (!s->packed) {
        x = load_at(l, b, s->places, x_at, 1);
        y = load_at(l, b, s->places, y_at, 1);
        store_at(b, s->places, target, ir_ternary(b, IR_SELECT, first, x, y));
    }
    return ir_binary(b, IR_ADD, a, ir_cast(b, first, DTYPE_I64, true));
}

static void merge_runs(Lower *l, const SortLoops *s, IrBuilder *b, const SortMerge *m) {
    IrOp *loop = lower_for(b, m->low, m->high, 1, 1, &m->low);
    IrBlock *block = loop->regions[0];
    IrBuilder in = ir_builder_at_end(block);
    in.span = b->span;
    IrValue *next = merge_step(l, s, &in, m, block->args[0], block->args[1]);
    ir_yield(&in, 1, &next);
}

// Merges all pairs of neighbouring runs; every second run begins a pair.
static void merge_level(Lower *l, const SortLoops *s, IrBuilder *b, SortMerge m) {
    IrValue *pair = ir_binary(b, IR_ADD, m.width, m.width);
    IrOp *loop = lower_for(b, lower_i64(b, 0), lower_i64(b, s->n), 1, 0, NULL);
    ir_set_operand(loop, 2, pair);
    IrBuilder in = ir_builder_at_end(loop->regions[0]);
    in.span = b->span;
    m.low = loop->regions[0]->args[0];
    m.middle = ir_binary(&in, IR_ADD, m.low, m.width);
    m.high = ir_binary(&in, IR_ADD, m.low, pair);
    merge_runs(l, s, &in, &m);
    ir_yield(&in, 0, NULL);
}

// Returns the start of the half that holds the sorted line.
static IrValue *emit_merges(Lower *l, const SortLoops *s, IrBuilder *b) {
    int64_t levels = 0;
    while ((INT64_C(1) << levels) < s->n) levels++;
    if (levels == 0) return lower_i64(b, 0);
    IrValue *init[2] = {lower_i64(b, 1), lower_i64(b, 0)};
    IrOp *loop = lower_for(b, lower_i64(b, 0), lower_i64(b, levels), 1, 2, init);
    IrBlock *block = loop->regions[0];
    IrBuilder in = ir_builder_at_end(block);
    in.span = b->span;
    SortMerge m = {.width = block->args[1], .from = block->args[2]};
    m.to = ir_binary(&in, IR_SUB, lower_i64(&in, s->n), m.from);
    merge_level(l, s, &in, m);
    IrValue *next[2] = {ir_binary(&in, IR_ADD, m.width, m.width), m.to};
    ir_yield(&in, 2, next);
    return ir_result(loop, 1);
}

// ---- results ------------------------------------------------------------------------------------

static IrValue *sorted_places(Lower *l, const SortLoops *s, IrBuilder *b, IrValue *at) {
    IrValue *p = load_at(l, b, s->packed ? s->order : s->places, at, s->lanes);
    if (s->packed) p = ir_binary(b, IR_AND, p, number(b, p, UINT32_MAX));
    return bits_as(b, p, DTYPE_I64);
}

static void emit_results(Lower *l, const SortLoops *s, IrBuilder *b, IrValue *half, IrValue *base,
                         IrValue *target) {
    IrValue *k;
    IrBuilder in = lower_open(b, s->taken, s->lanes, &k);
    IrValue *place = sorted_places(l, s, &in, lower_add(&in, half, k));
    IrValue *from = place, *first = base;
    if (s->inner > 1) from = lower_mul(&in, from, lower_i64(&in, s->inner));
    if (from->type->rank) first = ir_broadcast(&in, base, 1, &s->lanes);
    from = ir_binary(&in, IR_ADD, from, first);
    IrValue *to = lower_add(&in, target, lower_mul(&in, k, lower_i64(&in, s->inner)));
    bool topk = s->op->code == IR_TOPK;
    for (uint32_t i = 0; i < s->op->result_count; i++) {
        bool places = topk && i == 1;
        IrValue *x = places ? ir_cast(&in, place, DTYPE_I32, true)
                            : gather_at(l, &in, lower_buffer_of(l, ir_operand(s->op, i)), from);
        store_at(&in, lower_buffer_of(l, ir_result(s->op, i)), to, x);
    }
    lower_close(&in, b);
}

static void lower_sort(Lower *l, const IrOp *op) {
    SortLoops s = sort_of(l, op);
    IrBuilder b = lower_builder(l);
    IrValue *line, *i;
    IrBuilder outer = lower_open(&b, s.outer, 1, &line);
    IrBuilder inner = lower_open(&outer, s.inner, 1, &i);
    IrValue *base = lower_mul(&inner, line, lower_i64(&inner, s.n * s.inner));
    IrValue *target = lower_mul(&inner, line, lower_i64(&inner, s.taken * s.inner));
    base = lower_add(&inner, base, i);
    target = lower_add(&inner, target, i);
    emit_ranks(l, &s, &inner, base);
    IrValue *half = emit_merges(l, &s, &inner);
    emit_results(l, &s, &inner, half, base, target);
    lower_close(&inner, &outer);
    lower_close(&outer, &b);
}

// ---- histograms ---------------------------------------------------------------------------------

static void clear(Lower *l, IrBuilder *b, TileBuffer buffer) {
    uint32_t lanes = l->machine->vector_bytes / (uint32_t)dtype_size(buffer.type->elem);
    if (lanes > buffer.type->count) lanes = buffer.type->count;
    const IrType *t = ir_tile(l->module, buffer.type->elem, lanes > 1 ? 1 : 0, &lanes);
    IrValue *at;
    IrBuilder in = lower_open(b, buffer.type->count, lanes, &at);
    store_at(&in, buffer, at, ir_const_bits(&in, t, 0));
    lower_close(&in, b);
}

// An element that is left out adds 0 to bin 0.
static void lower_histogram(Lower *l, const IrOp *op) {
    IrBuilder b = lower_builder(l);
    const IrValue *mask = ir_operand(op, 0), *x = ir_operand(op, 1);
    TileBuffer bins = lower_buffer_of(l, ir_result(op, 0));
    clear(l, &b, bins);
    IrValue *i;
    IrBuilder in = lower_open(&b, x->type->count, 1, &i);
    IrValue *v = ir_cast(&in, load_at(l, &in, lower_buffer_of(l, x), i, 1), DTYPE_I64, true);
    IrValue *u = bits_as(&in, v, DTYPE_U64);
    IrValue *counts = ir_binary(&in, IR_LT, u, number(&in, u, bins.type->count));
    if (mask)
        counts = ir_binary(&in, IR_AND, counts, load_at(l, &in, lower_buffer_of(l, mask), i, 1));
    v = ir_ternary(&in, IR_SELECT, counts, v, lower_i64(&in, 0));
    IrValue *old = load_at(l, &in, bins, v, 1);
    store_at(&in, bins, v, ir_binary(&in, IR_ADD, old, ir_cast(&in, counts, DTYPE_I32, true)));
    lower_close(&in, &b);
}

void order_lower(Lower *l, IrOp *op) {
    for (uint32_t i = 0; i < op->result_count; i++)
        if (cpu_is_tile(ir_result(op, i))) lower_result_buffer(l, ir_result(op, i));
    if (op->code == IR_HISTOGRAM)
        lower_histogram(l, op);
    else
        lower_sort(l, op);
}

// Gathers, histograms, sorts: elements that are looked up by number, in shared memory.
//
// A line is sorted as numbers that order as its keys do, together with their positions (network.h):
// in registers, if that is not too much code, else in memory. Then the values that follow the keys
// are looked up by position.
//
// In memory the network is a loop over steps: for runs of 2, 4, 8, …, steps of half a run, a
// quarter, … , 1. Each step compares disjoint pairs and ends with one barrier.
#include "passes/gpu/lower/network.h"
#include "passes/gpu/lower/shared_table.h"
#include "passes/sort_key.h"

enum { RANK_BITS = 32 };

static uint32_t thread_count(const Threads *t) { return ir_thread_count(t->func); }

static uint32_t log2_of(uint32_t x) { return (uint32_t)__builtin_ctz(x); }

// ---- gathers ------------------------------------------------------------------------------------

static IrValue *number_like(Threads *t, const IrValue *x, uint64_t bits) {
    return ir_const_bits(&t->b, x->type, bits);
}

// 0 <= index < n, of a vector of i64.
static IrValue *is_inside(Threads *t, IrValue *index, uint32_t n) {
    IrValue *u = ir_cast(&t->b, index, DTYPE_U64, false);
    return ir_binary(&t->b, IR_LT, u, number_like(t, u, n));
}

static IrValue *as_i64(Threads *t, IrValue *x) {
    return x->type->elem == DTYPE_I64 ? x : ir_cast(&t->b, x, DTYPE_I64, false);
}

static void gather(Threads *t, const IrOp *op) {
    const IrValue *x = ir_operand(op, 0), *index = ir_operand(op, 1);
    const Layout *l = op->results[0].type->layout;
    uint32_t axis = (uint32_t)ir_attr_int(op, IR_ATTR_AXIS), strides[IR_MAX_RANK];
    place_strides(x->type, strides);
    IrValue *memory = threads_shared(t, x->type->elem, x->type->count);
    remark(t->remarks, op->span, REASON_GATHER_SHARED, NULL,
           REMARK((int64_t)x->type->count * ir_elem_size(x->type)));
    SharedPlace from = place_of(t, x->type->layout, strides);
    place_store(t, memory, threads_value(t, x), &from);
    threads_barrier(t);
    IrValue *at = as_i64(t, threads_move(t, threads_value(t, index), index->type->layout, l));
    IrValue *mask = is_inside(t, at, x->type->shape[axis]);
    at = ir_binary(&t->b, IR_MUL, at, number_like(t, at, strides[axis]));
    strides[axis] = 0;
    SharedPlace to = place_of(t, l, strides);
    threads_define(t, op, 0, place_load(t, memory, &to, at, mask));
    threads_barrier(t);
}

// ---- histograms ---------------------------------------------------------------------------------

static void count_one(Threads *t, IrValue *p, IrValue *one, IrValue *mask) {
    IrValue *operands[3] = {p, one, mask};
    const IrType *type = one->type;
    IrOp *op = ir_op(&t->b, IR_ATOMIC, 3, operands, 1, &type, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_RMW, IR_RMW_ADD);
    ir_attr_set_int(op, IR_ATTR_ORDER, IR_ORDER_RELAXED);
    ir_attr_set_int(op, IR_ATTR_SCOPE, IR_SCOPE_PROGRAM);
}

static void count_all(Threads *t, const IrOp *op, IrValue *memory, uint32_t bins) {
    const IrValue *x = ir_operand(op, 1), *mask = ir_operand(op, 0);
    const Layout *l = x->type->layout;
    IrValue *at = as_i64(t, threads_value(t, x)), *on = is_inside(t, at, bins);
    if (mask) {
        IrValue *m = threads_move(t, threads_value(t, mask), mask->type->layout, l);
        on = ir_binary(&t->b, IR_AND, on, m);
    }
    IrValue *owner = threads_owner(t, l), *one = threads_i32(t, 1);
    for (uint32_t r = 0; r < layout_size(l, LAYOUT_REG); r++) {
        if (threads_first_holder(l, r) != r) continue;
        IrValue *counts = threads_get(t, on, r);
        if (owner) counts = ir_binary(&t->b, IR_AND, counts, owner);
        IrValue *bin =
            ir_ternary(&t->b, IR_SELECT, counts, threads_get(t, at, r), threads_i64(t, 0));
        count_one(t, threads_at(t, memory, bin), one, counts);
    }
}

static void histogram(Threads *t, const IrOp *op) {
    const IrType *type = op->results[0].type;
    uint32_t strides[IR_MAX_RANK];
    place_strides(type, strides);
    IrValue *memory = threads_shared(t, DTYPE_I32, type->count);
    remark(t->remarks, op->span, REASON_HISTOGRAM_ATOMICS, NULL, REMARK(type->count));
    SharedPlace bins = place_of(t, type->layout, strides);
    place_store(t, memory, ir_const_bits(&t->b, threads_type(t, type), 0), &bins);
    threads_barrier(t);
    count_all(t, op, memory, type->count);
    threads_barrier(t);
    threads_define(t, op, 0, place_load(t, memory, &bins, NULL, NULL));
    threads_barrier(t);
}

// ---- sorts: ranks and positions -----------------------------------------------------------------

typedef struct SortLowering {
    const IrOp *op;
    uint32_t axis, n, total;        // of lines; of the tile
    uint32_t strides[IR_MAX_RANK];  // lines one after the other
    bool packed;                    // ranks and positions share a number
    IrValue *order, *places;        // memory
} SortLowering;

// The positions of a vector's registers on the axis, as elements of type `elem`.
static IrValue *places_of(Threads *t, const Layout *l, uint32_t axis, Dtype elem) {
    uint32_t count = layout_size(l, LAYOUT_REG);
    IrValue **parts = arena_new(t->scratch, IrValue *, count);
    for (uint32_t r = 0; r < count; r++) parts[r] = threads_coord_of(t, l, axis, r);
    return ir_cast(&t->b, threads_pack(t, count, parts), elem, false);
}

static void leave_ranks(Threads *t, SortLowering *s, bool descending) {
    const IrValue *key = ir_operand(s->op, 0);
    const Layout *l = key->type->layout;
    SharedPlace at = place_of(t, l, s->strides);
    IrValue *rank = rank_of(&t->b, threads_value(t, key), descending);
    s->packed = dtype_size(rank->type->elem) * 8 <= RANK_BITS;
    uint32_t steps = log2_of(s->n);
    remark(t->remarks, s->op->span, REASON_SORT_NETWORK, NULL,
           REMARK(s->n, steps * (steps + 1) / 2));
    s->order = threads_shared(t, DTYPE_U64, s->total);
    if (s->packed) {
        IrValue *place = places_of(t, l, s->axis, DTYPE_U64);
        rank = ir_cast(&t->b, rank, DTYPE_U64, false);
        rank = ir_binary(&t->b, IR_SHL, rank, number_like(t, rank, RANK_BITS));
        rank = ir_binary(&t->b, IR_OR, rank, place);
    } else {
        s->places = threads_shared(t, DTYPE_U32, s->total);
        place_store(t, s->places, places_of(t, l, s->axis, DTYPE_U32), &at);
    }
    place_store(t, s->order, rank, &at);
    threads_barrier(t);
}

// ---- sorts: the network -------------------------------------------------------------------------

typedef struct SortLoop {
    IrBuilder outer;
    IrValue *i;  // i64
} SortLoop;

static SortLoop loop_open(Threads *t, IrValue *from, IrValue *below) {
    IrBlock *block = ir_block_create(t->func);
    IrValue *operands[3] = {from, below, threads_i64(t, 1)};
    SortLoop loop = {.i = ir_block_add_arg(block, from->type)};
    ir_op(&t->b, IR_FOR, 3, operands, 0, NULL, 1, &block);
    loop.outer = t->b;
    t->b = ir_builder_at_end(block);
    t->b.span = loop.outer.span;
    return loop;
}

static void loop_close(Threads *t, const SortLoop *loop) {
    ir_yield(&t->b, 0, NULL);
    t->b = loop->outer;
}

// Both ends of a pair, in one of the arrays.
typedef struct Ends {
    IrValue *low_at, *high_at;
    IrValue *low, *high;
} Ends;

static Ends ends_of(Threads *t, IrValue *memory, IrValue *low, IrValue *high, IrValue *mask) {
    Ends e = {threads_at(t, memory, low), threads_at(t, memory, high), NULL, NULL};
    e.low = threads_load(t, e.low_at, 1, 0, mask, NULL);
    e.high = threads_load(t, e.high_at, 1, 0, mask, NULL);
    return e;
}

static void put_ends(Threads *t, const Ends *e, IrValue *swap, IrValue *mask) {
    threads_store(t, e->low_at, ir_ternary(&t->b, IR_SELECT, swap, e->high, e->low), 0, mask);
    threads_store(t, e->high_at, ir_ternary(&t->b, IR_SELECT, swap, e->low, e->high), 0, mask);
}

// Compares pair `pair` of the step whose ends are 1 << step apart; runs have 1 << run elements, and
// every second run is descending.
static void compare_pair(Threads *t, const SortLowering *s, IrValue *pair, IrValue *run,
                         IrValue *step, IrValue *mask) {
    IrBuilder *b = &t->b;
    IrValue *one = threads_i32(t, 1), *apart = ir_binary(b, IR_SHL, one, step);
    IrValue *rest = ir_binary(b, IR_AND, pair, ir_binary(b, IR_SUB, apart, one));
    IrValue *low = ir_binary(b, IR_SHL, ir_binary(b, IR_SUB, pair, rest), one);
    low = ir_binary(b, IR_OR, low, rest);
    IrValue *high = ir_binary(b, IR_OR, low, apart);
    IrValue *in_line = ir_binary(b, IR_AND, low, threads_i32(t, s->n - 1));
    IrValue *odd = ir_binary(b, IR_AND, ir_binary(b, IR_SHR, in_line, run), one);
    IrValue *down = ir_binary(b, IR_NE, odd, threads_i32(t, 0));
    Ends order = ends_of(t, s->order, low, high, mask), places = {0};
    IrValue *later = ir_binary(b, IR_GT, order.low, order.high);
    if (!s->packed) {
        places = ends_of(t, s->places, low, high, mask);
        IrValue *tie = ir_binary(b, IR_EQ, order.low, order.high);
        tie = ir_binary(b, IR_AND, tie, ir_binary(b, IR_GT, places.low, places.high));
        later = ir_binary(b, IR_OR, later, tie);
    }
    IrValue *swap = ir_binary(b, IR_XOR, later, down);
    put_ends(t, &order, swap, mask);
    if (!s->packed) put_ends(t, &places, swap, mask);
}

static void compare_pairs(Threads *t, const SortLowering *s, IrValue *run, IrValue *step) {
    uint32_t pairs = s->total / 2, threads = thread_count(t);
    if (pairs <= threads) {
        IrValue *on = ir_binary(&t->b, IR_LT, t->thread, threads_i32(t, pairs));
        compare_pair(t, s, t->thread, run, step, pairs < threads ? on : NULL);
        return;
    }
    SortLoop each = loop_open(t, threads_i64(t, 0), threads_i64(t, pairs / threads));
    IrValue *pair = ir_cast(&t->b, each.i, DTYPE_I32, false);
    pair = ir_binary(&t->b, IR_MUL, pair, threads_i32(t, threads));
    compare_pair(t, s, ir_binary(&t->b, IR_ADD, pair, t->thread), run, step, NULL);
    loop_close(t, &each);
}

static void network(Threads *t, const SortLowering *s) {
    if (s->n == 1) return;
    SortLoop runs = loop_open(t, threads_i64(t, 1), threads_i64(t, log2_of(s->n) + 1));
    SortLoop steps = loop_open(t, threads_i64(t, 0), runs.i);
    IrValue *last = ir_binary(&t->b, IR_SUB, runs.i, threads_i64(t, 1));
    IrValue *step = ir_cast(&t->b, ir_binary(&t->b, IR_SUB, last, steps.i), DTYPE_I32, false);
    compare_pairs(t, s, ir_cast(&t->b, runs.i, DTYPE_I32, false), step);
    threads_barrier(t);
    loop_close(t, &steps);
    loop_close(t, &runs);
}

// ---- sorts: results -----------------------------------------------------------------------------

// For each register of a result, the position on the axis of the element that it takes: i32.
static IrValue *taken_places(Threads *t, const SortLowering *s, const Layout *l) {
    SharedPlace at = place_of(t, l, s->strides);
    IrValue *p = place_load(t, s->packed ? s->order : s->places, &at, NULL, NULL);
    if (s->packed) p = ir_binary(&t->b, IR_AND, p, number_like(t, p, UINT32_MAX));
    return ir_cast(&t->b, p, DTYPE_I32, false);
}

// Looks up a payload by the positions; every line stays its own.
static IrValue *look_up(Threads *t, const SortLowering *s, const IrValue *x, const Layout *l,
                        IrValue *places) {
    uint32_t lines[IR_MAX_RANK];
    for (uint32_t d = 0; d < l->rank; d++) lines[d] = d == s->axis ? 0 : s->strides[d];
    IrValue *memory = threads_shared(t, x->type->elem, s->total);
    SharedPlace from = place_of(t, x->type->layout, s->strides), to = place_of(t, l, lines);
    place_store(t, memory, threads_value(t, x), &from);
    threads_barrier(t);
    IrValue *r = place_load(t, memory, &to, places, NULL);
    threads_barrier(t);
    return r;
}

static void sort_in_memory(Threads *t, SortLowering *s, bool descending, IrValue **places) {
    leave_ranks(t, s, descending);
    network(t, s);
    for (uint32_t i = 0; i < s->op->result_count; i++)
        places[i] = taken_places(t, s, s->op->results[i].type->layout);
    threads_barrier(t);
}

// Ranks with their positions: in the low half of a number of twice a rank's size, if there is one.
static void number(Threads *t, Network *net, IrValue *rank, const IrValue *key, uint32_t axis) {
    uint32_t bits = dtype_size(rank->type->elem) > 2 ? 32 : 16;
    Dtype wide = bits == 32 ? DTYPE_U64 : DTYPE_U32;
    rank = threads_move(t, rank, key->type->layout, &net->layout);
    if (dtype_size(rank->type->elem) * 8 > bits) {
        net->order = rank;
        net->places = places_of(t, &net->layout, axis, DTYPE_U32);
        return;
    }
    IrValue *order = ir_cast(&t->b, rank, wide, false);
    order = ir_binary(&t->b, IR_SHL, order, number_like(t, order, bits));
    net->order = ir_binary(&t->b, IR_OR, order, places_of(t, &net->layout, axis, wide));
}

static IrValue *places_in(Threads *t, const Network *net) {
    IrValue *at = net->places ? net->places : net->order;
    uint32_t bits = (uint32_t)dtype_size(at->type->elem) * 4;
    if (!net->places)
        at = ir_binary(&t->b, IR_AND, at, number_like(t, at, (UINT64_C(1) << bits) - 1));
    return ir_cast(&t->b, at, DTYPE_I32, false);
}

// False: there would be too much code.
static bool sort_in_registers(Threads *t, const SortLowering *s, bool descending,
                              IrValue **places) {
    const IrOp *op = s->op;
    const IrValue *key = ir_operand(op, 0);
    Network net;
    uint32_t kept = op->code == IR_TOPK ? op->results[0].type->shape[s->axis] : 0;
    if (s->n > 1 << 16 || !network_plan(&net, t, key->type, s->axis, kept)) return false;
    number(t, &net, rank_of(&t->b, threads_value(t, key), descending), key, s->axis);
    network_sort(&net);
    for (uint32_t i = 0; i < op->result_count; i++)
        places[i] = threads_move(t, places_in(t, &net), &net.layout, op->results[i].type->layout);
    return true;
}

static void sort(Threads *t, const IrOp *op) {
    const IrType *type = ir_operand(op, 0)->type;
    bool topk = op->code == IR_TOPK;
    bool descending = topk || ir_attr_int(op, IR_ATTR_DESCENDING) != 0;
    SortLowering s = {
        .op = op, .axis = (uint32_t)ir_attr_int(op, IR_ATTR_AXIS), .total = type->count};
    s.n = type->shape[s.axis];
    place_strides_along(type, s.axis, s.n, s.strides);
    IrValue **places = arena_new(t->scratch, IrValue *, op->result_count);
    if (!sort_in_registers(t, &s, descending, places)) sort_in_memory(t, &s, descending, places);
    for (uint32_t i = 0; i < op->result_count; i++) {
        const Layout *l = op->results[i].type->layout;
        bool is_place = topk && i == 1;
        threads_define(t, op, i,
                       is_place ? places[i] : look_up(t, &s, ir_operand(op, i), l, places[i]));
    }
}

void threads_order(Threads *t, const IrOp *op) {
    switch (op->code) {
    case IR_GATHER: gather(t, op); return;
    case IR_HISTOGRAM: histogram(t, op); return;
    case IR_SORT:
    case IR_TOPK: sort(t, op); return;
    default: break;
    }
}

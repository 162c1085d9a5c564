// Makes a loop of ops that repeat: what `for const` unrolled hundreds of times, or what a program
// wrote for the source.
//
// Needs: tile IR, before any decisions about tiles; constants folded, so that counters are
// constants. Keeps: values, and the number and order of effects. A body that is repeated so often
// costs the compiler minutes, and the processor gains nothing from the copies: the code no longer
// fits the caches of instructions. Only long runs are rolled; shorter ones were unrolled for a
// reason.
//
// How: constants are not counted as ops. A run is R iterations of the same ops, one after the other
// in a block. An operand is the same in all iterations; or the result of an op of the same
// iteration; or of the iteration before, which makes it a carried value; or a constant that grows
// by the same step from each iteration to the next. Nothing but the next iteration uses the results
// of an iteration, the last one's excepted. The last iteration stays after the loop, so that all
// other uses stay valid.
//
//     %1 = view_load %x, _, 0              for 0, 999, 1, %s (%i, %c) {
//     %2 = add %s, %1                          %1 = view_load %x, _, %i
//     %3 = view_load %x, _, 1         →        %2 = add %c, %1
//     %4 = add %2, %3                          yield %2
//     …                                    }
//                                          %3 = view_load %x, _, 999 …
#include <string.h>

#include "passes/passes.h"
#include "passes/rewrite.h"

// A run is rolled from this many iterations and ops on. No kernel of the examples has one.
enum { ITERATIONS_MIN = 100, OPS_MIN = 500 };
// Ops of one iteration; and ops of one shape that are tried as the beginning of the second one.
enum { PERIOD_MAX = 4096, TRIES = 8 };

typedef struct RollOp {
    IrOp *op;
    uint64_t shape;  // a hash of everything but operands
    uint32_t size;   // itself and the ops nested in it
    uint32_t next;   // the next op of the block with the same shape; 0: none
} RollOp;

// From op `start` on, `count` iterations of `period` ops each.
typedef struct RollRun {
    uint32_t start, period, count;
} RollRun;

typedef struct Rolling {
    Arena *scratch;
    VEC(RollOp) ops;     // of one block, those of regions after the op that has them
    uint32_t *places;    // by op id: its index + 1; 0: not in this block, or a constant
    uint32_t *failures;  // by period: the end of the last run that was too short
    VEC(RollRun) runs;
} Rolling;

// ---- the ops of a block -------------------------------------------------------------------------

static uint64_t mix(uint64_t hash, uint64_t more) {
    hash = (hash ^ more) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static uint64_t shape_of(const IrOp *op) {
    uint64_t hash = mix(op->code, op->operand_count);
    for (uint32_t i = 0; i < op->result_count; i++) hash = mix(hash, op->results[i].type->id);
    return mix(hash, op->region_count);
}

static void number(Rolling *r, const IrBlock *block) {
    IR_EACH_OP(op, block) {
        if (op->code == IR_CONST) continue;
        size_t at = r->ops.count;
        vec_push(r->scratch, &r->ops, ((RollOp){.op = op, .shape = shape_of(op)}));
        r->places[op->id] = (uint32_t)at + 1;
        for (uint32_t i = 0; i < op->region_count; i++) number(r, op->regions[i]);
        r->ops.data[at].size = (uint32_t)(r->ops.count - at);
        for (size_t k = at + 1; k < r->ops.count; k += r->ops.data[k].size)
            r->ops.data[at].shape = mix(r->ops.data[at].shape, r->ops.data[k].shape);
    }
}

static void link_shapes(Rolling *r) {
    Map last = {0};
    VEC(uint32_t) top = {0};
    for (uint32_t i = 0; i < r->ops.count; i += r->ops.data[i].size) vec_push(r->scratch, &top, i);
    for (size_t i = top.count; i-- > 0;) {
        RollOp *op = &r->ops.data[top.data[i]];
        uint64_t *next = map_at(r->scratch, &last, op->shape);
        op->next = (uint32_t)*next;
        *next = top.data[i];
    }
}

// The place of the op that a value belongs to: its result, or an argument of its region. False: the
// value is from outside of the block.
static bool place_of(const Rolling *r, const IrValue *v, uint32_t *place) {
    const IrOp *owner = v->def ? v->def : v->block ? v->block->parent : NULL;
    if (!owner || !r->places[owner->id]) return false;
    *place = r->places[owner->id] - 1;
    return true;
}

// ---- comparing two iterations -------------------------------------------------------------------

static bool same_types(const IrBlock *a, const IrBlock *b) {
    if (a->arg_count != b->arg_count) return false;
    for (uint32_t i = 0; i < a->arg_count; i++)
        if (a->args[i]->type != b->args[i]->type) return false;
    return true;
}

// All but the operands. An assert tells where it stands.
static bool same_op(const RollOp *x, const RollOp *y) {
    const IrOp *a = x->op, *b = y->op;
    if (x->shape != y->shape || x->size != y->size || a->code != b->code ||
        a->operand_count != b->operand_count || a->result_count != b->result_count ||
        a->region_count != b->region_count)
        return false;
    if (a->code == IR_ASSERT && memcmp(&a->span, &b->span, sizeof a->span) != 0) return false;
    for (uint32_t i = 0; i < a->result_count; i++)
        if (a->results[i].type != b->results[i].type) return false;
    for (uint32_t i = 0; i < a->region_count; i++)
        if (!same_types(a->regions[i], b->regions[i])) return false;
    return rewrite_same_attrs(a, b);
}

// The elements of a constant as a whole number, if the conversion of that number is the constant.
static bool number_of(const IrValue *v, int64_t *n) {
    enum { EXACT_F16 = 1 << 11, EXACT_BF16 = 1 << 8, EXACT_F32 = 1 << 24 };
    uint64_t bits;
    Dtype t = v->type->elem;
    if (!rewrite_constant(v, &bits)) return false;
    if (rewrite_constant_int(v, n)) return true;
    int64_t most = t == DTYPE_F64 || t == DTYPE_F32 ? EXACT_F32
                   : t == DTYPE_F16                 ? EXACT_F16
                   : t == DTYPE_BF16                ? EXACT_BF16
                                                    : 0;
    double value = dtype_to_double(t, bits);
    if (!most || !(value >= (double)-most && value <= (double)most)) return false;
    *n = (int64_t)value;
    return dtype_from_double(t, (double)*n, false) == bits;
}

static bool is_constant(const IrValue *v) { return v->def && v->def->code == IR_CONST; }

// Constants of three iterations that follow each other; `a` is NULL if there are only two.
static bool same_step(const IrValue *a, const IrValue *b, const IrValue *c) {
    int64_t x, y, z;
    uint64_t p, q;
    if (b->type != c->type) return false;
    if (!number_of(b, &y) || !number_of(c, &z))
        return rewrite_constant(b, &p) && rewrite_constant(c, &q) && p == q;
    if (!a || !is_constant(a)) return !a;
    return number_of(a, &x) && (uint64_t)y - (uint64_t)x == (uint64_t)z - (uint64_t)y;
}

typedef enum RollSource { ROLL_OTHER, ROLL_SAME, ROLL_OWN, ROLL_BEFORE, ROLL_CONSTANT } RollSource;

// The source of an operand: it is `x` in iteration k - 1, and `y` in iteration k > 0, which
// begins at `start`; `w` in iteration k - 2, if there is one.
static RollSource source(const Rolling *r, const RollRun *run, uint32_t k, const IrValue *w,
                         const IrValue *x, const IrValue *y) {
    uint32_t start = run->start + k * run->period, from, to;
    if (!x || !y) return x == y ? ROLL_SAME : ROLL_OTHER;
    if (is_constant(y))
        return is_constant(x) && same_step(k > 1 ? w : NULL, x, y) ? ROLL_CONSTANT : ROLL_OTHER;
    if (!place_of(r, y, &to) || to < run->start) return x == y ? ROLL_SAME : ROLL_OTHER;
    if (to + run->period < start || x->type != y->type) return ROLL_OTHER;
    bool outside = is_constant(x) || !place_of(r, x, &from) || from < run->start;
    if (k == 1 && to < start) return outside ? ROLL_BEFORE : ROLL_OTHER;
    if (outside || from + run->period != to || x->index != y->index ||
        (x->block != NULL) != (y->block != NULL))
        return ROLL_OTHER;
    return to < start ? ROLL_BEFORE : ROLL_OWN;
}

static const IrValue *operand_at(const Rolling *r, uint32_t place, uint32_t i) {
    return ir_operand(r->ops.data[place].op, i);
}

static bool same_operands(const Rolling *r, const RollRun *run, uint32_t k, uint32_t place) {
    for (uint32_t i = 0; i < r->ops.data[place].op->operand_count; i++) {
        const IrValue *w = k > 1 ? operand_at(r, place - 2 * run->period, i) : NULL;
        const IrValue *x = operand_at(r, place - run->period, i), *y = operand_at(r, place, i);
        if (source(r, run, k, w, x, y) == ROLL_OTHER) return false;
    }
    return true;
}

// Are the results of the op used only by ops from `start` to before `end`?
static bool used_within(const Rolling *r, const IrOp *op, uint32_t start, uint32_t end) {
    for (uint32_t i = 0; i < op->result_count; i++)
        for (const IrUse *u = op->results[i].uses; u; u = u->next) {
            uint32_t place = r->places[u->user->id];
            if (place <= start || place > end) return false;
        }
    return true;
}

// Does iteration k repeat iteration k - 1, whose results nothing else uses?
static bool repeats(const Rolling *r, const RollRun *run, uint32_t k) {
    uint32_t start = run->start + k * run->period, end = start + run->period;
    if (end > r->ops.count) return false;
    for (uint32_t p = start; p < end; p++)
        if (!same_op(&r->ops.data[p - run->period], &r->ops.data[p]) ||
            !same_operands(r, run, k, p))
            return false;
    for (uint32_t p = start - run->period; p < start; p++)
        if (!used_within(r, r->ops.data[p].op, start - run->period, end)) return false;
    return true;
}

// ---- finding runs -------------------------------------------------------------------------------

static bool is_long(const RollRun *run) {
    return run->count >= ITERATIONS_MIN && (uint64_t)run->count * run->period >= OPS_MIN;
}

// The run that begins at this op; false: there is none, or it is short.
static bool find_run(Rolling *r, uint32_t start, RollRun *run) {
    uint32_t next = start;
    for (int i = 0; i < TRIES; i++) {
        next = r->ops.data[next].next;
        *run = (RollRun){start, next - start, 1};
        if (!next || run->period > PERIOD_MAX) return false;
        if (start < r->failures[run->period]) continue;
        while (repeats(r, run, run->count)) run->count++;
        if (is_long(run)) return true;
        // A run that begins later ends there, too. The first iteration alone may be different.
        if (run->count > 2) r->failures[run->period] = run->start + (run->count - 2) * run->period;
    }
    return false;
}

static void find_runs(Rolling *r) {
    RollRun run;
    for (uint32_t at = 0; at < r->ops.count;) {
        if (find_run(r, at, &run)) {
            vec_push(r->scratch, &r->runs, run);
            at += run.count * run.period;
        } else {
            at += r->ops.data[at].size;
        }
    }
}

// ---- making a loop ------------------------------------------------------------------------------

// A value that is carried: `init` in the first iteration, then the result of the iteration before.
typedef struct RollCarried {
    IrValue *init, *next;
} RollCarried;

typedef struct RollLoop {
    Rolling *r;
    RollRun run;
    VEC(RollCarried) carried;
    VEC(uint32_t) slots;  // the carried values of all operands that have one, in order
    IrOp *op;
    IrBlock *body;
} RollLoop;

static void carry(RollLoop *l, IrValue *init, IrValue *next) {
    uint32_t i = 0;
    while (i < l->carried.count &&
           (l->carried.data[i].init != init || l->carried.data[i].next != next))
        i++;
    if (i == l->carried.count) vec_push(l->r->scratch, &l->carried, ((RollCarried){init, next}));
    vec_push(l->r->scratch, &l->slots, i);
}

// The source of operand i of an op of the first iteration.
static RollSource source_at(const RollLoop *l, uint32_t place, uint32_t i) {
    return source(l->r, &l->run, 1, NULL, operand_at(l->r, place, i),
                  operand_at(l->r, place + l->run.period, i));
}

static IrOp *op_at(const Rolling *r, uint32_t place) { return r->ops.data[place].op; }

static void find_carried(RollLoop *l) {
    for (uint32_t p = l->run.start; p < l->run.start + l->run.period; p++) {
        const IrOp *op = op_at(l->r, p), *next = op_at(l->r, p + l->run.period);
        for (uint32_t i = 0; i < op->operand_count; i++)
            if (source_at(l, p, i) == ROLL_BEFORE) carry(l, ir_operand(op, i), ir_operand(next, i));
    }
}

// The value, for use before the loop: a constant may stand after it.
static IrValue *before(IrBuilder *b, IrValue *v) {
    uint64_t bits;
    return rewrite_constant(v, &bits) ? ir_const_bits(b, v->type, bits) : v;
}

static void make_loop(RollLoop *l) {
    uint32_t count = (uint32_t)l->carried.count;
    IrOp *first = l->r->ops.data[l->run.start].op;
    IrBuilder b = ir_builder_before(first);
    b.span = first->span;
    IrValue **operands = arena_new(l->r->scratch, IrValue *, 3 + count);
    const IrType **types = arena_new(l->r->scratch, const IrType *, count + 1);
    operands[0] = ir_const_int(&b, DTYPE_I64, 0);
    operands[1] = ir_const_int(&b, DTYPE_I64, l->run.count - 1);
    operands[2] = ir_const_int(&b, DTYPE_I64, 1);
    l->body = ir_block_create(b.func);
    ir_block_add_arg(l->body, operands[0]->type);
    for (uint32_t i = 0; i < count; i++) {
        operands[3 + i] = before(&b, l->carried.data[i].init);
        types[i] = operands[3 + i]->type;
        ir_block_add_arg(l->body, types[i]);
    }
    l->op = ir_op(&b, IR_FOR, 3 + count, operands, count, types, 1, &l->body);
}

// The number `first` in the first iteration, and `step` more in each one after it.
static IrValue *counted(IrBuilder *b, IrValue *i, int64_t first, int64_t step, const IrType *type) {
    if (step != 1) i = ir_binary(b, IR_MUL, i, ir_const_int(b, DTYPE_I64, step));
    if (first) i = ir_binary(b, IR_ADD, i, ir_const_int(b, DTYPE_I64, first));
    if (type->elem != DTYPE_I64) i = ir_cast(b, i, type->elem, false);
    return type->rank ? ir_broadcast(b, i, type->rank, type->shape) : i;
}

// The constants of a body stand at its beginning.
static void use_constant(RollLoop *l, IrOp *op, uint32_t i, const IrValue *next) {
    IrBuilder b = ir_builder_at_end(l->body);
    b.span = op->span;
    int64_t x, y;
    IrValue *v = ir_operand(op, i);
    uint64_t step = number_of(v, &x) && number_of(next, &y) ? (uint64_t)y - (uint64_t)x : 0;
    ir_set_operand(op, i,
                   step ? counted(&b, l->body->args[0], x, (int64_t)step, v->type) : before(&b, v));
}

// The operands of the first iteration, which becomes the body, and of the last one.
static void rewire(RollLoop *l) {
    const RollRun *run = &l->run;
    size_t slot = 0;
    for (uint32_t p = run->start; p < run->start + run->period; p++) {
        IrOp *op = op_at(l->r, p), *last = op_at(l->r, p + (run->count - 1) * run->period);
        for (uint32_t i = 0; i < op->operand_count; i++) {
            RollSource from = source_at(l, p, i);
            if (from == ROLL_CONSTANT) use_constant(l, op, i, operand_at(l->r, p + run->period, i));
            if (from != ROLL_BEFORE) continue;
            uint32_t carried = l->slots.data[slot++];
            ir_set_operand(op, i, l->body->args[1 + carried]);
            ir_set_operand(last, i, ir_result(l->op, carried));
        }
    }
}

// Moves the first iteration into the loop, and erases all others but the last. Constants stay where
// they are, because other ops may use them.
static void move(RollLoop *l) {
    const RollRun *run = &l->run;
    const IrOp *second = op_at(l->r, run->start + run->period);
    const IrOp *last = op_at(l->r, run->start + (run->count - 1) * run->period);
    IrValue **next = arena_new(l->r->scratch, IrValue *, l->carried.count + 1);
    for (IrOp *op = l->op->next, *after; op != second; op = after) {
        after = op->next;
        if (op->code != IR_CONST) ir_move_to_end(op, l->body);
    }
    IrBuilder b = ir_builder_at_end(l->body);
    b.span = l->op->span;
    for (size_t i = 0; i < l->carried.count; i++) next[i] = l->carried.data[i].next;
    ir_yield(&b, (uint32_t)l->carried.count, next);
    for (IrOp *op = last->prev, *before; op != l->op; op = before) {
        before = op->prev;
        if (op->code != IR_CONST) ir_erase(op);
    }
}

static void roll(Rolling *r, const RollRun *run, Remarks *remarks) {
    RollLoop l = {.r = r, .run = *run};
    find_carried(&l);
    make_loop(&l);
    rewire(&l);
    move(&l);
    remark(remarks, l.op->span, REASON_CODE_ROLLED, NULL, REMARK(run->count, run->period));
}

// ---- the pass -----------------------------------------------------------------------------------

static void erase_unused_constants(IrBlock *block) {
    IR_EACH_OP(op, block) {
        for (uint32_t i = 0; i < op->region_count; i++) erase_unused_constants(op->regions[i]);
        if (op->code == IR_CONST && ir_unused(op)) ir_erase(op);
    }
}

static bool roll_block(IrBlock *block, PassContext *context) {
    Rolling r = {.scratch = context->scratch};
    r.places = arena_new(r.scratch, uint32_t, block->func->op_count + 1);
    number(&r, block);
    if (r.ops.count < OPS_MIN) return false;
    r.failures = arena_new(r.scratch, uint32_t, PERIOD_MAX + 1);
    link_shapes(&r);
    find_runs(&r);
    for (size_t i = 0; i < r.runs.count; i++) roll(&r, &r.runs.data[i], context->remarks);
    if (r.runs.count) erase_unused_constants(block);
    return r.runs.count > 0;
}

// Has the block at least this many ops? *count of them are known already.
static bool has_many(const IrBlock *block, uint32_t *count) {
    for (const IrOp *op = block->first; op; op = op->next) {
        if (++*count >= OPS_MIN) return true;
        for (uint32_t i = 0; i < op->region_count; i++)
            if (has_many(op->regions[i], count)) return true;
    }
    return false;
}

static bool roll_in(IrBlock *block, PassContext *context) {
    uint32_t count = 0;
    bool changed = false;
    if (!has_many(block, &count)) return false;
    for (IrOp *op = block->first; op; op = op->next)
        for (uint32_t i = 0; i < op->region_count; i++) changed |= roll_in(op->regions[i], context);
    ArenaMark mark = arena_mark(context->scratch);
    changed |= roll_block(block, context);
    arena_reset(context->scratch, mark);
    return changed;
}

bool pass_roll(IrFunc *f, PassContext *context) {
    IrBlock *body = ir_body(f);
    return body && f->level == IR_LEVEL_TILE && roll_in(body, context);
}

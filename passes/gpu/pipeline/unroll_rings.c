// gpu_unroll_rings: an iteration of a loop over a ring of S slots goes once round it.
//
//     x, … = for lo, hi, d, x0, 0 (i, x, slot) {
//         … step i, in slot …
//         yield x', slot + 1 or 0
//     }
//
//     y, rest = for lo, hi - (S-1)d, S*d, x0, lo (i, x, _) {
//         … step i, in slot 0 …
//         … step i + (S-1)d, in slot S-1 …
//         yield x', i + S*d
//     }
//     x, … = for rest, hi, d, y, 0 (i, x, slot) { as before, but without copies }
//
// Slots are constants in the first loop, and so are the places of barriers, and the differences of
// addresses and descriptors. The second loop makes the steps that are left over, S - 1 at most.
// Copies are S - 1 steps ahead, so it has none to begin.
//
// Needs: level gpu, after gpu_pipeline, whose loops by tensor maps these are, and after the passes
// that look at one loop. Keeps: every value, and the order of effects.
// How: slots are the carried numbers that begin with a constant and have it again after S steps.
// Two comparisons of the counter are known for a step: with hi - (S-1)d, on which copies depend,
// and with lo.
#include "ir/interp/interp.h"
#include "passes/passes.h"
#include "passes/rewrite.h"

enum { SLOTS_MAX = 8, FOR_INIT = 3 };

typedef struct Ring {
    IrOp *loop;
    IrBlock *body;
    uint32_t slots;
    int64_t step;
    IrValue *bound;  // hi - (S-1)d
    // By carried value: is it one of the slots? Its number at each step of an iteration.
    bool *is_slot;
    uint64_t (*numbers)[SLOTS_MAX + 1];
    Arena *scratch;
} Ring;

// ---- which loops --------------------------------------------------------------------------------

// Is the step little more than a product? Others are long: computing their slots is a small part of
// them, and copies of them would fill the cache of instructions.
static bool is_short(const IrBlock *body) {
    uint32_t products = 0;
    for (const IrOp *op = body->first; op; op = op->next) products += op->code == IR_DOT;
    return products == 1;
}

// The number of the ring's slots, if the loop waits for copies by maps; else 0.
static uint32_t slots_of(const IrBlock *body) {
    for (const IrOp *op = body->first; op; op = op->next) {
        if (op->code != IR_GPU_MBARRIER_WAIT || ir_attr_int(op, IR_ATTR_PRODUCER)) continue;
        const IrOp *bars = ir_operand(op, 0)->def;
        return bars && bars->code == IR_GPU_MBARRIER ? (uint32_t)ir_attr_int(bars, IR_ATTR_COUNT)
                                                     : 0;
    }
    return 0;
}

// Is it hi less that number, or, where that would wrap, a number below every counter?
static bool is_hi_less(const IrValue *v, const IrValue *hi, int64_t less) {
    int64_t number, end;
    if (rewrite_constant_int(v, &number))
        return rewrite_constant_int(hi, &end) && end - number == less && number <= end;
    const IrOp *op = v->def;
    if (!op || op->code != IR_SUB || !rewrite_constant_int(ir_operand(op, 1), &number))
        return false;
    const IrValue *from = ir_operand(op, 0);
    if (from->def && from->def->code == IR_MAX && from != hi) from = ir_operand(from->def, 0);
    return from == hi && number == less;
}

// The number that the counter is compared with for copies S - 1 steps ahead.
static IrValue *find_bound(const Ring *r) {
    const IrOp *loop = r->loop;
    for (const IrOp *op = r->body->first; op; op = op->next) {
        if (op->code != IR_LT || ir_operand(op, 0) != r->body->args[0]) continue;
        IrValue *bound = ir_operand(op, 1);
        bool outside = rewrite_defined_outside(bound, loop);
        if (outside && is_hi_less(bound, ir_operand(loop, 1), (r->slots - 1) * r->step))
            return bound;
    }
    return NULL;
}

// ---- slots --------------------------------------------------------------------------------------

// The number that a value of the body has if the slots have those of this step.
static bool number_of(const Ring *r, const IrValue *v, uint32_t step, uint64_t *number) {
    enum { MOST = 3 };
    uint64_t operands[MOST];
    if (rewrite_constant(v, number)) return true;
    const IrOp *op = v->def;
    if (!op && v->block == r->body && v->index && r->is_slot[v->index - 1]) {
        *number = r->numbers[v->index - 1][step];
        return true;
    }
    if (!op || op->block != r->body || op->operand_count > MOST || !ir_is_scalar(v->type))
        return false;
    if (!ir_op_is(op->code, IR_FAMILY_ARITHMETIC | IR_FAMILY_COMPARE | IR_FAMILY_SELECT))
        return false;
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (!number_of(r, ir_operand(op, i), step, &operands[i])) return false;
    return ir_eval(op->code, ir_operand(op, 0)->type->elem, operands, number);
}

static bool is_number(const IrType *type) {
    return type->kind == IR_TILE && ir_is_scalar(type) && dtype_is(type->elem, DTYPE_CLASS_INT);
}

// The slots' numbers at each step. A value without one, or that does not come round, is not a slot.
// True: there were such, so the numbers of others may depend on them.
static bool drop_others(const Ring *r) {
    const IrOp *yield = r->body->last;
    bool dropped = false;
    for (uint32_t s = 0; s < r->slots; s++)
        for (uint32_t i = 0; i < yield->operand_count; i++) {
            if (!r->is_slot[i] || number_of(r, ir_operand(yield, i), s, &r->numbers[i][s + 1]))
                continue;
            r->is_slot[i] = false;
            dropped = true;
        }
    for (uint32_t i = 0; i < yield->operand_count; i++) {
        if (!r->is_slot[i] || r->numbers[i][r->slots] == r->numbers[i][0]) continue;
        r->is_slot[i] = false;
        dropped = true;
    }
    return dropped;
}

static bool find_slots(Ring *r) {
    uint32_t count = r->loop->result_count;
    bool any = false;
    r->is_slot = arena_new(r->scratch, bool, count + 1);
    r->numbers = arena_alloc(r->scratch, (count + 1) * sizeof *r->numbers);
    for (uint32_t i = 0; i < count; i++)
        r->is_slot[i] = is_number(r->loop->results[i].type) &&
                        rewrite_constant(ir_operand(r->loop, FOR_INIT + i), &r->numbers[i][0]);
    while (drop_others(r)) {}
    for (uint32_t i = 0; i < count; i++) any |= r->is_slot[i];
    return any;
}

// ---- once round the ring ------------------------------------------------------------------------

static bool compares(const Ring *r, const IrOp *op, IrOpcode code, const IrValue *with) {
    return op->code == code && ir_operand(op, 0) == r->body->args[0] && ir_operand(op, 1) == with;
}

// Does the comparison hold at this step of each iteration? The last of them is one of the loop's.
static bool holds(const Ring *r, const IrOp *op, uint32_t step) {
    if (step == 0) return compares(r, op, IR_LT, r->bound);
    return compares(r, op, IR_GT, ir_operand(r->loop, 0));
}

// Copies a step with the carried values x, which become those of the next step.
static void copy_step(const Ring *r, IrBuilder *b, IrValue *counter, uint32_t step, IrValue **x) {
    const IrOp *yield = r->body->last;
    Map map = {0};
    if (step) {
        IrValue *ahead = ir_const_int(b, DTYPE_I64, (int64_t)step * r->step);
        counter = ir_binary(b, IR_ADD, counter, ahead);
    }
    map_put(r->scratch, &map, map_key(r->body->args[0]), map_key(counter));
    for (uint32_t i = 0; i < yield->operand_count; i++) {
        IrValue *arg = r->body->args[1 + i];
        IrValue *now = r->is_slot[i] ? ir_const_bits(b, arg->type, r->numbers[i][step]) : x[i];
        map_put(r->scratch, &map, map_key(arg), map_key(now));
    }
    for (const IrOp *op = r->body->first; op != yield; op = op->next)
        if (holds(r, op, step))
            map_put(r->scratch, &map, map_key(&op->results[0]), map_key(ir_const_bool(b, true)));
        else
            ir_clone(b, op, &map, r->scratch);
    for (uint32_t i = 0; i < yield->operand_count; i++) {
        uint64_t *found = map_find(&map, map_key(ir_operand(yield, i)));
        x[i] = found ? (IrValue *)(uintptr_t)*found : ir_operand(yield, i);
    }
}

// The loop of S steps an iteration, before the one that makes the steps left over.
static void make_rounds(const Ring *r) {
    IrOp *loop = r->loop;
    uint32_t count = loop->result_count, carried = 0;
    IrValue **x = arena_new(r->scratch, IrValue *, count + 1);
    IrValue **operands = arena_new(r->scratch, IrValue *, FOR_INIT + count + 1);
    const IrType **types = arena_new(r->scratch, const IrType *, count + 1);
    IrBuilder b = ir_builder_before(loop);
    b.span = loop->span;
    IrValue *lo = ir_operand(loop, 0), *round = ir_const_int(&b, DTYPE_I64, r->slots * r->step);
    IrBlock *body = ir_block_create(b.func);
    IrValue *counter = ir_block_add_arg(body, lo->type);
    operands[0] = lo, operands[1] = r->bound, operands[2] = round;
    for (uint32_t i = 0; i < count; i++) {
        if (r->is_slot[i]) continue;
        types[carried] = loop->results[i].type;
        operands[FOR_INIT + carried++] = ir_operand(loop, FOR_INIT + i);
        x[i] = ir_block_add_arg(body, loop->results[i].type);
    }
    types[carried] = lo->type;
    operands[FOR_INIT + carried++] = lo;
    (void)ir_block_add_arg(body, lo->type);
    IrOp *rounds = ir_op(&b, IR_FOR, FOR_INIT + carried, operands, carried, types, 1, &body);
    b = ir_builder_at_end(body);
    b.span = loop->span;
    for (uint32_t s = 0; s < r->slots; s++) copy_step(r, &b, counter, s, x);
    for (uint32_t i = carried = 0; i < count; i++) {
        if (r->is_slot[i]) continue;
        ir_set_operand(loop, FOR_INIT + i, ir_result(rounds, carried));
        x[carried++] = x[i];
    }
    ir_set_operand(loop, 0, ir_result(rounds, carried));
    x[carried++] = ir_binary(&b, IR_ADD, counter, round);
    ir_yield(&b, carried, x);
}

// The steps left over begin no copies.
static void drop_copies(const Ring *r) {
    for (IrOp *op = r->body->first, *next; op; op = next) {
        next = op->next;
        const IrOp *on = op->code == IR_IF ? ir_operand(op, 0)->def : NULL;
        bool never = on && on->block == r->body && compares(r, on, IR_LT, r->bound);
        if (never && !op->result_count && op->regions[1]->first->code == IR_YIELD) ir_erase(op);
    }
}

// ---- loops --------------------------------------------------------------------------------------

// Do the counter's numbers stay below 2^63, one iteration past the end, too?
static bool ends_early(PassContext *context, const IrFunc *f, const Ring *r) {
    IrRange hi = ir_range_of(pass_ranges(context, f), ir_operand(r->loop, 1));
    return hi.known && hi.max <= INT64_MAX - r->slots * r->step;
}

static bool unroll(IrFunc *f, PassContext *context, IrOp *loop) {
    Ring r = {.loop = loop, .body = loop->regions[0], .scratch = context->scratch};
    r.slots = slots_of(r.body);
    if (r.slots < 2 || r.slots > SLOTS_MAX || ir_attr_int(loop, IR_ATTR_EXIT)) return false;
    if (ir_attr_int(loop, IR_ATTR_DOWN)) return false;
    if (!rewrite_constant_int(ir_operand(loop, 2), &r.step) || r.step < 1) return false;
    if (!is_short(r.body)) return false;
    r.bound = find_bound(&r);
    if (!r.bound || !find_slots(&r) || !ends_early(context, f, &r)) return false;
    make_rounds(&r);
    drop_copies(&r);
    return true;
}

static bool unroll_in(IrFunc *f, PassContext *context, IrBlock *block) {
    bool changed = false;
    for (IrOp *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->region_count; i++)
            changed |= unroll_in(f, context, op->regions[i]);
        if (op->code == IR_FOR) changed |= unroll(f, context, op);
    }
    return changed;
}

bool pass_gpu_unroll_rings(IrFunc *f, PassContext *context) {
    if (!f->is_kernel || !ir_body(f) || f->level != IR_LEVEL_GPU) return false;
    return unroll_in(f, context, ir_body(f));
}

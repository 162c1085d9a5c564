// split: loops of products whose masks hold at first are duplicated: steps without masks, then
// steps with them.
//
//     for j in lo .. hi step s {         let end = min(hi, n - B + 1)
//         … j + iota(B) < n …            for j in lo .. end step s { … true … }
//     }                                  for j in lo + s * cdiv(max(end - lo, 0), s) .. hi step s {
//                                            … j + iota(B) < n …
//                                        }
//
// If hi is n and s not less than B - 1, the second loop has one step at most, and is an `if`.
//
// How: the sides of a comparison are decomposed into the counter, scalars from outside of the loop
// and a remainder between two numbers, through ops that do not wrap. If that gives c + x < y with c
// the counter, it holds for every element in all steps below y - x, with the least remainder
// against the greatest.
// Keeps: every step and effect and their order; a comparison is only left out where it holds.
// Invariants: only innermost loops of products that count upwards: a step of theirs is long
// compared with the start of a second loop, and has enough elements for masks to matter.
#include "ir/analysis/analysis.h"
#include "passes/passes.h"
#include "passes/rewrite.h"

// The limit keeps sums of a few from wrapping. With wider remainders, no step would be without
// masks.
#define SCALAR_MAX (INT64_C(1) << 56)
#define NUMBER_MAX (INT64_C(1) << 40)
enum { SCALARS_MAX = 4, REST_MAX = 1 << 16, DEPTH_MAX = 12, OPS_MAX = 256 };

// counter * steps + plus - minus + a number of low .. high
typedef struct SplitSum {
    int32_t steps;
    IrValue *plus[SCALARS_MAX], *minus[SCALARS_MAX];
    uint32_t plus_count, minus_count;
    int64_t low, high;
} SplitSum;

typedef struct Split {
    IrFunc *func;
    Arena *scratch;
    Remarks *remarks;  // NULL: no remarks are collected
    PassContext *context;
    IrRanges *ranges;  // from before the first change; NULL until a loop needs it
    IrOp *loop;
} Split;

static bool within(const IrRange *r, int64_t most) {
    return r->known && r->min >= -most && r->max <= most;
}

static bool add_scalar(SplitSum *sum, IrValue *v, bool minus) {
    uint32_t *count = minus ? &sum->minus_count : &sum->plus_count;
    if (*count == SCALARS_MAX) return false;
    (minus ? sum->minus : sum->plus)[(*count)++] = v;
    return true;
}

static void add_rest(SplitSum *sum, int64_t low, int64_t high, bool minus) {
    sum->low += minus ? -high : low;
    sum->high += minus ? -low : high;
}

// Adds the elements of v, or subtracts them.
static bool add(const Split *s, SplitSum *sum, IrValue *v, bool minus, int depth) {
    const IrOp *def = v->def;
    IrRange range = ir_range_of(s->ranges, v);
    if (!range.known || depth == 0) return false;
    if (v == s->loop->regions[0]->args[0]) {
        sum->steps += minus ? -1 : 1;
        return true;
    }
    bool number = range.min == range.max && within(&range, NUMBER_MAX);
    if (ir_is_scalar(v->type) && !number && rewrite_defined_outside(v, s->loop))
        return within(&range, SCALAR_MAX) && add_scalar(sum, v, minus);
    bool moves =
        def && (def->code == IR_BROADCAST || def->code == IR_RESHAPE || def->code == IR_PERMUTE);
    bool exact = moves || (def && ir_is_exact(s->ranges, v));
    if (exact && !number && (moves || def->code == IR_CAST))
        return add(s, sum, ir_operand(def, 0), minus, depth - 1);
    if (exact && !number && (def->code == IR_ADD || def->code == IR_SUB))
        return add(s, sum, ir_operand(def, 0), minus, depth - 1) &&
               add(s, sum, ir_operand(def, 1), (def->code == IR_SUB) != minus, depth - 1);
    if (!within(&range, NUMBER_MAX) || range.max - range.min > REST_MAX) return false;
    add_rest(sum, range.min, range.max, minus);
    return true;
}

// The comparison as a - b < 0 of numbers; on one side the counter occurs once.
static bool holds_at_first(const Split *s, const IrOp *op, SplitSum *sum) {
    bool turned = op->code == IR_GT || op->code == IR_GE;
    bool equal = op->code == IR_LE || op->code == IR_GE;
    *sum = (SplitSum){0};
    if (!add(s, sum, ir_operand(op, turned ? 1 : 0), false, DEPTH_MAX) ||
        !add(s, sum, ir_operand(op, turned ? 0 : 1), true, DEPTH_MAX))
        return false;
    if (equal) add_rest(sum, -1, -1, false);
    return sum->steps == 1;
}

// ---- the loop -----------------------------------------------------------------------------------

static bool has_product(const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next)
        if (op->code == IR_DOT) return true;
    return false;
}

static bool is_comparison(const IrOp *op) {
    return (op->code == IR_LT || op->code == IR_LE || op->code == IR_GT || op->code == IR_GE) &&
           op->results[0].type->count > 1 && ir_operand(op, 0)->type->elem != DTYPE_U64;
}

static bool goes_upwards(const IrOp *loop) {
    int64_t step;
    return !ir_attr_int(loop, IR_ATTR_EXIT) && !ir_attr_int(loop, IR_ATTR_DOWN) &&
           ir_operand(loop, 0)->type->elem == DTYPE_I64 &&
           rewrite_constant_int(ir_operand(loop, 2), &step) && step > 0 && step <= REST_MAX;
}

// Does it have few ops, and no loop among the nested ones?
static bool is_short(const IrBlock *block, uint32_t *room) {
    for (const IrOp *op = block->first; op; op = op->next) {
        if ((*room)-- == 0 || op->code == IR_FOR || op->code == IR_WHILE) return false;
        for (uint32_t i = 0; i < op->region_count; i++)
            if (!is_short(op->regions[i], room)) return false;
    }
    return true;
}

static bool bounds_fit(const Split *s) {
    for (uint32_t i = 0; i < 2; i++) {
        IrRange r = ir_range_of(s->ranges, ir_operand(s->loop, i));
        if (!within(&r, SCALAR_MAX)) return false;
    }
    return true;
}

// The first counter for which the comparison may not hold: -(the terms that are added to the
// counter).
static IrValue *limit_of(IrBuilder *b, const SplitSum *sum) {
    IrValue *limit = ir_const_int(b, DTYPE_I64, -sum->high);
    for (uint32_t i = 0; i < sum->minus_count; i++)
        limit = ir_binary(b, IR_ADD, ir_cast(b, sum->minus[i], DTYPE_I64, false), limit);
    for (uint32_t i = 0; i < sum->plus_count; i++)
        limit = ir_binary(b, IR_SUB, limit, ir_cast(b, sum->plus[i], DTYPE_I64, false));
    return limit;
}

// lo + step * cdiv(max(end - lo, 0), step)
static IrValue *after_steps(IrBuilder *b, IrValue *lo, IrValue *end, IrValue *step) {
    IrValue *zero = ir_const_int(b, DTYPE_I64, 0), *one = ir_const_int(b, DTYPE_I64, 1);
    IrValue *way = ir_binary(b, IR_MAX, ir_binary(b, IR_SUB, end, lo), zero);
    IrValue *up = ir_binary(b, IR_ADD, way, ir_binary(b, IR_SUB, step, one));
    IrValue *steps = ir_binary(b, IR_DIV, up, step);
    return ir_binary(b, IR_ADD, lo, ir_binary(b, IR_MUL, steps, step));
}

static void leave_out(IrOp *comparison) {
    IrBuilder b = ir_builder_before(comparison);
    IrValue *yes = ir_const_bits(&b, comparison->results[0].type, 1);
    rewrite_replace_op(comparison, &yes);
}

static IrOp *copy_of(const IrOp *op, const Map *names) {
    const uint64_t *copy = map_find(names, map_key(&op->results[0]));
    return ((const IrValue *)(uintptr_t)*copy)->def;
}

// Does it hold in every step, as it does if the end is a multiple of the step?
static bool always_holds(const Split *s, const IrOp *op, const SplitSum *sum) {
    return sum->plus_count == 0 && sum->minus_count == 1 &&
           ir_provably_le(s->ranges, op, s->loop->regions[0]->args[0], sum->high + 1,
                          sum->minus[0]);
}

// All steps but the last are below the limit, hi - high, if high is at most a step.
static bool leaves_one(const IrOp *loop, const SplitSum *sum) {
    int64_t step;
    return sum->plus_count == 0 && sum->minus_count == 1 && sum->minus[0] == ir_operand(loop, 1) &&
           rewrite_constant_int(ir_operand(loop, 2), &step) && sum->high <= step;
}

// The loop that runs one step or none becomes an `if`.
static void open_last(const Split *s) {
    IrOp *loop = s->loop;
    uint32_t count = loop->result_count;
    IrValue **values = arena_new(s->scratch, IrValue *, count + 1);
    const IrType **types = arena_new(s->scratch, const IrType *, count + 1);
    IrBlock *regions[2] = {ir_block_create(s->func), ir_block_create(s->func)};
    for (uint32_t i = 0; i < count; i++) types[i] = loop->results[i].type;
    IrBuilder b = ir_builder_before(loop);
    b.span = loop->span;
    IrValue *some = ir_binary(&b, IR_LT, ir_operand(loop, 0), ir_operand(loop, 1));
    IrOp *op = ir_op(&b, IR_IF, 1, &some, count, types, 2, regions);
    for (uint32_t i = 0; i < count; i++) ir_replace_all(ir_result(loop, i), ir_result(op, i));
    ir_move_to_end(loop, regions[0]);
    IrBuilder yes = ir_builder_at_end(regions[0]), no = ir_builder_at_end(regions[1]);
    yes.span = no.span = loop->span;
    for (uint32_t i = 0; i < count; i++) values[i] = ir_result(loop, i);
    ir_yield(&yes, count, values);
    for (uint32_t i = 0; i < count; i++) values[i] = ir_operand(loop, 3 + i);
    ir_yield(&no, count, values);
    rewrite_open_loop(loop, s->scratch);
}

typedef struct SplitFound {
    VEC(IrOp *) ops;
    VEC(SplitSum) sums;
} SplitFound;

// Finds the loop's comparisons that hold at first. Those that always hold are replaced by true.
static bool find(Split *s, SplitFound *found) {
    bool changed = false;
    IR_EACH_OP(op, s->loop->regions[0]) {
        SplitSum sum;
        if (!is_comparison(op)) continue;
        if (!s->ranges) s->ranges = pass_ranges(s->context, s->func);
        if (!bounds_fit(s) || !holds_at_first(s, op, &sum)) continue;
        if (always_holds(s, op, &sum)) {
            leave_out(op);
            changed = true;
            continue;
        }
        vec_push(s->scratch, &found->ops, op);
        vec_push(s->scratch, &found->sums, sum);
    }
    return changed;
}

static bool split(Split *s) {
    SplitFound found = {0};
    bool changed = find(s, &found);
    if (!found.ops.count) return changed;
    IrOp *loop = s->loop;
    IrBuilder b = ir_builder_before(loop);
    b.span = loop->span;
    IrValue *end = ir_operand(loop, 1);
    for (size_t i = 0; i < found.sums.count; i++)
        end = ir_binary(&b, IR_MIN, end, limit_of(&b, &found.sums.data[i]));
    Map names = {0};
    IrOp *first = ir_clone(&b, loop, &names, s->scratch);
    ir_set_operand(first, 1, end);
    ir_set_operand(loop, 0, after_steps(&b, ir_operand(loop, 0), end, ir_operand(loop, 2)));
    for (uint32_t i = 0; i < loop->result_count; i++)
        ir_set_operand(loop, 3 + i, ir_result(first, i));
    for (size_t i = 0; i < found.ops.count; i++) leave_out(copy_of(found.ops.data[i], &names));
    bool one = found.sums.count == 1 && leaves_one(loop, &found.sums.data[0]);
    if (s->remarks)
        remark(s->remarks, loop->span, REASON_WHOLE_TILES, one ? "one step" : "a loop",
               REMARK((int64_t)found.ops.count));
    if (one) open_last(s);
    return true;
}

static bool split_in(Split *s, IrBlock *block) {
    bool changed = false;
    IR_EACH_OP(op, block) {
        for (uint32_t i = 0; i < op->region_count; i++) changed |= split_in(s, op->regions[i]);
        uint32_t room = OPS_MAX;
        if (op->code != IR_FOR || !goes_upwards(op) || !has_product(op->regions[0]) ||
            !is_short(op->regions[0], &room))
            continue;
        s->loop = op;
        changed |= split(s);
    }
    return changed;
}

bool pass_split(IrFunc *f, PassContext *context) {
    IrBlock *body = f->is_kernel ? ir_body(f) : NULL;
    if (!body || f->level != IR_LEVEL_TILE) return false;
    Split s = {
        .func = f, .scratch = context->scratch, .remarks = context->remarks, .context = context};
    return split_in(&s, body);
}

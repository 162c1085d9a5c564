// Ranges: conditions are taken apart into facts.
//
// An `and` that holds gives the facts of both sides, and so does an `or` that does not hold.
// Comparisons give inequalities; `x % c == 0` gives a divisor; `x % y == 0` shows that y is not
// 0. A condition of any other form gives nothing.
#include "ir/analysis/analysis_internal.h"

// STEPS_MAX bounds the search: a condition used twice at every level takes exponential time.
enum { FACTS_MAX = 64, DEPTH_MAX = 16, STEPS_MAX = 128 };

static void push(const IrRanges *r, RangeFacts *facts, const IrValue *a, int64_t add,
                 const IrValue *b) {
    RangeFact fact = {.a = a, .b = b, .add = add, .divisor = 1};
    if (facts->count < FACTS_MAX) vec_push(r->arena, facts, fact);
}

// x % y == 0 with x above 0 and y not below 0: y is not 0 (x % 0 is x), and not above x.
static void push_dividing(const IrRanges *r, RangeFacts *facts, const IrOp *rest,
                          const IrValue *zero) {
    const IrValue *x = ir_operand(rest, 0), *y = ir_operand(rest, 1);
    IrRange a = range_get(r, x), b = range_get(r, y);
    if (!a.known || !b.known || a.min <= 0 || b.min < 0) return;
    if (range_is_full_u64(x->type, &a) || range_is_full_u64(y->type, &b)) return;
    push(r, facts, zero, 1, y);
    push(r, facts, y, 0, x);
}

// x % c == 0: x is a multiple of c.
static void push_divisor(const IrRanges *r, RangeFacts *facts, const IrValue *rest,
                         const IrValue *zero) {
    int64_t number, c;
    const IrOp *def = rest->def;
    if (!def || def->code != IR_REM || !range_is_constant(r, zero, &number) || number != 0) return;
    if (!range_is_constant(r, ir_operand(def, 1), &c)) {
        push_dividing(r, facts, def, zero);
        return;
    }
    IrRange x = range_get(r, ir_operand(def, 0));
    if (c <= 1 || !x.known || range_is_full_u64(ir_operand(def, 0)->type, &x)) return;
    RangeFact fact = {.a = ir_operand(def, 0), .divisor = (uint64_t)c};
    if (facts->count < FACTS_MAX) vec_push(r->arena, facts, fact);
}

static void equal(const IrRanges *r, RangeFacts *facts, const IrValue *a, const IrValue *b) {
    push(r, facts, a, 0, b);
    push(r, facts, b, 0, a);
    push_divisor(r, facts, a, b);
    push_divisor(r, facts, b, a);
}

// a != b gives a fact if one of them is a limit of the other.
static void unequal(const IrRanges *r, RangeFacts *facts, const IrValue *a, const IrValue *b) {
    IrRange x = range_get(r, a), y = range_get(r, b);
    if (range_is_full_u64(a->type, &x) || range_is_full_u64(b->type, &y)) return;
    if (x.min >= y.max) push(r, facts, b, 1, a);
    if (x.max <= y.min) push(r, facts, a, 1, b);
}

static void comparison(const IrRanges *r, IrOpcode code, const IrValue *a, const IrValue *b,
                       bool holds, RangeFacts *facts) {
    switch (code) {
    case IR_EQ:
        if (holds)
            equal(r, facts, a, b);
        else
            unequal(r, facts, a, b);
        return;
    case IR_NE:
        if (holds)
            unequal(r, facts, a, b);
        else
            equal(r, facts, a, b);
        return;
    case IR_LT:
        if (holds)
            push(r, facts, a, 1, b);
        else
            push(r, facts, b, 0, a);
        return;
    case IR_LE:
        if (holds)
            push(r, facts, a, 0, b);
        else
            push(r, facts, b, 1, a);
        return;
    case IR_GT: comparison(r, IR_LT, b, a, holds, facts); return;
    case IR_GE: comparison(r, IR_LE, b, a, holds, facts); return;
    default: break;
    }
}

static bool is_constant_bool(const IrValue *value, bool wanted) {
    return value->def && value->def->code == IR_CONST && value->type->elem == DTYPE_BOOL &&
           (ir_attr(value->def, IR_ATTR_VALUE)->u.bits != 0) == wanted;
}

// `c && d` and `c || d` as the front end writes them: an if with one constant arm.
typedef struct Branches {
    const IrValue *condition, *yes, *no;
} Branches;

static bool as_branches(const IrValue *value, Branches *branches) {
    const IrOp *def = value->def;
    if (def->code == IR_SELECT && ir_operand(def, 0)->type->rank == value->type->rank) {
        *branches = (Branches){ir_operand(def, 0), ir_operand(def, 1), ir_operand(def, 2)};
        return true;
    }
    if (def->code != IR_IF) return false;
    *branches = (Branches){ir_operand(def, 0), ir_operand(def->regions[0]->last, value->index),
                           ir_operand(def->regions[1]->last, value->index)};
    return true;
}

static void condition_facts(const IrRanges *r, const IrValue *value, bool holds, int depth,
                            int *steps, RangeFacts *facts) {
    const IrOp *def = value->def;
    if (!def || depth == DEPTH_MAX || facts->count >= FACTS_MAX || ++*steps > STEPS_MAX) return;
    Branches branches;
    if (def->code == IR_NOT) {
        condition_facts(r, ir_operand(def, 0), !holds, depth + 1, steps, facts);
    } else if (def->code == (holds ? IR_AND : IR_OR)) {
        condition_facts(r, ir_operand(def, 0), holds, depth + 1, steps, facts);
        condition_facts(r, ir_operand(def, 1), holds, depth + 1, steps, facts);
    } else if (def->code == IR_BROADCAST) {
        condition_facts(r, ir_operand(def, 0), holds, depth + 1, steps, facts);
    } else if (def->code == IR_REDUCE) {
        // all(t) that holds, or any(t) that does not: the same is known for every lane.
        IrReduce kind = (IrReduce)ir_attr_int(def, IR_ATTR_REDUCE);
        bool every = kind == (holds ? IR_REDUCE_ALL : IR_REDUCE_ANY) && !ir_operand(def, 0);
        if (every) condition_facts(r, ir_operand(def, 1), holds, depth + 1, steps, facts);
    } else if (as_branches(value, &branches)) {
        if (is_constant_bool(branches.no, !holds)) {  // the value came through the first arm
            condition_facts(r, branches.condition, true, depth + 1, steps, facts);
            condition_facts(r, branches.yes, holds, depth + 1, steps, facts);
        } else if (is_constant_bool(branches.yes, !holds)) {
            condition_facts(r, branches.condition, false, depth + 1, steps, facts);
            condition_facts(r, branches.no, holds, depth + 1, steps, facts);
        }
    } else if (ir_op_is(def->code, IR_FAMILY_COMPARE) && range_is_integer(ir_operand(def, 0))) {
        comparison(r, def->code, ir_operand(def, 0), ir_operand(def, 1), holds, facts);
    }
}

void range_condition(const IrRanges *r, const IrValue *condition, bool holds, RangeFacts *facts) {
    int steps = 0;
    condition_facts(r, condition, holds, 0, &steps, facts);
}

void range_guards(const IrRanges *r, const IrOp *op, const IrBlock *region, RangeFacts *facts) {
    if (op->code == IR_IF) {
        range_condition(r, ir_operand(op, 0), region == op->regions[0], facts);
        return;
    }
    if (op->code != IR_WHILE || region != op->regions[1]) return;
    // The body's arguments equal those of the condition, so facts about the latter hold for them.
    const IrBlock *condition = op->regions[0];
    range_condition(r, ir_operand(condition->last, 0), true, facts);
    for (uint32_t i = 0; i < region->arg_count; i++) {
        if (range_is_integer(region->args[i])) equal(r, facts, region->args[i], condition->args[i]);
    }
}

// Simplifies loops and conditions.
//
// Needs: verified IR; simplify first, so that constants are visible. Keeps: effects, their number
// and order. Opens loops of one iteration, removes carried values that never change, merges carried
// values that are always equal, removes exit flags that never become false, and replaces the
// condition of an `if` inside of it (conditions.c).
#include "passes/loops.h"

#include "passes/passes.h"
#include "passes/rewrite.h"

// ---- no or one iteration ------------------------------------------------------------------------

// At most one iteration, because the bounds say so or because the exit flag is false after the
// first.
static bool runs_once(const IrOp *loop) {
    uint64_t trips;
    if (!rewrite_trip_count(loop, &trips) || trips == 0) return false;
    if (!ir_attr_int(loop, IR_ATTR_EXIT)) return trips == 1;
    if (!rewrite_is_bool(ir_operand(loop, 3), true)) return false;
    return trips == 1 ||
           rewrite_is_bool(ir_operand(rewrite_terminator(loop->regions[0]), 0), false);
}

static bool skip_loop(IrOp *loop, Arena *scratch) {
    uint64_t trips;
    bool never = rewrite_trip_count(loop, &trips) && trips == 0;
    if (ir_attr_int(loop, IR_ATTR_EXIT)) never |= rewrite_is_bool(ir_operand(loop, 3), false);
    if (!never) return false;
    IrValue **values = arena_new(scratch, IrValue *, loop->result_count);
    for (uint32_t i = 0; i < loop->result_count; i++) values[i] = ir_operand(loop, 3 + i);
    rewrite_replace_op(loop, values);
    return true;
}

// ---- carried values -----------------------------------------------------------------------------

static uint32_t first_init(const IrOp *loop) { return loop->operand_count - loop->result_count; }
static uint32_t first_arg(const IrOp *loop) { return loop->code == IR_FOR ? 1 : 0; }
static IrBlock *body_of(const IrOp *loop) { return loop->regions[loop->region_count - 1]; }

static bool is_exit_flag(const IrOp *loop, uint32_t i) {
    return i == 0 && loop->code == IR_FOR && ir_attr_int(loop, IR_ATTR_EXIT) != 0;
}

static bool same_value(const IrValue *a, const IrValue *b) {
    uint64_t x, y;
    if (a == b) return true;
    return a->type == b->type && rewrite_constant(a, &x) && rewrite_constant(b, &y) && x == y;
}

// Carried value `i` is always `value`: in the regions, and after the loop.
static void settle(IrOp *loop, uint32_t i, IrValue *in_regions[], IrValue *after) {
    for (uint32_t k = 0; k < loop->region_count; k++) {
        ir_replace_all(loop->regions[k]->args[first_arg(loop) + i], in_regions[k]);
    }
    ir_replace_all(ir_result(loop, i), after);
}

// The value that the body yields for `i`, seen as the argument of region 1 of a while as well.
static bool yields_itself_or(const IrOp *loop, uint32_t i, const IrValue *init) {
    const IrValue *next = ir_operand(rewrite_terminator(body_of(loop)), i);
    return next == body_of(loop)->args[first_arg(loop) + i] || same_value(next, init);
}

static bool same_carried(const IrOp *loop, uint32_t i, uint32_t k) {
    const IrBlock *body = body_of(loop);
    const IrOp *end = rewrite_terminator(body);
    const IrValue *a = ir_operand(end, i), *b = ir_operand(end, k);
    if (!same_value(ir_operand(loop, first_init(loop) + i), ir_operand(loop, first_init(loop) + k)))
        return false;
    if (ir_result(loop, i)->type != ir_result(loop, k)->type) return false;
    return same_value(a, b) ||
           (a == body->args[first_arg(loop) + i] && b == body->args[first_arg(loop) + k]);
}

static IrOp *drop_unchanging(IrOp *loop, Arena *scratch, bool *changed) {
    for (uint32_t i = loop->result_count; i-- > 0;) {
        IrValue *init = ir_operand(loop, first_init(loop) + i);
        if (!yields_itself_or(loop, i, init)) continue;
        if (is_exit_flag(loop, 0) && i == 0) {
            if (!rewrite_is_bool(init, true)) continue;  // false: skip_loop; unknown: it decides
            ir_attr_set_int(loop, IR_ATTR_EXIT, 0);
        }
        settle(loop, i, (IrValue *[]){init, init}, init);
        loop = rewrite_drop_carried(loop, i, scratch);
        *changed = true;
    }
    return loop;
}

static IrOp *merge_equal(IrOp *loop, Arena *scratch, bool *changed) {
    enum { LOOK_BACK = 16 };  // loops that carry hundreds of values must not take quadratic time
    for (uint32_t i = loop->result_count; i-- > 1;) {
        for (uint32_t k = i > LOOK_BACK ? i - LOOK_BACK : 0; k < i; k++) {
            if (!same_carried(loop, i, k)) continue;
            IrValue *other[2];
            for (uint32_t r = 0; r < loop->region_count; r++) {
                other[r] = loop->regions[r]->args[first_arg(loop) + k];
            }
            settle(loop, i, other, ir_result(loop, k));
            loop = rewrite_drop_carried(loop, i, scratch);
            *changed = true;
            break;
        }
    }
    return loop;
}

// ---- the walk -----------------------------------------------------------------------------------

static bool loops_in(IrBlock *block, Arena *scratch) {
    bool changed = false;
    IR_EACH_OP(op, block) {
        IrOp *loop = op;
        for (uint32_t i = 0; i < op->region_count; i++)
            changed |= loops_in(op->regions[i], scratch);
        if (op->code == IR_IF) changed |= conditions_simplify(op, scratch);
        if (op->code != IR_FOR && op->code != IR_WHILE) continue;
        loop = drop_unchanging(loop, scratch, &changed);
        loop = merge_equal(loop, scratch, &changed);
        if (loop->code != IR_FOR) continue;
        if (skip_loop(loop, scratch)) {
            changed = true;
        } else if (runs_once(loop)) {
            rewrite_open_loop(loop, scratch);
            changed = true;
        }
    }
    return changed;
}

bool pass_loops(IrFunc *f, PassContext *context) {
    bool changed = false;
    for (size_t i = 0; i < f->sections.count; i++) {
        changed |= loops_in(f->sections.data[i].block, context->scratch);
    }
    return changed;
}

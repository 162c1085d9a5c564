// Loop-invariant code motion: values that are the same in every iteration are hoisted, innermost
// loops first.
//
// Needs: verified IR. Keeps: every effect; a program that would not fault does not begin to. Pure
// ops never fault, so they are hoisted whether or not the loop runs. Nothing moves out of an `if`
// (its op may be rarely needed), nor do ops with effects. A read is hoisted only if nothing in the
// loop writes. A view's read is checked, so it is safe anywhere, unless a dimension is marked
// inside: that proof may rest on the loop's bounds or on a guard. Reads with that mark, and reads
// through pointers, are hoisted only if the loop certainly executes them: at the loop body's
// outermost level, with constant bounds that give an iteration (or in the condition of a `while`),
// and before anything that could end the program or never end. CONST is hoisted as well; targets
// that need it near its use bring it back.
#include "passes/passes.h"
#include "passes/rewrite.h"

typedef struct Licm {
    bool threads;  // the code is that of a program's threads
    bool changed;
} Licm;

static bool operands_outside(const IrOp *op, const IrOp *loop) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const IrValue *value = ir_operand(op, i);
        if (value && !rewrite_defined_outside(value, loop)) return false;
    }
    return true;
}

// Do the combiners nested in `op` use no value of the loop except those that `op` itself defines?
static bool regions_outside(const IrOp *op, const IrOp *root, const IrOp *loop) {
    for (uint32_t i = 0; i < op->region_count; i++) {
        IR_EACH_OP(inner, op->regions[i]) {
            for (uint32_t k = 0; k < inner->operand_count; k++) {
                const IrValue *value = ir_operand(inner, k);
                if (value && rewrite_defined_outside(value, root) &&
                    !rewrite_defined_outside(value, loop)) {
                    return false;
                }
            }
            if (!regions_outside(inner, root, loop)) return false;
        }
    }
    return true;
}

static bool is_movable_kind(const IrOp *op) {
    switch (ir_op_info(op->code)->effect) {
    case IR_EFFECT_PURE:
    case IR_EFFECT_READ: return true;
    case IR_EFFECT_NEST: return op->code == IR_REDUCE || op->code == IR_SCAN;
    case IR_EFFECT_WRITE:
    case IR_EFFECT_KEEP:
    case IR_EFFECT_END: return false;
    }
    return false;
}

// Can the read access memory that it must not, if it is executed where it was not needed?
static bool may_fault(const IrOp *op) {
    if (op->code == IR_LOAD) return true;
    if (op->code != IR_VIEW_LOAD) return true;
    const IrAttr *inside = ir_attr(op, IR_ATTR_INSIDE);
    for (uint32_t i = 0; i < inside->u.ints.count; i++) {
        if (inside->u.ints.items[i]) return true;
    }
    return false;
}

// Does the first iteration (or the condition, for region 0 of a while) certainly begin?
static bool certainly_runs(const IrOp *loop, const IrBlock *region) {
    if (loop->code == IR_WHILE) return region == loop->regions[0];
    uint64_t trips;
    if (!rewrite_trip_count(loop, &trips) || trips == 0) return false;
    return !ir_attr_int(loop, IR_ATTR_EXIT) || rewrite_is_bool(ir_operand(loop, 3), true);
}

// May control not leave the op: a failed assert, an endless loop?
static bool may_stop(const IrOp *op) {
    if (op->code == IR_WHILE || op->code == IR_CALL) return true;
    if (ir_op_info(op->code)->effect == IR_EFFECT_KEEP) return true;
    for (uint32_t i = 0; i < op->region_count; i++) {
        IR_EACH_OP(inner, op->regions[i]) {
            if (may_stop(inner)) return true;
        }
    }
    return false;
}

static bool may_move(const IrOp *op, const IrOp *loop, bool memory_still, bool certain) {
    if (!is_movable_kind(op)) return false;
    if (ir_op_info(op->code)->effect == IR_EFFECT_READ) {
        if (!memory_still || (may_fault(op) && !certain)) return false;
    }
    return operands_outside(op, loop) && regions_outside(op, op, loop);
}

// ---- sums of threads ----------------------------------------------------------------------------

// The operand that changes in the loop, if it is an op of this code in the loop with no other use,
// and the other operand does not change.
static IrOp *changing(const IrOp *op, IrOpcode code, const IrOp *loop, IrValue **still) {
    for (uint32_t i = 0; i < 2; i++) {
        const IrValue *x = ir_operand(op, i);
        *still = ir_operand(op, 1 - i);
        bool alone = x->def && x->def->code == code && x->uses && !x->uses->next;
        if (alone && x->def->block == op->block && rewrite_defined_outside(*still, loop))
            return x->def;
    }
    return NULL;
}

// Rewrites a + (x + b) to x + (a + b), and (x + b) * a to x * a + b * a, if only x changes: the
// part that threads add to an index is added before the loop. Integers wrap, so the order does not
// matter.
static bool gather(IrOp *op, IrOp *loop) {
    if (op->code != IR_ADD && op->code != IR_MUL) return false;
    if (!dtype_is(op->results[0].type->elem, DTYPE_CLASS_INT)) return false;
    IrValue *a, *b;
    IrOp *sum = changing(op, IR_ADD, loop, &a);
    if (!sum) return false;
    uint32_t k = rewrite_defined_outside(ir_operand(sum, 0), loop);
    b = ir_operand(sum, 1 - k);
    if (!rewrite_defined_outside(b, loop)) return false;
    IrValue *x = ir_operand(sum, k);
    IrBuilder outside = ir_builder_before(loop), here = ir_builder_before(op);
    IrValue *both = ir_binary(&outside, op->code, a, b);
    if (op->code == IR_MUL) x = ir_binary(&here, IR_MUL, x, a);
    ir_replace_all(&op->results[0], ir_binary(&here, IR_ADD, x, both));
    ir_erase(op);
    ir_erase(sum);
    return true;
}

static void hoist_from(Licm *l, IrOp *loop, IrBlock *region, bool memory_still) {
    bool certain = certainly_runs(loop, region);
    IR_EACH_OP(op, region) {
        if (may_move(op, loop, memory_still, certain)) {
            ir_move_before(op, loop);
            l->changed = true;
        } else if (l->threads && gather(op, loop)) {
            l->changed = true;
        } else if (may_stop(op)) {
            certain = false;
        }
    }
}

static void hoist_in(Licm *l, const IrBlock *block) {
    IR_EACH_OP(op, block) {
        for (uint32_t i = 0; i < op->region_count; i++) hoist_in(l, op->regions[i]);
        if (op->code != IR_FOR && op->code != IR_WHILE) continue;
        bool memory_still = !rewrite_clobbers_memory(op);
        for (uint32_t i = 0; i < op->region_count; i++) {
            hoist_from(l, op, op->regions[i], memory_still);
        }
    }
}

bool pass_licm(IrFunc *f, PassContext *context) {
    (void)context;
    Licm l = {.threads = f->level == IR_LEVEL_THREAD};
    for (size_t i = 0; i < f->sections.count; i++) hoist_in(&l, f->sections.data[i].block);
    return l.changed;
}

// Loops: `for`, `while`, and the values that they carry from iteration to iteration.
//
// A loop carries the variables that its body assigns (LoopFacts names them), and what early exits
// need: the flag `going` (first, so that `exit` of the IR's for sees it), flags of outer loops, and
// return values. Those flags and return values are known only once the body is emitted, and no
// iteration reads them; so they are appended to the carried list at the end.
#include "frontend/common/control.h"

// ---- carried values

static void carry(Elab *e, LoopOp *op, Slot *slot, IrValue *init) {
    LoopCarried item = {.slot = slot, .init = init, .type = init->type};
    slot->mark = op->mark;
    vec_push(e->scratch, &op->carried, item);
    for (int i = 0; i < 2; i++) {
        if (!op->blocks[i]) continue;
        IrValue *arg = ir_block_add_arg(op->blocks[i], init->type);
        arg->name = slot->name;
    }
}

static void carry_names(Elab *e, LoopOp *op, Loop *loop, const LoopFacts *facts) {
    op->mark = ++e->marks;
    op->exits = facts->exits;
    if (op->exits) carry(e, op, &loop->going, ir_const_bool(&e->b, true));
    for (uint32_t i = 0; i < facts->count; i++) {
        Slot *slot = facts->assigned[i];
        if (slot && slot->mark != op->mark && slot->val.kind == VAL_IR)
            carry(e, op, slot, slot->val.ir);
    }
}

// Inside a region the carried names stand for its arguments.
static void carried_enter(Elab *e, LoopOp *op, IrBlock *block, uint32_t first_arg) {
    for (size_t i = op->exits ? 1 : 0; i < op->carried.count; i++)
        el_assign_slot(e, op->carried.data[i].slot, el_ir(block->args[first_arg + i]));
}

static void carried_next(Elab *e, LoopOp *op, IrBlock *block, uint32_t first_arg, Span span) {
    for (size_t i = 0; i < op->carried.count; i++) {
        LoopCarried *item = &op->carried.data[i];
        Val v = item->slot->val;
        bool poison = v.kind != VAL_IR && !el_is_const(v);
        item->next = poison ? block->args[first_arg + i] : el_materialize(e, v, item->type, span);
    }
}

// Adds flags of outer loops and return values that the body set.
static void carry_late(Elab *e, LoopOp *op, const Region *region, Span span) {
    op->mark = ++e->marks;  // merges inside the body have changed the marks
    for (size_t i = 0; i < op->carried.count; i++) op->carried.data[i].slot->mark = op->mark;
    for (uint32_t i = 0; i < region->count; i++) {
        Slot *slot = region->changes[i].slot;
        Val body = region->changes[i].val;
        if (slot->mark == op->mark) continue;
        if (body.kind == VAL_POISON || slot->val.kind == VAL_POISON ||
            (slot->kind == SLOT_ACTIVE && slot->tail)) {
            el_assign_slot(e, slot, body.kind == VAL_POISON ? EL_POISON : EL_NONE);
            continue;
        }
        bool wrong;
        const IrType *type = el_common_type(e, slot, slot->val, body, span, &wrong);
        if (!type) {
            el_assign_slot(e, slot, wrong ? EL_POISON : body.kind == VAL_NONE ? slot->val : body);
            continue;
        }
        carry(e, op, slot, el_materialize(e, slot->val, type, span));
        IrBuilder outer = e->b;
        e->b.block = region->block;
        e->b.before = NULL;
        vec_last(&op->carried).next = el_materialize(e, body, type, span);
        e->b = outer;
    }
}

static IrOp *carried_op(Elab *e, LoopOp *op, IrOpcode code, uint32_t first, uint32_t regions) {
    uint32_t count = (uint32_t)op->carried.count;
    IrValue **all = arena_new(e->scratch, IrValue *, first + count);
    IrValue **next = arena_new(e->scratch, IrValue *, count);
    const IrType **types = arena_new(e->scratch, const IrType *, count);
    for (uint32_t i = 0; i < first; i++) all[i] = op->bounds[i];
    for (uint32_t i = 0; i < count; i++) {
        all[first + i] = op->carried.data[i].init;
        next[i] = op->carried.data[i].next;
        types[i] = op->carried.data[i].type;
    }
    IrBuilder inner = ir_builder_at_end(op->body);
    inner.span = e->b.span;
    ir_yield(&inner, count, next);
    IrOp *made = ir_op(&e->b, code, first + count, all, count, types, regions, op->blocks);
    for (uint32_t i = 0; i < count; i++) {
        Slot *slot = op->carried.data[i].slot;
        IrValue *result = ir_result(made, i);
        result->name = slot->name;
        el_assign_slot(e, slot, el_ir(result));
    }
    return made;
}

// ---- entering and leaving

void el_loop_begin(Elab *e, Loop *loop) {
    *loop = (Loop){.outer_any = e->loops};
    loop->going = (Slot){.kind = SLOT_GOING, .val = el_bool(true), .region = e->region};
}

void el_loop_enter(Elab *e, Loop *loop) {
    loop->active =
        (Slot){.kind = SLOT_ACTIVE, .val = el_bool(true), .tail = true, .region = e->region};
    e->loops = loop;
}

void el_loop_leave(Elab *e, Loop *loop) { e->loops = loop->outer_any; }

// ---- for

bool el_for_begin(Elab *e, LoopOp *op, Loop *loop, IrValue *const *bounds, const LoopFacts *facts,
                  Span span) {
    *op = (LoopOp){.blocks = {ir_block_create(e->func), NULL}};
    op->body = op->blocks[0];
    for (int i = 0; i < 3; i++) op->bounds[i] = bounds[i];
    loop->var = ir_block_add_arg(op->body, ir_scalar(e->module, DTYPE_I64));
    loop->low = bounds[0];
    loop->step = bounds[2];
    carry_names(e, op, loop, facts);
    if (!el_region_begin(e, &op->region, op->body, span)) return false;
    carried_enter(e, op, op->body, 1);
    return true;
}

void el_for_end(Elab *e, LoopOp *op, bool down, Span span) {
    carried_next(e, op, op->body, 1, span);
    el_region_end(e, &op->region);
    carry_late(e, op, &op->region, span);
    IrOp *made = carried_op(e, op, IR_FOR, 3, 1);
    ir_attr_set_int(made, IR_ATTR_DOWN, down);
    ir_attr_set_int(made, IR_ATTR_EXIT, op->exits);
}

// ---- while

static bool is_true(const IrValue *v) {
    return v->def && v->def->code == IR_CONST && ir_attr(v->def, IR_ATTR_VALUE)->u.bits != 0;
}

// The region of the condition: going && condition. The condition is not evaluated once `going` is
// false.
bool el_while_condition(Elab *e, LoopOp *op, Loop *loop, const LoopFacts *facts,
                        IrValue *(*ask)(Elab *e, void *user), void *user, Span span, bool *always) {
    *op = (LoopOp){.blocks = {ir_block_create(e->func), ir_block_create(e->func)}};
    op->body = op->blocks[1];
    carry_names(e, op, loop, facts);
    IrBlock *block = op->blocks[0];
    Region outer, inner;
    if (!el_region_begin(e, &outer, block, span)) return false;
    carried_enter(e, op, block, 0);
    IrBlock *asked = op->exits ? ir_block_create(e->func) : block;
    if (op->exits && !el_region_begin(e, &inner, asked, span)) return false;
    IrValue *cond = ask(e, user);
    if (!cond) cond = ir_const_bool(&e->b, false);
    *always = is_true(cond);
    if (op->exits) {
        el_region_end(e, &inner);
        cond = el_join_conditions(e, true, block->args[0], asked, cond);
    }
    ir_yield(&e->b, 1, &cond);
    el_region_end(e, &outer);
    return true;
}

bool el_while_begin(Elab *e, LoopOp *op, Span span) {
    if (!el_region_begin(e, &op->region, op->body, span)) return false;
    carried_enter(e, op, op->body, 0);
    return true;
}

void el_while_end(Elab *e, LoopOp *op, Span span) {
    carried_next(e, op, op->body, 0, span);
    el_region_end(e, &op->region);
    carry_late(e, op, &op->region, span);
    carried_op(e, op, IR_WHILE, 0, 2);
}
